"""Screen: whether a file may make a loader, judged by bytes alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from forklint.project.index import Project

LOADER = re.compile(rb"Loader\b|TrainingArguments|\bdataloader_")
NAMED = re.compile(
    rb"^[ \t]*class[ \t]+(\w+)[ \t]*\([^)]*(?:Loader|TrainingArguments)\b"
    rb"|Loader[ \t]+as[ \t]+(\w+)|^[ \t]*(\w+)[ \t]*=[ \t]*[\w.]*Loader[ \t]*(?:#|$)",
    re.MULTILINE,
)
"""Where a loader gets a name of its own: a class that derives from one, an import, an assignment."""
DERIVED = rb"^[ \t]*class[ \t]+(\w+)[ \t]*\([^)]*\b(?:%b)\b|\b(?:%b)[ \t]+as[ \t]+(\w+)"


def may_make_loader(project: Project, data: bytes) -> bool:
    """Whether a text names a loader, or what the project names one otherwise."""
    if _says_loader(data):
        return True
    return any(name in data and pattern.search(data) for name, pattern in _other_names(project))


def _says_loader(data: bytes) -> bool:
    """Whether LOADER has a match; plain bytes are found faster."""
    return (
        any(word in data for word in (b"Loader", b"TrainingArguments", b"dataloader_"))
        and LOADER.search(data) is not None
    )


def _says(names: frozenset[bytes], data: bytes) -> bool:
    return any(name in data for name in names)


def _other_names(project: Project) -> tuple[tuple[bytes, re.Pattern[bytes]], ...]:
    """The names that the project gives to loaders and that do not say so, with what finds each as a whole word."""
    memory = project.memory("other names of loaders")
    if "names" not in memory:
        names, new = set[bytes](), _found(project, NAMED, _says_loader)
        while new - names:
            names |= new
            joined = b"|".join(map(re.escape, sorted(names)))
            new = _found(
                project, re.compile(DERIVED % (joined, joined), re.MULTILINE), partial(_says, frozenset(names))
            )
        memory["names"] = tuple((name, re.compile(rb"\b%b\b" % re.escape(name))) for name in sorted(names))
    found: tuple[tuple[bytes, re.Pattern[bytes]], ...] = memory["names"]
    return found


def _found(project: Project, pattern: re.Pattern[bytes], shows: Callable[[bytes], bool]) -> set[bytes]:
    """The names that a pattern finds in the files that show a sign, which is cheaper to look for."""
    texts = (data for path in project.files if shows(data := project.data(path)))
    groups = (match.groups() for data in texts for match in pattern.finditer(data))
    return {name for group in groups for name in group if name and not LOADER.search(name)}
