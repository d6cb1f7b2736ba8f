"""The files to lint, from the paths on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.cli.output import say
from forklint.config import SettingsFinder
from forklint.source import discovery
from forklint.source.discovery import Missing, find_files, never_walked
from forklint.source.paths import shown
from forklint.source.roots import ROOT_MARKS, Roots


def find(finder: SettingsFinder, paths: Sequence[Path]) -> tuple[list[Path], list[Missing]]:
    """The files at and below the paths, and the paths that cannot be linted, which are reported; raises ConfigError."""
    found = list(
        find_files(paths, lambda path: finder.for_file(path).excludes(path), lambda path: left_out(finder, path))
    )
    missing = [item for item in found if isinstance(item, Missing)]
    for item in missing:
        say(f"{item.path}: {item.reason}")
    return [item for item in found if isinstance(item, Path)], missing


def say_what_is_bounded(finder: SettingsFinder, files: Sequence[Path]) -> None:
    """Report directories that belong to no project, of which only some files are read; raises ConfigError."""
    roots = Roots()
    named = {path.parent: path for path in files}
    extents = {extent.walked: (extent, path) for path in named.values() if (extent := roots.of(path)).is_bounded}
    *others, last = ROOT_MARKS
    for folder, (extent, path) in extents.items():
        if not discovery.walk(extent, finder.for_file(path).excludes).is_whole:
            say(
                f"{shown(folder)}: no project found (no {', '.join(others)} or {last}), "
                f"so only the first {discovery.MOST_FILES:,} files and their imports are analyzed together"
            )


def interpreter(python: Path) -> Path:
    """The interpreter that the user named; a bare name is looked up on PATH."""
    if python.exists() or python.parent != Path():
        return python
    import shutil  # noqa: PLC0415 - linting does not need it

    return Path(shutil.which(python) or python)


def left_out(finder: SettingsFinder, path: Path) -> bool:
    """Whether a path is excluded even if it is passed on the command line."""
    settings = finder.for_file(path)
    return settings.force_exclude and (settings.excludes(path) or never_walked(path, settings.base))
