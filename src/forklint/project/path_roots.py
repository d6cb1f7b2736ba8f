"""The path roots of a project: folders beside the usual ones that its modules are imported from."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.libraries import libraries
from forklint.records import dataclass
from forklint.source import document, path_roots
from forklint.source.path_roots import PathRoot

if TYPE_CHECKING:
    from forklint.project.files import ProjectFiles

Listing = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class PlacedRoot:
    """A folder that a file of the project makes modules importable from."""

    folder: str
    added_in: str
    """The folder of that file."""

    def concerns(self, start: str) -> bool:
        """Whether code whose imports begin in a folder stands below the file that adds the root, or in the root."""
        return _is_within(start, self.added_in) or _is_within(start, self.folder)


class PathRoots:
    """Finds the path roots of a project, once they are needed: that takes a look into each file.

    They are not needed for a name that no file or folder of the project has, nor for one of Python's own modules.
    """

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._added: dict[Path, tuple[PathRoot, ...]] | None = None
        """What each file adds that adds something; None until it is needed."""
        self._holders: dict[str, tuple[PlacedRoot, ...]] | None = None
        self._nearest: dict[tuple[str, str], tuple[str, ...]] = {}

    def holding(self, name: str, start: str, listing: Listing) -> tuple[str, ...]:
        """The path roots in which there is a module or package of a top-level name.

        ``start`` is the folder in which the search begins: roots that were added near it come first. ``listing``
        gives the names in a folder that can be modules or packages.
        """
        if self._holders is None:
            if not self._may_be_ours(name):
                return ()
            self._holders = self._find_holders(listing)
        holders = self._holders.get(name)
        if holders is None:
            return ()
        key = (name, start)
        if key not in self._nearest:
            searched = [one for one in holders if one.concerns(start) or _is_surely_ours(name, one.folder, listing)]
            searched.sort(key=lambda one: (one.concerns(start), _shared(one.added_in, start)), reverse=True)
            self._nearest[key] = tuple(dict.fromkeys(one.folder for one in searched))
        return self._nearest[key]

    @property
    def are_plain(self) -> bool:
        """Whether all of them can be reached from the project's root by folders that could be packages."""
        root = self._files.extent.walked
        return all(part.isidentifier() for one in self._placed() for part in Path(one.folder).relative_to(root).parts)

    def has_changed(self, path: Path) -> bool:
        """Take note that a file says something else now; gives whether that changes the path roots."""
        if self._added is None or self._added.get(path, ()) == self._read(path):
            return False
        self._added = self._holders = None
        self._nearest.clear()
        return True

    def _may_be_ours(self, name: str) -> bool:
        return name in self._names and name not in sys.stdlib_module_names and name not in libraries().always

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names that modules and packages of the project have, wherever they stand."""
        root, folders = self._files.extent.walked, set[Path]()
        for parent in {path.parent for path in self._files.walked}:
            folder = parent
            while folder not in folders and root in folder.parents:
                folders.add(folder)
                folder = folder.parent
        return frozenset({folder.name for folder in folders} | {path.stem for path in self._files.walked})

    def _find_holders(self, listing: Listing) -> dict[str, tuple[PlacedRoot, ...]]:
        found: dict[str, dict[PlacedRoot, None]] = {}
        for one in self._placed():
            for entry in listing(one.folder):
                name = entry.removesuffix(".py")
                if name != "__init__" and self._may_be_ours(name):
                    found.setdefault(name, {})[one] = None
        return {name: tuple(holders) for name, holders in found.items()}

    def _placed(self) -> tuple[PlacedRoot, ...]:
        if self._added is None:
            self._added = {path: added for path in self._files.walked if (added := self._read(path))}
        root = self._files.extent.walked
        usual = {self._files.root, self._files.root / "src"}
        found = [
            PlacedRoot(str(folder), str(path.parent))
            for path, added in self._added.items()
            for one in added
            for folder in path_roots.placed(one, path, root)
            if folder not in usual
        ]
        return tuple(dict.fromkeys(found))

    def _read(self, path: Path) -> tuple[PathRoot, ...]:
        data = self._files.data(path)
        if not path_roots.may_add(path.name, data):
            return ()
        try:
            return path_roots.path_roots(document.parse(document.decode(path, data)))
        except (document.UnreadableError, SyntaxError, RecursionError, MemoryError, ValueError):
            return ()


def _is_surely_ours(name: str, folder: str, listing: Listing) -> bool:
    """Whether a name means what is in a path root for files that have nothing to do with that.

    It does where it is a module or a package with ``__init__.py``, and no library has the name.
    """
    is_module = f"{name}.py" in listing(folder) or "__init__.py" in listing(str(Path(folder, name)))
    return is_module and name not in libraries().ambiguous


def _shared(one: str, other: str) -> int:
    """How much of their paths two folders have in common."""
    return len(os.path.commonpath([one, other]))


def _is_within(folder: str, outer: str) -> bool:
    return folder == outer or folder.startswith(outer.rstrip(os.sep) + os.sep)
