"""From an import, as written in a file, to the project file that it means."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from forklint.project.evidence import is_importable


class Resolver:
    """Finds project modules by their dotted names, as Python would with the project's usual paths.

    An absolute import is looked up beside a script (a file that is in no package), then in the folders
    above it up to the project's root, then in the root's ``src``. A file of a package starts from the
    folder that holds its outermost package. Folders without ``__init__.py`` are namespace packages.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.listings: dict[str, frozenset[str]] = {}
        """Each folder that was looked into, with the names in it that can be modules or packages."""
        self.folders: dict[str, bool] = {}
        """Each path that was asked whether it is a folder, and the answer."""
        self._bases: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str, int], Path | None] = {}

    @cached_property
    def _root(self) -> str:
        return str(self.root)

    def find(self, importer: Path, module: str, level: int = 0) -> Path | None:
        """Find the file of a module: ``a/b.py``, or ``a/b/__init__.py``; None if it is not the project's."""
        key = (os.path.dirname(importer), module, level)
        if key not in self._found:
            self._found[key] = self._find(*key)
        return self._found[key]

    def _find(self, folder: str, module: str, level: int) -> Path | None:
        parts = [part for part in module.split(".") if part]
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._file(folder, parts)
        for base in self._search_path(folder):
            found = self._file(base, parts)
            if found is not None:
                return found
        return None

    def is_package(self, importer: Path, module: str, level: int = 0) -> Path | None:
        """Find the folder of a namespace package (one without ``__init__.py``); None if there is none."""
        parts = [part for part in module.split(".") if part]
        if level:
            bases: tuple[str, ...] = (str(importer.parents[level - 1]),)
        else:
            bases = self._search_path(str(importer.parent))
        for base in bases:
            folder = os.path.join(base, *parts)
            if parts and self._has_folder(base, parts) and self._is_folder(folder):
                return Path(folder)
        return None

    def _has_folder(self, base: str, parts: list[str]) -> bool:
        for part in parts:
            if part not in self._listing(base):
                return False
            base = os.path.join(base, part)
        return True

    def _file(self, base: str, parts: list[str]) -> Path | None:
        if not parts:
            return Path(base, "__init__.py") if "__init__.py" in self._listing(base) else None
        if not self._has_folder(base, parts[:-1]):
            return None
        folder = os.path.join(base, *parts[:-1])
        listing = self._listing(folder)
        last = parts[-1]
        if last in listing:
            package = os.path.join(folder, last)
            if "__init__.py" in self._listing(package):
                return Path(package, "__init__.py")
        if f"{last}.py" in listing:
            return Path(folder, f"{last}.py")
        return None

    def _search_path(self, folder: str) -> tuple[str, ...]:
        known = self._bases.get(folder)
        if known is None:
            base = folder
            while "__init__.py" in self._listing(base) and base not in {self._root, os.path.dirname(base)}:
                base = os.path.dirname(base)
            bases = [base]
            while base != self._root and base.startswith(self._root + os.sep):
                base = os.path.dirname(base)
                bases.append(base)
            bases.append(os.path.join(self._root, "src"))
            known = self._bases[folder] = tuple(dict.fromkeys(bases))
        return known

    def _listing(self, folder: str) -> frozenset[str]:
        known = self.listings.get(folder)
        if known is None:
            try:
                known = frozenset(filter(is_importable, os.listdir(folder)))
            except OSError:
                known = frozenset()
            self.listings[folder] = known
        return known

    def _is_folder(self, path: str) -> bool:
        known = self.folders.get(path)
        if known is None:
            known = self.folders[path] = os.path.isdir(path)
        return known
