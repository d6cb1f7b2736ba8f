"""After an edit, what an answer rests on is looked at in the order in which it was asked for."""

from __future__ import annotations

import pytest

from forklint.project.questions import Questions

ONE, TWO, THREE = "one", "two", "three"


class Chains:
    """Questions that ask others, as edges say; each edge is a fact."""

    def __init__(self, edges: dict[str, str]) -> None:
        self.edges = edges
        self.questions = Questions()

    def target(self, name: str) -> str:
        def find() -> str:
            self.questions.note(("edge", name))
            return self.edges.get(name, "")

        return self.questions.answer("target", name, find, compared=True)

    def length(self, name: str) -> int:
        def find() -> int:
            target = self.target(name)
            return 1 + self.length(target) if target else 0

        return self.questions.answer("length", name, find, compared=True)


@pytest.mark.parametrize("_", range(16))
def test_what_is_no_longer_asked_for_is_not_found_again(_: int) -> None:
    chains = Chains({ONE: TWO})
    assert (chains.length(ONE), chains.length(THREE)) == (1, 0)
    chains.edges = {TWO: THREE, THREE: ONE}  # two is not asked for that of one any more, and would ask for three
    chains.questions.forget({("edge", name) for name in (ONE, TWO, THREE)})
    assert chains.length(THREE) == 1
    assert chains.length(TWO) == 2
