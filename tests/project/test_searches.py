"""What an edit changes of searches is found near the edit, and is what a search of all of both texts finds."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.searches import Search, in_one_only

LETTERS = b"ab"
TEXTS = [b"", b"a", b"ab", b"ba", b"aab", b"abab", b"bbbbb", b"abbaabba", b"c"]


def _text(dice: random.Random, most: int) -> bytes:
    return bytes(dice.choice(LETTERS) for _ in range(dice.randrange(most)))


@pytest.mark.parametrize("seed", range(20))
def test_texts_that_one_of_two_contents_holds(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(200):
        before = _text(dice, 30)
        start, end = sorted(dice.randrange(len(before) + 1) for _ in range(2))
        after = before[:start] + _text(dice, 6) + before[end:]
        expected = [text for text in TEXTS if (text in before) != (text in after)]
        assert in_one_only(TEXTS, before, after) == expected, (before, after)


def test_there_may_be_no_text() -> None:
    assert in_one_only([], b"a", b"b") == []


def test_a_pattern_is_looked_for_once_in_each_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "birds.py"
    path.write_text("birds = 3\n")
    project = Project(tmp_path, Settings())
    pattern = re.compile(rb"birds? = 4")
    assert not project.matches(path, pattern)
    read: list[bytes] = []
    finds = Search.finds
    monkeypatch.setattr(Search, "finds", lambda self, data: [read.append(data), finds(self, data)][1])
    contents = [b"birds = 3\n", b"birds = 4\n", b"bird = 4\n", b"bird = 5\n"]
    for data in contents[1:]:
        project.replace(path, data)
    assert read == contents
    assert not project.matches(path, pattern)
    project.replace(path, contents[2])
    assert project.matches(path, pattern)
