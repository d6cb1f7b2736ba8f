"""The files of a project, as bytes: what is in them, which there are, and what was concluded from them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from forklint.config import Settings
from forklint.project.evidence import PRESETS, PYTHON, Evidence
from forklint.project.path_roots import PathRoots
from forklint.project.resolver import Resolver
from forklint.project.witness import Witness
from forklint.source import discovery, document
from forklint.source.discovery import Walk
from forklint.source.kinds import PRESET_SUFFIXES
from forklint.source.roots import Extent


class ProjectFiles:
    """All files of a project, each read once. Whatever is concluded of a project has seen the disk through this."""

    def __init__(self, extent: Extent | Path, settings: Settings) -> None:
        """Take a project's extent and settings; a folder alone stands for a marked root."""
        self.extent = extent if isinstance(extent, Extent) else Extent(extent, extent)
        self.root = self.extent.root
        self.settings = settings
        self.path_roots = PathRoots(self)
        self.resolver = Resolver(self.extent, self.path_roots)
        self.witness = Witness()
        self._overlay: dict[Path, bytes] = {}
        self._unwritten: list[Path] = []
        self._bytes: dict[Path, bytes] = {}
        self._signs: dict[tuple[bytes, ...], bool] = {}
        self._memories: dict[str, dict[Any, Any]] = {}
        self.weight = 0
        """About how many bytes of memory the project holds."""

    def data(self, path: Path) -> bytes:
        """Bytes of a project file (as replaced, if it was); empty if it cannot be read."""
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

    def replace(self, path: Path, data: bytes) -> None:
        """From now on see ``data`` as the content of ``path``; what was concluded so far is forgotten."""
        if path not in self._overlay and not path.exists():  # text of a file that is still to be written
            self._unwritten.append(path)
        self._overlay[path] = data
        self.forget()
        if self.path_roots.has_changed(path):
            self.forget_imports()

    def forget(self) -> None:
        """Forget what was concluded."""
        self._memories.clear()

    def forget_imports(self) -> None:
        """Forget what imports were found to mean."""
        self.resolver.forget()

    @property
    def walked(self) -> tuple[Path, ...]:
        """Every Python file of the project that is not ignored, and those of which only the text is known."""
        return (*self.walk.paths, *self._unwritten)

    @property
    def is_left(self) -> bool:
        """Whether imports may lead to files that were not walked, though they are not ignored."""
        return self.extent.is_open or not self.walk.is_whole

    @cached_property
    def walk(self) -> Walk:
        """The Python files of the project on the disk."""
        return discovery.walk(self.extent, self.settings.excludes)

    @cached_property
    def presets(self) -> tuple[Path, ...]:
        """Every file of the project in YAML, TOML or JSON that is not ignored."""
        return discovery.walk(self.extent, self.settings.excludes, PRESET_SUFFIXES).paths

    def has_file(self, path: Path) -> bool:
        """Whether there is a file of this path on the disk."""
        return self.witness.has_file(path)

    def size(self, path: Path) -> int:
        """How many bytes a file has; -1 if there is none."""
        return self.witness.size(path)

    def evidence(self) -> Evidence:
        """What all conclusions rest on, without what was told when this was last asked for."""
        walks = {PYTHON: self.walk.paths if "walk" in self.__dict__ else None, PRESETS: self.__dict__.get("presets")}
        return self.witness.news(self._bytes, self._overlay, self.resolver, walks)

    def memory(self, name: str) -> dict[Any, Any]:
        """A table in which some fact is kept, by the name of the fact; emptied when a file changes."""
        return self._memories.setdefault(name, {})

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that may say something of the project: those that were walked."""
        return self.walked

    def shows(self, words: tuple[bytes, ...]) -> bool:
        """Whether any file of the project holds one of these words."""
        if words not in self._signs:
            self._signs[words] = any(word in self.data(path) for path in self.files for word in words)
        return self._signs[words]

    def texts(self) -> list[tuple[Path, bytes]]:
        """The project's files with what is in them."""
        memory = self.memory("texts of files")
        if None not in memory:
            memory[None] = [(path, self.data(path)) for path in self.files]
        texts: list[tuple[Path, bytes]] = memory[None]
        return texts
