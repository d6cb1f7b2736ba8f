"""Patterns that are looked for in the bytes of files, as they are written down and read again."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from forklint.records import dataclass


@dataclass(frozen=True)
class Search:
    """A pattern, and words of which each match holds one; none if a match may be anything."""

    text: str
    """The pattern with its flags."""
    words: tuple[bytes, ...] = ()

    @staticmethod
    def of(pattern: re.Pattern[bytes], words: tuple[bytes, ...] = ()) -> Search:
        """Look for a pattern."""
        search = Search(f"{pattern.flags}:{pattern.pattern.decode('latin-1')}", words)
        search.__dict__["pattern"] = pattern  # so that it is not compiled again
        return search

    @staticmethod
    def read(text: str, words: Collection[str]) -> Search:
        """What ``text`` and ``written_words`` gave."""
        return Search(text, tuple(word.encode("latin-1") for word in words))

    def written_words(self) -> tuple[str, ...]:
        """The words as text."""
        return tuple(word.decode("latin-1") for word in self.words)

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The pattern, which takes a millisecond to compile; raises ValueError for a text that is none."""
        flags, _, pattern = self.text.partition(":")
        try:
            return re.compile(pattern.encode("latin-1"), int(flags))
        except (re.error, OverflowError) as error:
            raise ValueError(str(error)) from None

    def finds(self, data: bytes) -> bool:
        """Whether the pattern is found in a text."""
        return (not self.words or any(word in data for word in self.words)) and self.pattern.search(data) is not None
