"""Dataclasses whose methods are written when that pays are like those of the standard library, before and after."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from forklint.model import Note
from forklint.records import FEW, dataclass

SENT = """
import pickle, sys
one, other = pickle.loads(sys.stdin.buffer.read())
assert one == other and hash(one) == hash(other) and one is not other, (one, other)
"""


@dataclass(frozen=True, order=True)
class Place:
    row: int
    words: tuple[str, ...] = ()
    """What stands there."""


@dataclass
class Box:
    items: list[int] = dataclasses.field(default_factory=list)


@dataclass(frozen=True)
class Named(Place):
    name: str = ""


def test_an_object_has_all_that_a_dataclass_has() -> None:
    assert Place(1, ("a",)) == Place(row=1, words=("a",))
    assert Place(1) < Place(2)
    assert len({Place(1), Place(1)}) == 1
    assert repr(Place(1)) == "Place(row=1, words=())"
    assert dataclasses.replace(Place(1), row=2) == Place(2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Place(1).row = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match="row"):
        Place()  # type: ignore[call-arg]


def test_objects_share_no_default() -> None:
    Box().items.append(1)
    assert Box().items == []


def test_a_subclass_has_the_fields_of_its_bases_first() -> None:
    assert Named(1, name="x") == Named(1, (), "x")
    assert [field.name for field in dataclasses.fields(Named)] == ["row", "words", "name"]


def test_fields_can_be_asked_for_before_there_is_an_object() -> None:
    @dataclass(frozen=True)
    class Fresh:
        value: int

    assert dataclasses.is_dataclass(Fresh)
    assert [field.name for field in dataclasses.fields(Fresh)] == ["value"]


def test_one_of_the_standard_library_may_derive_from_one() -> None:
    @dataclass(frozen=True)
    class Base:
        value: int

    @dataclasses.dataclass(frozen=True)
    class Derived(Base):
        more: int

    assert Derived(1, 2) == Derived(value=1, more=2)


def test_a_plain_subclass_may_be_the_first_of_which_there_is_an_object() -> None:
    @dataclass(frozen=True)
    class Base:
        value: int

    class Derived(Base):
        """As it is."""

    assert Derived(1) == Derived(1)


def is_written(cls: type) -> bool:
    """Whether the class has methods of its own that were compiled for it."""
    return inspect.isfunction(vars(cls)["__init__"])


@pytest.mark.parametrize(
    "ask",
    [
        dataclasses.fields,
        dataclasses.is_dataclass,
        inspect.signature,
        lambda cls: cls.__match_args__,
        lambda cls: cls(1) == cls(1),
        lambda cls: hash(cls(1)),
        lambda cls: repr(cls(1)),
        lambda cls: cls(1) < cls(2),
        lambda cls: dataclasses.replace(cls(1), row=2),
    ],
)
def test_methods_are_written_when_one_is_asked_for(ask: Callable[[type], object]) -> None:
    @dataclass(frozen=True, order=True)
    class Fresh:
        row: int
        words: tuple[str, ...] = ()

    assert (Fresh(1).row, Fresh(2, words=("a",)).words) == (1, ("a",))
    assert not is_written(Fresh)
    ask(Fresh)
    assert is_written(Fresh)


def test_methods_are_written_when_there_are_many_objects() -> None:
    @dataclass(frozen=True)
    class Fresh:
        value: int

    made = [Fresh(number) for number in range(FEW)]
    assert not is_written(Fresh)
    made.append(Fresh(FEW))
    assert is_written(Fresh)
    assert [one.value for one in made] == list(range(FEW + 1))


def test_an_object_that_was_filled_by_hand_is_like_any_other() -> None:
    @dataclass(frozen=True)
    class Fresh:
        first: int
        second: list[int] = dataclasses.field(default_factory=list)
        third: str = dataclasses.field(default="c", compare=False)
        kind: ClassVar[str] = "fresh"

    by_hand = Fresh(1, third="x")
    with pytest.raises(dataclasses.FrozenInstanceError):
        by_hand.first = 2  # type: ignore[misc]
    assert is_written(Fresh)
    assert by_hand == Fresh(1, third="y")
    assert (vars(by_hand), vars(Fresh(1, third="x"))) == ({"first": 1, "second": [], "third": "x"},) * 2


@pytest.mark.parametrize(
    ("args", "kwargs", "what"),
    [
        ((), {}, "missing 1 required"),
        ((1,), {"value": 1}, "multiple values"),
        ((1, 2, 3), {}, "positional"),
        ((1,), {"other": 2}, "other"),
    ],
)
def test_wrong_arguments_raise_what_dataclasses_raise(args: Any, kwargs: Any, what: str) -> None:
    @dataclass(frozen=True)
    class Fresh:
        value: int
        word: str = ""

    with pytest.raises(TypeError, match=what):
        Fresh(*args, **kwargs)


def test_what_is_done_after_an_object_is_made_is_done() -> None:
    @dataclass
    class Fresh:
        value: int
        seen: ClassVar[list[int]] = []

        def __post_init__(self) -> None:
            self.seen.append(self.value)

    Fresh(1)
    assert Fresh.seen == [1]


def test_an_object_that_can_change_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Box())


def test_without_eq_an_object_equals_itself_alone() -> None:
    @dataclass(frozen=True, eq=False)
    class Fresh:
        value: int

    one = Fresh(1)
    assert one == one
    assert one != Fresh(1)
    assert len({one, Fresh(1)}) == 2


def test_a_method_that_the_class_writes_itself_stays() -> None:
    @dataclass(frozen=True)
    class Fresh:
        value: int

        def __repr__(self) -> str:
            return "own"

    assert repr(Fresh(1)) == "own"
    assert Fresh(1) == Fresh(1)
    assert repr(Fresh(1)) == "own"


def test_what_comes_from_another_process_is_equal_and_has_its_hash(tmp_path: Path) -> None:
    sent = pickle.dumps([Note("a.py", "skipped"), Note("a.py", "skipped")])
    subprocess.run([sys.executable, "-c", SENT], input=sent, cwd=tmp_path, check=True)
