"""Which file of a project an import means, as it is written, and whether it may mean another one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.libraries import libraries
from forklint.summaries.terms import WORD

if TYPE_CHECKING:
    from forklint.project.index import Project

INIT, SETUP = "__init__.py", "setup.py"
BUILDING = re.compile(rb"\b(?:(?:CUDA|Cpp|Sycl|Rust|CMake)?Extension|create_extension|cythonize)\(")
"""What stands in a file that builds native code, whatever it is called."""
PLACED_LATER = frozenset({"cookiecutter", "patch", "patches", "scaffold", "skeleton"})
"""Folders of files that are copied to where they run, into other packages or new ones."""
NOT_PACKAGES = frozenset({"code", "profile", "statistics", "trace", "types"})
"""Modules of Python that have no modules in them, so that ``code.models`` is a folder of the project."""


def is_outside(name: str) -> bool:
    """Whether an absolute import is taken for one of Python or of a library that is known by name.

    A module below a name that is as often a folder of the project is the project's, where it has one.
    """
    top, _, below = name.partition(".")
    is_python = top in sys.stdlib_module_names and not (below and top in NOT_PACKAGES)
    return is_python or top in libraries().always or (not below and is_ambiguous(name))


def is_ambiguous(name: str) -> bool:
    """Whether the first part of an import is the name of a library, and as often that of a folder of the project."""
    return name.partition(".")[0] in libraries().ambiguous


def file_of(project: Project, path: Path, name: str, level: int) -> Path | None:
    """The file of a module of the project, as a file names it; None for anything else."""
    if not level and is_outside(name):
        return None  # a folder of the project may have the same name
    target = project.resolver.find(path, name, level)
    return None if target is None or (not level and is_inner(project, path, target, name)) else target


def import_path(path: Path) -> Path:
    """A file as an import spells it: without its suffix, or the folder of a package."""
    return path.parent if path.name == INIT else path.with_suffix("")


def root_of(target: Path, name: str) -> Path:
    """The folder from which a file is imported by a name."""
    root = import_path(target)
    for _ in name.split("."):
        root = root.parent
    return root


def is_inner(project: Project, path: Path, target: Path, name: str) -> bool:
    """Whether a module that is imported from the top stands in a package, and is found there only by its scripts.

    A file that imports by dots is none of them, and no file means itself: an installed package has the same name. The
    folder of the whole project is no package of a module below another one, whatever file lies in it; nor is one whose
    own files import the same from the top: programs start there.
    """
    root = root_of(target, name)
    if root == path.parent:
        return target == path or any(one.level for one in project.imports(path))
    is_package = project.has_file(root / INIT) and not (root == project.root and "." in name)
    return is_package and name.partition(".")[0] not in _taken_by_programs(project, root)


def _taken_by_programs(project: Project, folder: Path) -> frozenset[str]:
    """What the files of a folder import from its top, unless one of them imports by dots, or it is in a package."""

    def find() -> frozenset[str]:
        if project.has_file(folder.parent / INIT):
            return frozenset()
        programs = (path for path in project.files if path.parent == folder and path.name != INIT)
        imports = [one for path in programs for one in project.imports(path)]
        by_dots = any(one.level for one in imports)
        return frozenset() if by_dots else frozenset(one.module.partition(".")[0] for one in imports)

    return project.answer("what programs of a folder import", folder, find, compared=True)


def is_part_elsewhere(project: Project, path: Path, written: str) -> bool:
    """Whether an import names the file's own package, which others import as a part of a folder: a library is meant.

    ``from dgl import mean_nodes`` in ``model/dgl/classifier.py``, which others import from ``model.dgl``. Asked only of
    what is about to be told: it depends on what imports the file.
    """
    top = written.partition(".")[0]
    home = next((one for one in path.parents if one.name == top), path)
    if home == path or home.parent in {project.root, project.root / "src"}:
        return False
    whole = f"{home.parent.name}.{top}."
    imports = (one for importer in project.graph.importers(path) for one in project.imports(importer))
    return any(f"{one.module}.{one.attribute}.".startswith(whole) for one in imports if not one.level)


def other_files(project: Project, path: Path, target: Path, written: str) -> Iterator[Path]:
    """Give the files that an absolute import may mean beside the one that is found.

    Asked only of what is about to be told: it depends on all files of the project.
    """
    others = (one for one in files_named(project, written) if one != target)
    if root_of(target, written) == path.parent:  # a program that starts above may find one there
        return (one for one in others if root_of(one, written) in path.parents)
    return others


def files_named(project: Project, name: str) -> tuple[Path, ...]:
    """The files that an absolute import of a name may mean, wherever the search begins."""

    def find() -> tuple[Path, ...]:
        parts = tuple(name.split("."))
        alike = _by_last_name(project).get(parts[-1], ())
        return tuple(one for one in alike if import_path(one).parts[-len(parts) :] == parts)

    return project.answer("files of a dotted name", name, find, compared=True)


def _by_last_name(project: Project) -> dict[str, list[Path]]:
    """The files of a project by the last name of their modules."""

    def find() -> dict[str, list[Path]]:
        found: dict[str, list[Path]] = {}
        for one in project.files:
            found.setdefault(import_path(one).name, []).append(one)
        return found

    return project.answer("files by their last names", None, find, compared=True)


def may_be_built(project: Project, name: str) -> bool:
    """Whether the installation of a package may put a module of this name into it."""
    return name.startswith("_") or any(_builds(project, path) for path in project.where(WORD, name))


def _builds(project: Project, path: Path) -> bool:
    return path.name == SETUP or project.matches(path, BUILDING)


def is_template(project: Project, path: Path) -> bool:
    """Whether a file lies in a folder of templates, whose names are filled in later, or of what is copied elsewhere."""
    inside = path.parent.relative_to(project.root).parts if path.is_relative_to(project.root) else ()
    return any("template" in part.lower() or "{{" in part or part in PLACED_LATER for part in inside)
