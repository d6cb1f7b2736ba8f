"""What is shown of the results: a summary for the terminal, docs/speed.md, and its plot docs/speed.svg.

Page and summary are made of what stands in results.json alone.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.rows import chosen
from scripts.corpus import REPOSITORY

PAGE = REPOSITORY / "docs" / "speed.md"
PLOT = REPOSITORY / "docs" / "speed.svg"
Results = Mapping[str, Any]
BARS = {
    "ruff-warm": "Ruff, with its cache",
    "forklint-warm": "forklint, with its cache",
    "ruff": "Ruff",
    "ty": "ty",
    "forklint": "forklint, all rules",
    "pyrefly": "pyrefly",
}
"""Contenders that lint the corpus, as the plot names them."""
SCALED = {"torchfix": "TorchFix", "fixit": "Fixit"}
"""Those that lint the sample alone."""
NAMES = {"python": "Python", "ruff": "Ruff", "torchfix": "TorchFix", "fixit": "Fixit", "libcst": "LibCST"}
PARTS = {
    "corpus": "Whole packages",
    "types": "A part of the corpus, with mypy",
    "project": "One project, edited",
    "server": "Language server",
    "torch": "PyTorch's source",
    "sample": "The sample",
    "start": "One file",
    "flake8": "flake8, on a part of the corpus",
    "growth": "Growth",
    "files": "File by file",
    "verify": "verify",
}
HOW = """
## How it is measured

`make bench-corpus` downloads the packages of [bench/corpus.toml](../bench/corpus.toml) from PyPI into the user's cache
directory. `make bench` installs the tools of [bench/peers.toml](../bench/peers.toml), each into its own environment,
and runs all commands of the tables on two cores. `make bench-quick` runs a part of them and only prints the results.

- The commands of one table run in turn, round by round. The first round does not count, so files are in the page cache;
  "cold" means that the tool has no cache of its own.
- Times are wall-clock times of the whole process: the median of the rounds, and the median absolute deviation as the
  spread. A ratio in the first table is a ratio of two medians; its spread is that of the ratios within the rounds.
  Processor time includes all processes of a command. Memory is the peak of the largest process, or for growth that of
  all processes, with shared pages counted in each.
- forklint runs all rules, including preview rules. Ruff runs `F,B,PL`; TorchFix and Fixit run their defaults. They look
  for other things than forklint does: what is compared is how long you wait.
- ty and pyrefly type-check the whole project; forklint analyzes it as a whole, too. They get the same directories, with
  the few `.pyi` files in them, but without third-party packages. With `--extra-search-path` or `--project`, ty also
  resolves the packages' own imports, as forklint does. Targets refer to the faster run without these options.
- mypy gets timm, mmengine and torchgeo, without a cache.
- The edited project is a copy of transformers (of timm in a quick run). The function is added to a module that 1,106 of
  its files import (102 in timm). Before each run forklint gets a copy of a cache that is up to date. Then a line or a
  function with a new text is added, and removed after the run.
- The language server gets the same project. A client types into five files of about 2,000 lines for a minute, with
  pauses of 0.08 to 2.5 seconds between key presses, and waits for the diagnostics of each version.
- PyTorch's source is all `.py` files of the `torch` package, as one project.
- A run on one of these that is not finished after ten minutes is stopped, and the table says so.
- The CPU time of each file is measured twice: in one process from the first file to the last, and in another one from
  the last to the first. The lower one counts, because the first file pays for what is computed for the whole project.
- The sample is `timm/data` and `timm/optim`: the slower tools would take hours for all rounds on the corpus.
- flake8 gets timm, mmengine and torchgeo; the whole corpus would take it half an hour. The plugin's cache is removed
  before a cold run, and kept for a run in which nothing changed.
- Growth is measured on copies of these three packages. The line is fitted with the least relative errors; the value is
  that of the size which is farthest off. A run that uses half of the machine's memory is stopped.
- `verify` and its program run on one core, so that trials run one after another. Their own time is that of the program
  alone, once for each trial, with as many workers.

All timings are in [bench/results.json](../bench/results.json).
"""


def page(results: Results) -> str:
    """The text of docs/speed.md."""
    return "\n".join(
        [
            "# Speed",
            "",
            *_introduction(results),
            "",
            "| measure | value | target | met | rounds | spread |",
            "|---|---|---|---|---|---|",
            *(f"| {' | '.join(_cells(row))} |" for row in results["rows"]),
            "",
            f"![Seconds for the corpus, by linter]({PLOT.name})",
            "",
            "Hatched bars are extrapolated from the sample by lines, so they count the startup more than once.",
            *_timings(results),
            HOW,
        ]
    )


def summary(results: Results) -> str:
    """The rows and the timings, for the terminal."""
    rows: list[tuple[str, ...]] = [
        ("measure", "value", "target", "met", "rounds", "spread"),
        *map(_cells, results["rows"]),
    ]
    timings: list[tuple[str, ...]] = [("command", "seconds", "spread", "processor", "peak MB", "files", "findings")]
    timings += [_timing(name, one) for name, one in results["contenders"].items()]
    return "\n".join([*_aligned(rows), "", *_aligned(timings)])


def _introduction(results: Results) -> list[str]:
    """What was measured, on what, with which versions; in lines of a page's width."""
    machine, versions = results["machine"], results["versions"]
    memory = machine["memory_bytes"] / 2**30
    told = [
        f"{NAMES.get(name, name)} {version}" if " of " not in name else f"{name[10:]} on Python {version}"
        for name, version in versions.items()
    ]
    text = f"Measured on {results['date'][:10]}: {machine['processor']}, {machine['cores']} cores, {memory:.0f} GiB, "
    text += f"{machine['system']}; {', '.join(told)}."
    if "forklint" in results["contenders"]:
        given = results["contenders"]["forklint"]
        text += (
            f" The corpus has {given['files']:,} Python files, {given['bytes'] / 1e6:.0f} MB, {given['lines']:,} lines."
        )
    if results["quick"]:
        text += " This was a quick run on a tenth of the corpus with few rounds, so the figures are rough."
    measured = {row["key"] for row in results["rows"]}
    left = [row.key for row in chosen([], quick=results["quick"]) if row.key not in measured]
    if left:
        text += f" Not measured in this run: {', '.join(f'`{key}`' for key in left)}."
    return textwrap.wrap(text, 118, break_on_hyphens=False)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    unit = row["unit"]
    target = row["target"]
    if row["limit"] is not None and str(row["limit"]).rstrip("0").rstrip(".") not in target:
        target += f" ({_number(row['limit'])} {unit})"
    if row["value"] is None:
        return row["measure"], row["reason"], target, "", "", ""
    met = {True: "yes", False: "no", None: ""}[row["met"]]
    note = f" ({row['note']})" if row.get("note") else ""
    return (
        row["measure"],
        f"{_number(row['value'])} {unit}{note}",
        target,
        met,
        str(row["rounds"]),
        _number(row["spread"]) if row["rounds"] > 1 else "",
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def _timings(results: Results) -> Iterator[str]:
    for part, title in PARTS.items():
        some = {name: one for name, one in results["contenders"].items() if one["part"] == part}
        if not some:
            continue
        yield from ("", f"## {title}", "")
        if part in results.get("measured", {}):
            yield from (f"Measured on {results['measured'][part][:10]}.", "")
        yield "| command | seconds | spread | CPU seconds | peak MB | files | findings |"
        yield "|---|---|---|---|---|---|---|"
        for one in some.values():
            yield f"| {' | '.join(_timing(_command(one), one))} |"


def _command(one: Mapping[str, Any]) -> str:
    before = one.get("before")
    return f"`{one['command']}`{f', after: {before}' if before else ''}"


def _timing(name: str, one: Mapping[str, Any]) -> tuple[str, ...]:
    runs = one["runs"]
    processor = sorted(run["user"] + run["system"] for run in runs)[len(runs) // 2]
    peak = max(max(run["peak"], run["peak_together"]) for run in runs) / 1e6
    found = one["facts"].get("findings")
    files = f"{one['files']:,}" if one["files"] else ""
    return (
        name,
        f"{one['median_seconds']:.3f}",
        f"{one['spread_seconds']:.3f}" if len(runs) > 1 else "",
        f"{processor:.2f}",
        f"{peak:.0f}",
        files,
        "" if found is None else f"{found:,.0f}",
    )


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def bars(results: Results) -> list[tuple[str, float, bool]]:
    """The bars of the plot: label, seconds for the corpus, and whether they are scaled up from the sample."""
    known = results["contenders"]
    found = [(label, known[name]["median_seconds"], False) for name, label in BARS.items() if name in known]
    if "forklint" in known:
        lines = known["forklint"]["lines"]
        found += [
            (label, known[name]["median_seconds"] / known[name]["lines"] * lines, True)
            for name, label in SCALED.items()
            if name in known
        ]
    return found


def draw(results: Results, path: Path) -> None:
    """Write the plot: a bar for each linter, on a logarithmic scale. Needs the extra ``bench``."""
    import matplotlib as mpl  # noqa: PLC0415 - it is large, and the memory of measured processes starts from ours

    mpl.use("svg")
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "forklint", "font.size": 10}
    from matplotlib import pyplot as plt  # noqa: PLC0415

    shown = bars(results)[::-1]
    figure, axes = plt.subplots(figsize=(8, 0.6 + 0.42 * len(shown)), layout="constrained")
    for place, (label, seconds, scaled) in enumerate(shown):
        color = "#3b6ea5" if label.startswith("forklint") else "#b9bec4"
        axes.barh(place, seconds, color=color, hatch="//" if scaled else "", edgecolor="white", height=0.7)
        axes.text(seconds * 1.06, place, bar_text(seconds), va="center")
    axes.set_yticks(range(len(shown)), [f"{label}{' (from a sample)' if scaled else ''}" for label, _, scaled in shown])
    axes.set_xscale("log")
    axes.set_xlim(right=max((seconds for _, seconds, _ in shown), default=1) * 2.5)
    axes.set_xlabel("seconds for the corpus, logarithmic")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def bar_text(seconds: float) -> str:
    """What stands at the end of a bar."""
    return f"{_number(seconds)} s"


def write(results: Results) -> None:
    """Write the page and the plot."""
    PAGE.write_text(page(results), encoding="utf-8")
    draw(results, PLOT)
