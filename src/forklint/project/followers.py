"""Which answers rest directly on a fact or an answer: the other way round than an answer knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from forklint.project.answers import Answer, Fact, Rests


class Followers:
    """The followers of each fact and answer: the answers that rest on it directly.

    An answer that was found again may rest on less than before, and is still given as a follower: who asks for
    followers looks at what they rest on.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        """Take the answers that are remembered, and all that they rest on."""
        self._of: dict[Fact | Answer, set[Answer]] = {}
        self.gathered = 0
        """How many answers were followed at first."""
        for self.gathered, answer in enumerate(_with_those_below(answers), 1):
            self.follow(answer)

    def of(self, below: Fact | Answer) -> AbstractSet[Answer]:
        """The followers of a fact or an answer."""
        return self._of.get(below, frozenset())

    def take(self, below: Fact | Answer) -> AbstractSet[Answer]:
        """The followers of a fact or an answer, which has none from now on."""
        return self._of.pop(below, frozenset())

    def follow(self, answer: Answer) -> None:
        """Take in an answer, or what it rests on anew."""
        for below in answer.rests:
            self._of.setdefault(below, set()).add(answer)

    def follow_below(self, rests: Rests) -> None:
        """Take in the answers of another project, such as that of a notebook, and all that they rest on."""
        waiting = [one for one in rests if isinstance(one, Answer)]
        while waiting:
            answer = waiting.pop()
            if answer.rests and answer not in self.of(answer.rests[0]):
                self.follow(answer)
                waiting.extend(one for one in answer.rests if isinstance(one, Answer))

    def leave(self, answer: Answer, rests: Rests) -> list[Fact | Answer]:
        """Let an answer no longer follow what it rested on; give what nothing follows any more."""
        left = []
        for below in rests:
            others = self._of.get(below)
            if others is not None:
                others.discard(answer)
                if not others:
                    del self._of[below]
                    left.append(below)
        return left


def _with_those_below(answers: Iterable[Answer]) -> Iterator[Answer]:
    waiting = list(answers)
    seen = set(waiting)
    while waiting:
        answer = waiting.pop()
        yield answer
        new = [one for one in answer.rests if isinstance(one, Answer) and one not in seen]
        seen.update(new)
        waiting.extend(new)
