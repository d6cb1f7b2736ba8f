"""Which files may call what makes a loader: judged by names, before anything is parsed."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.starters import starters
from forklint.project.renames import may_call, names_for
from forklint.project.spelling import last_name

if TYPE_CHECKING:
    from forklint.project.index import Project


def loader_names(project: Project) -> frozenset[str]:
    """The last names by which the project may call what makes a loader."""
    return names_for(project, _listed(project))


def may_make_loader(project: Project, data: bytes) -> bool:
    """Whether a text may call what makes a loader, judged by bytes alone."""
    return may_call(project, _listed(project), data)


def may_set_up_loader(project: Project, path: Path, data: bytes) -> bool:
    """Whether a text may call what makes a loader, or a loader's ``__init__`` from that of a subclass."""
    memory = project.memory("files with subclasses of loaders")
    if not memory:
        memory[None] = {home for name in loader_names(project) for home, _ in project.families.with_base(name)}
    return may_make_loader(project, data) or (b"__init__" in data and path in memory[None])


def may_be_loader(project: Project, call: ast.Call) -> bool:
    """Whether a call may make a loader or set one up, by the name of what it calls."""
    name = last_name(call.func)
    return name == "__init__" or name in loader_names(project)


def _listed(project: Project) -> frozenset[str]:
    memory = project.memory("names of loaders")
    if not memory:
        rows = starters(project.settings.starters).items()
        memory[None] = frozenset(name.rpartition(".")[2] for name, row in rows if row.is_loader)
    names: frozenset[str] = memory[None]
    return names
