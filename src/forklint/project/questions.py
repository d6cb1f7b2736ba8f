"""Answers that are remembered together with what they rest on, so that an edit asks again only what it touches.

An answer is a function of its question and of the files, never of what was asked before. While one is found, whatever
it reads of the files is noted as a fact, and whatever other answer it uses is noted as well; so each answer knows what
it rests on. When facts change, answers that rest on one directly are stale, and those above them are in doubt until
they are asked for again. A stale answer that can be compared is found again, and where it is what it was, everything
above it stands (early cutoff).

A question that comes back to itself gets a fixed answer there. What was found on the way from there holds only as long
as that question is being answered, and is forgotten then. So that it does not matter where a circle is entered, the
fixed answer must be the least one (nothing, no, not known), and more below must never make an answer less.

``docs/how-edits-are-cheap.md`` explains it by an example.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from forklint.project.answers import (
    DEAD,
    DOUBTED,
    GOOD,
    RUNNING,
    STALE,
    UNCUT,
    Answer,
    Cuts,
    Fact,
    Rests,
    facts_under,
    is_text,
    joined,
)
from forklint.project.followers import Followers

T = TypeVar("T")
_REFUSED = object()


class Questions:
    """The answers of one project."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[Hashable, Answer]] = {}
        self._noted: dict[Fact | Answer, None] = {}
        self._running: Answer | None = None
        self._given: list[Answer] = []
        self._cuts = UNCUT
        self._within = 0
        self._rounds: dict[int, list[Answer]] = {}
        """What holds until the question at a depth is answered."""
        self._followers: Followers | None = None
        """None until something changes."""
        self._apart: set[str] = set()
        """The questions whose answers can do without what they were found from."""
        self._lost: list[Answer] = []
        """Those that never hold again."""
        self._renewal = 0
        """Once so many answers were found, half of the followers are out of use, and all are gathered anew."""
        self.found = 0
        """How many answers were found, again or for the first time."""

    @property
    def has_answers(self) -> bool:
        """Whether anything was answered yet."""
        return bool(self._tables)

    def note(self, fact: Fact) -> None:
        """Say that what is being answered rests on a fact."""
        self._noted[fact] = None

    def note_all(self, rests: Rests) -> None:
        """Say that what is being answered rests on all that something else rests on, answers of others included."""
        self._noted.update(dict.fromkeys(rests))
        if self._followers is not None:
            self._followers.follow_below(rests)

    def cut(self, what: str, steps: int) -> None:
        """Say that what is being answered leaves something unknown: what was stopped, and after how many steps."""
        self._cuts = joined(self._cuts, {what: steps})

    def answer(
        self, name: str, key: Hashable, find: Callable[[], T], inside: Any = _REFUSED, *, compared: bool = False
    ) -> T:
        """Give the answer to a question, by name and key, found now or earlier.

        ``inside`` is what the question is answered while it is being found; without it, asking then is a fault.
        ``compared`` says that answers can be compared, and that ``find`` may be called again at any time.
        """
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = {}
        known = self._holding(table, key)
        if known is not None:
            if known.value is not RUNNING:
                return self._used(known)  # type: ignore[no-any-return]
            if inside is _REFUSED:
                raise RuntimeError(f"asked while it is being answered: {name}")
            self._within |= 1 << known.depth
            return inside  # type: ignore[no-any-return]
        depth = self._running.depth + 1 if self._running is not None else 1
        return self._find(table, Answer(name, key, depth), find, compared=compared)

    def answer_apart(self, name: str, key: Hashable, find: Callable[[], T]) -> T:
        """Give an answer that can be compared, is text, and for which much is read (see ``set_apart``)."""
        self._apart.add(name)
        return self.answer(name, key, find, compared=True)

    def known(self, name: str, key: Hashable, default: T) -> T:
        """The answer to a question if it is remembered and still holds, else ``default``."""
        answer = self._holding(self._tables.get(name, {}), key)
        if answer is None or answer.value is RUNNING:
            return default
        return self._used(answer)  # type: ignore[no-any-return]

    def give(self, name: str, key: Hashable, value: object) -> None:
        """Remember an answer that was found on the way to the one that is being found, from the same facts."""
        table = self._tables.setdefault(name, {})
        if self._running is None or self._holding(table, key) is not None:
            return
        answer = table[key] = Answer(name, key, self._running.depth)
        answer.value, answer.rests = value, (self._running,)
        self._given.append(answer)

    def _holding(self, table: dict[Hashable, Answer], key: Hashable) -> Answer | None:
        """The answer to a question that is remembered or being found; None if there is none that still holds."""
        known = table.get(key)
        if known is None or known.state == GOOD or self._still_holds(known):
            return known
        fresh = table.get(key)  # it was found again, and is another
        return fresh if fresh is not None and fresh.state == GOOD else None

    def _used(self, answer: Answer) -> Any:
        """The value of an answer, on which what is being answered rests from now on."""
        self._noted[answer] = None
        self._cuts = joined(self._cuts, answer.cuts)
        self._within |= answer.within
        return answer.value

    def _find(self, table: dict[Hashable, Answer], answer: Answer, find: Callable[[], T], *, compared: bool) -> T:
        table[answer.key] = answer
        outer, cuts, within, running, given = self._noted, self._cuts, self._within, self._running, self._given
        self._noted, self._cuts, self._within, self._running, self._given = {}, UNCUT, 0, answer, []
        try:
            value = find()
        except BaseException:
            answer.state = DEAD
            self._drop([answer, *self._given])
            self._noted = outer | self._noted
            raise
        else:
            self.found += 1
            answer.value, answer.rests, answer.cuts = value, tuple(self._noted), self._cuts
            answer.find = find if compared else None
            answer.within = self._within & ~(-1 << answer.depth)
            self._noted = outer
            outer[answer] = None
            self._settle([answer, *self._given])
        finally:
            self._drop(self._rounds.pop(answer.depth, ()))
            self._cuts = joined(cuts, self._cuts)
            self._within = within | self._within & ~(-1 << answer.depth)
            self._running, self._given = running, given
        return value

    def _settle(self, answers: list[Answer]) -> None:
        """Remember an answer, the first, and those that were given with it, for good or as long as a round lasts."""
        first = answers[0]
        for answer in answers:
            answer.rests, answer.cuts, answer.within = first.rests, first.cuts, first.within
            if self._followers is not None:
                self._followers.follow(answer)
        if first.within:
            self._rounds.setdefault(first.within.bit_length() - 1, []).extend(answers)

    def _drop(self, answers: Iterable[Answer]) -> None:
        for answer in answers:
            table = self._tables.get(answer.name, {})  # all may have been forgotten meanwhile
            if table.get(answer.key) is answer:
                del table[answer.key]

    def aside(self, find: Callable[[], T]) -> T:
        """Call a function; what is being answered does not rest on what it reads.

        For a search: who asks goes on to read what proves its result.
        """
        outer, self._noted = self._noted, {}
        try:
            return find()
        finally:
            self._noted = outer

    def watched(self, find: Callable[[], T]) -> tuple[T, Rests]:
        """Call a function; give what it gives, and the facts and answers that this rests on directly."""
        outer, self._noted = self._noted, {}
        try:
            value = find()
            noted = self._noted
        finally:
            outer |= self._noted
            self._noted = outer
        return value, tuple(noted)

    def with_cuts(self, find: Callable[[], T]) -> tuple[T, Cuts]:
        """Call a function; give what it gives, and all that this leaves unknown."""
        outer, self._cuts = self._cuts, UNCUT
        try:
            value = find()
            cuts = self._cuts
        finally:
            self._cuts = joined(outer, self._cuts)
        return value, cuts

    # Changes

    def forget(self, changed: Iterable[Fact]) -> None:
        """Take in that facts are others now: answers that rest on them are stale, those above are in doubt."""
        followers = self._all_followers()
        waiting: list[Answer] = []
        for fact in changed:
            for answer in followers.take(fact):
                if answer.state < STALE and fact in answer.rests:  # it may have been found again without it
                    answer.state = STALE
                    waiting.append(answer)
        while waiting:
            below = waiting.pop()
            is_lost = below.state == STALE and below.find is None
            if is_lost:
                self._lost.append(below)
            for answer in followers.of(below):
                if below not in answer.rests:
                    continue
                if is_lost and answer.find is None and answer.state < STALE:
                    answer.state = STALE
                    waiting.append(answer)
                elif answer.state == GOOD:
                    answer.state = DOUBTED
                    waiting.append(answer)
        self._bury()

    def drop(self, facts: Iterable[Fact]) -> None:
        """Forget every answer that rests on one of some facts, directly or through others.

        The facts have not changed: what an answer holds of them is to be freed.
        """
        self._give_up(facts)

    def prune(self, roots: Iterable[Answer], *, thoroughly: bool = False) -> None:
        """Forget answers on which none of some answers rests, unless they hold and text alone asks for them.

        ``thoroughly``: those as well; they are found again when they are asked for.

        An answer about a node of a tree may hold for as long as there is that node, and the node for as long as there
        is the answer: once the file has another tree, nobody asks for it any more. What rests on such an answer is
        forgotten as well: a change of a fact reaches it through that answer alone.
        """
        needed: set[Answer] = set()
        waiting = list(roots)
        while waiting:
            answer = waiting.pop()
            if answer not in needed:
                needed.add(answer)
                waiting.extend(one for one in answer.rests if isinstance(one, Answer) and one not in needed)
        unused = [
            answer
            for table in self._tables.values()
            for answer in table.values()
            if answer not in needed and (thoroughly or answer.state != GOOD or not is_text(answer.key))
        ]
        for answer in unused:
            answer.state = DEAD
        self._lost += unused
        self._give_up(unused)

    def set_apart(self) -> None:
        """Let answers that can do without what they were found from rest on the facts below it.

        Then nothing keeps that for their sake, nor the trees that it holds. Once one of the facts changes, such an
        answer is found again.
        """
        followers = self._all_followers()
        answers = [answer for name in self._apart for _, answer in self.all_of(name)]
        for answer in answers:
            if answer.state == GOOD and not answer.within and not answer.apart:
                before, answer.rests, answer.apart = answer.rests, tuple(facts_under(answer.rests)), True
                followers.follow(answer)
                followers.leave(answer, tuple(one for one in before if isinstance(one, Answer)))

    def _give_up(self, below: Iterable[Fact | Answer]) -> None:
        """Forget every answer that holds something of some facts or answers, directly or through others."""
        followers = self._all_followers()
        waiting = list(below)
        while waiting:
            one = waiting.pop()
            for answer in followers.take(one):
                if answer.apart:
                    followers.follow(answer)
                elif answer.state != DEAD and one in answer.rests:
                    answer.state = DEAD
                    self._lost.append(answer)
                    waiting.append(answer)
        self._bury()

    def let_go(self) -> None:
        """Let go of what was noted outside of any question: nobody watches it."""
        self._noted = {}

    def _bury(self) -> None:
        """Free what the answers hold that never hold again, and those that were remembered for their sake alone.

        Others may still rest on one, and a value may hold the tree of a whole file.
        """
        waiting, self._lost = self._lost, []
        self._drop(waiting)
        while waiting:
            answer = waiting.pop()
            answer.state, answer.value, answer.find, rests, answer.rests = DEAD, None, None, answer.rests, ()
            if self._followers is None:
                continue
            self._followers.take(answer)
            for one in self._followers.leave(answer, rests):
                if isinstance(one, Answer) and self._tables.get(one.name, {}).get(one.key) is not one:
                    waiting.append(one)

    def _all_followers(self) -> Followers:
        """The followers, gathered anew once half of what is known is out of use."""
        if self._followers is None or self.found > self._renewal:
            self._followers = Followers(answer for table in self._tables.values() for answer in table.values())
            self._renewal = self.found + self._followers.gathered
        return self._followers

    def forget_all(self) -> None:
        """Forget every answer."""
        self._tables.clear()
        self._followers = None

    def dissolve(self) -> None:
        """Let go of every answer, also of those that what is told last rests on."""
        self.forget_all()
        self._noted, self._lost = {}, []

    def all_of(self, name: str) -> list[tuple[Hashable, Answer]]:
        """The remembered answers to the questions of a name, by their keys."""
        return list(self._tables.get(name, {}).items())

    def _still_holds(self, answer: Answer) -> bool:
        """Whether an answer that is stale or in doubt is what it would be now; it is given up if not.

        What it rests on is looked at in the order in which it was asked for: once something is another, what came
        later would perhaps not be asked for any more, and may even ask for what is just being found.
        """
        if answer.state == DOUBTED:
            below = [one for one in answer.rests if isinstance(one, Answer)]
            try:
                answer.state = GOOD if all(one.state == GOOD or self._still_holds(one) for one in below) else STALE
            except RecursionError:  # too long a chain of doubts: it is found again instead
                answer.state = STALE
        if answer.state == STALE:
            answer.state = DEAD
            if answer.find is not None and self._is_found_again(answer, answer.find):
                answer.state = GOOD
            else:
                self._lost.append(answer)
        return answer.state == GOOD

    def _is_found_again(self, answer: Answer, find: Callable[[], Any]) -> bool:
        """Find an answer again; whether it is what it was, and so stands with what it rests on now."""
        table = self._tables.get(answer.name, {})
        if table.get(answer.key) is not answer:  # it was found anew, and was another, or held in a round alone
            return False
        outer, cuts, within = self._noted, self._cuts, self._within
        self._noted, self._cuts = {}, UNCUT
        try:
            value = self.answer(answer.name, answer.key, find, compared=True)
            is_same = value == answer.value and self._cuts == answer.cuts
        except Exception:  # noqa: BLE001 - it may never be asked again; if it is, who asks learns of it
            return False
        finally:
            self._noted, self._cuts, self._within = outer, cuts, within
        fresh = table.get(answer.key)
        if not is_same or fresh is None or fresh.within:
            return False
        answer.rests, answer.apart = fresh.rests, False
        table[answer.key] = answer
        if self._followers is not None:
            self._followers.follow(answer)
        return True
