"""Typed reader of streams.toml: what makes a stream that ends, and what shows that workers share it out."""

from __future__ import annotations

from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class StreamWords:
    """The words of streams.toml; its file explains them."""

    iterable: frozenset[str]
    plain: frozenset[str]
    indexed: frozenset[str]
    aware: frozenset[str]
    by_process: frozenset[str]
    passes_on: frozenset[str]
    finite: frozenset[str]
    finite_unless_streaming: frozenset[str]
    finite_methods: frozenset[str]
    finite_parts: frozenset[str]
    opened_methods: frozenset[str]
    opens: frozenset[str]
    opens_paths: frozenset[str]
    paths: frozenset[str]
    live: frozenset[str]
    reads: frozenset[str]
    random: frozenset[str]
    shared_out: frozenset[str]


@cache
def stream_words() -> StreamWords:
    """The table."""
    return StreamWords(**{key: frozenset(value) for key, value in knowledge.table("streams.toml").items()})
