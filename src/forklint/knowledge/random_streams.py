"""Typed reader of random.toml: generators, what seeds the streams of a process, how workers are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from forklint import knowledge
from forklint.records import dataclass, field_names


@dataclass(frozen=True)
class Generator:
    """One row of generators in random.toml; its file explains the fields."""

    call: tuple[str, ...]
    kind: str
    restarts: tuple[str, ...]
    fresh: str = ""
    chained: tuple[str, ...] = ()
    spawn: str = "bites"
    seeded_only: bool = False
    source: str = ""


@dataclass(frozen=True)
class Seeder:
    """One row of seeders in random.toml; its file explains the fields."""

    call: tuple[str, ...]
    streams: tuple[str, ...]
    most: bool = False
    plain: bool = False
    fresh: str = ""
    source: str = ""


@dataclass(frozen=True)
class Stream:
    """One row of streams in random.toml; its file explains the fields."""

    name: str
    module: str
    draws_not: tuple[str, ...]
    quiet: tuple[str, ...]
    drawing: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True)
class WorkerWords:
    """The names by which worker processes, and what is the same in all of them, are known."""

    functions: frozenset[str]
    numbers: frozenset[str]
    info: frozenset[str]
    seed: frozenset[str]
    steady: frozenset[str]
    changing: frozenset[str]
    steady_calls: frozenset[str]
    aware: frozenset[str]
    evaluation: frozenset[str]


def _values(kind: type, row: Mapping[str, Any]) -> dict[str, Any]:
    names = field_names(kind)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key in names}


@cache
def generators() -> dict[str, Generator]:
    """Map each qualified name that makes a generator to its row."""
    rows = [Generator(**_values(Generator, row)) for row in knowledge.table("random.toml")["generator"]]
    return {name: row for row in rows for name in row.call}


@cache
def seeded_generators() -> dict[str, Seeder]:
    """Map each qualified name that makes a generator from a seed to a row of the one stream that this begins."""
    return {name: Seeder(row.call, (f"this {row.kind}",)) for name, row in generators().items()}


@cache
def seeders() -> dict[str, Seeder]:
    """Map each qualified name that seeds streams of the process to its row."""
    rows = [Seeder(**_values(Seeder, row)) for row in knowledge.table("random.toml")["seeder"]]
    return {name: row for row in rows for name in row.call}


@cache
def streams() -> dict[str, Stream]:
    """Map the name of each stream of which it is known what draws from it to its row."""
    rows = [Stream(**_values(Stream, row)) for row in knowledge.table("random.toml")["stream"]]
    return {row.name: row for row in rows}


@cache
def worker_words() -> WorkerWords:
    """The words of workers."""
    return WorkerWords(**{key: frozenset(value) for key, value in knowledge.table("random.toml")["worker"].items()})
