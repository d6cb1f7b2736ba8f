"""Who imports whom, read from bytes alone: enough to pass over files without parsing anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklint.project.index import Project

IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<source>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]*)"
    rb"|import[ \t]+(?P<plain>[^\n]+))",
    re.MULTILINE,
)
"""Over-reads (an import in a string counts); never misses one written on a line of its own or in a block."""
AFTER_COLON = re.compile(rb"[:;][ \t]*((?:from|import)[ \t][^\n]*)")
NAME = re.compile(rb"[A-Za-z_][\w.]*")
Test = Callable[[bytes], bool]


class ImportGraph:
    """The byte-level import graph of a project. It names too many edges rather than too few."""

    def __init__(self, project: Project, known: dict[Path, tuple[Path, ...]] | None = None) -> None:
        self._project = project
        self.known: dict[Path, tuple[Path, ...]] = {} if known is None else known
        """What each file may import, as far as it was asked for; may be shared."""

    def imports(self, path: Path) -> tuple[Path, ...]:
        """Project files that a file may import directly."""
        known = self.known.get(path)
        if known is None:
            known = self.known[path] = tuple(dict.fromkeys(self._find_imports(path)))
        return known

    def any_reached(self, path: Path, test: Test, name: str) -> bool:
        """Whether the file or any project file that it reaches passes ``test``; ``name`` keeps the answers apart."""
        passes = self._project.memory(f"{name} here")
        reaches = self._project.memory(f"{name} reached")
        seen, waiting = {path}, [path]
        while waiting:
            current = waiting.pop()
            if current not in passes:
                passes[current] = test(self._project.data(current))
            if passes[current] or reaches.get(current):
                reaches[path] = True
                return True
            if current not in reaches:  # False is known there: all that it reaches was looked at
                new = [target for target in self.imports(current) if target not in seen]
                seen.update(new)
                waiting += new
        reaches.update(dict.fromkeys(seen, False))
        return False

    def reached(self, path: Path) -> tuple[Path, ...]:
        """The file and all project files that importing it may run, nearest first."""
        seen = {path: None}
        waiting = [path]
        while waiting:
            new = [target for target in self.imports(waiting.pop(0)) if target not in seen]
            seen.update(dict.fromkeys(new))
            waiting += new
        return tuple(seen)

    def forget(self, path: Path) -> None:
        """Forget the edges of a file that changed."""
        self.known.pop(path, None)

    @cached_property
    def _find(self) -> Callable[[Path, str, int], Path | None]:
        return self._project.resolver.find

    def _find_imports(self, path: Path) -> Iterator[Path]:
        data = self._project.data(path)
        if b"import" not in data:
            return
        yield from self._packages(path, "", 1)
        text = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").replace(b"\r", b"\n")
        for match in IMPORT.finditer(text):
            yield from self._edges(path, match)
        for inline in AFTER_COLON.finditer(text):
            for match in IMPORT.finditer(inline[1]):
                yield from self._edges(path, match)

    def _edges(self, path: Path, match: re.Match[bytes]) -> Iterator[Path]:
        if match["plain"] is not None:
            for part in match["plain"].split(b","):
                name = NAME.search(part)
                if name:
                    yield from self._packages(path, name[0].decode(), 0)
            return
        source = match["source"].decode()
        module = source.lstrip(".")
        level = len(source) - len(module)
        yield from self._packages(path, module, level)
        for name in NAME.findall(match["names"]):
            found = self._find(path, f"{module}.{name.decode()}".strip("."), level)
            if found is not None:
                yield found

    def _packages(self, path: Path, module: str, level: int) -> Iterator[Path]:
        """Give a module and each package on the way to it: importing ``a.b`` runs ``a`` first."""
        parts = module.split(".") if module else []
        for length in range(0 if level else 1, len(parts) + 1):
            found = self._find(path, ".".join(parts[:length]), level)
            if found is not None and found != path:
                yield found
            elif found is None and length == 1 and not level:
                return
