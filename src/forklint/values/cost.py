"""What following a value may cost."""

from __future__ import annotations

from typing import NamedTuple

MAX_DEPTH = 40
"""How many places are followed one behind the other."""
MAX_STEPS = 3000
"""How many expressions are looked at for one question, one that is needed twice counted twice."""
MAX_SEARCHES = 24
"""For how many functions the project is searched for their callers, for one question, counted likewise."""


class Cost(NamedTuple):
    """What finding an answer takes when nothing is known yet: a property of the question, whoever asks."""

    steps: int = 0
    depth: int = 0
    searches: int = 0

    @property
    def is_too_much(self) -> bool:
        """Whether no question may cost as much."""
        return self.steps > MAX_STEPS or self.depth > MAX_DEPTH or self.searches > MAX_SEARCHES

    def and_below(self, cost: Cost) -> Cost:
        """With that of another question, which is asked on the way."""
        return Cost(self.steps + cost.steps, max(self.depth, cost.depth + 1), self.searches + cost.searches)

    def without_own_depth(self) -> Cost:
        """Of an answer that is no deeper than what it is made of."""
        return Cost(self.steps, self.depth - 1, self.searches)


TOO_MUCH = Cost(MAX_STEPS + 1, MAX_DEPTH + 1, MAX_SEARCHES + 1)
