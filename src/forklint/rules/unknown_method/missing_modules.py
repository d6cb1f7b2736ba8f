"""Imports of modules that a package of the project does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.members.guards import is_hidden
from forklint.project.module import Module
from forklint.records import dataclass
from forklint.rules.unknown_method.added_paths import adds_what_is_missing, is_on_added_path
from forklint.rules.unknown_method.expected_imports import is_expected, named
from forklint.rules.unknown_method.imported_paths import (
    INIT,
    files_named,
    is_ambiguous,
    is_outside,
    is_part_elsewhere,
    is_template,
    root_of,
)
from forklint.rules.unknown_method.module_names import may_be_given, may_have
from forklint.rules.unknown_method.self_naming import names_itself
from forklint.rules.unknown_method.supplied_modules import may_be_supplied
from forklint.summaries.summary import STAR, Summary
from forklint.summaries.terms import WORD

if TYPE_CHECKING:
    from forklint.project.index import Project

PART = 3
"""From so many modules on that a file misses, most of those that it needs, it belongs to another package."""
Spelt = tuple[str, int]
"""A module as an import spells it, and its leading dots."""


@dataclass(frozen=True)
class Missing:
    """What an import lacks: a module below a package, the nearest one that has an ``__init__.py``, if one has."""

    folder: Path
    """That of the package."""
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
    init: Path
    """The ``__init__.py`` of the package, which may be missing."""
    hidden: bool
    """True if code around it catches every exception and goes on."""
    elsewhere: Path | None
    """The one module of the same last name elsewhere in the package, if it is one."""


def may_lack_modules(project: Project, path: Path, summary: Summary) -> bool:
    """Whether a file imports a module that may be missing."""
    return any(True for _ in _lacking(project, path, summary))


def missing_modules(project: Project, module: Module) -> list[MissingModule]:
    """Find the imports of a module that fail, whatever else happens, since what they name is not there.

    A notebook finds other modules where it runs; a file of which most imports fail is a part of something else.
    """
    summary = project.summary(module.path)
    if summary is None or module.is_notebook:
        return []
    found = list(_needed(project, module, dict(_lacking(project, module.path, summary))))
    is_part = PART <= len({(one.init, one.name) for one in found}) > _resolved(project, module.path, summary)
    return [] if is_part else found


def _lacking(project: Project, path: Path, summary: Summary) -> Iterator[tuple[Spelt, Missing]]:
    """Give the modules that a file imports and that are missing, each as it is spelt."""
    for one in _spelt(summary):
        missing = _missing(project, path, *one)
        if missing is not None and _is_meant(project, path, summary, one, missing):
            yield one, missing


def _needed(project: Project, module: Module, missing: dict[Spelt, Missing]) -> Iterator[MissingModule]:
    for node in module.nodes if missing else ():
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not is_expected(project, module, node):
            for name, level in filter(missing.__contains__, named(node)):
                found = missing[name, level]
                is_name = level > 0 and not getattr(node, "module", None)  # ``from . import name``
                if _may_be_there(project, module, level, found):
                    continue
                if not level and is_part_elsewhere(project, module.path, name):
                    continue
                if is_name and _may_be_a_name(project, module, found):
                    continue
                package = found.spelt if found.spelt and not level else found.folder.name
                elsewhere, hidden = _elsewhere(project, found), is_hidden(module, node)
                yield MissingModule(node, package, found.name, found.folder / INIT, hidden, elsewhere)


def _spelt(summary: Summary) -> tuple[Spelt, ...]:
    """The modules that the imports of a file name; for ``from . import name`` that may be a module."""
    kept = (one for one in summary.imports if one.module or one.attribute != STAR)
    return tuple(dict.fromkeys((one.module or one.attribute, one.level) for one in kept))


def _missing(project: Project, path: Path, written: str, level: int) -> Missing | None:
    """The module of a package of the project that an import names and that is not on the disk."""
    resolver = project.resolver
    if resolver.find(path, written, level):
        return None
    top, _, below = written.partition(".")
    if not level and (not below or is_outside(written) or not resolver.has(resolver.start(path, 0), top)):
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
    package, below, number = folder if level else folder / parts[0], int(not level), 0
    for number, part in enumerate(parts):
        if (number or level) and resolver.holds(str(folder), INIT):
            package, below = folder, number
        if not resolver.holds(str(folder), part):
            break
        folder /= part
    else:
        return None  # something has the name, though no import finds it: a link to what is not there
    if resolver.holds(str(folder), f"{parts[number]}.py") or project.has_beside(folder / parts[number]):
        return None
    return Missing(package, ".".join(parts[:below]), ".".join(parts[below : number + 1]))


def _root(project: Project, path: Path, parts: list[str]) -> Path | None:
    """The folder from which an absolute import finds the packages that it names; None for a module, which has none."""
    for length in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:length])
        found = project.resolver.find(path, name)
        if found is not None and found.name == INIT:
            return root_of(found, name)
        folder = project.resolver.is_package(path, name)
        if folder is not None or found is not None:
            return folder.parents[length - 1] if folder is not None else None
    return None


def _is_meant(project: Project, path: Path, summary: Summary, lacking: Spelt, missing: Missing) -> bool:
    """Whether a package surely is the one that is meant.

    It has an ``__init__.py``; or the folder that should have the module has others, or that of the package has some,
    unlike a namespace that several distributions share, and the file imports another module, by the same first name or
    by dots, or another file imports one of that folder so. A folder with no module in it is one of another project,
    still to be fetched. Of a name that may be a library's, the file has to import another module.
    """
    folder, top = missing.folder.joinpath(*missing.name.split(".")[:-1]), lacking[0].partition(".")[0]
    if not lacking[1] and is_ambiguous(top) and not _finds_below(project, path, summary, top):
        return False
    if project.resolver.holds(str(missing.folder), INIT):
        return folder == missing.folder or any(folder in one.parents for one in project.files)
    homes = {one.parent for one in project.files}
    if homes.isdisjoint((folder, missing.folder)) or not any(one.is_relative_to(folder) for one in homes):
        return False
    if lacking[1]:
        return any(one[1] and project.resolver.find(path, *one) is not None for one in _spelt(summary))
    return _finds_below(project, path, summary, top) or _is_used(project, folder, top)


def _finds_below(project: Project, path: Path, summary: Summary, top: str) -> bool:
    """Whether a file imports a module by a first name that is there; one below a name that may be a library's."""
    first = top if not is_ambiguous(top) else f"{top}."
    alike = (name for name, level in _spelt(summary) if not level and f"{name}.".startswith(f"{top}."))
    return any(project.resolver.find(path, one) is not None for one in alike if one.startswith(first))


def _is_used(project: Project, folder: Path, top: str) -> bool:
    """Whether some file imports a module of a folder by its first name."""

    def find() -> bool:
        for path in project.where(WORD, top):
            spelt = (one.module for one in project.imports(path) if not one.level and one.module.startswith(f"{top}."))
            if any(found.parent == folder for one in spelt if (found := project.resolver.find(path, one)) is not None):
                return True
        return False

    return project.answer("a folder is used by name", (folder, top), find, compared=True)


def _resolved(project: Project, path: Path, summary: Summary) -> int:
    """How many modules of the project a file imports."""
    resolver = project.resolver
    return sum(1 for one in _spelt(summary) if resolver.find(path, *one) or resolver.is_package(path, *one))


def _elsewhere(project: Project, found: Missing) -> Path | None:
    """The one module below a package that has the last name of what is missing."""
    alike = files_named(project, found.name.rpartition(".")[2])
    below = [one for one in alike if one.name != INIT and one.is_relative_to(found.folder)]
    return below[0] if len(below) == 1 else None


def _may_be_there(project: Project, module: Module, level: int, found: Missing) -> bool:
    """Whether something may supply a module that a package does not have, or another package is meant."""
    init = found.folder / INIT
    if is_template(project, module.path) or may_be_supplied(project, init, found.name):
        return True
    return not level and _may_be_elsewhere(project, module.path, found)


def _may_be_a_name(project: Project, module: Module, found: Missing) -> bool:
    """Whether a package may have something else of the name of a module that it lacks."""
    init = found.folder / INIT
    owner = project.module(init) if project.resolver.holds(str(found.folder), INIT) else None
    if owner is None:
        return False
    return (
        may_have(project, init, found.name)
        or names_itself(project, init)
        or may_be_given(project, found.name, module, owner)
    )


def _may_be_elsewhere(project: Project, path: Path, found: Missing) -> bool:
    """Whether an absolute import may find the module in another folder than that of the package."""
    init, whole = found.folder / INIT, f"{found.spelt}.{found.name}"
    root = root_of(init, found.spelt)
    if root != project.root and project.has_file(root / INIT):
        return True  # it is found only by a script of the package that holds it
    if root not in {project.root, project.root / "src"} and all(one.parent != root for one in project.files):
        return True
    if files_named(project, whole) or adds_what_is_missing(project, path):
        return True
    return is_on_added_path(project, path, init, whole)
