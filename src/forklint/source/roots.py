"""The project that a file belongs to."""

from __future__ import annotations

import os
from pathlib import Path

from forklint.source.paths import from_root

FILES = ("forklint.toml", "pyproject.toml")
"""Files with settings."""
ROOT_MARKS = (*FILES, ".git")


class Roots:
    """Finds the roots of many files, looking at each folder once."""

    def __init__(self) -> None:
        self._marked: dict[str, str] = {}

    def marked(self, folder: str) -> str:
        """The nearest folder, from ``folder`` upwards, with a configuration file or ``.git``; empty if there is none.

        ``folder`` is written from the root.
        """
        known = self._marked.get(folder)
        if known is None:
            above = os.path.dirname(folder)
            if any(os.path.exists(os.path.join(folder, mark)) for mark in ROOT_MARKS):
                known = folder
            else:
                known = self.marked(above) if above != folder else ""
            self._marked[folder] = known
        return known

    def of(self, path: Path) -> Path:
        """The root of the project that a file belongs to.

        That is the nearest folder that is marked; with none, the folder that holds the file's outermost package, so
        that every door to forklint sees the same project.
        """
        folder = from_root(path).parent
        marked = self.marked(str(folder))
        if marked:
            return Path(marked)
        while (folder / "__init__.py").is_file() and folder.parent != folder:
            folder = folder.parent
        return folder


def find_root(path: Path) -> Path:
    """The root of the project that one file belongs to, as ``Roots.of`` says."""
    return Roots().of(path)
