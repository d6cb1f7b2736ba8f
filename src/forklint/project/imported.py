"""Files that a project reads only because its own files import them: nothing marks where such a project ends."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.source.discovery import MOST_FILES

if TYPE_CHECKING:
    from forklint.project.index import Project


class ImportedFiles:
    """Answers for one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def files(self) -> tuple[Path, ...]:
        """The files that those of the project reach by imports, without these themselves.

        None where imports stay within the files that were walked, or lead to what is ignored alone.
        """
        if not self._project.is_left:
            return ()
        return self._project.answer("files that are imported", None, self._find, compared=True)

    def _find(self) -> tuple[Path, ...]:
        self._project.questions.note(("files",))
        return self.reached(self._project.walked_files())

    def reached(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """The files that some files reach by imports, without these themselves; not more than MOST_FILES."""
        waiting = list(paths)
        count, seen = len(waiting), set(waiting)
        for path in waiting:
            new = [target for target in self._project.graph.imports(path) if target not in seen]
            new = new[: count + MOST_FILES - len(waiting)]
            seen.update(new)
            waiting += new
        return tuple(waiting[count:])
