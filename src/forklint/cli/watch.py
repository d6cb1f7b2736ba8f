"""``--watch``: run now, and again whenever a file changes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from forklint.cli.errors import INTERRUPTED, Failure
from forklint.cli.output import say
from forklint.config import ConfigError, SettingsFinder
from forklint.records import dataclass
from forklint.source import discovery
from forklint.source.discovery import IGNORE_FILES, NEVER
from forklint.source.kinds import LINTED_SUFFIXES, SUFFIXES
from forklint.source.paths import from_root
from forklint.source.roots import FILES, Extent, find_extent

SETTINGS = (*FILES, *IGNORE_FILES)
States = dict[Path, tuple[int, int]]


def watch(
    paths: Sequence[Path], finder: Callable[[], SettingsFinder], run: Callable[[], object], report: Path | None
) -> int:
    """Call ``run`` now and after each change in the projects of ``paths``, until Ctrl-C; returns the exit code.

    Everything is linted again each time, since a change in one file may add or remove a finding in another.
    Changes of ``report``, which the runs write, are ignored. Raises Failure if nothing can be watched.
    """
    import watchfiles  # noqa: PLC0415 - only needed here

    extents, named = _extents(paths), [from_root(path) for path in paths if path.is_file()]
    folders = [extent.walked for extent in extents]

    def state(settings: SettingsFinder | None) -> States:
        found = _files(extents, named, settings)
        found.pop(Path(os.path.realpath(report or os.devnull)), None)
        return found

    try:
        seen = state(finder())
        _again(run)
        say(f"watching {', '.join(map(str, folders))}; press Ctrl-C to stop")
        events = watchfiles.watch(
            *folders,
            watch_filter=_Names(folders, named),
            rust_timeout=500,
            yield_on_timeout=True,
            raise_interrupt=True,
            recursive=not all(extent.is_flat for extent in extents),
        )
        first = True
        for changes in events:
            if not (changes or first):
                continue
            first = False  # what changed before the watch began shows in the first comparison
            now = state(_settings(finder))
            if now != seen or any(Path(path).name in SETTINGS for _, path in changes):
                seen = now
                _again(run)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has ended
        raise
    except OSError as error:
        raise Failure(f"cannot watch {', '.join(map(str, folders))}: {error}") from None
    return 0


def _extents(paths: Sequence[Path]) -> list[Extent]:
    """The project of each path, without projects inside others: imports and settings come from there."""
    for path in paths:
        if not path.exists():
            raise Failure(f"{path}: no such file or directory")
    found = {extent.walked: extent for extent in map(_extent, paths)}
    deep = {folder for folder, extent in found.items() if not extent.is_flat}
    return [found[folder] for folder in sorted(found) if deep.isdisjoint(folder.parents)]


def _extent(path: Path) -> Extent:
    """The project that a path belongs to; a directory outside of any project is watched as a whole."""
    if not path.is_dir():
        return find_extent(path)
    extent = find_extent(path / "x")
    return Extent(extent.root, extent.walked) if extent.is_bounded else extent


@dataclass(frozen=True)
class _Names:
    """Filters by name what a run may read: training may write thousands of other files a minute."""

    folders: Sequence[Path]
    named: Sequence[Path]

    def __call__(self, _change: object, path: str) -> bool:
        file = Path(path)
        if file in self.named:
            return True
        within = next((file.relative_to(folder) for folder in self.folders if folder in file.parents), file)
        read = file.suffix.lower() in SUFFIXES or file.name in SETTINGS
        return read and NEVER.isdisjoint(within.parts)


def _settings(finder: Callable[[], SettingsFinder]) -> SettingsFinder | None:
    try:
        return finder()
    except ConfigError:
        return None


def _files(extents: Sequence[Extent], named: Iterable[Path], finder: SettingsFinder | None) -> States:
    """The files that a run may read, with their modification times and sizes."""
    discovery.forget_ignore_files()

    def excluded(path: Path) -> bool:
        try:
            return finder is not None and finder.for_file(path).excludes(path)
        except ConfigError:
            return False

    found: States = {}
    whole = [extent.walked for extent in extents if not extent.is_bounded]
    below = [path for path in discovery.find_files(whole, excluded) if isinstance(path, Path)]
    for extent in extents:
        if extent.is_bounded:
            below += discovery.walk(extent, excluded, LINTED_SUFFIXES).paths
    settings = [path for extent in extents for path in _settings_of(extent.root, finder)]
    for path in (*below, *settings, *named):
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = (status.st_mtime_ns, status.st_size)
    return found


def _settings_of(folder: Path, finder: SettingsFinder | None) -> list[Path]:
    try:
        baseline = finder.for_folder(folder).baseline_file if finder else None
    except ConfigError:
        baseline = None
    return [*(folder / name for name in SETTINGS), *([baseline] if baseline else [])]


def _again(run: Callable[[], object]) -> None:
    """One run on a cleared screen; errors are printed, and watching continues."""
    if sys.stdout.isatty():
        click.clear()
    try:
        run()
    except ConfigError as error:
        say(str(error))
    except click.ClickException as error:
        say(error.format_message())
    sys.stdout.flush()
    gc.enable()  # a run relies on the process ending soon, which this one does not
    gc.collect()
