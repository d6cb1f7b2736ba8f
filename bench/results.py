"""bench/results.json: the machine, the versions, what was counted, the rows, and every timing they were made of."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.contenders import CONTENDERS, Contender
from bench.inputs import Input
from bench.measures import Series, Timing
from bench.peers import FORKLINT, Environment, Tools, peers
from bench.rows import Outcome, Timings, chosen, outcome
from scripts.corpus import REPOSITORY

FILE = REPOSITORY / "bench" / "results.json"
OWN = ("click", "libcst", "flake8", "torch")
"""Libraries of forklint's environment whose versions matter to its timings."""


def gathered(
    outcomes: Sequence[Outcome],
    contenders: Sequence[Contender],
    times: Timings,
    tools: Tools,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """All of it, as it stands in the file; ``about`` has what else is to be told of the run."""
    return {
        "date": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        **about,
        "machine": machine(),
        "versions": versions(tools),
        "rows": [_row(one) for one in outcomes],
        "contenders": {
            one.name: _contender(one, times.series[one.name], times.inputs[one.name])
            for one in contenders
            if one.name in times.series
        },
    }


def machine() -> dict[str, Any]:
    """Processor, cores, memory and system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
    }


def _processor() -> str:
    """What the processor calls itself."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    names = {key.strip(): value.strip() for key, value in told.items()}
    if "model name" not in names:
        return platform.processor()
    return f"{names['model name']} (family {names.get('cpu family', '?')}, model {names.get('model', '?')})"


def versions(tools: Tools) -> dict[str, str]:
    """Python, forklint and what it stands on, and each peer with the Python it had to have."""
    told: dict[str, str] = {}
    for name in (FORKLINT, *(peer.name for peer in peers())):
        tool = tools.get(name)
        if not isinstance(tool, Environment):
            continue
        for one in ("python", name, *OWN) if name == FORKLINT else (name,):
            if one in tool.versions:
                told.setdefault(one, tool.versions[one])
        if name != FORKLINT and tool.versions.get("python") != told.get("python"):
            told[f"python of {name}"] = tool.versions.get("python", "?")
    return told


def _row(one: Outcome) -> dict[str, Any]:
    value = one.value
    return {
        "key": one.row.key,
        "measure": one.row.measure,
        "unit": one.row.unit,
        "value": round(value.value, 4) if value else None,
        "target": one.row.target,
        "limit": round(one.limit, 4) if one.limit is not None else None,
        "met": one.met,
        "rounds": value.rounds if value else 0,
        "spread": round(value.spread, 4) if value else None,
        "reason": one.reason,
        "note": value.note if value else "",
    }


def _contender(one: Contender, series: Series, given: Input) -> dict[str, Any]:
    return {
        "command": one.text,
        "before": one.preparation,
        "part": one.part,
        "files": given.files,
        "lines": given.lines,
        "bytes": given.bytes,
        "median_seconds": round(series.wall, 4),
        "spread_seconds": round(series.spread, 4),
        "facts": {key: round(value, 3) for key, value in series.runs[-1].facts.items()},
        "runs": [_run(asdict(run)) for run in series.runs],
    }


def _run(run: dict[str, Any]) -> dict[str, Any]:
    del run["facts"]
    return {key: round(value, 4) for key, value in run.items()}


def reworked(results: Mapping[str, Any]) -> dict[str, Any]:
    """The same with rows made anew of its timings, as they are wanted today; nothing is measured.

    Timings of commands that are no longer run, or are run otherwise, are left out. Of facts those of the last run are
    known, and stand for all of a command's runs.
    """
    told = results["contenders"]
    contenders = [one for one in CONTENDERS if one.name in told and _is_same(one, told[one.name])]
    times = Timings(
        {one.name: _series(told[one.name]) for one in contenders},
        {one.name: Input((), *(told[one.name][key] for key in ("files", "lines", "bytes"))) for one in contenders},
    )
    missing = results.get("missing", {})
    rows = [outcome(row, times, missing) for row in chosen([], quick=results["quick"])]
    kept = {one.name: {"command": one.text, "before": one.preparation, **told[one.name]} for one in contenders}
    return {**results, "rows": [_row(one) for one in rows], "contenders": kept}


def updated(results: Mapping[str, Any], some: Mapping[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    """Results with the timings of some parts in place of those that they have, and when these were measured."""
    kept = {name: one for name, one in results["contenders"].items() if one["part"] not in parts}
    return reworked(
        {
            **results,
            "measured": {**results.get("measured", {}), **dict.fromkeys(parts, some["date"])},
            "seconds_of_parts": {**results["seconds_of_parts"], **some["seconds_of_parts"]},
            "missing": {**results["missing"], **some["missing"]},
            "versions": {**results["versions"], **some["versions"]},
            "contenders": {**kept, **some["contenders"]},
        }
    )


def _is_same(one: Contender, told: Mapping[str, Any]) -> bool:
    """Whether a timing is one of a contender as it is run today."""
    return bool(told["command"] == one.text and told.get("before", one.preparation) == one.preparation)


def _series(one: Mapping[str, Any]) -> Series:
    return Series(tuple(Timing(**run, facts=one["facts"]) for run in one["runs"]))


def read(path: Path) -> dict[str, Any]:
    """Read the file."""
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def write(results: Mapping[str, Any], path: Path) -> None:
    """Write the file: a row or a timing to a line, so that a change can be read."""
    text = re.sub(r"\{[^{}\[\]]*\}", lambda found: re.sub(r"\s*\n\s*", " ", found[0]), json.dumps(results, indent=1))
    path.write_text(text + "\n", encoding="utf-8")
