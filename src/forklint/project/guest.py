"""A project as a notebook sees it: the notebook is one more file of it, and no other file knows of that."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from forklint.project.graph import ImportGraph
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.top_level import MODULE
from forklint.source.discovery import Walk

if TYPE_CHECKING:
    from forklint.summaries.summary import Summary

T = TypeVar("T")


class GuestProject(Project):
    """The project of a notebook with the notebook in it.

    Nothing imports a notebook, so what is concluded of other files must not depend on which notebook was linted
    before: conclusions are this view's own; files, trees and imports are the project's.
    """

    def __init__(self, home: Project, guest: Module) -> None:
        super().__init__(home.extent, home.settings)
        self._home = home
        self._guest = guest
        self._modules[guest.path] = guest
        self.resolver.listings = home.resolver.listings
        self.resolver.folders = home.resolver.folders
        self.asked = home.asked
        self._sought, self._searches = home._sought, home._searches  # noqa: SLF001 - it is told of with the project's
        self._searches_of = home._searches_of  # noqa: SLF001
        self.graph = ImportGraph(self, home.graph, guest.path)

    def data(self, path: Path) -> bytes:
        """Bytes of a file as rules see them: of the notebook those of its program."""
        self.questions.note(("text", str(path)))
        return self.bytes_of(path)

    def bytes_of(self, path: Path) -> bytes:
        """Bytes of a project file, for a caller that notes by itself what of them its answer rests on."""
        return self._guest.source.code if path == self._guest.path else self._home.bytes_of(path)

    def load(self, path: Path) -> Module:
        """The module of a file; raises what ``Project.load`` raises."""
        self.questions.note((MODULE, str(path)))
        return self._guest if path == self._guest.path else self._home.load(path)

    def peek(self, path: Path) -> Summary | None:
        """The summary of a file, for a caller that notes by itself what of it its answer rests on."""
        return super().peek(path) if path == self._guest.path else self._home.peek(path)

    @cached_property
    def walk(self) -> Walk:
        """What a walk finds, for a caller that notes by itself what its answer rests on."""
        return self._home.walk

    @cached_property
    def _presets(self) -> tuple[Path, ...]:
        return self._home.presets

    def all_files(self) -> tuple[Path, ...]:
        """The files of the project, and the notebook with what it imports from outside."""
        files = (*self._borrowed(self._home.all_files), self._guest.path)
        new = self.imported_files.reached((self._guest.path,)) if self.is_left else ()
        return tuple(dict.fromkeys((*files, *new)))

    def adding(self) -> tuple[Path, ...]:
        """The files that may make modules importable from further folders."""
        return (*self._borrowed(self._home.adding), self._guest.path)

    def _borrowed(self, find: Callable[[], T]) -> T:
        """An answer of the project, with all that it rests on there."""
        value, rests = self._home.questions.watched(find)
        self.questions.note_all(rests)
        return value
