"""A word is found in the same files as if each were searched by itself, before and after the words are listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.project.haystack import MANY, Haystack
from forklint.summaries.terms import words

FILES = {
    "empty.py": b"",
    "first.py": b"import birds\nbird = birds.Wren()\n",
    "second.py": b"bird",
    "none.py": b"\n\n",
    "foreign.py": "größe = 3  # of a bird\n".encode(),
    "latin.py": b"# gr\xf6\xdfe\nimport os\n",
    "last.py": b"",
}
ASKED = ["bird", "birds", "Wren", "größe", "os", "import", "nowhere", "birdbird", ""]


@pytest.mark.parametrize("word", ASKED)
def test_a_word_is_found_where_it_stands(word: str) -> None:
    paths = [Path(name) for name in FILES]
    haystack = Haystack(paths, lambda path: FILES[path.name])
    having = [path for path in paths if not word or word in words(FILES[path.name])]
    holding = [path for path in paths if word.encode() in FILES[path.name]]
    for _ in range(MANY + 2):
        found = haystack.holding(word)
        assert set(having) <= set(found) <= set(holding)
        assert found == [path for path in paths if path in found]
    assert word in {"größe", ""} or haystack.holding(word) == having
    assert len(haystack) == len(paths)


def test_there_may_be_no_file() -> None:
    haystack = Haystack([], lambda _: b"")
    assert [haystack.holding("bird") for _ in range(MANY + 2)] == [[]] * (MANY + 2)
