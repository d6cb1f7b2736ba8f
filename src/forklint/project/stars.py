"""Which files may give a name to one that imports all that they have, judged by bytes alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.records import dataclass
from forklint.source import exports
from forklint.source.outline import imports_of

if TYPE_CHECKING:
    from forklint.project.index import Project


@dataclass(frozen=True)
class Under:
    """The files under the stars of a file, at any depth."""

    listing: dict[bytes, list[Path]]
    """Those whose ``__all__`` is written out, by the names in it."""
    others: list[Path]


class Stars:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def may_give(self, path: Path, name: str) -> bool:
        """Whether a file may give a name to who imports all that it has."""
        listed = self._listed(path)
        if listed is not None:
            return name.encode() in listed
        return not exports.hides(self._project.data(path), name) and bool(self.giving(path, name))

    def giving(self, path: Path, name: str) -> tuple[Path, ...]:
        """The files that may bind a name which is looked for in a file: itself, and those under its stars."""
        memory = self._project.memory("files that give a name")
        if (path, name) not in memory:
            memory[path, name] = tuple(self._giving(path, name))
        found: tuple[Path, ...] = memory[path, name]
        return found

    def imported_whole(self, path: Path) -> list[Path]:
        """The files of the project from which a file imports all."""
        memory = self._project.memory("files that are imported whole")
        if path not in memory:
            data = self._project.data(path)
            stars = imports_of(data).get("*", ()) if exports.may_have_star(data) else ()
            found = (self._project.resolver.find(path, star.module, star.level) for star in stars)
            memory[path] = [target for target in found if target is not None]
        targets: list[Path] = memory[path]
        return targets

    def _giving(self, path: Path, name: str) -> Iterator[Path]:
        data = self._project.data
        if exports.may_bind(data(path), name):
            yield path
        under = self._under(path)
        yield from under.listing.get(name.encode(), ())
        for at in under.others:
            if exports.may_bind(data(at), name) and not exports.hides(data(at), name):
                yield at

    def _under(self, path: Path) -> Under:
        memory = self._project.memory("files under stars")
        if path not in memory:
            memory[path] = under = Under({}, [])
            found, waiting = {path}, [path]
            while waiting:
                for at in self.imported_whole(waiting.pop()):
                    if at in found:
                        continue
                    found.add(at)
                    waiting.append(at)
                    listed = self._listed(at)
                    if listed is None:
                        under.others.append(at)
                    for name in listed or ():
                        under.listing.setdefault(name, []).append(at)
        known: Under = memory[path]
        return known

    def _listed(self, path: Path) -> frozenset[bytes] | None:
        memory = self._project.memory("names in __all__")
        if path not in memory:
            memory[path] = exports.written_out(self._project.data(path))
        listed: frozenset[bytes] | None = memory[path]
        return listed
