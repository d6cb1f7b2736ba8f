"""Questions nest deeper than Python lets functions do by itself."""

from __future__ import annotations

import sys

import pytest

from forklint.project.budget import FRAMES, room_for_questions


def depth(levels: int) -> int:
    return depth(levels - 1) + 1 if levels else 0


def test_there_is_room_within_and_the_limit_is_as_before_afterwards() -> None:
    limit = sys.getrecursionlimit()
    with room_for_questions():
        assert depth(FRAMES // 2) == FRAMES // 2
    assert sys.getrecursionlimit() == limit
    with pytest.raises(RecursionError), room_for_questions():
        depth(FRAMES * 2)
    assert sys.getrecursionlimit() == limit
