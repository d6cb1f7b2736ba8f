"""Which files may define datasets, or what datasets keep: judged by names, before anything is parsed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.datasets import base_names, entries
from forklint.records import dataclass
from forklint.source import headings

if TYPE_CHECKING:
    from forklint.project.index import Project

ITEM, LENGTH = b"__getitem__", b"__len__"
LOADER = b"DataLoader"
IN_WORKERS = (b"collate_fn", b"worker_init_fn")
"""Arguments of a loader, besides the dataset, that its workers call."""


@dataclass(frozen=True)
class Screen:
    """What the names of a project say of its datasets: too much rather than too little."""

    names: frozenset[bytes]
    """Every name that a dataset may go by."""
    near: frozenset[bytes]
    """Every word of the files that define datasets, or what these inherit from."""

    def may_reach_workers(self, classes: tuple[headings.Head, ...]) -> bool:
        """Whether an object of one of these classes may be a dataset, a part of one, or of a class inherited from."""
        return any(one.name in self.near for one in classes)


def screen(project: Project) -> Screen:
    """The names of a project's datasets; a class is one for ``is_dataset`` only if its name is among them."""
    memory = project.memory("names of datasets")
    if "all" not in memory:
        memory["all"] = _screen(project)
    found: Screen = memory["all"]
    return found


def called_beside(project: Project) -> frozenset[bytes]:
    """What is called in files that make a dataset, or name what workers call: it may be handed to these."""
    makers, families = making(project), project.families
    named = (path for path in project.files if any(word in families.text(path) for word in IN_WORKERS))
    return frozenset().union(*(headings.called(families.text(path)) for path in makers.union(named)))


def making(project: Project) -> frozenset[Path]:
    """The files that may make a dataset."""
    memory = project.memory("files that make datasets")
    if None not in memory:
        calling = project.families.calling(screen(project).names)
        memory[None] = frozenset(path for path, names in calling if _calls_one(project.families.text(path), names))
    found: frozenset[Path] = memory[None]
    return found


def _screen(project: Project) -> Screen:
    families = project.families
    known = base_names()
    words = {word for word in families.base_words() if word.endswith(b"Dataset") or word in known}
    defined = _methods(project)
    callers = tuple(name.encode() for name in entries())
    by_entry = families.heirs(name for name, methods in defined.items() if not methods.isdisjoint(callers))
    loading = [path for path in project.files if LOADER in project.data(path)]
    loaded = {word for path in loading for word in families.words(path)} if by_entry else set()
    names = families.heirs(words)
    names |= _with(project, defined, ITEM) & _with(project, defined, LENGTH)
    names |= by_entry & loaded
    homes = families.homes(families.bases(names))
    near = frozenset(word for path in homes for word in families.words(path))
    return Screen(names, near)


def _methods(project: Project) -> dict[bytes, set[bytes]]:
    """The names of classes with those methods of theirs by which a dataset is told."""
    wanted = tuple({ITEM, LENGTH, *(name.encode() for name in entries())})
    found: dict[bytes, set[bytes]] = {}
    for path in project.files:
        classes = project.families.classes_in(path)
        if classes:
            ask = partial(headings.methods, owners=classes, names=wanted)
            for name, methods in project.families.read("methods of datasets", path, ask).items():
                found.setdefault(name, set()).update(methods)
    return found


def _calls_one(text: bytes, names: frozenset[bytes]) -> bool:
    return any(True for name in names for _ in headings.calls(text, name))


def _with(project: Project, defined: dict[bytes, set[bytes]], method: bytes) -> frozenset[bytes]:
    return project.families.heirs(name for name, methods in defined.items() if method in methods)
