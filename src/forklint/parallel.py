"""Deals files out to processes and gathers what each had to say, in the order of the paths."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.config import SettingsFinder
from forklint.engine import Linters, Options
from forklint.model import FileReport
from forklint.source.paths import from_root

if TYPE_CHECKING:
    from forklint.fixing import Fixed

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

    def settings(self) -> SettingsFinder:
        """Where the settings of each file come from."""
        return SettingsFinder(self.overrides, config=self.config, isolated=self.isolated)

    def linters(self) -> Linters:
        """New linters, with nothing known of any project."""
        return Linters(self.settings(), Options(screen=self.screen, with_fixes=self.with_fixes, named=self.named))


def lint(job: Job, files: Sequence[Path], processes: int | None = None) -> list[FileReport]:
    """Lint files with up to ``processes`` processes (None: as many as there are cores); raises ConfigError."""
    count = min(processes or available_cores(), max(1, len(files) // FEW))
    if count == 1:
        return _lint_here(job, files)
    import multiprocessing  # noqa: PLC0415 - not needed for a few files
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    chunks = _deal(files, count * 8)
    with ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=(job,)) as pool:
        return [report for reports in pool.map(_lint_chunk, chunks) for report in reports]


def fix_all(job: Job, files: Sequence[Path], processes: int | None, *, unsafe: bool, write: bool) -> list[Fixed]:
    """Lint all files, fix those that have something to fix, one after another, and judge them again.

    Gives one Fixed a file, in the order of ``files``; raises ConfigError.
    """
    from forklint.fixing import Fixed, applicable, fix  # noqa: PLC0415 - most runs change nothing

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
    from forklint.fixing import Fixed  # noqa: PLC0415 - as above

    before = first.before if first.applied else second.before
    return Fixed(second.report, (*first.applied, *second.applied), before, second.after)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_linters: Linters | None = None
"""The linters of a worker process, made once by ``_start``."""


def _start(job: Job) -> None:
    global _linters  # noqa: PLW0603 - a pool's initializer has no other way to leave something behind
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the first process too, which ends this one
    _linters = job.linters()


def _lint_chunk(files: Sequence[Path]) -> list[FileReport]:
    assert _linters is not None  # noqa: S101 - the pool ran _start
    return _lint_with(_linters, files)


def _lint_here(job: Job, files: Iterable[Path]) -> list[FileReport]:
    return _lint_with(job.linters(), files)


def _lint_with(linters: Linters, files: Iterable[Path]) -> list[FileReport]:
    gc.disable()  # trees live until the end, so there is nothing to collect: a third of the time otherwise
    return [linters.of(path).lint(path) for path in files]


def _deal(files: Sequence[Path], parts: int) -> list[Sequence[Path]]:
    """Cut the files into runs of about equal size on disk; neighbours stay together, since they share imports."""
    sizes = [_size(path) for path in files]
    share = sum(sizes) / parts + 1
    chunks: list[list[Path]] = [[]]
    taken = 0.0
    for path, size in zip(files, sizes, strict=True):
        if chunks[-1] and taken + size > share:
            chunks.append([])
            taken = 0
        chunks[-1].append(path)
        taken += size
    return list(chunks)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size + 1
    except OSError:
        return 1
