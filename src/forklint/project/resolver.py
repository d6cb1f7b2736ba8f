"""From an import, as written in a file, to the project file that it means."""

from __future__ import annotations

import os
from collections.abc import Iterable
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
        self.others: bool | None = None
        """The answer of ``has_others``, if it was asked."""
        self._bases: dict[str, tuple[str, ...]] = {}
        self._starts: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str, bool], Path | None] = {}
        self._packages: dict[tuple[str, str, bool], Path | None] = {}

    @cached_property
    def _root(self) -> str:
        return str(self.root)

    def find(self, importer: Path, module: str, level: int = 0) -> Path | None:
        """Find the file of a module: ``a/b.py``, or ``a/b/__init__.py``; None if it is not the project's."""
        return self.find_from(self.start(importer, level), module, relative=level > 0)

    def start(self, importer: Path, level: int) -> str:
        """The folder where the search for an import begins, which is the same for many a file."""
        folder = os.path.dirname(str(importer))
        if not level:
            return self._search_path(folder)[0]
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        return folder

    def find_from(self, start: str, module: str, *, relative: bool) -> Path | None:
        """Find the file of a module from where the search begins."""
        key = (start, module, relative)
        if key not in self._found:
            self._found[key] = self._find(start, [part for part in module.split(".") if part], relative=relative)
        return self._found[key]

    def _find(self, start: str, parts: list[str], *, relative: bool) -> Path | None:
        if relative:
            return self._file(start, parts)
        for base in self._above(start):
            found = self._file(base, parts)
            if found is not None:
                return found
        return None

    def has(self, start: str, name: str) -> bool:
        """Whether an absolute import of a name may mean something of the project, from where the search begins."""
        return any(name in listing or f"{name}.py" in listing for listing in map(self._listing, self._above(start)))

    def names(self, start: str) -> frozenset[str]:
        """The names that absolute imports may find in the project, from where the search begins."""
        listings = map(self._listing, self._above(start))
        return frozenset(name.removesuffix(".py") for listing in listings for name in listing)

    def has_others(self, known: Iterable[Path]) -> bool:
        """Whether an import may find a Python file below the root that is not among the known ones: those of a walk."""
        if self.others is None:
            self.others = self._has_others(known)
        return self.others

    def _has_others(self, known: Iterable[Path]) -> bool:
        paths = set(map(str, known))
        for folder, folders, names in os.walk(self._root):
            if any(name.endswith(".py") and os.path.join(folder, name) not in paths for name in names):
                return True
            folders[:] = [name for name in folders if name.isidentifier()]
            if any(os.path.islink(os.path.join(folder, name)) for name in folders):
                return True
        return False

    def is_package(self, importer: Path, module: str, level: int = 0) -> Path | None:
        """Find the folder of a namespace package (one without ``__init__.py``); None if there is none."""
        key = (self.start(importer, level), module, level > 0)
        if key not in self._packages:
            self._packages[key] = self._find_package(key[0], module, relative=level > 0)
        return self._packages[key]

    def _find_package(self, start: str, module: str, *, relative: bool) -> Path | None:
        parts = [part for part in module.split(".") if part]
        for base in (start,) if relative else self._above(start):
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
            known = self._bases[folder] = self._above(base)
        return known

    def _above(self, start: str) -> tuple[str, ...]:
        """The folders in which an absolute import is looked for, from the first of them."""
        known = self._starts.get(start)
        if known is None:
            bases = [start]
            while bases[-1] != self._root and bases[-1].startswith(self._root + os.sep):
                bases.append(os.path.dirname(bases[-1]))
            bases.append(os.path.join(self._root, "src"))
            known = self._starts[start] = tuple(dict.fromkeys(bases))
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
