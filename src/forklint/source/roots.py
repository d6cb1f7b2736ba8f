"""The project that a file belongs to: where its imports resolve from, and which folder is read."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from forklint.records import dataclass
from forklint.source.paths import from_root

FILES = ("forklint.toml", "pyproject.toml")
"""Files with settings."""
ROOT_MARKS = (*FILES, ".git")
INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages, by name."""


@dataclass(frozen=True)
class Extent:
    """How far a project reaches."""

    root: Path
    """The folder that imports are resolved from, and that paths in reports are relative to."""
    walked: Path
    """The folder whose files belong to the project: the root itself, or the one package below it."""
    is_marked: bool = True
    """Whether a file of settings or ``.git`` marks the root."""
    is_flat: bool = False
    """Whether only the files directly in ``walked`` belong to the project, and none of the folders below."""

    @property
    def is_bounded(self) -> bool:
        """Whether the walk ends after some number of files: nothing says where the project ends."""
        return not self.is_marked and self.walked == self.root

    @property
    def is_open(self) -> bool:
        """Whether imports may lead to files that do not belong to the project."""
        return not self.is_marked and (self.walked != self.root or self.is_flat) and self.only_name is None

    @property
    def only_name(self) -> str | None:
        """The one name that resolves in the root; None if all names there do.

        What stands beside an installed package is other people's, and is known from ``knowledge`` alone. A module that
        is installed without a package resolves nothing.
        """
        if self.is_marked or INSTALLED.isdisjoint(self.root.parts):
            return None
        if self.walked != self.root:
            return self.walked.name
        return "" if self.is_flat else None


class Roots:
    """Finds the projects of many files, looking at each folder once."""

    def __init__(self) -> None:
        self._marked: dict[str, str] = {}

    def marked(self, folder: str) -> str:
        """The nearest folder, from ``folder`` upwards, with a configuration file or ``.git``; empty if there is none.

        ``folder`` is an absolute path. The search ends at a folder that is never a root.
        """
        known = self._marked.get(folder)
        if known is None:
            if self.is_never_root(folder):
                known = ""
            elif any(os.path.exists(os.path.join(folder, mark)) for mark in ROOT_MARKS):
                known = folder
            else:
                known = self.marked(os.path.dirname(folder))
            self._marked[folder] = known
        return known

    def is_never_root(self, folder: str) -> bool:
        """Whether a folder is no project whatever marks it: home, a file system's root, or one of installed packages.

        A ``.git`` in the home folder is common: people keep their settings in it.
        """
        above, name = os.path.split(folder)
        return name in INSTALLED or above == folder or folder in self._homes

    @cached_property
    def _homes(self) -> frozenset[str]:
        """The home folder, as it is written and without links; empty if there is none."""
        try:
            home = str(Path.home())
        except RuntimeError:
            return frozenset()
        return frozenset({home, os.path.realpath(home)})

    def of(self, path: Path) -> Extent:
        """The project that a file belongs to.

        That is everything below the nearest folder that is marked. With none, it is the file's outermost package, whose
        imports resolve from the folder above it; or, for a file in no package, its own folder, with what is below
        unless the folder is never a root.
        """
        folder = from_root(path).parent
        marked = self.marked(str(folder))
        if marked:
            return Extent(Path(marked), Path(marked))
        package = None
        while not self.is_never_root(str(folder)) and (folder / "__init__.py").is_file():
            package, folder = folder, folder.parent
        if package is not None:
            return Extent(folder, package, is_marked=False)
        return Extent(folder, folder, is_marked=False, is_flat=self.is_never_root(str(folder)))


def find_extent(path: Path) -> Extent:
    """The project that one file belongs to, as ``Roots.of`` says."""
    return Roots().of(path)
