"""The files of a project, as bytes: what is in them and which there are. Whatever is read is noted as a fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from forklint.config import Settings
from forklint.project.evidence import PRESETS, PYTHON, Evidence
from forklint.project.questions import Fact, Questions
from forklint.project.resolver import Resolver
from forklint.project.witness import Witness
from forklint.source import discovery, document
from forklint.source.kinds import PRESET_SUFFIXES

T = TypeVar("T")


class ProjectFiles:
    """All files below one root, each read once. Whatever is concluded of a project has seen the disk through this."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.settings = settings
        self.questions = Questions()
        self.resolver = Resolver(root, self.questions)
        self.witness = Witness()
        self._overlay: dict[Path, bytes] = {}
        self._unwritten: list[Path] = []
        self._bytes: dict[Path, bytes] = {}
        self._sought: set[bytes] = set()
        self._memories: dict[str, dict[Any, Any]] = {}
        self.weight = 0
        """About how many bytes of memory the project holds."""

    def answer(
        self, name: str, key: Hashable, find: Callable[[], T], *inside: T, compared: bool = False
    ) -> T:
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
        known = self._overlay.get(path, self._bytes.get(path))
        if known is None:
            try:
                known = document.read(path)
            except document.UnreadableError:
                known = b""
            self.has_read(path, known)
        return known

    def has_read(self, path: Path, data: bytes) -> None:
        """Take note of what was read from a file, so that it is not read again."""
        if path not in self._bytes:
            self._bytes[path] = data
            self.weight += len(data)

    def forget(self) -> None:
        """Forget what was concluded."""
        self._memories.clear()
        self.questions.forget_all()

    @property
    def files(self) -> tuple[Path, ...]:
        """Every Python file of the project that is not ignored, and those of which only the text is known."""
        self.questions.note(("files",))
        return self.all_files()

    def all_files(self) -> tuple[Path, ...]:
        """``files``, for a caller that notes by itself what its answer rests on."""
        return (*self._on_disk, *self._unwritten)

    @cached_property
    def _on_disk(self) -> tuple[Path, ...]:
        return tuple(discovery.walk(self.root, self.settings.excludes))

    @property
    def presets(self) -> tuple[Path, ...]:
        """Every file of the project in YAML, TOML or JSON that is not ignored."""
        self.questions.note(("presets",))
        return self._presets

    @cached_property
    def _presets(self) -> tuple[Path, ...]:
        return tuple(discovery.walk(self.root, self.settings.excludes, PRESET_SUFFIXES))

    def has_file(self, path: Path) -> bool:
        """Whether there is a file of this path on the disk."""
        self.questions.note(("file", str(path)))
        return self.witness.has_file(path)

    def size(self, path: Path) -> int:
        """How many bytes a file has; -1 if there is none."""
        self.questions.note(("size", str(path)))
        return self.witness.size(path)

    def evidence(self) -> Evidence:
        """What all conclusions rest on, without what was told when this was last asked for."""
        walks = {PYTHON: self.__dict__.get("_on_disk"), PRESETS: self.__dict__.get("_presets")}
        return self.witness.news(self._bytes, self._overlay, self.resolver, walks)

    def memory(self, name: str) -> dict[Any, Any]:
        """A table in which some fact is kept, by the name of the fact; emptied when a file changes."""
        return self._memories.setdefault(name, {})

    def texts(self) -> list[tuple[Path, bytes]]:
        """The project's files with what is in them."""
        return [(path, self.data(path)) for path in self.files]

    # Searches over bytes

    def containing(self, text: bytes) -> tuple[Path, ...]:
        """The files of the project whose bytes hold a text, in the order of ``files``."""

        def search() -> tuple[Path, ...]:
            self._sought.add(text)
            self.questions.note(("contains", text.decode(errors="surrogateescape")))
            return tuple(path for path in self.all_files() if text in self.bytes_of(path))

        return self.answer("containing", text, search)

    def searches_changed(self, before: bytes, after: bytes) -> Iterator[Fact]:
        """Give the facts of searches over bytes that a file answers otherwise than before."""
        for text in self._sought:
            if (text in before) != (text in after):
                yield "contains", text.decode(errors="surrogateescape")

    def shows(self, words: tuple[bytes, ...]) -> bool:
        """Whether any file of the project holds one of these words."""
        return any(self.containing(word) for word in words)

    def matches(self, path: Path, pattern: re.Pattern[bytes]) -> bool:
        """Whether a pattern is found in the bytes of a file."""
        return self.answer(
            "matches", (path, pattern.pattern), lambda: pattern.search(self.data(path)) is not None, compared=True
        )
