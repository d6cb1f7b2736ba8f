"""Imports of modules that a package of the project does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.members.guards import is_excused, is_fallback, is_hidden
from forklint.project.module import Module
from forklint.project.scopes import FUNCTIONS
from forklint.records import dataclass
from forklint.rules.unknown_method.imported_paths import (
    INIT,
    files_named,
    is_outside,
    is_template,
    may_be_another,
    root_of,
)
from forklint.rules.unknown_method.supplied_modules import may_be_supplied
from forklint.summaries.summary import Summary
from forklint.summaries.terms import WORD

if TYPE_CHECKING:
    from forklint.project.index import Project

PART = 3
"""From so many modules on that a file misses, most of those that it needs, it belongs to another package."""


@dataclass(frozen=True)
class Missing:
    """What an import lacks: a module below the nearest package that has an ``__init__.py``."""

    package: Path
    """That file."""
    spelt: str
    """The package as the import spells it, without leading dots."""
    name: str
    """The module as it is spelt from there, up to the part that is not there."""


@dataclass(frozen=True)
class MissingModule:
    """An import of a module that a package of the project does not have."""

    node: ast.Import | ast.ImportFrom
    package: str
    """The package as the import spells it; by its folder where it is spelt with dots alone."""
    name: str
    """The module as it is spelt from there."""
    owner: Module
    """The ``__init__.py`` of the package."""
    hidden: bool
    """True if code around it catches every exception and goes on."""
    elsewhere: Path | None
    """The one module of the same last name elsewhere in the package, if it is one."""


def may_lack_modules(project: Project, path: Path, summary: Summary) -> bool:
    """Whether a file imports a module that may be missing."""
    return any(_missing(project, path, one.module, one.level) is not None for one in summary.imports)


def missing_modules(project: Project, module: Module) -> list[MissingModule]:
    """Find the imports of a module that fail, whatever else happens, since what they name is not there.

    A notebook finds other modules where it runs; a file of which most imports fail is a part of something else.
    """
    summary = project.summary(module.path)
    if summary is None or module.is_notebook:
        return []
    lacking = {one for one in _spelt(summary) if _missing(project, module.path, *one)}
    found = list(_needed(project, module, lacking)) if lacking else []
    names = {(one.owner.path, one.name) for one in found}
    return [] if _is_a_part(project, module.path, summary, len(names)) else found


def _needed(project: Project, module: Module, lacking: set[tuple[str, int]]) -> Iterator[MissingModule]:
    for node in module.nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_expected(project, module, node):
            for name, level in filter(lacking.__contains__, _named(node)):
                found = _missing(project, module.path, name, level)
                owner = project.module(found.package) if found is not None else None
                if found is None or owner is None or _may_be_there(project, module, owner, level, found):
                    continue
                package = found.spelt if found.spelt and not level else found.package.parent.name
                elsewhere = _elsewhere(project, found)
                yield MissingModule(node, package, found.name, owner, is_hidden(module, node), elsewhere)


def _spelt(summary: Summary) -> set[tuple[str, int]]:
    return {(one.module, one.level) for one in summary.imports}


def _named(node: ast.Import | ast.ImportFrom) -> list[tuple[str, int]]:
    """The modules that an import names, each with its leading dots."""
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "", node.level)]
    return [(alias.name, 0) for alias in node.names]


def _missing(project: Project, path: Path, written: str, level: int) -> Missing | None:
    """The module of a package of the project that an import names and that is not on the disk."""
    resolver = project.resolver
    if not written or resolver.find(path, written, level):
        return None
    if not level and (is_outside(written) or not resolver.has(resolver.start(path, 0), written.partition(".")[0])):
        return None
    find = lambda: _find_missing(project, path, written, level)  # noqa: E731 - it is short
    return project.answer("missing module", (path, written, level), find, compared=True)


def _find_missing(project: Project, path: Path, written: str, level: int) -> Missing | None:
    resolver, parts = project.resolver, written.split(".")
    if resolver.is_package(path, written, level):
        return None
    folder = Path(resolver.start(path, level)) if level else _root(project, path, parts)
    if folder is None or not folder.is_relative_to(project.root):
        return None
    package, below, rest = folder, 0, list[str]()
    for number, part in enumerate(parts):
        if resolver.holds(str(folder), INIT):
            package, below, rest = folder, number, []
        rest.append(part)
        if not resolver.holds(str(folder), part):
            break
        folder /= part
    is_there = resolver.holds(str(folder), f"{rest[-1]}.py") or project.has_beside(folder / rest[-1])
    if is_there or not resolver.holds(str(package), INIT):
        return None
    return Missing(package / INIT, ".".join(parts[:below]), ".".join(rest))


def _root(project: Project, path: Path, parts: list[str]) -> Path | None:
    """The folder from which an absolute import finds the packages that it names; None for a module, which has none."""
    for length in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:length])
        found = project.resolver.find(path, name)
        if found is not None:
            return root_of(found, name) if found.name == INIT else None
    return None


def _is_expected(project: Project, module: Module, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether a file is ready for an import that fails, or does not run it where it stands."""
    if is_excused(module, node, "") or is_fallback(module, node):
        return True
    functions = (one for one in module.above(node) if isinstance(one, FUNCTIONS))
    is_decorated = any(getattr(one, "decorator_list", ()) for one in functions)
    return is_decorated and bool(project.where(WORD, "getsource"))  # its text may be put into another file


def _elsewhere(project: Project, found: Missing) -> Path | None:
    """The one module below a package that has the last name of what is missing."""
    alike = files_named(project, found.name.rpartition(".")[2])
    below = [one for one in alike if one.name != INIT and one.is_relative_to(found.package.parent)]
    return below[0] if len(below) == 1 else None


def _may_be_there(project: Project, module: Module, owner: Module, level: int, found: Missing) -> bool:
    """Whether something may supply a module that a package does not have, or another package is meant."""
    if is_template(project, module.path) or may_be_supplied(project, owner, found.name):
        return True
    return not level and _may_be_found(project, module.path, found)


def _may_be_found(project: Project, path: Path, found: Missing) -> bool:
    """Whether an absolute import may mean another package than the one that lacks the module."""
    root = root_of(found.package, found.spelt)
    if root != project.root and project.has_file(root / INIT):
        return True  # it is found only by a script of the package that holds it
    is_searched = root in {project.root, project.root / "src"} or any(one.parent == root for one in project.files)
    return not is_searched or may_be_another(project, path, found.package, found.spelt, found.name)


def _is_a_part(project: Project, path: Path, summary: Summary, lacking: int) -> bool:
    """Whether a file stands apart from what it was written for, so that most of its imports find nothing."""
    if lacking < PART:
        return False
    resolver = project.resolver
    there = {one for one in _spelt(summary) if resolver.find(path, *one) or resolver.is_package(path, *one)}
    return lacking > len(there)
