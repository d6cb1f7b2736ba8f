"""What the conclusions of a project saw of the disk: contents, walks, folders, questions about paths, searches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TypeVar

from forklint.records import dataclass

T = TypeVar("T")
WALKED = ("files", "presets", "left_out")
"""What a walk tells."""
SAMPLE = re.compile(r"^(sample|example|template|default|dist)[_-]|[_-](sample|example|template|default|dist)$")
"""What a sample has in its name, before or after that of the file which is to be made from it."""


@dataclass
class Seen:
    """Plain data, so that it can be sent from one process to another."""

    contents: dict[str, str] = field(default_factory=dict)
    """Files and the digests of what was in them; a file that cannot be read counts as an empty one."""
    files: tuple[str, ...] | None = None
    """The Python files of the project, if they were walked."""
    presets: tuple[str, ...] | None = None
    """Its files of settings, likewise."""
    folders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Each folder that was looked into for modules, with the names in it that can be one."""
    paths: dict[str, int] = field(default_factory=dict)
    """Questions about one path, ``kind:path``, and the answers: ``file``: is it one; ``folder``; ``size`` in bytes;
    ``beside``: see ``beside``."""
    sought: set[str] = field(default_factory=set)
    """Texts that were searched for in all Python files."""
    left_out: tuple[str, ...] | None = None
    """What no walk gives and an import could find, if there was a walk."""
    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Patterns that were looked for in single files, with their words (see ``searches``)."""
    groups: dict[int, bytes] = field(default_factory=dict)
    """Groups of facts on which reports rest together (see ``project.rests``)."""
    is_consistent: bool = True
    """Whether nothing was seen in two states."""

    def add(self, other: Seen) -> None:
        """Take in what else was seen."""
        agrees = other.is_consistent
        for name in WALKED:
            mine, its = getattr(self, name), getattr(other, name)
            agrees &= mine is None or its is None or mine == its
            setattr(self, name, its if mine is None else mine)
        agrees &= _agree(self.contents, other.contents)
        agrees &= _agree(self.folders, other.folders)
        agrees &= _agree(self.paths, other.paths)
        self.sought |= other.sought
        self.patterns |= other.patterns
        self.groups |= other.groups
        self.is_consistent &= agrees

    def put(self, other: Seen) -> None:
        """Take in what was seen later, in place of what it contradicts."""
        for name in WALKED:
            setattr(self, name, getattr(self, name) if getattr(other, name) is None else getattr(other, name))
        self.contents |= other.contents
        self.folders |= other.folders
        self.paths |= other.paths
        self.sought |= other.sought
        self.patterns |= other.patterns


def _agree(mine: dict[str, T], its: Mapping[str, T]) -> bool:
    """Put into one table what another has more; whether both say the same of what they share."""
    agrees = True
    for key, value in its.items():
        agrees &= mine.setdefault(key, value) == value
    return agrees


def question(kind: str, path: object) -> str:
    """A question about a path as a key of ``Seen.paths``."""
    return f"{kind}:{path}"


def importable(names: Iterable[str]) -> tuple[str, ...]:
    """The names in a folder that can be modules or packages, sorted."""
    return tuple(sorted(name for name in names if ("." not in name or name.endswith(".py")) and name != "__pycache__"))


def beside(path: str) -> int:
    """Whether the folder of a path without a suffix has the file of a module of that name, or what it is made from.

    That is any file of the name, whatever its suffix, and a sample of it: ``sample_config.py`` for ``config``.
    """
    asked = Path(path)
    try:
        entries = list(asked.parent.iterdir())
    except OSError:
        return 0
    return int(any(_is_named(entry.name.partition(".")[0].lower(), asked.name.lower()) for entry in entries))


def _is_named(entry: str, stem: str) -> bool:
    return entry == stem or SAMPLE.sub("", entry) == stem
