"""The path roots of a project: folders beside the usual ones that its modules are imported from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from forklint.knowledge.libraries import libraries
from forklint.summaries.path_roots import CWD, SETUP, SETUP_FILE

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.summaries.summary import PathRoot


class Placed(NamedTuple):
    """A folder that a file of the project makes modules importable from."""

    folder: str
    added_in: str
    """The folder of that file."""

    def concerns(self, start: str) -> bool:
        """Whether code whose imports begin in a folder stands below the file that adds the root, or in the root."""
        return _is_within(start, self.added_in) or _is_within(start, self.folder)

    def nearness(self, start: str) -> tuple[bool, int]:
        """What is more, the more this has to do with code whose imports begin in a folder."""
        return self.concerns(start), len(os.path.commonpath([self.added_in, start]))


class Holder(NamedTuple):
    """A path root with something of a name in it."""

    root: Placed
    is_module: bool
    """Whether it is a module, or a package with ``__init__.py``."""


class PathRoots:
    """Answers for one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def holding(self, name: str, start: str) -> tuple[str, ...]:
        """The path roots in which a top-level name is looked up from the folder where the search begins, in order.

        None for Python's own modules and for libraries that the tables speak of, whatever copies there are of them.
        Where a name is a library as often, or a mere folder, it is the project's own near the root alone.
        """
        if name in sys.stdlib_module_names or name in libraries().always:
            return ()
        found = self._project.answer("path roots with a name", name, lambda: tuple(self._holders(name)), compared=True)
        if not found:
            return ()
        is_known = name in libraries().ambiguous
        roots = [one.root for one in found if one.root.concerns(start) or (one.is_module and not is_known)]
        roots.sort(key=lambda one: one.nearness(start), reverse=True)
        return tuple(dict.fromkeys(one.folder for one in roots))

    @property
    def are_plain(self) -> bool:
        """Whether all of them can be reached from the project's root by folders that could be packages."""
        root = self._project.extent.walked
        return all(part.isidentifier() for one in self._placed() for part in Path(one.folder).relative_to(root).parts)

    def _holders(self, name: str) -> Iterator[Holder]:
        holds = self._project.resolver.holds
        for one in self._placed():
            has_file, has_entry = holds(one.folder, f"{name}.py"), holds(one.folder, name)
            if has_file or has_entry:
                yield Holder(one, has_file or holds(str(Path(one.folder, name)), "__init__.py"))

    def _placed(self) -> tuple[Placed, ...]:
        return self._project.answer("path roots", None, lambda: tuple(dict.fromkeys(self._place())), compared=True)

    def _place(self) -> Iterator[Placed]:
        """Give each path root with each folder of a file that adds it."""
        root = self._project.extent.walked
        usual = {self._project.root, self._project.root / "src"}
        for path in self._project.adding():
            for one in self._added(path):
                yield from (Placed(str(to), str(path.parent)) for to in placed(one, path, root) if to not in usual)

    def _added(self, path: Path) -> tuple[PathRoot, ...]:
        self._project.questions.note(("path roots", str(path)))
        summary = self._project.peek(path)
        return summary.path_roots if summary is not None else ()


def placed(one: PathRoot, file: Path, root: Path) -> tuple[Path, ...]:
    """The folders that a path root of a file means, none of them outside ``root``.

    The working directory is the root or the folder of the file: it depends on where a program is started.
    """
    if "\0" in one.path or (one.base == SETUP and file.name != SETUP_FILE):
        return ()
    bases = (root, file.parent) if one.base == CWD else (file.parent,)
    found = [_descend(base, one.path) for base in bases]
    return tuple(dict.fromkeys(path for path in found if path == root or root in path.parents))


def _descend(base: Path, relative: str) -> Path:
    for part in relative.split("/"):
        base = base.parent if part == ".." else base / part
    return base


def _is_within(folder: str, outer: str) -> bool:
    return folder == outer or folder.startswith(outer.rstrip(os.sep) + os.sep)
