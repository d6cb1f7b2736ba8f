"""The texts of many files in one, so that a word is looked for in all of them at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from forklint.summaries.terms import words

BETWEEN = b"\0"
"""What stands between two texts; no word holds it."""
MANY = 64
"""After so many searches it pays to write down in which files each word stands."""


class Haystack:
    """The texts of files as they were when it was made."""

    def __init__(self, paths: Sequence[Path], text_of: Callable[[Path], bytes]) -> None:
        texts = [text_of(path) for path in paths]
        self._paths = paths
        self._ends = list(accumulate(len(text) + len(BETWEEN) for text in texts))
        self._text = BETWEEN.join(texts)
        self._searches = 0
        self._places: dict[str, list[int]] = {}
        """The numbers of the files in which each word stands, once they are written down."""

    def __len__(self) -> int:
        return len(self._paths)

    def holding(self, word: str) -> list[Path]:
        """The files in whose text a word stands, in their order, and perhaps some that hold it within a longer one.

        For no word they are all files.
        """
        self._searches += 1
        if word.isascii() and word.isidentifier() and self._searches > MANY:
            return [self._paths[number] for number in self._listed().get(word, ())]
        return list(self._search(word.encode(errors="surrogateescape")))

    def _search(self, word: bytes) -> Iterator[Path]:
        place = self._text.find(word)
        while place >= 0:
            number = bisect_right(self._ends, place)
            yield self._paths[number]
            place = self._text.find(word, self._ends[number])

    def _listed(self) -> dict[str, list[int]]:
        if not self._places:
            begin = 0
            for number, end in enumerate(self._ends):
                for word in words(self._text[begin : end - len(BETWEEN)]):
                    self._places.setdefault(word, []).append(number)
                begin = end
        return self._places
