"""Typed reader of libraries.toml: names of libraries that a project may carry copies of, or use for its own code."""

from __future__ import annotations

from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class Libraries:
    """The lists of libraries.toml; its comments explain them."""

    always: frozenset[str]
    ambiguous: frozenset[str]


@cache
def libraries() -> Libraries:
    """Read the lists once."""
    table = knowledge.table("libraries.toml")
    return Libraries(frozenset(table["always"]), frozenset(table["ambiguous"]))
