"""Screen: whether a file may make a loader, judged by bytes alone."""

from __future__ import annotations

import re

from forklint.project.index import Project

LOADER = re.compile(rb"Loader\b|TrainingArguments")
NAMED = re.compile(
    rb"^[ \t]*class[ \t]+(\w+)[ \t]*\([^)]*(?:Loader|TrainingArguments)\b"
    rb"|Loader[ \t]+as[ \t]+(\w+)|^[ \t]*(\w+)[ \t]*=[ \t]*[\w.]*Loader[ \t]*(?:#|$)",
    re.MULTILINE,
)
"""Where a loader gets a name of its own: a class that derives from one, an import, an assignment."""
DERIVED = rb"^[ \t]*class[ \t]+(\w+)[ \t]*\([^)]*\b(?:%b)\b|\b(?:%b)[ \t]+as[ \t]+(\w+)"


def may_make_loader(project: Project, data: bytes) -> bool:
    """Whether a text names a loader, or what the project names one otherwise."""
    if LOADER.search(data):
        return True
    names = _other_names(project)
    return names is not None and bool(names.search(data))


def _other_names(project: Project) -> re.Pattern[bytes] | None:
    """Finds the names that the project gives to loaders and that do not say so; None if there is none."""
    memory = project.memory("other names of loaders")
    if "pattern" not in memory:
        names, new = set[bytes](), _found(project, NAMED, LOADER)
        while new - names:
            names |= new
            joined = b"|".join(map(re.escape, sorted(names)))
            new = _found(project, re.compile(DERIVED % (joined, joined), re.MULTILINE), re.compile(joined))
        pattern = rb"\b(?:%b)\b" % b"|".join(map(re.escape, sorted(names)))
        memory["pattern"] = re.compile(pattern) if names else None
    found: re.Pattern[bytes] | None = memory["pattern"]
    return found


def _found(project: Project, pattern: re.Pattern[bytes], sign: re.Pattern[bytes]) -> set[bytes]:
    """The names that a pattern finds in the files that show a sign, which is cheaper to look for."""
    texts = (data for path in project.files if sign.search(data := project.data(path)))
    groups = (match.groups() for data in texts for match in pattern.finditer(data))
    return {name for group in groups for name in group if name and not LOADER.search(name)}
