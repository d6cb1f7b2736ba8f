"""A project as a notebook sees it: the notebook is one more file of it, and no other file knows of that."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.project.families import Families
from forklint.project.graph import ImportGraph
from forklint.project.index import Project
from forklint.project.module import Module

if TYPE_CHECKING:
    from forklint.source.outline import Outline


class GuestProject(Project):
    """The project of a notebook with the notebook in it.

    Nothing imports a notebook, so what is concluded of other files must not depend on which notebook was linted
    before: conclusions are this view's own; files, trees and imports are the project's.
    """

    def __init__(self, home: Project, guest: Module) -> None:
        super().__init__(home.extent, home.settings)
        self._home = home
        self._guest = guest
        self.resolver = home.resolver
        self.witness = home.witness
        self.graph = ImportGraph(self, home.graph)
        self.families = Families(self, home.families.known)

    def data(self, path: Path) -> bytes:
        """Bytes of a file as rules see them: of the notebook those of its program."""
        return self._guest.document.code if path == self._guest.path else self._home.data(path)

    def load(self, path: Path) -> Module:
        """The module of a file; raises what ``Project.load`` raises."""
        return self._guest if path == self._guest.path else self._home.load(path)

    def outline(self, path: Path) -> Outline | None:
        """The outline of a file; none of the notebook."""
        return None if path == self._guest.path else self._home.outline(path)

    @cached_property
    def presets(self) -> tuple[Path, ...]:
        """Every file of the project in YAML, TOML or JSON that is not ignored."""
        return self._home.presets

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files that may say something of the project, and the notebook, with what it imports from outside."""
        files = (*self._home.files, self._guest.path)
        new = self.followed((self._guest.path,)) if self._home.is_left else ()
        return tuple(dict.fromkeys((*files, *new)))
