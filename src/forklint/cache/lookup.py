"""One run's reports: those that are known from an earlier run, and those that are kept for a later one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from forklint.cache import folder, identity, rows
from forklint.cache.book import Book, pack, unpack
from forklint.cache.stamps import is_same, stamp
from forklint.cache.standing import Standing
from forklint.config import Settings, SettingsFinder
from forklint.model import FileReport
from forklint.project.evidence import Evidence, digest
from forklint.records import dataclass
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root, shown
from forklint.source.roots import Extent, Roots

Place = tuple[Path, Path | None]
"""The folder that belongs to a project, and the file of its settings: what one linter stands for."""


@dataclass
class _Shelf:
    """One project of the run."""

    extent: Extent
    settings: Settings
    file: Path | None
    """Where its book is kept, if anywhere."""
    request: str
    book: Book = field(default_factory=Book)
    on_disk: bytes | None = None
    """The file as it was read."""
    holds: bool | None = None
    """Whether the evidence of the book still holds; None: nobody has asked."""
    refreshed: bool = False


class Lookup:
    """Looks the files of a run up, and keeps what was found out about the others."""

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
        places = [self._place(path) for path in files]
        self._places = [(absolute, shelf) for absolute, _, shelf in places]
        self.known = [self._find(*place) for place in places]
        """The report of each file, None where it must be linted."""
        self.missing = [path for path, report in zip(files, self.known, strict=True) if report is None]
        """The files that must be linted."""

    def complete(self, fresh: Sequence[FileReport], seen: Mapping[Place, Evidence]) -> list[FileReport]:
        """Give the reports of all files, with those of the ``missing`` ones, and keep these.

        ``seen`` is what they rest on, for each project.
        """
        rest = iter(fresh)
        reports = [next(rest) if report is None else report for report in self.known]
        new: dict[int, list[tuple[str, FileReport]]] = {}
        for (absolute, shelf), known, report in zip(self._places, self.known, reports, strict=True):
            if known is None:
                new.setdefault(id(shelf), []).append((absolute, report))
        for place, shelf in self._shelves.items():
            if shelf.file is not None and (id(shelf) in new or shelf.refreshed):
                self._keep(shelf, shelf.file, new.get(id(shelf), ()), seen.get(place, Evidence()))
        return reports

    def _place(self, path: Path) -> tuple[str, str, _Shelf]:
        """A file's path from the root, its path as it is shown, and where it belongs; there are thousands."""
        parent, name = os.path.split(path)
        known = self._by_folder.get(parent)
        if known is None:
            absolute = from_root(path)
            above = str(absolute).removesuffix(name), shown(path).removesuffix(name)
            known = self._by_folder[parent] = (*above, self._shelf(absolute))
        return known[0] + name, known[1] + name, known[2]

    def _shelf(self, path: Path) -> _Shelf:
        settings, extent = self._finder.for_file(path), self._roots.of(path)
        place = (extent.walked, settings.source)
        if place not in self._shelves:
            request = identity.request(extent, settings, self._variant)
            cache = folder.folder_of(extent, settings)
            name = f"{identity.TAG}-{digest(request.encode(errors='surrogatepass'))}{folder.SUFFIX}"
            shelf = self._shelves[place] = _Shelf(extent, settings, cache / name if cache else None, request)
            self._open(shelf)
        return self._shelves[place]

    def _open(self, shelf: _Shelf) -> None:
        if shelf.file is not None:
            shelf.on_disk = folder.read(shelf.file)
            shelf.book = self._unpacked(shelf, shelf.on_disk) or Book()

    def _unpacked(self, shelf: _Shelf, data: bytes | None) -> Book | None:
        return unpack(data, str(shelf.extent.root), self._program, shelf.request) if data is not None else None

    def _find(self, absolute: str, name: str, shelf: _Shelf) -> FileReport | None:
        if shelf.file is None or self._is_asked_for(name):
            return None
        alone = shelf.book.alone.get(absolute)
        if alone is not None:
            row = alone[1] if is_same(absolute, alone[0]) else None
        else:
            row = shelf.book.reports.get(absolute)
            row = row if row is not None and self._holds(shelf) else None
        try:
            return rows.report(name, row) if row is not None else None
        except rows.MalformedError:
            return None

    def _holds(self, shelf: _Shelf) -> bool:
        if shelf.holds is None:
            standing = Standing(shelf.book, shelf.extent, shelf.settings, self._begin)
            shelf.holds = standing.holds()
            shelf.refreshed = standing.refreshed > 0
        return shelf.holds

    def _is_asked_for(self, name: str) -> bool:
        """Whether a file of settings was named outright: of these more is said than of others."""
        return name in self._named and kind_of(Path(name)) is Kind.PRESET

    def _keep(self, shelf: _Shelf, file: Path, reports: Iterable[tuple[str, FileReport]], seen: Evidence) -> None:
        book = Book(seen)
        for absolute, report in reports:
            if not _is_lasting(report) or self._is_asked_for(report.path):
                continue
            if absolute in seen.contents:
                book.reports[absolute] = rows.of_report(report)
            elif kind_of(Path(absolute)) is Kind.PRESET and not report.findings:  # passed over, or screened
                book.alone[absolute] = (stamp(absolute, self._begin), rows.of_report(report))
        book.stamps = {path: stamp(path, self._begin) for path in seen.contents}
        if not seen.is_consistent:
            self._tell(f"{shelf.extent.walked}: files changed while they were linted, so their findings are not kept")
            return
        if self._holds(shelf):
            book.add(shelf.book)
        self._write(shelf, file, book)

    def _write(self, shelf: _Shelf, file: Path, book: Book) -> None:
        try:
            now_on_disk = folder.read(file)
            other = self._unpacked(shelf, now_on_disk) if now_on_disk != shelf.on_disk else None
            if other is not None:  # another run has ended meanwhile
                book.add(other)
            folder.write(file, pack(book, str(shelf.extent.root), self._program, shelf.request))
        except OSError as error:
            self._tell(f"{file}: findings are not kept: {error.strerror or error}")


def _is_lasting(report: FileReport) -> bool:
    """Whether a report would be the same in the next run: a failure may pass, and depth depends on who asks."""
    return not any(note.failure or "was left out" in note.message for note in report.notes)
