"""Dataclasses that are finished when they are first used are, from then on, like those of the standard library."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from forklint.model import Note
from forklint.records import dataclass

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


def test_nothing_is_written_before_there_is_an_object() -> None:
    @dataclass(frozen=True)
    class Fresh:
        value: int

    assert "__eq__" not in vars(Fresh)
    Fresh(1)
    assert "__eq__" in vars(Fresh)


def test_what_comes_from_another_process_is_equal_and_has_its_hash(tmp_path: Path) -> None:
    sent = pickle.dumps([Note("a.py", "skipped"), Note("a.py", "skipped")])
    subprocess.run([sys.executable, "-c", SENT], input=sent, cwd=tmp_path, check=True)
