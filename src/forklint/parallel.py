"""Lints files in several processes and collects the reports in the order of the paths."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from forklint.config import SettingsFinder
from forklint.dealing import Deck
from forklint.model import FileReport
from forklint.project.seen import Seen
from forklint.records import dataclass
from forklint.source.paths import from_root, shown

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.context import BaseContext

    from forklint.fixing import Fixed
    from forklint.linters import Linters
    from forklint.prefilter import Prefilter
    from forklint.project.library import Library

    Libraries = Mapping[tuple[Path, Path | None], Library]
    """What is known of projects, by their roots and the files of their settings."""

T = TypeVar("T")
SHARES = 8
"""Into so many shares for each process the files of a project are cut that are summarised."""
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

    @property
    def variant(self) -> str:
        """How files are linted apart from their settings."""
        return f"screen={self.screen} fixes={self.with_fixes}"

    def clears(self, path: Path, data: bytes) -> bool:
        """Whether nothing is to be said of a file that holds ``data``; False where a project must tell."""
        return self.screen and self._prefilter.clears(path, data)

    @cached_property
    def _prefilter(self) -> Prefilter:
        from forklint.prefilter import Prefilter  # noqa: PLC0415 - not for many files

        return Prefilter(self.finder)

    def linters(self, libraries: Libraries | None = None) -> Linters:
        """New linters, with nothing known of any project but ``libraries``."""
        from forklint.engine import Options  # noqa: PLC0415 - all rules; not where all is known
        from forklint.linters import Linters  # noqa: PLC0415 - all rules; not where all is known

        options = Options(screen=self.screen, with_fixes=self.with_fixes, named=self.named)
        return Linters(self.finder, options, (libraries or {}).get)


def lint(
    job: Job, files: Sequence[Path], processes: int | None = None, tell: Callable[[str], None] | None = None
) -> list[FileReport]:
    """Lint files with up to ``processes`` processes (None: as many as there are cores); raises ConfigError.

    What is known of earlier runs is not done again if the job says so; ``tell`` hears why something is not kept.
    """
    cleared = _cleared(job, files) if len(files) <= FEW else {}
    suspected = [path for path in files if path not in cleared]
    reports = iter(_lint_suspected(job, suspected, processes or available_cores(), tell) if suspected else ())
    return [cleared[path] if path in cleared else next(reports) for path in files]


def _cleared(job: Job, files: Sequence[Path]) -> dict[Path, FileReport]:
    """The reports of those files of which nothing is to be said; told anew each time, they need not be kept."""
    from forklint.source import document  # noqa: PLC0415 - not for many files: they are stamped, not read

    cleared = {}
    for path in files:
        with contextlib.suppress(document.UnreadableError):
            if job.clears(path, document.read(path)):
                cleared[path] = FileReport(shown(path))
    return cleared


def _lint_suspected(
    job: Job, files: Sequence[Path], processes: int, tell: Callable[[str], None] | None
) -> list[FileReport]:
    if not job.keeps:
        return [one for one, _ in _lint_anew(job, files, processes, {}).reports]
    from forklint.incremental.lookup import Lookup  # noqa: PLC0415 - a run that keeps nothing needs none of it

    lookup = Lookup(job.finder, files, job.variant, job.named, tell or _say_nothing)
    try:
        done = _lint_anew(job, lookup.missing, processes, lookup.libraries()) if lookup.missing else Done()
        return lookup.complete(done.reports, done.seen, done.libraries)
    finally:
        lookup.close()


def _say_nothing(_: str) -> None:
    pass


def _lint_anew(job: Job, files: Sequence[Path], processes: int, stored: Libraries) -> Done:
    """Lint files, with what is stored of their projects."""
    count = min(processes, max(1, len(files) // FEW))
    libraries = {**stored, **_gathered(job, files, count, stored)}
    if count == 1:
        done = _lint_with(job.linters(libraries), files, keeps=job.keeps)
        return replace(done, libraries=libraries)
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - not needed for a few files

    context = _context()
    deck = Deck(files, count, context)
    with ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=(job, deck, libraries)) as pool:
        waiting = [pool.submit(_lint_run) for _ in range(len(deck))]
        runs = sorted((one.result() for one in waiting), key=lambda run: run.place)
    return Done.together([run.done for run in runs], libraries)


def _gathered(job: Job, files: Sequence[Path], processes: int, stored: Libraries) -> Libraries:
    """Summarise the files of those projects of which most are to be linted, if nothing is stored of them."""
    if len(files) < FEW:
        return {}
    from forklint.incremental import gathering  # noqa: PLC0415 - not needed for a few files

    wanted = gathering.wanted(job.finder, files, stored)
    if processes == 1:
        return {
            place: gathering.GatheredLibrary(own, map(gathering.gather, gathering.in_shares(own.paths, SHARES)))
            for place, own in wanted.items()
        }
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    with ProcessPoolExecutor(processes, mp_context=_context(), initializer=_settle_in) as pool:
        shares = {place: gathering.in_shares(own.paths, processes * SHARES) for place, own in wanted.items()}
        parts = {place: [pool.submit(gathering.gather, share) for share in some] for place, some in shares.items()}
        return {place: gathering.GatheredLibrary(own, _results(parts.pop(place))) for place, own in wanted.items()}


def _results(waiting: list[Future[T]]) -> Iterator[T]:
    """Give what is waited for, in order; each result is let go once it was given."""
    waiting.reverse()
    while waiting:
        yield waiting.pop().result()


def _context() -> BaseContext:
    import multiprocessing  # noqa: PLC0415 - not needed for a few files

    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def fix_all(job: Job, files: Sequence[Path], processes: int | None, *, unsafe: bool, write: bool) -> list[Fixed]:
    """Lint all files, fix those that have something to fix, one after another, and judge them again.

    Gives one Fixed a file, in the order of ``files``; raises ConfigError.
    """
    from forklint.fixing import Fixed, applicable, fix  # noqa: PLC0415 - as in ``Job.linters``

    reports = lint(job, files, processes)
    linters = job.linters()
    results = [Fixed(report, (), "", "") for report in reports]
    failed: set[int] = set()  # what was said of these stays: on the disk they are something else meanwhile
    for _ in range(MAX_PASSES):
        open_cases = [
            i
            for i, result in enumerate(results)
            if i not in failed and any(applicable(f, unsafe=unsafe) for f in result.report.findings)
        ]
        changed = False
        for index in open_cases:
            path = files[index]
            done = fix(linters.of(path), path, unsafe=unsafe, write=write)
            results[index] = _merge(results[index], done)
            changed |= bool(done.applied)
            failed |= {index} if any(note.failure for note in done.report.notes) else set()
        if not changed:
            break
        for index, result in enumerate(results):
            if result.report.findings and not result.applied and index not in failed:
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


Reports = list[tuple[FileReport, bytes]]
"""Reports, each with what it rests on as ``project.rests`` writes it, if that is wanted."""


@dataclass(frozen=True)
class Done:
    """What came of linting some files."""

    reports: Reports = field(default_factory=list)
    seen: dict[tuple[Path, Path | None], Seen] = field(default_factory=dict)
    """What was seen of the disk, for each project."""
    libraries: Libraries = field(default_factory=dict)

    @staticmethod
    def together(parts: Sequence[Done], libraries: Libraries) -> Done:
        """What came of several parts, in their order."""
        done = Done(libraries=libraries)
        for part in parts:
            done.reports.extend(part.reports)
            _add(done.seen, part.seen)
        return done


@dataclass(frozen=True)
class Run:
    """What was found in a run of files."""

    place: tuple[int, int]
    """Its place among all runs."""
    done: Done


@dataclass(frozen=True)
class Worker:
    """What a process needs to lint one run after another."""

    linters: Linters
    keeps: bool
    deck: Deck
    seat: int


_worker: Worker | None = None
"""Made once by ``_start``, in each process."""


def _start(job: Job, deck: Deck, libraries: Libraries) -> None:
    global _worker  # noqa: PLW0603 - a pool's initializer has no other way to leave something behind
    _settle_in()
    _worker = Worker(job.linters(libraries), job.keeps, deck, deck.seat())


def _settle_in() -> None:
    """Leave Ctrl-C to the first process, which ends this one, and end as well if that one is killed."""
    import multiprocessing  # noqa: PLC0415 - not needed for a few files
    import signal  # noqa: PLC0415 - as multiprocessing
    import threading  # noqa: PLC0415 - as multiprocessing

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    first = multiprocessing.parent_process()
    if first is not None:
        threading.Thread(target=_end_with, args=(first.pid,), daemon=True).start()


def _end_with(first: int | None) -> None:
    """Wait until a process is gone: the pipes do not tell, for each forked process holds those of the others open."""
    while os.getppid() == first:
        time.sleep(1)
    os._exit(1)


def _lint_run() -> Run:
    assert _worker is not None  # noqa: S101 - the pool ran _start
    place, files = _worker.deck.take(_worker.seat)
    return Run(place, _lint_with(_worker.linters, files, keeps=_worker.keeps))


def _lint_with(linters: Linters, files: Iterable[Path], *, keeps: bool) -> Done:
    gc.disable()  # trees live as long as their project, so there is nothing to collect: a third of the time otherwise
    done = Done()
    last = None
    for path in files:
        linter = linters.of(path)
        left = linters.leave(linter) if linter is not last else {}
        last = linter
        if left:
            _add(done.seen, {key: project.news() for key, project in left.items()} if keeps else {})
            for project in left.values():
                project.dissolve()
        report, rests = linter.watched(path)
        done.reports.append((report, linter.project.encoded(rests) if keeps else b""))
    _add(done.seen, linters.news() if keeps else {})
    return done


def _add(seen: dict[tuple[Path, Path | None], Seen], news: Mapping[tuple[Path, Path | None], Seen]) -> None:
    for place, some in news.items():
        seen.setdefault(place, Seen()).add(some)
