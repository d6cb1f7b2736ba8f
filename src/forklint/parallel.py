"""Deals files out to processes and gathers what each had to say, in the order of the paths."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.config import SettingsFinder
from forklint.dealing import Deck
from forklint.model import FileReport
from forklint.project.evidence import Evidence
from forklint.records import dataclass
from forklint.source.paths import from_root, shown

if TYPE_CHECKING:
    from forklint.engine import Linters
    from forklint.fixing import Fixed
    from forklint.prefilter import Prefilter

FEW = 24
"""So few files are linted faster in one process than a second one starts."""
MAX_PASSES = 5
"""A fix in one file may show or mend a finding in another; this often they are looked at again."""


@dataclass(frozen=True)
class Job:
    """How to lint a set of files; plain data, so that it can be sent to another process."""

    overrides: Mapping[str, Any] = field(default_factory=dict)
    config: Path | None = None
    isolated: bool = False
    screen: bool = True
    with_fixes: bool = True
    named: frozenset[str] = frozenset()
    """Paths that the user gave, as shown: of these it is told why they cannot be read, though nothing is in them."""
    keeps: bool = False
    """Whether reports are kept for later runs, and those of earlier ones taken."""

    @cached_property
    def finder(self) -> SettingsFinder:
        """Where the settings of each file come from."""
        return SettingsFinder(self.overrides, config=self.config, isolated=self.isolated)

    def clears(self, path: Path, data: bytes) -> bool:
        """Whether nothing is to be said of a file that holds ``data``; False where a project must tell."""
        return self.screen and self._prefilter.clears(path, data)

    @cached_property
    def _prefilter(self) -> Prefilter:
        from forklint.prefilter import Prefilter  # noqa: PLC0415 - not for many files

        return Prefilter(self.finder)

    def linters(self) -> Linters:
        """New linters, with nothing known of any project."""
        from forklint.engine import Linters, Options  # noqa: PLC0415 - all rules; not where all is known

        return Linters(self.finder, Options(screen=self.screen, with_fixes=self.with_fixes, named=self.named))


Seen = dict[tuple[Path, Path | None], Evidence]
"""What reports rest on, for each project: its root and the file of its settings."""


def lint(
    job: Job, files: Sequence[Path], processes: int | None = None, tell: Callable[[str], None] | None = None
) -> list[FileReport]:
    """Lint files with up to ``processes`` processes (None: as many as there are cores); raises ConfigError.

    What is known of earlier runs is not done again if the job says so; ``tell`` hears why something is not kept.
    """
    cleared = _cleared(job, files) if len(files) <= FEW else {}
    suspected = [path for path in files if path not in cleared]
    reports = iter(_lint_suspected(job, suspected, processes, tell) if suspected else ())
    return [cleared[path] if path in cleared else next(reports) for path in files]


def _cleared(job: Job, files: Sequence[Path]) -> dict[Path, FileReport]:
    """The reports of those files of which nothing is to be said, and nothing need be known or kept to tell."""
    from forklint.source import document  # noqa: PLC0415 - not for many files: they are stamped, not read

    cleared = {}
    for path in files:
        with contextlib.suppress(document.UnreadableError):
            if job.clears(path, document.read(path)):
                cleared[path] = FileReport(shown(path))
    return cleared


def _lint_suspected(
    job: Job, files: Sequence[Path], processes: int | None, tell: Callable[[str], None] | None
) -> list[FileReport]:
    if not job.keeps:
        return _lint_anew(job, files, processes)[0]
    from forklint.cache.lookup import Lookup  # noqa: PLC0415 - a run that keeps nothing needs none of it

    variant = f"screen={job.screen} fixes={job.with_fixes}"
    lookup = Lookup(job.finder, files, variant, job.named, tell or _say_nothing)
    fresh, seen = _lint_anew(job, lookup.missing, processes) if lookup.missing else ([], {})
    return lookup.complete(fresh, seen)


def _say_nothing(_: str) -> None:
    pass


def _lint_anew(job: Job, files: Sequence[Path], processes: int | None) -> tuple[list[FileReport], Seen]:
    """Lint files, whatever is kept; give what the reports rest on beside them, if the job keeps any."""
    count = min(processes or available_cores(), max(1, len(files) // FEW))
    if count == 1:
        return _lint_with(job.linters(), files, keeps=job.keeps)
    import multiprocessing  # noqa: PLC0415 - not needed for a few files
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    deck = Deck(files, count, context)
    with ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=(job, deck)) as pool:
        done = [pool.submit(_lint_run) for _ in range(len(deck))]
        runs = sorted((one.result() for one in done), key=lambda run: run.place)
    return _together((run.reports, run.seen) for run in runs)


def fix_all(job: Job, files: Sequence[Path], processes: int | None, *, unsafe: bool, write: bool) -> list[Fixed]:
    """Lint all files, fix those that have something to fix, one after another, and judge them again.

    Gives one Fixed a file, in the order of ``files``; raises ConfigError.
    """
    from forklint.fixing import Fixed, applicable, fix  # noqa: PLC0415 - as in ``Job.linters``

    reports = lint(job, files, processes)
    linters = job.linters()
    results = [Fixed(report, (), "", "") for report in reports]
    for _ in range(MAX_PASSES):
        open_cases = [
            i for i, result in enumerate(results) if any(applicable(f, unsafe=unsafe) for f in result.report.findings)
        ]
        changed = False
        for index in open_cases:
            path = files[index]
            done = fix(linters.of(path), path, unsafe=unsafe, write=write)
            results[index] = _merge(results[index], done)
            changed |= bool(done.applied)
        if not changed:
            break
        for index, result in enumerate(results):
            if result.report.findings and not result.applied:
                results[index] = Fixed(_again(linters, files[index]), result.applied, result.before, result.after)
    return results


def _again(linters: Linters, path: Path) -> FileReport:
    linter = linters.of(path)
    return linter.lint_bytes(path, linter.project.data(from_root(path)))


def _merge(first: Fixed, second: Fixed) -> Fixed:
    from forklint.fixing import Fixed  # noqa: PLC0415 - as in ``Job.linters``

    before = first.before if first.applied else second.before
    return Fixed(second.report, (*first.applied, *second.applied), before, second.after)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Run:
    """What was found in a run of files."""

    place: tuple[int, int]
    """Its place among all runs."""
    reports: list[FileReport]
    seen: Seen


@dataclass(frozen=True)
class Worker:
    """What a process needs to lint one run after another."""

    linters: Linters
    keeps: bool
    deck: Deck
    seat: int


_worker: Worker | None = None
"""Made once by ``_start``, in each process."""


def _start(job: Job, deck: Deck) -> None:
    global _worker  # noqa: PLW0603 - a pool's initializer has no other way to leave something behind
    import signal  # noqa: PLC0415 - as multiprocessing

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the first process too, which ends this one
    _worker = Worker(job.linters(), job.keeps, deck, deck.seat())


def _lint_run() -> Run:
    assert _worker is not None  # noqa: S101 - the pool ran _start
    place, files = _worker.deck.take(_worker.seat)
    return Run(place, *_lint_with(_worker.linters, files, keeps=_worker.keeps))


def _lint_with(linters: Linters, files: Iterable[Path], *, keeps: bool) -> tuple[list[FileReport], Seen]:
    gc.disable()  # trees live as long as their project, so there is nothing to collect: a third of the time otherwise
    reports, seen = [], Seen()
    last = None
    for path in files:
        linter = linters.of(path)
        left = linters.leave(linter) if linter is not last else {}
        last = linter
        if left:
            _add(seen, {key: project.evidence() for key, project in left.items()} if keeps else {})
            left.clear()
            gc.collect()
        reports.append(linter.lint(path))
    _add(seen, linters.evidence() if keeps else {})
    return reports, seen


def _together(parts: Iterable[tuple[list[FileReport], Seen]]) -> tuple[list[FileReport], Seen]:
    reports, seen = [], Seen()
    for some, news in parts:
        reports += some
        _add(seen, news)
    return reports, seen


def _add(seen: Seen, news: Seen) -> None:
    for place, evidence in news.items():
        seen.setdefault(place, Evidence()).add(evidence)
