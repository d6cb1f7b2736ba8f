"""The files of a project, as bytes: what is in them and which there are. Whatever is read is noted as a fact."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from forklint.config import Settings
from forklint.project.answers import Fact, Rests
from forklint.project.budget import Budgets
from forklint.project.changes import changed_searches, matching
from forklint.project.contents import Contents
from forklint.project.library import Library
from forklint.project.questions import Questions
from forklint.project.resolver import Resolver
from forklint.project.rests import Encoder
from forklint.project.searches import Content, Search
from forklint.project.seen import Seen, beside, question
from forklint.project.top_level import MODULE, SCREENED, SILENCING, TREE
from forklint.source import discovery, document
from forklint.source.digest import digest
from forklint.source.discovery import Walk
from forklint.source.kinds import PRESET_SUFFIXES, PYTHON_SUFFIXES
from forklint.source.roots import Extent

T = TypeVar("T")


class ProjectFiles:
    """All files of a project, each read once. Whatever is concluded of a project has seen the disk through this."""

    def __init__(self, extent: Extent | Path, settings: Settings, library: Library | None = None) -> None:
        """Take a project's extent, its settings and what is known of it; a folder alone stands for a marked root."""
        self.extent = extent if isinstance(extent, Extent) else Extent(extent, extent)
        self.root = self.extent.root
        if library is not None and library.files is not None:
            self.walk = Walk(tuple(map(str, library.files)), library.left_out)
        if library is not None and library.presets is not None:
            self._presets = library.presets
        self.settings = settings
        self.questions = Questions()
        self.budgets = Budgets(self.questions)
        self.resolver = Resolver(self.extent, self.questions, self.elsewhere)
        self._overlay: dict[Path, bytes] = {}
        self._unwritten: list[Path] = []
        self._bytes = Contents()
        self.most_loose = sys.maxsize
        """Bytes of files that are kept as they are, until they are compressed: a search reads hundreds of files."""
        self.asked: dict[str, int] = {}
        self._sought: dict[bytes, None] = {}
        self._searches: dict[str, Search] = {}
        self._searches_of: dict[Path, dict[str, Search]] = {}
        """Those that were looked for in each file."""
        self._found_in: dict[Path, Content] = {}
        """Files as an edit left them."""
        self._digests: dict[Path, str] = {}
        self._reported: dict[str, int] = {}
        self._encoder = Encoder()
        self.weight = 0
        """About how many bytes of memory the project holds."""

    def answer(self, name: str, key: Hashable, find: Callable[[], T], *inside: T, compared: bool = False) -> T:
        """Give a remembered answer, as ``Questions.answer`` does; ``inside`` is what it is while it is being found."""
        if inside:
            return self.questions.answer(name, key, find, inside[0], compared=compared)
        return self.questions.answer(name, key, find, compared=compared)

    def data(self, path: Path) -> bytes:
        """Bytes of a project file (as replaced, if it was); empty if it cannot be read."""
        self.questions.note(("text", str(path)))
        return self.bytes_of(path)

    def bytes_of(self, path: Path) -> bytes:
        """Bytes of a project file, for a caller that notes by itself what of them its answer rests on."""
        known = self._overlay.get(path)
        known = self._bytes.get(path) if known is None else known
        if known is None:
            try:
                known = document.read(path)
            except document.UnreadableError:
                known = b""
            self.has_read(path, known)
        return known

    def screened(self, path: Path) -> bytes:
        """Bytes of a file of Python, for leaving out early what its code cannot hold, as ``Module.screened`` says."""
        self.questions.note((TREE, str(path)))
        return self.bytes_of(path)

    def note_code(self, path: Path) -> None:
        """Take note that what is concluded of a file rests on its code alone: not on its layout, nor on comments.

        Comments count if they may silence findings, or hold what else is looked for in files.
        """
        for kind in (MODULE, TREE, SILENCING, SCREENED):
            self.questions.note((kind, str(path)))

    def has_read(self, path: Path, data: bytes) -> None:
        """Take note of what was read from a file, so that it is not read again."""
        if self._bytes.add(path, data):
            self.weight += len(data)
            if self._bytes.loose > self.most_loose:
                self._bytes.pack({path})

    def forget(self) -> None:
        """Forget what was concluded."""
        self.questions.forget_all()

    @property
    def files(self) -> tuple[Path, ...]:
        """Every Python file of the project that is not ignored, and those of which only the text is known."""
        self.questions.note(("files",))
        return self.all_files()

    def all_files(self) -> tuple[Path, ...]:
        """``files``, for a caller that notes by itself what its answer rests on."""
        return self.walked_files()

    def walked_files(self) -> tuple[Path, ...]:
        """The files that belong to the project, likewise."""
        return (*self.walk.paths, *self._unwritten) if self._unwritten else self.walk.paths

    @cached_property
    def walk(self) -> Walk:
        """What a walk finds, likewise."""
        return discovery.walk(self.extent, self.settings.excludes)

    def is_listed_anew(self) -> bool:
        """Whether files or folders that were found on the disk have gone since, or others have come."""
        listings = self.resolver.listings
        if self._unwritten or any(self.resolver.listed(folder) != names for folder, names in listings.items()):
            return True
        asked = ((key.partition(":"), answer) for key, answer in self.asked.items())
        if any(kind == "beside" and beside(path) != answer for (kind, _, path), answer in asked):
            return True
        walks = {"walk": PYTHON_SUFFIXES, "_presets": PRESET_SUFFIXES}
        known = {suffixes: self.__dict__[name] for name, suffixes in walks.items() if name in self.__dict__}
        return any(
            discovery.walk(self.extent, self.settings.excludes, suffixes).paths
            != (one.paths if isinstance(one, Walk) else one)
            for suffixes, one in known.items()
        )

    @property
    def is_whole(self) -> bool:
        """Whether all that an import can find is among ``files``."""
        self.questions.note(("left out",))
        return bool(self.all_files()) and self.extent.is_marked and not self.walk.left_out

    @property
    def is_left(self) -> bool:
        """Whether imports may lead to files that were not walked, though nothing ignores them."""
        if self.extent.is_open or not self.extent.is_bounded:
            return self.extent.is_open
        self.questions.note(("left out",))
        return bool(self.walk.left_out)

    @property
    def presets(self) -> tuple[Path, ...]:
        """Every file of the project in YAML, TOML or JSON that is not ignored."""
        self.questions.note(("presets",))
        return self._presets

    @cached_property
    def _presets(self) -> tuple[Path, ...]:
        return discovery.walk(self.extent, self.settings.excludes, PRESET_SUFFIXES).paths

    def elsewhere(self, name: str, start: str) -> tuple[str, ...]:
        """The folders in which a top-level module is looked for after the usual ones."""
        return ()

    def has_file(self, path: Path) -> bool:
        """Whether there is a file of this path on the disk."""
        return bool(self._ask("file", path, path.is_file))

    def size(self, path: Path) -> int:
        """How many bytes a file has; -1 if there is none."""
        return self._ask("size", path, lambda: _size(path))

    def has_folder(self, path: Path) -> bool:
        """Whether there is a folder of this path on the disk."""
        return bool(self._ask("folder", path, path.is_dir))

    def has_beside(self, path: Path) -> bool:
        """Whether a folder has what a module of a name is, or is made from, as ``seen.beside`` has it."""
        return bool(self._ask("beside", path, lambda: beside(str(path))))

    def _ask(self, kind: str, path: Path, find: Callable[[], int]) -> int:
        self.questions.note((kind, str(path)))
        key = question(kind, path)
        if key not in self.asked:
            self.asked[key] = int(find())
        return self.asked[key]

    def has_seen(self, path: Path, data: bytes) -> None:
        """Take note of a file that was read elsewhere and need not be kept."""
        self.questions.note(("text", str(path)))
        self._digests[path] = digest(data)

    def digest(self, path: Path) -> str:
        """What stands for the content of a file."""
        known = self._digests.get(path)
        if known is None:
            known = self._digests[path] = digest(self.bytes_of(path))
        return known

    def news(self) -> Seen:
        """What was seen of the disk since this was last asked."""
        for path in self._new("bytes", self._bytes):
            self.digest(path)
        folders = self.resolver.folders
        asked = {**{key: self.asked[key] for key in self._new("asked", self.asked)}}
        asked |= {question("folder", path): int(folders[path]) for path in self._new("folders", folders)}
        walk, presets = self.__dict__.get("walk"), self.__dict__.get("_presets")
        groups, self._encoder.groups = self._encoder.groups, {}
        return Seen(
            {str(path): self._digests[path] for path in self._new("contents", self._digests)},
            files=walk.texts if walk is not None else None,
            presets=tuple(map(str, presets)) if presets is not None else None,
            folders={
                folder: tuple(sorted(self.resolver.listings[folder]))
                for folder in self._new("listings", self.resolver.listings)
            },
            paths=asked,
            left_out=walk.left_out if walk is not None else None,
            patterns={text: self._searches[text].written_words() for text in self._new("patterns", self._searches)},
            sought={text.decode(errors="surrogateescape") for text in self._new("sought", self._sought)},
            groups=groups,
            is_consistent=not self._overlay,
        )

    def encoded(self, rests: Rests) -> bytes:
        """What something rests on, as numbers (see ``rests``)."""
        return self._encoder.encode(rests)

    def _new(self, name: str, table: Collection[Any]) -> list[Any]:
        """What a table, to which things are only added, has more than when it was last asked for."""
        before, self._reported[name] = self._reported.get(name, 0), len(table)
        return list(islice(table, before, None))

    def texts(self) -> list[tuple[Path, bytes]]:
        """The project's files with what is in them."""
        return [(path, self.data(path)) for path in self.files]

    # Searches over bytes

    def containing(self, text: bytes) -> tuple[Path, ...]:
        """The files of the project whose bytes hold a text, in the order of ``files``."""

        def search() -> tuple[Path, ...]:
            self._sought[text] = None
            self.questions.note(("contains", text.decode(errors="surrogateescape")))
            return tuple(path for path in self.all_files() if text in self.bytes_of(path))

        return self.answer("containing", text, search)

    def look_for(self, words: Iterable[bytes]) -> None:
        """Have an edit of a file that brings one of some words into it, or takes it out, change what is SCREENED."""
        self._sought.update(dict.fromkeys(words))

    def searches_changed(self, path: Path, before: bytes, after: bytes) -> Iterator[Fact]:
        """Give the facts of searches over bytes that a file answers otherwise than before."""
        was, now = self._found_in.get(path), Content(after)
        self._found_in[path] = now
        was = was if was is not None and was.data == before else Content(before)
        searches = self._searches_of.get(path, {})
        yield from changed_searches(path, was, now, tuple(self._sought), searches.values())

    def shows(self, words: tuple[bytes, ...]) -> bool:
        """Whether any file of the project holds one of these words."""
        return any(self.containing(word) for word in words)

    def matches(self, path: Path, pattern: re.Pattern[bytes], words: tuple[bytes, ...] = ()) -> bool:
        """Whether a pattern is found in the bytes of a file; each match holds one of ``words``, if there are any."""

        def search() -> bool:
            one = Search.of(pattern, words)
            self._searches[one.text] = self._searches_of.setdefault(path, {})[one.text] = one
            self.questions.note(matching(path, one))
            return one.finds(self.bytes_of(path))

        return self.answer("matches", (path, pattern.pattern), search, compared=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
