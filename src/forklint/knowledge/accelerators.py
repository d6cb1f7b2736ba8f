"""Typed reader of accelerators.toml: what puts tensors on an accelerator."""

from __future__ import annotations

from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class AcceleratorWords:
    """The words of accelerators.toml; its file explains them."""

    loaders: frozenset[str]
    readers: frozenset[str]
    arrays: frozenset[str]
    same: frozenset[str]


@cache
def accelerator_words() -> AcceleratorWords:
    """The table."""
    return AcceleratorWords(**{key: frozenset(value) for key, value in knowledge.table("accelerators.toml").items()})
