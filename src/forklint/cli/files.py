"""The files that the paths of a command mean."""

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
    """The files below the paths, and what was named and cannot be linted, of which it speaks; raises ConfigError."""
    found = list(
        find_files(paths, lambda path: finder.for_file(path).excludes(path), lambda path: left_out(finder, path))
    )
    missing = [item for item in found if isinstance(item, Missing)]
    for item in missing:
        say(f"{item.path}: {item.reason}")
    return [item for item in found if isinstance(item, Path)], missing


def say_what_is_bounded(finder: SettingsFinder, files: Sequence[Path]) -> None:
    """Say of which projects not all files are read, since nothing marks where they end; raises ConfigError."""
    roots = Roots()
    named = {path.parent: path for path in files}
    extents = {extent.walked: (extent, path) for path in named.values() if (extent := roots.of(path)).is_bounded}
    *others, last = ROOT_MARKS
    for folder, (extent, path) in extents.items():
        if not discovery.walk(extent, finder.for_file(path).excludes).is_whole:
            say(
                f"{shown(folder)}: no {', '.join(others)} or {last} marks a project here, "
                f"so at most {discovery.MOST_FILES:,} files are read together, and what they import"
            )


def interpreter(python: Path) -> Path:
    """The program that a user names, if need be looked for as a shell does."""
    if python.exists() or python.parent != Path():
        return python
    import shutil  # noqa: PLC0415 - a linter of files needs it not

    return Path(shutil.which(python) or python)


def left_out(finder: SettingsFinder, path: Path) -> bool:
    """Whether a path is left out though it is named."""
    settings = finder.for_file(path)
    return settings.force_exclude and (settings.excludes(path) or never_walked(path, settings.base))
