"""Typed reader of handles.toml: callables that open what must not cross a process start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from forklint import knowledge
from forklint.records import dataclass, field_names


@dataclass(frozen=True)
class Handle:
    """One row of handles.toml; its file explains the fields."""

    call: tuple[str, ...]
    kind: str
    module: str = ""
    fork: str = "bites"
    fork_effect: str = "forked workers share it"
    spawn: str = "bites"
    spawn_effect: str = "it cannot be pickled"
    close: str = "close"
    in_child: str = "drop"
    derived: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    with_closes: bool = True
    suffix: str = ""
    shown_by: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    position: bool = False
    releases: tuple[str, ...] = ()
    write_modes: bool = False
    when: tuple[tuple[str, Any], ...] = ()
    """A keyword and a value of it (``keyword``, ``value``) that change other fields of the row."""
    source: str = ""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Handle:
        """Make a Handle from a TOML row; keys that are not fields are passed over."""
        names = field_names(cls)
        known = {key: value for key, value in row.items() if key in names}
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in known.items()}
        if "when" in values:
            values["when"] = tuple(values["when"].items())
        return cls(**values)

    def given(self, literals: Mapping[str, Any]) -> Handle:
        """The row for a call with these literal keyword arguments."""
        change = dict(self.when)
        keyword = change.pop("keyword", "")
        return replace(self, **change) if literals.get(keyword, ...) == change.pop("value", None) else self


@cache
def _own() -> tuple[Handle, ...]:
    return tuple(Handle.from_row(row) for row in knowledge.table("handles.toml")["handle"])


@cache
def wrappers() -> frozenset[str]:
    """Qualified names of what reads on, later, from the handle that it is given."""
    return frozenset(knowledge.table("handles.toml")["wrappers"])


def openers(extra: tuple[Mapping[str, Any], ...] = ()) -> dict[str, Handle]:
    """Map each qualified name that opens a handle to its row; ``extra`` rows of a project win."""
    return {name: row for row in (*_own(), *(Handle.from_row(row) for row in extra)) for name in row.call}
