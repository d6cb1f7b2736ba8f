"""The linters of one run: each file is linted with its project and its settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forklint.config import SettingsFinder
from forklint.engine import Linter, Options
from forklint.project.index import Project
from forklint.project.library import Library
from forklint.project.seen import Seen
from forklint.source.paths import from_root
from forklint.source.roots import Extent, Roots

Place = tuple[Path, Path | None]
"""The folder that belongs to a project, and the file of its settings."""
MOST_KEPT = 512_000_000
"""Bytes of projects, in the measure of ``Project.weight``, which are kept, since a file of them may still come."""


class Linters:
    """Returns the Linter of each file's project, created on first use."""

    def __init__(
        self,
        settings: SettingsFinder,
        options: Options,
        library_of: Callable[[Place], Library | None] = lambda _: None,
    ) -> None:
        """``library_of`` gives what is known of a project already."""
        self._settings = settings
        self._options = options
        self._library_of = library_of
        self._linters: dict[Place, Linter] = {}
        self._roots = Roots()
        self._extents: dict[Path, Extent] = {}

    def news(self) -> dict[Place, Seen]:
        """What was seen of the disk, for each project, without what this has given already."""
        return {key: linter.project.news() for key, linter in self._linters.items()}

    def leave(self, linter: Linter) -> dict[Place, Project]:
        """Forget all projects but the one of a linter, once much is known of them; give those that were forgotten."""
        left = {key: one.project for key, one in self._linters.items() if one is not linter}
        if sum(project.weight for project in left.values()) < MOST_KEPT:
            return {}
        self._linters = {key: one for key, one in self._linters.items() if one is linter}
        return left

    def all(self) -> list[Linter]:
        """The linters so far."""
        return list(self._linters.values())

    def of(self, path: Path) -> Linter:
        """The Linter for a file; raises ConfigError."""
        absolute = from_root(path)
        settings = self._settings.for_file(absolute)
        extent = self._extents.get(absolute.parent)
        if extent is None:
            extent = self._extents[absolute.parent] = self._roots.of(absolute)
        key = (extent.walked, settings.source)
        if key not in self._linters:
            self._linters[key] = Linter(Project(extent, settings, self._library_of(key)), self._options)
        return self._linters[key]
