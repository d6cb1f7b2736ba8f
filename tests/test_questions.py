"""Answers are remembered with what they rest on: whatever is asked, in whatever order, is what it would be anew."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from forklint.project.answers import STALE, Answer, Fact, facts_under
from forklint.project.questions import Questions

Value = Any


class Numbers:
    """Facts with values, and questions about them; it is counted what is found."""

    def __init__(self, **values: Value) -> None:
        self.values = values
        self.questions = Questions()
        self.found: list[str] = []

    def read(self, name: str) -> Value:
        self.questions.note(("number", name))
        return self.values[name]

    def set(self, **values: Value) -> None:
        self.values |= values
        self.questions.forget([("number", name) for name in values])

    def ask(self, name: str, find: Callable[[], Value], *inside: Value, compared: bool = True) -> Value:
        def counted() -> Value:
            self.found.append(name)
            return find()

        return self.questions.answer("number", name, counted, *inside, compared=compared)

    def again(self) -> list[str]:
        """What was found since this was last asked."""
        found, self.found = self.found, []
        return found


def facts(*names: str) -> frozenset[Fact]:
    return frozenset(("number", name) for name in names)


def watched(questions: Questions, find: Callable[[], Value]) -> tuple[Value, frozenset[Fact]]:
    """What is found, and all facts that this rests on."""
    value, rests = questions.watched(find)
    return value, facts_under(rests)


class TestChanges:
    """An edit asks again what it touches, and no more."""

    def test_what_rests_on_nothing_that_changed_stands(self) -> None:
        numbers = Numbers(a=1, b=2)

        def both() -> tuple[int, int]:
            return tuple(numbers.ask(name, lambda name=name: numbers.read(name)) for name in "ab")

        assert both() == (1, 2)
        numbers.again()
        numbers.set(b=3)
        assert both() == (1, 3)
        assert numbers.again() == ["b"]

    @pytest.mark.parametrize("compared", [False, True])
    def test_an_answer_that_is_what_it_was_stops_a_change(self, compared: bool) -> None:
        numbers = Numbers(a=1)

        def is_odd() -> bool:
            return numbers.ask("odd", lambda: numbers.read("a") % 2 == 1, compared=compared)

        def text() -> str:
            return numbers.ask("text", lambda: f"odd: {is_odd()}")

        assert text() == "odd: True"
        numbers.again()
        numbers.set(a=3)
        assert text() == "odd: True"
        assert numbers.again() == (["odd"] if compared else ["text", "odd"])
        numbers.set(a=4)
        assert text() == "odd: False"

    def test_one_that_is_another_is_found_once(self) -> None:
        numbers = Numbers(a=1)
        first = lambda: numbers.ask("first", lambda: numbers.read("a"))  # noqa: E731 - it reads like a question
        second = lambda: numbers.ask("second", lambda: first() + 1)  # noqa: E731
        third = lambda: numbers.ask("third", lambda: second() + 1)  # noqa: E731
        assert third() == 3
        numbers.again()
        numbers.set(a=2)
        assert third() == 4
        assert sorted(numbers.again()) == ["first", "second", "third"]

    def test_what_is_no_longer_asked_for_does_no_harm(self) -> None:
        """An answer in doubt looks at what it rested on; what fails there need not be asked for any more."""
        numbers = Numbers(which="a", a=1, b=2)

        def one(name: str) -> int:
            return numbers.ask(name, lambda: 10 // numbers.read(name))

        def which() -> str:
            return numbers.ask("which", lambda: numbers.read("which"))

        def chosen() -> int:
            return numbers.ask("chosen", lambda: one(which()))

        assert chosen() == 10
        numbers.set(which="b", a=0)
        assert chosen() == 5
        with pytest.raises(ZeroDivisionError):
            one("a")

    def test_a_failure_is_no_answer_and_what_asks_rests_on_what_it_read(self) -> None:
        numbers = Numbers(a=0)

        def careful() -> str:
            try:
                return str(numbers.ask("share", lambda: 6 // numbers.read("a")))
            except ZeroDivisionError:
                return "none"

        outer = lambda: numbers.ask("careful", careful)  # noqa: E731
        assert (outer(), watched(numbers.questions, outer)) == ("none", ("none", facts("a")))
        numbers.set(a=2)
        assert outer() == "3"

    def test_what_many_changes_leave_behind_does_not_add_up(self) -> None:
        numbers = Numbers(**{f"n{number}": 0 for number in range(20)})
        one = lambda name: numbers.ask(name, lambda: numbers.read(name))  # noqa: E731
        total = lambda: numbers.ask("total", lambda: sum(map(one, numbers.values.copy())))  # noqa: E731
        sizes = []
        for step in range(400):
            numbers.set(n3=step)
            assert total() == step
            followers = numbers.questions._followers
            sizes.append(sum(len(followers.of(one)) for one in followers._of))
        assert max(sizes[100:]) <= max(sizes[:100])


class TestWatched:
    """Whoever watches learns of exactly the facts that a value rests on."""

    def test_facts_of_remembered_answers_count(self) -> None:
        numbers = Numbers(a=1, b=2, c=3)
        inner = lambda: numbers.ask("inner", lambda: numbers.read("a") + numbers.read("b"))  # noqa: E731
        outer = lambda: numbers.ask("outer", lambda: inner() + 1)  # noqa: E731
        numbers.read("c")
        assert watched(numbers.questions, outer) == (4, facts("a", "b"))
        assert watched(numbers.questions, outer) == (4, facts("a", "b"))
        assert watched(numbers.questions, lambda: 1) == (1, frozenset())

    def test_what_is_watched_is_noted_outside_as_well(self) -> None:
        numbers = Numbers(a=1)
        outer = lambda: numbers.ask("outer", lambda: numbers.questions.watched(lambda: numbers.read("a"))[0])  # noqa: E731
        outer()
        assert watched(numbers.questions, outer)[1] == facts("a")

    def test_what_is_read_aside_does_not_count(self) -> None:
        numbers = Numbers(a=1, b=2)
        outer = lambda: numbers.questions.aside(lambda: numbers.read("a")) + numbers.read("b")  # noqa: E731
        assert watched(numbers.questions, outer) == (3, facts("b"))

    def test_an_answer_that_was_checked_rests_on_what_it_rests_on_now(self) -> None:
        numbers = Numbers(which="a", a=1, b=1)
        chosen = lambda: numbers.ask("chosen", lambda: numbers.read(numbers.read("which")))  # noqa: E731
        outer = lambda: numbers.ask("outer", lambda: chosen() * 10)  # noqa: E731
        assert watched(numbers.questions, outer) == (10, facts("which", "a"))
        numbers.set(which="b")
        assert watched(numbers.questions, outer) == (10, facts("which", "b"))
        numbers.again()
        numbers.set(a=5)
        assert (outer(), numbers.again()) == (10, [])
        numbers.set(b=5)
        assert outer() == 50


class TestCircles:
    """Questions that come back to themselves."""

    def test_without_an_answer_for_that_it_is_a_fault(self) -> None:
        numbers = Numbers()
        ask = lambda: numbers.ask("a", ask)  # noqa: E731
        with pytest.raises(RuntimeError, match="while it is being answered: number"):
            ask()
        assert numbers.ask("a", lambda: 1) == 1

    def test_what_was_found_inside_is_forgotten(self) -> None:
        graph = Joins({"a": "b", "b": "a"}, a="x", b="y")
        assert [graph.ask("a"), graph.ask("b")] == [{"x", "y"}] * 2

    def test_what_lies_outside_the_circle_is_not(self) -> None:
        graph = Joins({"a": "b", "b": "ac", "c": ""}, a="x", b="y", c="z")
        graph.ask("a")
        graph.again()
        graph.ask("c")
        assert graph.again() == []

    def test_a_failure_leaves_nothing_of_the_round(self) -> None:
        graph = Joins({"a": "bc", "b": "a", "c": ""}, a="x", b="y", c=None)
        with pytest.raises(TypeError):
            graph.ask("a")
        graph.set(c="z")
        assert [graph.ask("b"), graph.ask("a")] == [{"x", "y", "z"}] * 2

    def test_what_was_cut_at_an_inner_question_ends_with_it(self) -> None:
        """``c`` was looked into from ``b``, without ``b``; when ``a`` asks for it, there is more in it."""
        graph = Logic({"a": "b and c", "b": "(c or a) or yes", "c": "b or a"}, yes=True)
        assert [graph.ask(name) for name in "abc"] == [True] * 3

    def test_what_is_checked_inside_a_round_is_not_taken_for_good(self) -> None:
        """``p`` is what it was as long as ``c`` is left out of it; it is another when ``c`` is done."""
        graph = Joins({"c": "p", "p": "c"}, c="x", p="y")
        assert [graph.ask("p"), graph.ask("c")] == [{"x", "y"}] * 2
        graph.set(c="z", p="xy")
        assert [graph.ask("c"), graph.ask("p")] == [{"x", "y", "z"}] * 2


class Joins(Numbers):
    """What names reach, in a graph: sets of letters, each with those of all names below."""

    def __init__(self, below: dict[str, str], **values: Value) -> None:
        super().__init__(**values)
        self.below = below

    def ask(self, name: str) -> Value:  # type: ignore[override]
        return super().ask(name, lambda: self._find(name), frozenset())

    def _find(self, name: str) -> Value:
        return frozenset(self.read(name)).union(*[self.ask(one) for one in self.below[name]])


class Logic(Numbers):
    """Names that hold if an expression of other names and facts does."""

    def __init__(self, meanings: dict[str, str], **values: bool) -> None:
        super().__init__(**values)
        self.meanings = meanings

    def ask(self, name: str) -> bool:  # type: ignore[override]
        return super().ask(name, lambda: bool(eval(self.meanings[name], {}, _Names(self))), False)


class _Names(dict[str, bool]):
    def __init__(self, logic: Logic) -> None:
        super().__init__()
        self._logic = logic

    def __missing__(self, name: str) -> bool:
        return self._logic.ask(name) if name in self._logic.meanings else self._logic.read(name)


class TestGiven:
    """Answers that are found on the way to another."""

    def make(self, numbers: Numbers, ends: bool = True) -> Callable[[], int]:
        def find() -> int:
            value = numbers.read("a")
            numbers.questions.give("half", "a", value // 2)
            if not ends:
                raise LookupError
            return value % 2

        return lambda: numbers.ask("rest", find)

    def half(self, numbers: Numbers) -> int:
        return numbers.questions.known("half", "a", -1)

    def test_they_are_known_from_then_on_and_rest_on_the_same(self) -> None:
        numbers = Numbers(a=6, b=1)
        ask = self.make(numbers)
        assert (self.half(numbers), ask(), self.half(numbers)) == (-1, 0, 3)
        assert watched(numbers.questions, lambda: self.half(numbers)) == (3, facts("a"))
        numbers.set(b=2)
        assert self.half(numbers) == 3

    def test_they_fall_with_what_they_were_found_from(self) -> None:
        """Although the answer that they were found with is what it was."""
        numbers = Numbers(a=6)
        ask = self.make(numbers)
        ask()
        numbers.set(a=8)
        assert (self.half(numbers), ask(), self.half(numbers)) == (-1, 0, 4)

    def test_a_failure_takes_them_with_it(self) -> None:
        numbers = Numbers(a=6)
        with pytest.raises(LookupError):
            self.make(numbers, ends=False)()
        assert self.half(numbers) == -1

    def test_inside_a_round_they_end_with_it(self) -> None:
        numbers = Numbers(a=6)

        def inner() -> int:
            numbers.questions.give("half", "a", 0)
            return outer()

        outer = lambda: numbers.ask("outer", lambda: numbers.ask("inner", inner, 0) + 1, 0)  # noqa: E731
        assert outer() == 1
        assert self.half(numbers) == -1

    def test_of_nobody_they_are_not_taken(self) -> None:
        numbers = Numbers()
        numbers.questions.give("half", "a", 1)
        assert self.half(numbers) == -1


class TestCuts:
    """What budgets leave unknown is told wherever the answer is used."""

    def ask(self, numbers: Numbers) -> int:
        def find() -> int:
            if numbers.read("a") > 5:
                numbers.questions.cut("counting", 5)
            return min(numbers.read("a"), 5)

        return numbers.ask("counted", find)

    def test_remembered_answers_tell_of_theirs(self) -> None:
        numbers = Numbers(a=9)
        outer = lambda: numbers.ask("outer", lambda: self.ask(numbers) + 1)  # noqa: E731
        for _ in range(2):
            assert numbers.questions.with_cuts(outer) == (6, {"counting": 5})
        assert numbers.questions.with_cuts(lambda: numbers.questions.known("number", "counted", 0)) == (
            5, {"counting": 5},
        )  # fmt: skip
        assert numbers.questions.with_cuts(lambda: 1) == (1, {})

    def test_an_answer_with_other_cuts_is_another(self) -> None:
        numbers = Numbers(a=5)
        outer = lambda: numbers.ask("outer", lambda: self.ask(numbers) + 1)  # noqa: E731
        assert numbers.questions.with_cuts(outer) == (6, {})
        numbers.set(a=6)
        assert numbers.questions.with_cuts(outer) == (6, {"counting": 5})

    def test_they_stay_inside_of_what_they_were_asked_for(self) -> None:
        numbers = Numbers(a=9)
        questions = numbers.questions

        def two() -> Any:
            return questions.with_cuts(lambda: self.ask(numbers))[1], questions.with_cuts(lambda: 1)[1]

        assert questions.with_cuts(two) == (({"counting": 5}, {}), {"counting": 5})


@dataclass
class World:
    """A graph of questions made at random, with facts that change; it can be asked, and worked out without memory."""

    dice: random.Random
    kind: str
    size: int = 12
    questions: Questions = field(default_factory=Questions)

    def __post_init__(self) -> None:
        dice = self.dice
        self.values = [self.value() for _ in range(self.size)]
        self.compared = [dice.random() < 0.7 for _ in range(self.size)]
        self.reads = [dice.sample(range(self.size), dice.randint(0, 2)) for _ in range(self.size)]
        low = (lambda node: node + 1) if self.kind == "tree" else (lambda _: 0)
        self.below = [
            dice.sample(range(low(node), self.size), min(dice.randint(0, 3), self.size - low(node)))
            for node in range(self.size)
        ]
        self.all = [dice.random() < 0.4 for _ in range(self.size)]

    @property
    def nothing(self) -> Value:
        return frozenset() if self.kind == "join" else False

    def value(self) -> Value:
        if self.kind == "join":
            return frozenset(self.dice.sample(range(6), self.dice.randint(0, 2)))
        return self.dice.randint(0, 3) if self.kind == "tree" else self.dice.random() < 0.3

    def work_out(self, node: int, read: Callable[[int], Value], ask: Callable[[int], Value]) -> Value:
        """What a question is, given those below; what is read and asked for hangs on what was found before."""
        own, below = self.reads[node], self.below[node]
        if self.kind == "join":
            return frozenset().union(*[read(one) for one in own], *[ask(one) for one in below])
        if self.kind == "logic":
            test = all if self.all[node] and (own or below) else any
            return test(part() for part in _parts(own, below, read, ask))
        total = sum(read(one) for one in own)
        for one in below:
            if total % 4 == 3:
                raise LookupError
            if total % 3:
                total += ask(one) // 2
        return total % 5

    def ask(self, node: int) -> Value:
        def read(fact: int) -> Value:
            self.questions.note(("fact", str(fact)))
            return self.values[fact]

        inside = () if self.kind == "tree" else (self.nothing,)
        find = lambda: self.work_out(node, read, self.ask)  # noqa: E731
        return self.questions.answer("node", node, find, *inside, compared=self.compared[node])

    def anew(self, node: int) -> tuple[Value, set[int]]:
        """What a question is, and what it rests on, worked out without any memory."""
        read: set[int] = set()

        def noted(fact: int) -> Value:
            read.add(fact)
            return self.values[fact]

        if self.kind == "tree":
            ask = lambda one: self.work_out(one, noted, ask)  # noqa: E731
            return self.work_out(node, noted, ask), read
        known = dict.fromkeys(range(self.size), self.nothing)
        for _ in range(4 * self.size):
            known = {one: self.work_out(one, noted, known.__getitem__) for one in known}
        reached, waiting = {node}, [node]
        while waiting:
            new = set(self.below[waiting.pop()]) - reached
            reached |= new
            waiting += new
        return known[node], {fact for one in reached for fact in self.reads[one]}

    def value_of(self, node: int) -> Value:
        """What a question is, worked out without any memory."""
        return self.anew(node)[0]

    def change(self) -> None:
        changed = self.dice.sample(range(self.size), self.dice.randint(1, 2))
        for fact in changed:
            self.values[fact] = self.value()
        self.questions.forget([("fact", str(fact)) for fact in changed])


def _parts(
    own: Iterable[int], below: Iterable[int], read: Callable[[int], Value], ask: Callable[[int], Value]
) -> Iterator[Callable[[], Value]]:
    yield from (lambda one=one: read(one) for one in own)
    yield from (lambda one=one: ask(one) for one in below)


def outcome(find: Callable[[int], Value], node: int) -> Value:
    try:
        return find(node)
    except LookupError:
        return "failed"


@pytest.mark.parametrize("kind", ["tree", "join", "logic"])
def test_in_any_order_warm_or_cold_the_answers_are_the_same(kind: str) -> None:
    kept = changed = 0
    for seed in range(25):
        world = World(random.Random(seed), kind)
        for _ in range(8):
            for node in world.dice.sample(range(world.size), world.dice.randint(1, 6)):
                before = world.questions.found
                expected = outcome(world.value_of, node)
                assert outcome(world.ask, node) == expected, f"{seed}: {node}"
                kept += world.questions.found == before
                changed += world.questions.found > before
            world.change()
    assert kept > 75, "else nothing is remembered"
    assert changed > 75


@pytest.mark.parametrize("kind", ["tree", "join"])
def test_in_any_order_exactly_the_facts_are_told(kind: str) -> None:
    for seed in range(15):
        world = World(random.Random(seed), kind)
        for _ in range(6):
            for node in world.dice.sample(range(world.size), 4):
                try:
                    value, rests = watched(world.questions, partial(world.ask, node))
                except LookupError:
                    continue
                expected, read = world.anew(node)
                assert (value, rests) == (expected, {("fact", str(fact)) for fact in read}), f"{seed}: {node}"
            world.change()


def test_what_changes_is_marked_no_further_than_it_reaches() -> None:
    numbers = Numbers(a=1, b=2)
    for name in "ab":
        numbers.ask(name, lambda name=name: numbers.read(name))
    numbers.set(a=2)
    states: dict[Hashable, Answer] = numbers.questions._tables["number"]
    assert [states[name].state == STALE for name in "ab"] == [True, False]
