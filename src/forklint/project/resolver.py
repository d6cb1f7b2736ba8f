"""From an import, as written in a file, to the project file that it means."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from forklint.project.questions import Questions
from forklint.project.seen import importable
from forklint.source.roots import Extent

Elsewhere = Callable[[str, str], tuple[str, ...]]


def nowhere(_name: str, _start: str) -> tuple[str, ...]:
    """Where else to look, if there is nothing."""
    return ()


class Resolver:
    """Finds project modules by their dotted names, as Python would with the project's usual paths.

    An absolute import is looked up beside a script, then in the folders above it up to the project's root, then in
    the root's ``src``. Scripts are the files that are in no package, and those for which ``is_script`` says so; others
    start from the folder that holds their outermost package. What is found in none of these is looked up in the
    project's path roots, which its files put on ``sys.path`` or install from a ``setup.py``: those that are added by
    files near the importing one first. Folders without ``__init__.py`` are namespace packages.
    """

    def __init__(self, extent: Extent, questions: Questions | None = None, elsewhere: Elsewhere | None = None) -> None:
        """``elsewhere`` gives the path roots with something of a top-level name, by it and where a search begins."""
        self._extent = extent
        self._root = str(extent.root)
        self._elsewhere = elsewhere or nowhere
        self._questions = questions or Questions()
        self.is_script: Callable[[Path], bool] = lambda _: False
        self.listings: dict[str, frozenset[str]] = {}
        """Each folder that was looked into, with the names in it that can be modules or packages."""
        self.folders: dict[str, bool] = {}
        """Each path that was asked whether it is a folder, and the answer."""
        self._starts: dict[str, tuple[str, ...]] = {}
        self._unwritten: dict[str, set[str]] = {}

    def add(self, path: Path) -> None:
        """From now on see a file that is still to be written."""
        self._unwritten.setdefault(str(path.parent), set()).add(path.name)
        self.listings.pop(str(path.parent), None)

    def find(self, importer: Path, module: str, level: int = 0) -> Path | None:
        """Find the file of a module: ``a/b.py``, or ``a/b/__init__.py``; None if it is not the project's."""
        return self.find_from(self.start(importer, level), module, relative=level > 0)

    def start(self, importer: Path, level: int) -> str:
        """The folder where the search for an import begins, which is the same for many a file."""
        folder = os.path.dirname(str(importer))
        if not level:
            start = self._search_path(folder)[0]
            return folder if start != folder and self.is_script(importer) else start
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        return folder

    def find_from(self, start: str, module: str, *, relative: bool) -> Path | None:
        """Find the file of a module from where the search begins."""
        parts = [part for part in module.split(".") if part]
        key = (start, module, relative)
        return self._questions.answer("file of a module", key, lambda: self._find(start, parts, relative=relative))

    def _find(self, start: str, parts: list[str], *, relative: bool) -> Path | None:
        if relative:
            return self._file(start, parts)
        for base in self._bases(start, parts):
            found = self._file(base, parts)
            if found is not None:
                return found
        return None

    def _bases(self, start: str, parts: list[str]) -> Iterator[str]:
        """Give the folders in which an absolute import is looked for."""
        yield from self._above(start)
        if parts:
            yield from self._elsewhere(parts[0], start)

    def has(self, start: str, name: str) -> bool:
        """Whether an absolute import of a name may mean something of the project, from where the search begins."""
        return self._is_in(self._above(start), name) or bool(self._elsewhere(name, start))

    def is_usual(self, folder: str, name: str) -> bool:
        """Whether a name is found from the folder that holds the outermost package of a folder."""
        return self._is_in(self._search_path(folder), name)

    def _is_in(self, bases: tuple[str, ...], name: str) -> bool:
        return any(self.holds(base, name) or self.holds(base, f"{name}.py") for base in bases)

    def is_package(self, importer: Path, module: str, level: int = 0) -> Path | None:
        """Find the folder of a namespace package (one without ``__init__.py``); None if there is none."""
        start = self.start(importer, level)
        key = (start, module, level > 0)
        find = lambda: self._find_package(start, module, relative=level > 0)  # noqa: E731 - it is short
        return self._questions.answer("folder of a package", key, find)

    def modules_of(self, importer: Path, package: str, start: str) -> list[Path]:
        """Find the files of the modules of a package whose names begin with something, as an import would."""
        self._questions.note(("files",))
        folder = self.is_package(importer, package)
        names = self._listing(str(folder)) if folder is not None else frozenset()
        stems = dict.fromkeys(name.removesuffix(".py") for name in sorted(names) if name.startswith(start))
        found = (self._file(str(folder), [stem]) for stem in stems if not stem.startswith("_"))
        return [path for path in found if path is not None]

    def _find_package(self, start: str, module: str, *, relative: bool) -> Path | None:
        parts = [part for part in module.split(".") if part]
        for base in (start,) if relative else self._bases(start, parts):
            folder = os.path.join(base, *parts)
            if parts and self._has_folder(base, parts) and self._is_folder(folder):
                return Path(folder)
        return None

    def _has_folder(self, base: str, parts: list[str]) -> bool:
        for part in parts:
            if not self.holds(base, part):
                return False
            base = os.path.join(base, part)
        return True

    def _file(self, base: str, parts: list[str]) -> Path | None:
        if not parts:
            return Path(base, "__init__.py") if self.holds(base, "__init__.py") else None
        if not self._has_folder(base, parts[:-1]):
            return None
        folder = os.path.join(base, *parts[:-1])
        last = parts[-1]
        if self.holds(folder, last):
            package = os.path.join(folder, last)
            if self.holds(package, "__init__.py"):
                return Path(package, "__init__.py")
        if self.holds(folder, f"{last}.py"):
            return Path(folder, f"{last}.py")
        return None

    def _search_path(self, folder: str) -> tuple[str, ...]:
        return self._questions.answer("search path", folder, lambda: self._find_search_path(folder))

    def _find_search_path(self, folder: str) -> tuple[str, ...]:
        base = folder
        while self.holds(base, "__init__.py") and base not in {self._root, os.path.dirname(base)}:
            base = os.path.dirname(base)
        return self._above(base)

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

    def holds(self, folder: str, name: str) -> bool:
        """Whether a folder has an entry that can be a module or a package."""
        self._questions.note(("entry", folder, name))
        return name in self._listing(folder)

    def _listing(self, folder: str) -> frozenset[str]:
        if folder == self._root and self._extent.only_name is not None:
            return frozenset({self._extent.only_name})
        known = self.listings.get(folder)
        if known is None:
            known = self.listings[folder] = self.listed(folder)
        return known

    def listed(self, folder: str) -> frozenset[str]:
        """The names in a folder that can be modules or packages, as it is now; none if it cannot be read."""
        try:
            names = os.listdir(folder)
        except OSError:
            names = []
        return frozenset(importable((*names, *self._unwritten.get(folder, ()))))

    def _is_folder(self, path: str) -> bool:
        self._questions.note(("folder", path))
        known = self.folders.get(path)
        if known is None:
            known = self.folders[path] = os.path.isdir(path)
        return known
