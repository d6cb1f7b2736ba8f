"""Whether a program that changes ``sys.path`` may find another module of a name than the one beside it."""

from __future__ import annotations

import ast
import re
from pathlib import Path, PurePosixPath

from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import dotted, last_name, text_of
from forklint.summaries.path_roots import CWD, SETUP
from forklint.summaries.summary import PathRoot, Scope

CHANGING = frozenset({"insert", "append", "extend"})
"""Methods of ``sys.path`` that add folders to it."""
SYS_PATH = "sys.path"
CHANGES = frozenset(f"{SYS_PATH}.{name}" for name in CHANGING)
"""The same, as they are called."""


def is_on_added_path(project: Project, path: Path, target: Path, name: str) -> bool:
    """Whether a folder that a file puts on ``sys.path`` has a module of a dotted name, other than ``target``.

    Any file may be the one that starts the program; of ``path`` itself also those folders count that only a run knows.
    """
    if _adds_unknown(project, path, name):
        return True
    return any(
        found != target and project.has_file(found)
        for adding in (path, *project.adding())
        for folder in _added(project, adding)
        for found in _modules(folder, name)
    )


def adds_what_is_missing(project: Project, path: Path) -> bool:
    """Whether a file puts a folder of the project on ``sys.path`` that is not there, as if it were to be fetched."""
    summary = project.summary(path)
    for one in summary.path_roots if summary is not None else ():
        folders = _meant(project, path, one) if one.base != SETUP else []
        absent = [to for to in folders if to.is_relative_to(project.root) and not project.has_folder(to)]
        if folders and absent == folders:
            return True
    return False


def _meant(project: Project, path: Path, root: PathRoot) -> list[Path]:
    """The folders that a path in a file may mean, none if it is none."""
    bases = (project.root, path.parent) if root.base == CWD else (path.parent,)
    return [_descend(base, root.path) for base in bases if "\0" not in root.path]


def _added(project: Project, path: Path) -> list[Path]:
    """The folders that a file puts on the path, in or outside of the project."""
    summary = project.summary(path)
    found: list[Path] = []
    for one in summary.path_roots if summary is not None else ():
        found += _meant(project, path, one)
    return found


def _adds_unknown(project: Project, path: Path, name: str) -> bool:
    """Whether a file puts a folder on the path, and no folder of it can be read, before it imports a module.

    A function does so too late for an import at the top level, unless it is called above that; so does a statement
    that stands below.
    """
    summary = project.summary(path)
    if summary is None or summary.path_roots:
        return False
    changing = [one for one in summary.scopes if _changes_path(one)]
    above = _called_above(project, path, name) if changing else set[str]()
    late = {one.name for one in changing if one is not summary.top} | (CHANGES if summary.top in changing else set())
    return above is None or (not above.isdisjoint(late) and not _adds_project(project, path))


def _adds_project(project: Project, path: Path) -> bool:
    """Whether all that a file puts on the path is the folder of the project where its author has it."""
    module = project.module(path)
    calls = [node for node in module.nodes if isinstance(node, ast.Call)] if module is not None else []
    added = [call.args[-1] for call in calls if dotted(call.func) in CHANGES and call.args]
    names = [_folder_named(module, one) for one in added] if module is not None else []
    return bool(names) and all(one and re.search(rf"\b{re.escape(one)}\b", project.root.name) for one in names)


def _folder_named(module: Module, written: ast.expr) -> str:
    """The name of a folder whose whole path is written down, or is all that a name is bound to; else empty."""
    bound = module.scope.bindings.get(written.id, []) if isinstance(written, ast.Name) else []
    texts = {text_of(one.value) for one in bound} or {text_of(written)}
    text = texts.pop() if len(texts) == 1 else ""
    return PurePosixPath(text).name if text.startswith("/") else ""


def _changes_path(scope: Scope) -> bool:
    calls = (call.rpartition(".") for call in scope.calls)
    return any(owner == SYS_PATH and method in CHANGING for owner, _, method in calls)


def _called_above(project: Project, path: Path, name: str) -> set[str] | None:
    """What is called above the import of a module at the top level, or its last name; None without such an import."""
    module, called = project.module(path), set[str]()
    for statement in module.tree.body if module is not None else ():
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and _imports(statement, name):
            return called
        calls = [node.func for node in nodes_below(statement) if isinstance(node, ast.Call)]
        called.update(map(last_name, calls), map(dotted, calls))
    return None


def _imports(statement: ast.Import | ast.ImportFrom, name: str) -> bool:
    named = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else [one.name for one in statement.names]
    return any(f"{name}.".startswith(f"{one}.") for one in named if one)


def _modules(folder: Path, name: str) -> tuple[Path, Path]:
    """The files that a dotted name may mean in a folder."""
    stem = folder.joinpath(*name.split("."))
    return stem.with_suffix(".py"), stem / "__init__.py"


def _descend(base: Path, relative: str) -> Path:
    for part in relative.split("/"):
        base = base.parent if part == ".." else base / part
    return base
