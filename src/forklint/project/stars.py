"""Which files may give a name to one that imports all that they have, by their summaries.

A star takes the names in ``__all__``, else those that the top level binds, or takes by a star of its own, without a
leading underscore (the Python language reference, "The import statement").
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from forklint.summaries.parts import EXPORTS, NAMED
from forklint.summaries.summary import STAR
from forklint.summaries.terms import BOUND, IMPORTED
from forklint.summaries.top_level import ALL

if TYPE_CHECKING:
    from forklint.project.index import Project

MOST_BELOW = 16
"""From so many files it is looked for who may take a name from them by a star, rather than from above."""


class Surface(NamedTuple):
    """What the top level of a file says of what a star takes from it."""

    exports: frozenset[str] | None
    """The names in ``__all__``, where they are surely written out."""
    is_computed: bool
    """Whether there is an ``__all__`` that is not."""

    def lets(self, name: str) -> bool:
        """Whether a star may take a name, if the file has it."""
        if self.exports is not None:
            return name in self.exports
        return self.is_computed or not name.startswith("_")


UNKNOWN = Surface(None, is_computed=True)


class Stars:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def may_give(self, path: Path, name: str) -> bool:
        """Whether a file may give a name to who imports all that it has."""
        surface = self._surface(path)
        return surface.lets(name) and (surface.exports is not None or bool(self.giving(path, name)))

    def giving(self, path: Path, name: str) -> tuple[Path, ...]:
        """The files that may bind a name which is looked for in a file: itself, and those under its stars."""
        return self._project.answer(
            "files that give a name", (path, name), lambda: tuple(self._giving(path, name)), compared=True
        )

    def imported_whole(self, path: Path) -> tuple[Path, ...]:
        """The files of the project from which a file imports all."""
        return self._project.answer("files imported whole", path, lambda: self._imported_whole(path), compared=True)

    def _giving(self, path: Path, name: str) -> Iterator[Path]:
        summary = self._project.part(path, NAMED, name)
        if summary is not None and not self.imported_whole(path):
            if name in summary.top.binds:
                yield path
            return
        binding = set(self._project.where(BOUND, name))
        for at in self._under(path, name) if self._may_come(path, binding) else (path,):
            if self._is_among(at, binding):
                surface = self._surface(at)
                is_taken = surface.lets(name) and surface.exports is not None
                if (self._binds(at, name) and (at == path or surface.lets(name))) or (at != path and is_taken):
                    yield at

    def _may_come(self, path: Path, binding: Collection[Path]) -> bool:
        """Whether one of some files may be under the stars of a file: True where they have many importers.

        Looked for from below: where few files bind a name, this spares a walk through a package that is all stars.
        """
        if len(binding) > MOST_BELOW or not self._project.is_whole:
            return True
        found, waiting = {*binding, path}, [one for one in binding if one != path]
        for at in waiting:
            above = self._importing_whole(at)
            if path in above or len(found) > MOST_BELOW:
                return True
            waiting += above - found
            found |= above
        return False

    def _importing_whole(self, path: Path) -> frozenset[Path]:
        """The files that import all of one; they name it, or import from the package that they are in."""
        return self._project.answer(
            "files that import all of one", path, lambda: frozenset(self._find_importing(path)), compared=True
        )

    def _find_importing(self, path: Path) -> Iterator[Path]:
        starred = self._starred()
        is_package = path.name == "__init__.py"
        naming = self._project.where(IMPORTED, path.parent.name if is_package else path.stem)
        candidates = {one for one in naming if one in starred}
        if is_package:
            below = str(path.parent / "_")[:-1]
            candidates.update(one for one in starred if str(one).startswith(below))
        for one in candidates:
            if path in self.imported_whole(one):
                yield one

    def _starred(self) -> frozenset[Path]:
        """The files that import all of some other."""
        find = lambda: frozenset(self._project.where(IMPORTED, STAR))  # noqa: E731 - it is short
        return self._project.answer("files with stars", None, find, compared=True)

    def _is_among(self, path: Path, having: Collection[Path]) -> bool:
        """Whether a file is among those that have a term, or may be: those that are ignored are not asked."""
        return path in having or not self._project.owns(path)

    def _under(self, path: Path, name: str) -> Iterator[Path]:
        """Give a file, and those under its stars from which a name may come; few files have stars."""
        starred = self._starred()
        found, waiting = {path}, [path]
        for at in waiting:
            if at != path and self._is_among(at, starred) and not self._surface(at).lets(name):
                continue
            yield at
            has_stars = at == path or self._is_among(at, starred)
            new = [one for one in self.imported_whole(at) if one not in found] if has_stars else []
            found.update(new)
            waiting += new

    def _imported_whole(self, path: Path) -> tuple[Path, ...]:
        stars = (one for one in self._project.imports(path) if one.attribute == STAR)
        found = (self._project.resolver.find(path, star.module, star.level) for star in stars)
        return tuple(target for target in found if target is not None)

    def _binds(self, path: Path, name: str) -> bool:
        """Whether a file may bind a name other than by a star; nothing is known of one without a summary."""
        summary = self._project.part(path, NAMED, name)
        return summary is None or name in summary.top.binds

    def _surface(self, path: Path) -> Surface:
        return self._project.answer("what a star takes", path, lambda: self._find_surface(path), compared=True)

    def _find_surface(self, path: Path) -> Surface:
        summary = self._project.part(path, EXPORTS)
        if summary is None:
            return UNKNOWN
        top = summary.top
        is_computed = summary.exports is None and (ALL in top.binds or ALL in top.bare)
        return Surface(summary.exports, is_computed)
