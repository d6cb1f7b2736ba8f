"""Files of packages that import the files beside them by plain names, as only what is run as a script can."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.libraries import libraries

if TYPE_CHECKING:
    from forklint.project.index import Project

INIT = "__init__.py"


def is_script(project: Project, path: Path) -> bool:
    """Whether the imports of a file in a package are looked up beside it first, as Python does for what it runs.

    It names a file there, or in a folder of its package above it, that is found in no usual place, and nothing says
    that it is imported as a part of its package: neither dots nor the package's name.
    """
    return project.answer("imports its neighbours", path, lambda: _find_whether(project, path), compared=True)


def _find_whether(project: Project, path: Path) -> bool:
    imports = project.imports(path)
    tops = {one.module.partition(".")[0] for one in imports}
    if any(one.level for one in imports) or path.name == INIT or not tops.isdisjoint(_packages(project, path)):
        return False
    own = tops - sys.stdlib_module_names - libraries().always - libraries().ambiguous - {"", path.stem}
    unusual = [name for name in own if not project.resolver.is_usual(str(path.parent), name)]
    return any(_is_in(project, folder, name) for name in unusual for folder in _folders(project, path))


def _folders(project: Project, path: Path) -> Iterator[Path]:
    """The folder of a file, and those above it that are parts of its package."""
    folder = path.parent
    yield folder
    while folder != project.root and project.resolver.holds(str(folder.parent), INIT):
        folder = folder.parent
        yield folder


def _packages(project: Project, path: Path) -> set[str]:
    """The names of the outermost package that a file is in, seen from the project's root and from above it."""
    folder, root = path.parent, project.root
    while root not in (folder, folder.parent) and project.resolver.holds(str(folder.parent), INIT):
        folder = folder.parent
    return {folder.name, *([root.name] if project.resolver.holds(str(root), INIT) else [])}


def _is_in(project: Project, folder: Path, name: str) -> bool:
    """Whether a name is that of a file or package in a folder."""
    resolver = project.resolver
    if resolver.holds(str(folder), f"{name}.py"):
        inner = project.imports(folder / f"{name}.py")
        return all(one.level or one.module.partition(".")[0] != name for one in inner)  # else it wraps a library
    return resolver.holds(str(folder), name) and resolver.holds(str(folder / name), INIT)
