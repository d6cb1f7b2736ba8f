"""What is made of the timings: one row of the table for each target, one small function for each row.

A function takes the series of the row's contenders and the inputs, and gives a value with the limit that holds for it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.contenders import NOT_MEASURED, SIZES, SMALL_SIZES
from bench.inputs import TORCH, Input
from bench.measures import Series, deviation

MEGABYTE = 1_000_000
HOOK = 0.4
"""Seconds that a commit hook may take for one changed file."""
FIRST_COLD = 19.4
"""Times of Ruff's CPU time that version 0.1 took for transformers without a store (median of four runs in turns)."""


class UnmeasuredError(Exception):
    """The timings hold nothing that a row speaks of; the message says what is lacking."""


@dataclass(frozen=True)
class Timings:
    """What the rounds gave: the series of each contender, and what it was given to lint."""

    series: Mapping[str, Series]
    inputs: Mapping[str, Input]

    def __getitem__(self, name: str) -> Series:
        """The runs of a contender."""
        return self.series[name]

    def per_line(self, name: str) -> list[float]:
        """Seconds of each run, for one line."""
        return [wall / self.inputs[name].lines for wall in self.series[name].walls]


@dataclass(frozen=True)
class Value:
    """A row's value, how far it scatters (median absolute deviation), and from how many rounds it is."""

    value: float
    spread: float
    rounds: int
    limit: float | None = None
    """What it may be, where that was measured in the same rounds."""
    note: str = ""
    """What it is the value of, where the row does not say."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    key: str
    measure: str
    unit: str
    contenders: tuple[str, ...]
    compute: Callable[[Timings], Value]
    limit: float | None = None
    """What the value may be; None where there is no target, or where the value brings its own."""
    at_least: bool = False
    words: str = ""
    """The target in words, where the limit alone does not tell it."""
    quick: bool = True
    """Whether a quick run has it."""

    @property
    def target(self) -> str:
        """The target as a reader sees it; empty if there is none."""
        if self.words or self.limit is None:
            return self.words
        return f"at {'least' if self.at_least else 'most'} {self.limit:g} {self.unit}"


@dataclass(frozen=True)
class Outcome:
    """A row with what came of it: a value, or why there is none."""

    row: Row
    value: Value | None
    reason: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None where there is none, or no value."""
        if self.value is None or self.limit is None:
            return None
        return self.value.value >= self.limit if self.row.at_least else self.value.value <= self.limit

    @property
    def limit(self) -> float | None:
        """What the value may be."""
        return self.row.limit if self.value is None or self.value.limit is None else self.value.limit


def ratio(above: Sequence[float], below: Sequence[float]) -> Value:
    """The ratio of two medians; its spread is that of the ratios within each round."""
    rounds = [one / other for one, other in zip(above, below, strict=False)]
    return Value(statistics.median(above) / statistics.median(below), deviation(rounds), len(rounds))


def quotient(times: Timings) -> Value:
    """The time of a row's first contender in times of the second's."""
    first, second = times.series.values()
    return ratio(first.walls, second.walls)


def seconds(times: Timings) -> Value:
    """The time of a row's first contender."""
    first = next(iter(times.series.values()))
    return Value(first.wall, first.spread, len(first.runs))


def torchfix(times: Timings) -> Value:
    """How many times faster than TorchFix for each line."""
    return ratio(times.per_line("torchfix"), times.per_line("forklint"))


def fixit(times: Timings) -> Value:
    """How many times faster than Fixit for each line."""
    return ratio(times.per_line("fixit"), times.per_line("forklint"))


def hook_with_finding(times: Timings) -> Value:
    """One changed file with a finding, in seconds, against the import of the library that makes its fix."""
    return replace(seconds(times), limit=times["import-libcst-alone"].wall + HOOK)


def finding(times: Timings) -> Value:
    """One file with a finding, in seconds, against the imports that it cannot do without."""
    return replace(seconds(times), limit=1.3 * times["import-libcst"].wall + 0.1)


def growth(times: Timings) -> Value:
    """How far any size is off the straight line through all of them, in per cent of its time."""
    series = [(times.inputs[name].files, one) for name, one in times.series.items()]
    start, each = line([(files, one.wall) for files, one in series])
    off = [abs(one.wall / (start + each * files) - 1) * 100 for files, one in series]
    noise = max(one.spread / one.wall for _, one in series) * 100
    return Value(max(off), noise, min(len(one.runs) for _, one in series))


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Start and slope of the straight line with the least squares of errors in proportion to each value."""
    weights = [1 / value**2 for _, value in points]
    total = sum(weights)
    middle_x = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    middle_y = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    above = sum(w * (x - middle_x) * (y - middle_y) for w, (x, y) in zip(weights, points, strict=True))
    below = sum(w * (x - middle_x) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    slope = above / below if below else 0.0
    return middle_y - slope * middle_x, slope


def memory(times: Timings) -> Value:
    """What the largest process holds more at the most files than at 10,000, in MB."""
    return _more(times, [max(run.peak for run in one.runs) for one in times.series.values()])


def memory_together(times: Timings) -> Value:
    """The same of all processes together."""
    return _more(times, [max(run.peak_together for run in one.runs) for one in times.series.values()])


def _more(times: Timings, peaks: Sequence[int]) -> Value:
    return Value((max(peaks) - min(peaks)) / MEGABYTE, 0, min(len(one.runs) for one in times.series.values()))


def verify(times: Timings) -> Value:
    """What a proof takes beyond its program, run as often by itself and with as many workers, in per cent."""
    beyond = []
    for run in times["verify"].runs:
        own = sum(run.facts.get(f"trials with {n} workers", 0) * times[f"train-{n}-workers"].wall for n in (0, 4))
        beyond.append((run.wall / own - 1) * 100)
    return Value(statistics.median(beyond), deviation(beyond), len(beyond))


def key_press(times: Timings) -> Value:
    """Within which time 95 of 100 key presses are answered, in seconds."""
    return _told(times["server"], "p95_ms", 1000)


def server_memory(times: Timings) -> Value:
    """What the language server holds at the most while files of a project are edited, in MB."""
    return _told(times["server"], "most_mb", 1)


def _told(series: Series, fact: str, unit: float) -> Value:
    values = [run.facts[fact] / unit for run in series.runs]
    return Value(statistics.median(values), deviation(values), len(values))


def worst_file(times: Timings) -> Value:
    """CPU time over size of the file that is farthest above the mean, in times of the mean; named."""
    runs = times["forklint-each-file"].runs
    paces = runs[-1].facts
    if not paces:
        raise UnmeasuredError("no file without findings is that large")
    worst = max(paces, key=paces.__getitem__)
    return Value(paces[worst], 0, len(runs), note=worst)


def _growing(sizes: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"forklint-{files}-files" for files in sizes)


LARGE = _growing(files for files in SIZES if files >= 10_000)

ROWS = (
    Row(
        "comment",
        "one large project, linted again after a comment was added to one file",
        "s",
        ("forklint-comment",),
        seconds,
        1.5,
    ),
    Row(
        "comment-ruff",
        "the same, compared to Ruff on the whole project",
        "times",
        ("forklint-comment", "ruff-project"),
        quotient,
        0.05 * FIRST_COLD,
        words="at most 0.05 of a cold run of version 0.1",
    ),
    Row(
        "comment-cold",
        "the same, compared to a cold run",
        "times",
        ("forklint-comment", "forklint-project"),
        quotient,
    ),
    Row(
        "project-cold",
        "a cold run on that project, compared to Ruff",
        "times",
        ("forklint-project", "ruff-project"),
        quotient,
    ),
    Row(
        "function",
        "linted again after a function was added to a module that a third of the files import, compared to a cold run",
        "times",
        ("forklint-function", "forklint-project"),
        quotient,
        0.1,
    ),
    Row(
        "hook",
        "commit hook: one changed file, with a warm cache",
        "s",
        ("forklint-hook",),
        seconds,
        HOOK,
    ),
    Row(
        "hook-finding",
        "commit hook: one changed file with a finding",
        "s",
        ("forklint-hook-finding", "import-libcst-alone"),
        hook_with_finding,
        words=f"at most {HOOK:g} s beyond `python -c 'import libcst'`",
    ),
    Row(
        "one-file",
        "one file of that project, without a cache",
        "s",
        ("forklint-one-file",),
        seconds,
        1.5,
    ),
    Row(
        "server",
        "language server: time from a key press to diagnostics in a file of 2,000 lines, 95th percentile",
        "s",
        ("server",),
        key_press,
        0.15,
    ),
    Row("server-memory", "language server: peak memory", "MB", ("server",), server_memory, 300),
    Row(
        "cold-ty",
        "cold run on the corpus with all rules, compared to ty",
        "times",
        ("forklint", "ty"),
        quotient,
        1,
        words="at most ty's time",
    ),
    Row(
        "cold-ty-resolving",
        "the same, compared to ty resolving the packages' own imports",
        "times",
        ("forklint", "ty-resolving"),
        quotient,
        quick=False,
    ),
    Row(
        "cold-pyrefly",
        "the same, compared to pyrefly",
        "times",
        ("forklint", "pyrefly"),
        quotient,
    ),
    Row("cold", "the same, compared to Ruff", "times", ("forklint", "ruff"), quotient),
    Row(
        "cold-mypy",
        "cold run on a part of the corpus, compared to mypy",
        "times",
        ("forklint-part", "mypy"),
        quotient,
        quick=False,
    ),
    Row(
        "torch",
        f"cold run on PyTorch's source ({TORCH.version}), compared to ty",
        "times",
        ("forklint-torch", "ty-torch"),
        quotient,
        1,
        words="at most ty's time",
        quick=False,
    ),
    Row(
        "torch-resolving",
        "the same, compared to ty resolving torch's own imports",
        "times",
        ("forklint-torch", "ty-torch-resolving"),
        quotient,
        quick=False,
    ),
    Row(
        "warm-ruff",
        "nothing changed, warm cache, compared to Ruff with its cache",
        "times",
        ("forklint-warm", "ruff-warm"),
        quotient,
        0.34,
    ),
    Row(
        "torchfix",
        "cold run on the corpus: speedup per line over TorchFix on a sample",
        "times",
        ("forklint", "torchfix"),
        torchfix,
        100,
        at_least=True,
    ),
    Row(
        "torchfix-sample",
        "the sample alone, with startup: speedup over TorchFix",
        "times",
        ("torchfix", "forklint-sample"),
        quotient,
    ),
    Row(
        "fixit",
        "cold run on the corpus: speedup per line over Fixit on a sample",
        "times",
        ("forklint", "fixit"),
        fixit,
    ),
    Row(
        "clean-file",
        "one clean file, with startup, compared to `python -c 'import click'`",
        "times",
        ("forklint-clean-file", "import-click"),
        quotient,
        1.5,
    ),
    Row(
        "finding",
        "one file with a finding, with startup",
        "s",
        ("forklint-finding", "import-libcst"),
        finding,
        words="at most 1.3 times `python -c 'import libcst, click'` plus 0.1 s",
    ),
    Row(
        "flake8",
        "flake8 with the plugin, compared to flake8 without it; nothing changed",
        "times",
        ("flake8-forklint-warm", "flake8"),
        quotient,
        1.05,
    ),
    Row(
        "flake8-cold",
        "the same, without a cache",
        "times",
        ("flake8-forklint", "flake8"),
        quotient,
    ),
    Row(
        "growth",
        "1,000 to 100,000 files: largest deviation from linear time",
        "%",
        _growing(SIZES),
        growth,
        10,
        quick=False,
    ),
    Row(
        "growth-quick",
        "700 to 2,100 files: largest deviation from linear time",
        "%",
        _growing(SMALL_SIZES),
        growth,
        10,
    ),
    Row(
        "memory",
        "10,000 to 100,000 files: growth of the largest process",
        "MB",
        LARGE,
        memory,
        50,
        quick=False,
    ),
    Row(
        "memory-together",
        "10,000 to 100,000 files: growth of all processes together",
        "MB",
        LARGE,
        memory_together,
        50,
        quick=False,
    ),
    Row(
        "worst-file",
        "CPU time per byte, files over 10 kB without findings: slowest file compared to the mean",
        "times",
        ("forklint-each-file",),
        worst_file,
        20,
    ),
    Row(
        "verify",
        "verify: overhead on top of running the program itself",
        "%",
        ("verify", "train-0-workers", "train-4-workers"),
        verify,
        10,
        quick=False,
    ),
)


def chosen(only: Collection[str], *, quick: bool) -> list[Row]:
    """Rows by key, all if none is named; raises ValueError for a key that is none."""
    unknown = sorted(set(only) - {row.key for row in ROWS})
    if unknown:
        raise ValueError(f"no row {', '.join(unknown)}: there are {', '.join(row.key for row in ROWS)}")
    if only:
        return [row for row in ROWS if row.key in only]
    return [row for row in ROWS if (row.quick if quick else row.key != "growth-quick")]


def outcome(row: Row, times: Timings, missing: Mapping[str, str]) -> Outcome:
    """A row's value; where a contender is missing, the reason instead."""
    for name in row.contenders:
        if name not in times.series:
            return Outcome(row, None, missing.get(name, f"{NOT_MEASURED}: {name} was not run"))
    try:
        return Outcome(row, row.compute(Timings({name: times[name] for name in row.contenders}, times.inputs)))
    except UnmeasuredError as error:
        return Outcome(row, None, f"{NOT_MEASURED}: {error}")
