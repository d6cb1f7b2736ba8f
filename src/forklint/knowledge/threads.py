"""Typed reader of threads.toml: thread pools, and arrays that live in files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class Mapped:
    """How a function that maps a file is told the mode."""

    mode: str
    position: int
    default: str


@dataclass(frozen=True)
class Threads:
    """The tables of threads.toml; its comments explain them."""

    pools: frozenset[str]
    sizes: tuple[str, ...]
    many: frozenset[str]
    one: frozenset[str]
    functions: frozenset[str]
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    maps: Mapping[str, Mapped]

    @property
    def function_names(self) -> frozenset[str]:
        """The last names of ``functions``."""
        return frozenset(name.rpartition(".")[2] for name in self.functions)


@cache
def threads() -> Threads:
    """Read the table once."""
    table = knowledge.table("threads.toml")
    pools = table["pools"]
    return Threads(
        frozenset(pools["names"]),
        tuple(pools["sizes"]),
        frozenset(pools["many"]),
        frozenset(pools["one"]),
        frozenset(pools["functions"]),
        table["handles"]["reads"],
        table["handles"]["writes"],
        {name: Mapped(row["mode"], row["position"], row["default"]) for name, row in table["maps"].items()},
    )
