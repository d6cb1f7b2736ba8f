"""Names that are imported or read from a module of the project, which does not have them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.members.attribute_stores import giving_files, owners_of_stores, sets_by_text
from forklint.members.guards import is_excused, is_fallback, is_hidden, is_never_reached
from forklint.project.certainty import is_certain
from forklint.project.guard import is_for_type_checkers
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Kind
from forklint.project.spelling import dotted
from forklint.records import dataclass
from forklint.rules.unknown_method.added_paths import is_on_added_path
from forklint.rules.unknown_method.expected_imports import compiles_imports
from forklint.rules.unknown_method.imported_paths import (
    INIT,
    file_of,
    files_named,
    is_part_elsewhere,
    is_template,
    may_be_built,
    other_files,
)
from forklint.rules.unknown_method.nearest import Nearest, nearest
from forklint.rules.unknown_method.repeated_imports import lacking_files
from forklint.rules.unknown_method.self_naming import names_itself
from forklint.summaries.parts import NAMED
from forklint.summaries.summary import STAR, Import, Summary

if TYPE_CHECKING:
    from forklint.project.index import Project

SUPPLYING = "__getattr__"
"""What stands in a module that may give itself names which the text does not say."""


@dataclass(frozen=True)
class LackingName:
    """A place that needs a name that a module of the project does not have."""

    node: ast.Attribute | ast.ImportFrom
    name: str
    """The name that is not there."""
    owner: Module
    near: Nearest
    hidden: bool
    """True if code around it catches every exception and goes on."""

    @property
    def owner_name(self) -> str:
        """What the module is called, or the package that it stands for."""
        path = self.owner.path
        return path.stem if path.name != INIT else path.parent.name


def may_lack_names(project: Project, path: Path, summary: Summary) -> bool:
    """Whether a file takes a name from a module of the project that may not have it."""
    asked = chain(_imported(project, path, summary), _asked(project, path, summary))
    return next(asked, None) is not None


def lacking_names(project: Project, module: Module) -> Iterator[LackingName]:
    """Give the places of a module that need such a name: imports, and reads, each once in a function.

    Where a notebook runs, another module of the same name may be found, so that its imports tell nothing.
    """
    summary = project.summary(module.path)
    if summary is None:
        return
    imported = set(_imported(project, module.path, summary)) if not module.is_notebook else set()
    asked = set(_asked(project, module.path, summary))
    seen: set[tuple[ast.AST, str, str]] = set()
    for node in module.nodes if imported or asked else ():
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (node.module or "", alias.name, node.level) in imported:
                    yield from _taken(project, module, node, alias.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            place = (module.scope_at(node).node, dotted(node.value), node.attr)
            if place[1:] in asked and place not in seen:
                seen.add(place)
                yield from _read(project, module, node)


def _taken(project: Project, module: Module, node: ast.ImportFrom, name: str) -> Iterator[LackingName]:
    path = file_of(project, module.path, node.module or "", node.level)
    owner = project.module(path) if path is not None else None
    if owner is None or owner is module:
        return
    if node.level or not _may_be_another(project, module, owner, node.module or "", name):
        yield from _lacking(project, module, node, name, owner)


def _read(project: Project, module: Module, node: ast.Attribute) -> Iterator[LackingName]:
    scope = module.scope_at(node)
    owner = project.resolve(module, scope, node.value)
    if not isinstance(owner, Module) or not is_certain(project, module, scope, node.value):
        return
    summary, spelling = project.summary(module.path), dotted(node.value)
    imports = summary.by_alias.get(spelling, ()) if summary is not None else ()
    written = [f"{one.module}.{one.attribute}".strip(".") for one in imports if not one.level]
    written += [spelling] if "." in spelling else []
    if not any(_may_be_another(project, module, owner, one, node.attr) for one in written):
        yield from _lacking(project, module, node, node.attr, owner)


def _may_be_another(project: Project, module: Module, owner: Module, written: str, name: str) -> bool:
    """Whether an absolute import may mean another module, which may have a name, or the name a module below it."""
    if files_named(project, f"{written}.{name}"):
        return True  # of a package that has no file of its own
    if is_on_added_path(project, module.path, owner.path, written) or is_part_elsewhere(project, module.path, written):
        return True
    others = other_files(project, module.path, owner.path, written)
    return any(may_have(project, one, name) or names_itself(project, one) for one in others)


def _lacking(
    project: Project, module: Module, node: ast.Attribute | ast.ImportFrom, name: str, owner: Module
) -> Iterator[LackingName]:
    if _surely_lacks(project, module, node, name, owner):
        near = nearest(name, owner.scope.bindings)
        hidden = is_hidden(module, node) and not lacking_files(project, module, node, name)
        yield LackingName(node, name, owner, near if near.misspelt else Nearest(()), hidden)


def _imported(project: Project, path: Path, summary: Summary) -> Iterator[tuple[str, str, int]]:
    """Give the names that are imported from modules of the project that may lack them: module, name and level."""
    for one in summary.imports:
        if one.attribute in {"", STAR} or one.attribute.startswith("__"):
            continue
        target = file_of(project, path, one.module, one.level)
        if target is not None and target != path and not may_have(project, target, one.attribute):
            yield one.module, one.attribute, one.level


def _asked(project: Project, path: Path, summary: Summary) -> Iterator[tuple[str, str]]:
    """Give the aliases of modules of the project, each with a name that is read from it and that it may lack."""
    spellings = {one for scope in summary.scopes for one in (*scope.dotted, *scope.calls)}
    parts = {tuple(one.split(".")[:2]) for one in spellings if "." in one}
    for alias, name in sorted(parts):
        imports = summary.by_alias.get(alias, ())
        if imports and name.isidentifier() and not name.startswith("__"):
            targets = [_target(project, path, one) for one in imports]
            if all(one is not None and not may_have(project, one, name) for one in targets):
                yield alias, name
    yield from _asked_in_full(project, path, summary, spellings)


def _asked_in_full(project: Project, path: Path, summary: Summary, spellings: set[str]) -> Iterator[tuple[str, str]]:
    """The same for modules that are imported and spelt by their whole names: ``import a.b`` and ``a.b.name``."""
    whole = {one.module for one in summary.imports if not (one.attribute or one.level or one.is_renamed)}
    for module in sorted(one for one in whole if "." in one):
        names = {one.removeprefix(f"{module}.").partition(".")[0] for one in spellings if one.startswith(f"{module}.")}
        target = file_of(project, path, module, 0) if names else None
        if target is not None:
            lacking = (one for one in names if not one.startswith("__") and not may_have(project, target, one))
            yield from ((module, name) for name in sorted(lacking))


def _target(project: Project, path: Path, one: Import) -> Path | None:
    """The file that an import binds its alias to; None for anything but a module of the project."""
    if not one.attribute and one.bound != one.module:
        return None  # ``import a.b`` binds ``a``
    return file_of(project, path, f"{one.module}.{one.attribute}".strip("."), one.level)


def may_have(project: Project, path: Path, name: str) -> bool:
    """Whether a module may have a name, as far as its own statements, its stars and its package tell."""
    return project.answer("may have a name", (path, name), lambda: _find_whether(project, path, name), compared=True)


def _find_whether(project: Project, path: Path, name: str) -> bool:
    for one in (name, SUPPLYING):
        summary = project.part(path, NAMED, one)
        if summary is None or one in summary.top.binds:
            return True
    if any(one.attribute == STAR for one in project.imports(path)) and (
        _takes_what_is_unsaid(project, path) or project.stars.giving(path, name)
    ):
        return True
    find, is_package = project.resolver.find, project.resolver.is_package
    return any(find(one, name, level=1) or is_package(one, name, level=1) for one in _packages_taken(project, path))


def _starred(project: Project, path: Path) -> Iterator[Path | None]:
    """Give the modules of which one has everything, by a star or by several; None for one that is not the project's."""
    waiting = [path]
    for module in waiting:
        for one in (one for one in project.imports(module) if one.attribute == STAR):
            target = project.resolver.find(module, one.module, one.level)
            yield target
            waiting += [target] if target is not None and target not in waiting else []


def _takes_what_is_unsaid(project: Project, path: Path) -> bool:
    """Whether a module has what the text of the project does not say, by stars.

    That is all of a module outside of it, or what a module gives itself under computed names.
    """
    find = lambda: any(one is None or names_itself(project, one) for one in _starred(project, path))  # noqa: E731 - short
    return project.answer("takes what is unsaid", path, find, compared=True)


def _packages_taken(project: Project, path: Path) -> tuple[Path, ...]:
    """A package itself, and those of which a module has everything: they give away the modules in them as well."""

    def find() -> tuple[Path, ...]:
        found = dict.fromkeys((path, *_starred(project, path)))
        return tuple(one for one in found if one is not None and one.name == INIT)

    return project.answer("packages taken by stars", path, find, compared=True)


def _surely_lacks(
    project: Project, module: Module, node: ast.Attribute | ast.ImportFrom, name: str, owner: Module
) -> bool:
    """Whether nobody gives a module of the project a name that is needed at a place."""
    if project.member(owner, name) is not None or names_itself(project, owner.path):
        return False
    if any(isinstance(one, ast.Global) and name in one.names for one in owner.nodes):
        return False
    is_package = owner.path.name == INIT
    if not owner.tree.body and not (is_package and _has_modules(project, owner.path)):
        return False  # an empty file stands for code that was held back
    if is_package and may_be_built(project, name):
        return False
    if is_template(project, module.path) or compiles_imports(project, module):
        return False
    if _is_guarded(project, module, node, name):
        return False
    own = frozenset({module.path}) if _comes_first(module, node) else frozenset()
    return not may_be_given(project, name, module, owner, but=own)


def _is_guarded(project: Project, module: Module, node: ast.Attribute | ast.ImportFrom, name: str) -> bool:
    """Whether code around a place is ready for the name to be missing; not where it tries the same again in vain."""
    tried = lacking_files(project, module, node, name)
    if tried and not any(may_have(project, path, name) or names_itself(project, path) for path in tried):
        return is_never_reached(module, node)
    root = dotted(node.value) if isinstance(node, ast.Attribute) else ""
    is_excused_here = is_excused(module, node, root) or is_for_type_checkers(module, node)
    return is_excused_here or is_fallback(module, node)


def _has_modules(project: Project, init: Path) -> bool:
    """Whether a package has a module beside its ``__init__.py``."""
    return any(one.parent == init.parent and one != init for one in project.files)


def _comes_first(module: Module, node: ast.AST) -> bool:
    """Whether a statement stands among the imports with which a file begins: nothing in it has run by then."""
    if module.parents.get(node) is not module.tree:
        return False
    before = module.tree.body[: module.tree.body.index(node)]  # type: ignore[arg-type]
    plain = (one.value if isinstance(one, ast.Expr) else one for one in before)
    return all(isinstance(one, (ast.Import, ast.ImportFrom, ast.Constant)) for one in plain)


def may_be_given(
    project: Project, name: str, user: Module, owner: Module, *, but: AbstractSet[Path] = frozenset()
) -> bool:
    """Whether a file may store a name on a module: on what it imports, or by a text on anything.

    ``but``: files that do so too late.
    """
    for path in (one for one in giving_files(project, name, [user]) if one not in but):
        summary, module = project.summary(path), project.module(path)
        if summary is None or module is None or sets_by_text(summary, name):
            return True
        if any(_may_be(project, module, one, owner) for one in owners_of_stores(module, name)):
            return True
    return False


def _may_be(project: Project, module: Module, written: ast.expr, owner: Module) -> bool:
    """Whether an expression may mean a module: it does, or it names what is imported and not known."""
    scope = module.scope_at(written)
    symbol, bound = project.resolve(module, scope, written), scope.find(dotted(written).partition(".")[0])
    if isinstance(symbol, Module):
        return symbol is owner
    is_imported = bound is not None and any(one.kind is Kind.IMPORT for one in bound[1])
    return is_imported and not isinstance(symbol, ClassFacts | FunctionFacts)
