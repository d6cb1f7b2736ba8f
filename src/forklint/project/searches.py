"""Patterns that are looked for in the bytes of files, as they are written down and read again."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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


class Content:
    """One content of a file, in which each search looks once."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._found: dict[str, bool] = {}

    def holds(self, search: Search) -> bool:
        """Whether a search finds its pattern."""
        if search.text not in self._found:
            self._found[search.text] = search.finds(self.data)
        return self._found[search.text]


def in_one_only(texts: Sequence[bytes], one: bytes, other: bytes) -> list[bytes]:
    """Those of some texts that one of two contents holds and the other does not.

    A text that only one of them holds touches a byte in which they differ, so it lies near those.
    """
    reach = max(map(len, texts), default=1) - 1
    top = _common(one, other)
    bottom = _common(one[top:][::-1], other[top:][::-1])
    near, also = (data[max(top - reach, 0) : len(data) - bottom + reach] for data in (one, other))
    return [text for text in texts if (text in near) != (text in also) and (text in one) != (text in other)]


def _common(one: bytes, other: bytes) -> int:
    """How many bytes at the start are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # the first ``low`` are the same, and no more than ``high``
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
