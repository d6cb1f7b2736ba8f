"""The files that the paths of a command mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.cli.output import say
from forklint.config import SettingsFinder
from forklint.source.discovery import Missing, find_files, never_walked


def find(finder: SettingsFinder, paths: Sequence[Path]) -> tuple[list[Path], list[Missing]]:
    """The files below the paths, and what was named and cannot be linted, of which it speaks; raises ConfigError."""
    found = list(
        find_files(paths, lambda path: finder.for_file(path).excludes(path), lambda path: left_out(finder, path))
    )
    missing = [item for item in found if isinstance(item, Missing)]
    for item in missing:
        say(f"{item.path}: {item.reason}")
    return [item for item in found if isinstance(item, Path)], missing


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
