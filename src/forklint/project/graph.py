"""Who imports whom, read from bytes alone: enough to pass over files without parsing anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklint.project.index import Project

WORD = b"import"
AFTER = b" \t\f(*"
"""What may follow the word ``import`` in a statement."""
SOURCE = re.compile(rb"from(?=[ \t\f.])([.\w\x80-\xff \t\f]+)")
NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w.\x80-\xff]*")
NAMES = re.compile(rb"[ \t\f]*(\([^)]*\)|[^\n]*)")
FEW = 64
"""So many files are read on the way from one file to another before all files of the project are."""
Statement = tuple[int, bytes, bytes]
"""The dots before the module that names are imported from, the module (neither for ``import a, b``), and the names."""
OWN_PACKAGE: Statement = (1, b"", b"")
"""What each file of a package imports, though it does not say so."""
Test = Callable[[bytes], bool]


class ImportGraph:
    """The byte-level import graph of a project. It names too many edges rather than too few.

    A graph with a ``home`` is that of one more file, which no other imports.
    """

    def __init__(self, project: Project, home: ImportGraph | None = None) -> None:
        self._project = project
        self._home = home
        self.known: dict[Path, tuple[Path, ...]] = {} if home is None else home.known
        """What each file may import, as far as it was asked for."""
        self.edges: dict[tuple[str, Statement], tuple[Path, ...]] = {} if home is None else home.edges
        """What each statement may import, by where the search begins."""

    def imports(self, path: Path) -> tuple[Path, ...]:
        """Project files that a file may import directly."""
        known = self.known.get(path)
        if known is None:
            known = self.known[path] = tuple(self._find_imports(path))
        return known

    def any_reached(self, path: Path, test: Test, name: str) -> bool:
        """Whether the file or any project file that it reaches passes ``test``; ``name`` keeps the answers apart."""
        home = self._home
        if home is not None:
            here = test(self._project.data(path))
            return here or any(home.any_reached(target, test, name) for target in self.imports(path))
        memory = self._project.memory(f"{name} reached")
        if not memory:
            memory[None] = _Reach(self, self._project, test)
        reach: _Reach = memory[None]
        return reach.holds(path)

    def reached(self, path: Path) -> tuple[Path, ...]:
        """The file and all project files that importing it may run, nearest first."""
        seen = {path: None}
        waiting = [path]
        for current in waiting:
            new = [target for target in self.imports(current) if target not in seen]
            seen.update(dict.fromkeys(new))
            waiting += new
        return tuple(seen)

    def reaches(self, first: Path, second: Path) -> bool:
        """Whether importing one file may run another, or both are the same; kept, as it is often asked of few files."""
        memory = self._project.memory("what a file reaches")
        if first not in memory:
            found = frozenset(self.reached(first))
            known = (memory.get(target) for target in self.imports(first))
            memory[first] = next((one for one in known if one == found), found)  # files in a circle share theirs
        return second in memory[first]

    def reaching(self, paths: Iterable[Path]) -> frozenset[Path]:
        """All files of ``importers`` from which one of some files is reached, these themselves included."""
        seen = set(paths)
        waiting = list(seen)
        importers = self.importers
        while waiting:
            new = [source for source in importers.get(waiting.pop(), ()) if source not in seen]
            seen.update(new)
            waiting += new
        return frozenset(seen)

    @property
    def importers(self) -> Mapping[Path, list[Path]]:
        """Each file of the project, and each that these reach though it is ignored, with those that import it."""
        memory = self._project.memory("who imports a file")
        if not memory:
            found: dict[Path, list[Path]] = {path: [] for path in self._project.files}
            waiting = list(found)
            for path in waiting:
                for target in self.imports(path):
                    if target not in found:
                        found[target] = []
                        waiting.append(target)
                    found[target].append(path)
            memory[None] = found
        importers: dict[Path, list[Path]] = memory[None]
        return importers

    @property
    def is_whole(self) -> bool:
        """Whether all that can be imported from below the root is among the project's files, and none is ignored."""
        memory = self._project.memory("has no ignored files")
        if not memory:
            project = self._project
            memory[None] = not project.resolver.has_others(project.files) and project.path_roots.are_plain
        answer: bool = memory[None]
        return answer

    def forget(self, path: Path) -> None:
        """Forget the edges of a file that changed."""
        self.known.pop(path, None)

    def forget_all(self) -> None:
        """Forget all edges: imports mean something else now."""
        self.known.clear()
        self.edges.clear()

    def _find_imports(self, path: Path) -> dict[Path, None]:
        data = self._project.data(path)
        found: dict[Path, None] = {}
        if WORD not in data:
            return found
        edges, starts = self.edges, dict[int, str]()
        for statement in (OWN_PACKAGE, *statements(data)):
            level = statement[0]
            start = starts.get(level)
            if start is None:
                start = starts[level] = self._project.resolver.start(path, level)
            known = edges.get((start, statement))
            if known is None:
                known = edges[start, statement] = tuple(self._targets(start, *statement))
            for target in known:
                found[target] = None
        found.pop(path, None)
        return found

    def _targets(self, start: str, level: int, source: bytes, names: bytes) -> Iterator[Path]:
        """Give the files that a statement may import, by what stands in it."""
        if not source and not level:
            for part in names.split(b","):
                name = NAME.search(part)
                if name is not None:
                    yield from self._packages(start, name[0].decode(errors="replace"), relative=False)
            return
        module = source.decode(errors="replace")
        if not level and not self._project.resolver.has(start, module.partition(".")[0]):
            return
        yield from self._packages(start, module, relative=level > 0)
        for one in NAME.findall(names):
            dotted = f"{module}.{one.decode(errors='replace')}".strip(".")
            found = self._project.resolver.find_from(start, dotted, relative=level > 0)
            if found is not None:
                yield found

    def _packages(self, start: str, module: str, *, relative: bool) -> Iterator[Path]:
        """Give a module and each package on the way to it: importing ``a.b`` runs ``a`` first."""
        parts = module.split(".") if module else []
        if not relative and not self._project.resolver.has(start, parts[0]):
            return
        for length in range(0 if relative else 1, len(parts) + 1):
            found = self._project.resolver.find_from(start, ".".join(parts[:length]), relative=relative)
            if found is not None:
                yield found


class _Reach:
    """Which files reach one that passes a test, by imports.

    A few files are followed forwards, so that one file of a large project is judged by those that it imports alone;
    when more are asked for, the files that pass are looked for in the whole project, and followed backwards.
    """

    def __init__(self, graph: ImportGraph, project: Project, test: Test) -> None:
        self._graph = graph
        self._project = project
        self._test = test
        self._passes: dict[Path, bool] = {}
        self._never: set[Path] = set()

    def holds(self, path: Path) -> bool:
        """Whether the file passes, or reaches one that does."""
        seen, waiting = {path}, [path]
        while waiting:
            current = waiting.pop()
            if self._is_passing(current):
                return True
            if len(self._passes) > FEW:
                if self._nowhere:
                    return False
                if current in self._graph.importers:
                    if current in self._backwards:
                        return True
                    continue
            new = [one for one in self._graph.imports(current) if one not in seen and one not in self._never]
            seen.update(new)
            waiting += new
        self._never |= seen
        return False

    def _is_passing(self, path: Path) -> bool:
        known = self._passes.get(path)
        if known is None:
            known = self._passes[path] = self._test(self._project.data(path))
        return known

    @cached_property
    def _nowhere(self) -> bool:
        """Whether no file that can be imported passes."""
        return not any(map(self._is_passing, self._project.files)) and self._graph.is_whole

    @cached_property
    def _backwards(self) -> frozenset[Path]:
        return self._graph.reaching(path for path in self._graph.importers if self._is_passing(path))


def statements(data: bytes) -> Iterator[Statement]:
    """Give what may be import statements in a text; one in a string counts, one written with semicolons, too."""
    if b"\\\n" in data or b"\\\r" in data:
        data = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").replace(b"\\\r", b" ")
    if b"\r" in data:
        data = data.replace(b"\r", b"\n")
    at = data.find(WORD)
    while at >= 0:
        after = at + len(WORD)
        if data[after : after + 1] in AFTER:
            head = data[data.rfind(b"\n", 0, at) + 1 : at].strip()
            source = _source(head) if head else b""
            if source is not None:
                module = source.lstrip(b".")
                yield len(source) - len(module), module, _names(data, after)
        at = data.find(WORD, after)


def _source(head: bytes) -> bytes | None:
    """The module in what stands before the word ``import``; empty if nothing does, None if that is no statement."""
    cut = max(head.rfind(b":"), head.rfind(b";")) + 1
    head = head[cut:].strip() if cut else head
    if not head:
        return b""
    if not head.startswith(b"from"):
        return None
    found = SOURCE.fullmatch(head)
    return b"".join(found[1].split()) if found is not None else None


def _names(data: bytes, start: int) -> bytes:
    """What stands behind the word ``import``, over several lines if in parentheses, without comments there."""
    found = NAMES.match(data, start)
    names = found[1] if found is not None else b""
    if b"#" not in names:
        return names
    if not names.startswith(b"("):
        return names.partition(b"#")[0]
    kept, end = [], start - 1
    while end < len(data):  # a comment may hold what looks like the end
        begin, end = end + 1, data.find(b"\n", end + 1) % (len(data) + 1)
        kept.append(data[begin:end].partition(b"#")[0])
        if b")" in kept[-1]:
            break
    return b" ".join(kept)
