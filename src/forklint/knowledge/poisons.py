"""Typed reader of poisons.toml: what must not be used before a fork and again in the child."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, TypeVar

from forklint import knowledge
from forklint.records import dataclass, field_names


@dataclass(frozen=True)
class Poison:
    """One row of [[poison]]; its file explains the fields of all rows."""

    name: str
    what: str
    effect: str
    loaders: bool
    off: tuple[str, ...] = ()
    variable: str = ""
    rule: str = "FKL203"
    source: str = ""


@dataclass(frozen=True)
class ObjectRow:
    """One row of [[object]]."""

    name: str
    poison: str
    who: str
    made_by: tuple[str, ...] = ()
    unless: str = ""
    bases: tuple[str, ...] = ()
    origin: str = ""
    """The kind of object of which one of the methods ``by`` gives this one (``from`` in the table)."""
    by: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    hangs: tuple[str, ...] = ()


@dataclass(frozen=True)
class FunctionRow:
    """One row of [[function]]."""

    calls: tuple[str, ...]
    poison: str
    who: str
    starts: bool = False
    hangs: bool = False


@dataclass(frozen=True)
class DecoratorRow:
    """One row of [[decorator]]."""

    names: tuple[str, ...]
    poison: str
    who: str
    keyword: str = ""
    body: str = ""
    hangs: bool = True


Row = TypeVar("Row", Poison, ObjectRow, FunctionRow, DecoratorRow)


@dataclass(frozen=True)
class Poisons:
    """The whole table."""

    poisons: Mapping[str, Poison]
    objects: tuple[ObjectRow, ...]
    functions: tuple[FunctionRow, ...]
    decorators: tuple[DecoratorRow, ...]

    def function(self, name: str) -> FunctionRow | None:
        """The row of a function by its qualified name."""
        return next((row for row in self.functions if _fits(name, row.calls)), None)

    def decorator(self, name: str) -> DecoratorRow | None:
        """The row of a decorator by its qualified name."""
        return next((row for row in self.decorators if name in row.names), None)

    def made_by(self, name: str) -> ObjectRow | None:
        """The row of the kind of object that a library's function or class of this qualified name gives."""
        return next((row for row in self.objects if _fits(name, row.made_by)), None)

    def kind_of(self, name: str) -> str:
        """The kind of object that a function, or a method of what it gives, gives: ``polars.read_csv().lazy``."""
        function, call, method = name.rpartition("().")
        if call:
            return self.given_by(self.kind_of(function), method)
        row = self.made_by(name)
        return row.name if row is not None else ""

    def made_from(self, name: str, method: str) -> str:
        """The name of what a method gives of an object that was made under a name; empty if that is not known.

        The same name for a method that gives an object of the same kind.
        """
        kind = self.kind_of(name)
        given = self.given_by(kind, method) if kind else ""
        return "" if not given else name if given == kind else f"{name}().{method}"

    def of_bases(self, names: tuple[str, ...]) -> str:
        """The kind of object that a project class with these bases from libraries makes; empty for none."""
        return next((row.name for row in self.objects if any(base in row.bases for base in names)), "")

    def given_by(self, kind: str, method: str) -> str:
        """The kind of object that a method of an object gives; empty if that is not known."""
        rows = [row for row in self.objects if row.name == kind]
        if any(method in row.same for row in rows):
            return kind
        return next((row.name for row in self.objects if row.origin == kind and method in row.by), "")

    @cached_property
    def methods(self) -> frozenset[str]:
        """Every method that starts something or wants it."""
        return frozenset(name for row in self.objects for name in (*row.starts, *row.hangs))

    def method(self, kind: str, method: str) -> ObjectRow | None:
        """The row that says that a method of an object starts something or wants it."""
        rows = (row for row in self.objects if row.name == kind)
        return next((row for row in rows if method in row.starts or method in row.hangs), None)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return bool(name) and (name in patterns or f"{name.rpartition('.')[0]}.*" in patterns)


def _rows(kind: type[Row], rows: list[Mapping[str, Any]]) -> tuple[Row, ...]:
    names = field_names(kind)
    found = []
    for row in rows:
        values = {("origin" if key == "from" else key): value for key, value in row.items()}
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
        found.append(kind(**{key: value for key, value in values.items() if key in names}))
    return tuple(found)


@cache
def poisons() -> Poisons:
    """Read poisons.toml, once."""
    table = knowledge.table("poisons.toml")
    return Poisons(
        {row.name: row for row in _rows(Poison, table["poison"])},
        _rows(ObjectRow, table["object"]),
        _rows(FunctionRow, table["function"]),
        _rows(DecoratorRow, table["decorator"]),
    )
