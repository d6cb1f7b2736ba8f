"""Which answers rest directly on a fact or an answer: the other way round than an answer knows it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from forklint.project.answers import Answer, Fact, Rests


class Followers:
    """The followers of each fact and answer: the answers that rest on it directly.

    An answer that was found again may rest on less than before, and is still given as a follower: who asks for
    followers looks at what they rest on.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        """Take the answers that are remembered, and all that they rest on."""
        self._of: dict[Fact | Answer, Answer | set[Answer]] = {}
        """One follower is held as it is: most things have no more, and an empty set takes 200 bytes."""
        self.gathered = 0
        """How many answers were followed at first."""
        for self.gathered, answer in enumerate(_with_those_below(answers), 1):
            self.follow(answer)

    def of(self, below: Fact | Answer) -> Collection[Answer]:
        """The followers of a fact or an answer."""
        return _all(self._of.get(below))

    def take(self, below: Fact | Answer) -> Collection[Answer]:
        """The followers of a fact or an answer, which has none from now on."""
        return _all(self._of.pop(below, None))

    def follow(self, answer: Answer) -> None:
        """Take in an answer, or what it rests on anew."""
        for below in answer.rests:
            known = self._of.get(below)
            if known is None:
                self._of[below] = answer
            elif isinstance(known, set):
                known.add(answer)
            elif known is not answer:
                self._of[below] = {known, answer}

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
            if isinstance(others, set):
                others.discard(answer)
            if others is answer or others == set():
                del self._of[below]
                left.append(below)
        return left


def _all(followers: Answer | set[Answer] | None) -> Collection[Answer]:
    if followers is None:
        return ()
    return followers if isinstance(followers, set) else (followers,)


def _with_those_below(answers: Iterable[Answer]) -> Iterator[Answer]:
    waiting = list(answers)
    seen = set(waiting)
    while waiting:
        answer = waiting.pop()
        yield answer
        new = [one for one in answer.rests if isinstance(one, Answer) and one not in seen]
        seen.update(new)
        waiting.extend(new)
