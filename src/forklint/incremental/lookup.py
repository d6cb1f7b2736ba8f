"""One run over files of any projects: the reports that hold, what is known for making the others, and keeping these."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from forklint.config import Settings, SettingsFinder
from forklint.incremental import tables
from forklint.incremental.gathering import GatheredLibrary
from forklint.incremental.session import Fresh, Session, UnsteadyError
from forklint.incremental.stored_library import StoredLibrary
from forklint.model import FileReport
from forklint.project.library import Library
from forklint.project.seen import Seen
from forklint.records import dataclass
from forklint.source.digest import digest
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root, shown
from forklint.source.roots import Extent, Roots
from forklint.store import folder, identity
from forklint.store.database import Store
from forklint.store.errors import StoreError

Place = tuple[Path, Path | None]
"""The folder that belongs to a project, and the file of its settings: what one linter stands for."""
VARIANT = 12
"""Digits by which ways to lint are told apart."""


@dataclass
class _Shelf:
    """One project of the run."""

    extent: Extent
    session: Session | None
    """None where nothing is stored."""
    wanted: dict[str, str]
    """The files of the run that belong to it, with how each is shown."""


class Lookup:
    """Looks the files of a run up in stores, and keeps what was found out about the others."""

    def __init__(
        self,
        finder: SettingsFinder,
        files: Sequence[Path],
        variant: str,
        named: frozenset[str],
        tell: Callable[[str], None],
    ) -> None:
        """Look for the reports of ``files``.

        ``variant`` says how they are linted apart from their settings, ``named`` which of them were named outright,
        and ``tell`` is told why something cannot be kept. Raises ConfigError.
        """
        self._begin = time.time_ns()
        self._finder = finder
        self._variant = variant
        self._named = named
        self._tell = tell
        self._program = identity.program()
        self._shelves: dict[Place, _Shelf] = {}
        self._roots = Roots()
        self._by_folder: dict[str, tuple[str, str, _Shelf]] = {}
        self._places = [self._place(path) for path in files]
        found: dict[str, FileReport] = {}
        for shelf in self._shelves.values():
            if shelf.session is not None:
                found |= shelf.session.find(shelf.wanted)
        self.known = [found.get(absolute) for absolute, _ in self._places]
        """The report of each file, None where it must be linted."""
        self.missing = [path for path, report in zip(files, self.known, strict=True) if report is None]
        """The files that must be linted."""

    def libraries(self) -> dict[Place, StoredLibrary]:
        """What is stored of each project, for linting some of its files."""
        return {
            place: shelf.session.library()
            for place, shelf in self._shelves.items()
            if shelf.session is not None and shelf.session.revision
        }

    def library(self, place: Place) -> StoredLibrary | None:
        """What is stored of one project."""
        shelf = self._shelves.get(place)
        return shelf.session.library() if shelf is not None and shelf.session is not None else None

    def session(self, path: Path) -> Session | None:
        """The session of a file's project, if anything is stored for it."""
        return self._place(path)[1].session

    def complete(
        self, fresh: Iterable[Fresh], seen: Mapping[Place, Seen], libraries: Mapping[Place, Library]
    ) -> list[FileReport]:
        """Give the reports of all files, with those of the ``missing`` ones, and keep these.

        ``seen`` is what was seen of the disk, ``libraries`` what is known of the files, for each project.
        """
        rest = iter(fresh)
        reports: list[FileReport] = []
        new: dict[int, dict[str, Fresh]] = {}
        for (absolute, shelf), known in zip(self._places, self.known, strict=True):
            one = next(rest) if known is None else (known, b"")
            reports.append(one[0])
            if known is None and is_lasting(one[0]) and not self._is_asked_for(one[0].path):
                new.setdefault(id(shelf), {})[absolute] = one
        for place, shelf in self._shelves.items():
            if shelf.session is not None:
                gathered = libraries.get(place)
                self._keep(
                    shelf.session,
                    shelf.extent,
                    new.get(id(shelf), {}),
                    seen.get(place, Seen()),
                    gathered if isinstance(gathered, GatheredLibrary) else None,
                )
        return reports

    def keep(self, fresh: Mapping[str, Fresh], seen: Mapping[Place, Seen]) -> None:
        """Keep reports by the absolute paths of their files, as they are made one by one."""
        new: dict[int, dict[str, Fresh]] = {}
        for path, one in fresh.items():
            if is_lasting(one[0]):
                new.setdefault(id(self._place(Path(path))[1]), {})[path] = one
        for place, shelf in self._shelves.items():
            if shelf.session is not None:
                self._keep(shelf.session, shelf.extent, new.get(id(shelf), {}), seen.get(place, Seen()), None)

    def close(self) -> None:
        """Close all stores; what is asked of them later opens them again."""
        for shelf in self._shelves.values():
            if shelf.session is not None:
                shelf.session.close()

    def _keep(
        self, session: Session, extent: Extent, fresh: Mapping[str, Fresh], seen: Seen, gathered: GatheredLibrary | None
    ) -> None:
        try:
            if fresh or session.is_changed():
                session.keep(fresh, seen, gathered)
        except UnsteadyError:
            self._tell(f"{extent.walked}: files changed while they were linted, so the results are not cached")
        except StoreError as error:
            self._tell(f"{extent.walked}: the results are not cached: {error}")

    def _place(self, path: Path) -> tuple[str, _Shelf]:
        """A file's path from the root, and where it belongs; there are thousands."""
        parent, name = os.path.split(path)
        known = self._by_folder.get(parent)
        if known is None:
            absolute = from_root(path)
            above = str(absolute).removesuffix(name), shown(path).removesuffix(name)
            known = self._by_folder[parent] = (*above, self._shelf(absolute))
        if not self._is_asked_for(known[1] + name):
            known[2].wanted[known[0] + name] = known[1] + name
        return known[0] + name, known[2]

    def _shelf(self, path: Path) -> _Shelf:
        settings, extent = self._finder.for_file(path), self._roots.of(path)
        place = (extent.walked, settings.source)
        if place not in self._shelves:
            self._shelves[place] = _Shelf(extent, self._open(extent, settings), {})
        return self._shelves[place]

    def _open(self, extent: Extent, settings: Settings) -> Session | None:
        file = folder.store_of(extent, settings, self._program)
        if file is None:
            return None
        store = Store.open(file, tables.ALL, self._tell, evictable=tables.EVICTABLE)
        variant = digest(identity.request(extent, settings, self._variant).encode(errors="surrogatepass"))[:VARIANT]
        return Session(extent, settings, variant, store, self._begin)

    def _is_asked_for(self, name: str) -> bool:
        """Whether a file of settings was named outright: of these more is said than of others."""
        return name in self._named and kind_of(Path(name)) is Kind.PRESET


def is_lasting(report: FileReport) -> bool:
    """Whether a report would be the same in the next run: a failure may pass, and depth depends on who asks."""
    return not any(note.failure or note.unfinished for note in report.notes)
