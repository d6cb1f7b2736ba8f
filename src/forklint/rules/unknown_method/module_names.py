"""Names that are read from a module of the project, which does not have them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.libraries import libraries
from forklint.members.attribute_stores import is_assigned_somewhere
from forklint.members.guards import is_excused, is_fallback, is_hidden
from forklint.project.certainty import is_certain
from forklint.project.guard import is_for_type_checkers
from forklint.project.module import Module
from forklint.project.spelling import dotted
from forklint.records import dataclass
from forklint.rules.unknown_method.nearest import Nearest, nearest
from forklint.summaries.parts import NAMED
from forklint.summaries.summary import STAR, Import, Summary

if TYPE_CHECKING:
    from forklint.project.index import Project

SUPPLYING = "__getattr__"
MAKING = ("globals(", "locals(", "vars(", "sys.modules", "exec(", "__dict__", "setattr(", "add_module(")
"""What stands in a module that may give itself names which the text does not say."""


@dataclass(frozen=True)
class LackingName:
    """A read of a name that a module of the project does not have."""

    node: ast.Attribute
    owner: Module
    near: Nearest
    hidden: bool
    """True if code around it catches every exception and goes on."""

    @property
    def name(self) -> str:
        """The name that is not there."""
        return self.node.attr

    @property
    def owner_name(self) -> str:
        """What the module is called, or the package that it stands for."""
        path = self.owner.path
        return path.stem if path.name != "__init__.py" else path.parent.name


def may_lack_names(project: Project, path: Path, summary: Summary) -> bool:
    """Whether a file reads a name from a module of the project that may not have it."""
    return next(_asked(project, path, summary), None) is not None


def lacking_names(project: Project, module: Module) -> Iterator[LackingName]:
    """Give the places of a module that read such a name, each once in a function."""
    summary = project.summary(module.path)
    asked = set(_asked(project, module.path, summary)) if summary is not None else set()
    seen: set[tuple[ast.AST, str, str]] = set()
    for node in module.nodes if asked else ():
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        place = (module.scope_at(node).node, dotted(node.value), node.attr)
        if place[1:] in asked and place not in seen:
            seen.add(place)
            owner = _surely_lacking(project, module, node)
            if owner is not None:
                near = nearest(node.attr, owner.scope.bindings)
                yield LackingName(node, owner, near if near.misspelt else Nearest(()), is_hidden(module, node))


def _asked(project: Project, path: Path, summary: Summary) -> Iterator[tuple[str, str]]:
    """Give the aliases of modules of the project, each with a name that is read from it and that it may lack."""
    spellings = {one for scope in summary.scopes for one in (*scope.dotted, *scope.calls)}
    parts = {tuple(one.split(".")[:2]) for one in spellings if "." in one}
    for alias, name in sorted(parts):
        imports = summary.by_alias.get(alias, ())
        if imports and name.isidentifier() and not name.startswith("__"):
            targets = [_target(project, path, one) for one in imports]
            if all(one is not None and not _has(project, one, name) for one in targets):
                yield alias, name


def _target(project: Project, path: Path, one: Import) -> Path | None:
    """The file that an import binds its alias to; None for anything but a module of the project."""
    top = one.module.partition(".")[0]
    if not one.level and (top in sys.stdlib_module_names or top in libraries().always | libraries().ambiguous):
        return None  # a folder of the project may have the same name
    if not one.attribute and one.bound != one.module:
        return None  # ``import a.b`` binds ``a``
    name = f"{one.module}.{one.attribute}".strip(".")
    target = project.resolver.find(path, name, one.level)
    return None if target is None or (not one.level and _is_inner(project, path, target, name)) else target


def _is_inner(project: Project, path: Path, target: Path, name: str) -> bool:
    """Whether a module that is imported from the top stands in a package, and is found there only by its scripts."""
    root = target.parent if target.name == "__init__.py" else target
    for _ in name.split("."):
        root = root.parent
    return root != path.parent and project.has_file(root / "__init__.py")


def _has(project: Project, path: Path, name: str) -> bool:
    """Whether a module may have a name, as far as its own statements, its stars and its package tell."""
    return project.answer("may have a name", (path, name), lambda: _find_whether(project, path, name), compared=True)


def _find_whether(project: Project, path: Path, name: str) -> bool:
    for one in (name, SUPPLYING):
        summary = project.part(path, NAMED, one)
        if summary is None or one in summary.top.binds:
            return True
    stars = [one for one in project.imports(path) if one.attribute == STAR]
    if any(project.resolver.find(path, one.module, one.level) is None for one in stars):
        return True
    is_below = project.resolver.find(path, name, level=1) or project.resolver.is_package(path, name, level=1)
    return bool(stars and project.stars.giving(path, name)) or bool(is_below and path.name == "__init__.py")


def _has_double(project: Project, path: Path) -> bool:
    """Whether another file may be meant by the same import: one whose path ends alike, in a package of tests, say."""
    tail = path.parts[-3:] if path.name == "__init__.py" else path.parts[-2:]
    find = lambda: any(one != path and one.parts[-len(tail) :] == tail for one in project.files)  # noqa: E731 - it is short
    return project.answer("modules of the same name", path, find, compared=True)


def _surely_lacking(project: Project, module: Module, node: ast.Attribute) -> Module | None:
    """The module of the project from which a name is read that nobody gives it."""
    scope = module.scope_at(node)
    owner = project.resolve(module, scope, node.value)
    if not isinstance(owner, Module) or not is_certain(project, module, scope, node.value):
        return None
    if project.member(owner, node.attr) is not None or any(word in owner.document.text for word in MAKING):
        return None
    if any(isinstance(one, ast.Global) and node.attr in one.names for one in owner.nodes):
        return None
    is_around = owner.path.name == "__init__.py" and owner.path.parent in module.path.parents
    if is_around or _has_double(project, owner.path):
        return None
    is_guarded = is_excused(module, node, dotted(node.value)) or is_for_type_checkers(module, node)
    if is_guarded or is_fallback(module, node) or is_assigned_somewhere(project, node.attr, [module, owner]):
        return None
    return owner
