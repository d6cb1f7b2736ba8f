"""Which files of a project define, call, derive from, rename or merely hold a name.

Where most files of a project are linted, the terms of all are gathered once. Where a few are, a file is summarised
only if its bytes hold the name: one without it cannot answer. Both give the same (tests/test_terms.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.summaries.terms import WORD, Terms, all_terms

if TYPE_CHECKING:
    from forklint.project.index import Project


class TermIndex:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._is_whole = False
        self._paths: dict[tuple[str, str], list[Path]] | None = None
        self._terms: dict[Path, Terms] = {}

    def gather(self) -> None:
        """From now on gather the terms of all files when one is first asked for."""
        self._is_whole = True

    def where(self, kind: str, name: str) -> tuple[Path, ...]:
        """The files that have a term, in the order of the project's files."""
        return self._project.answer("where", (kind, name), lambda: self._where(kind, name))

    def _where(self, kind: str, name: str) -> tuple[Path, ...]:
        self._project.questions.note(("holds", kind, name))
        if self._is_whole:
            if self._paths is None:
                self._paths = self._gathered()
            return tuple(self._paths.get((kind, name), ()))
        return tuple(self._searched(kind, name))

    def of(self, path: Path) -> Terms:
        """The terms of a file as it is now, words included."""
        known = self._terms.get(path)
        if known is None:
            known = self._terms[path] = all_terms(self._project.peek(path), self._project.bytes_of(path))
        return known

    def forget(self, path: Path) -> None:
        """Forget the terms of a file that changed."""
        self._terms.pop(path, None)
        self._paths = None

    def _gathered(self) -> dict[tuple[str, str], list[Path]]:
        found: dict[tuple[str, str], list[Path]] = {}
        for path in self._project.all_files():
            for kind, names in self.of(path).items():
                for name in names:
                    found.setdefault((kind, name), []).append(path)
        return found

    def _searched(self, kind: str, name: str) -> Iterator[Path]:
        wanted = name.encode(errors="surrogateescape")
        whole = _whole(wanted)
        for path in self._project.all_files():
            data = self._project.bytes_of(path)
            if wanted not in data or whole.search(data) is None:
                continue
            if kind == WORD or name in self.of(path).get(kind, ()):
                yield path


@lru_cache(maxsize=1024)
def _whole(word: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w\x80-\xff])" + re.escape(word) + rb"(?![\w\x80-\xff])")
