"""Typed reader of daft.toml: Daft's classes, and what loads a torch model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class Daft:
    """The tables of daft.toml; its comments explain them."""

    classes: Mapping[str, tuple[str, ...]]
    calls: frozenset[str]
    prefixes: tuple[str, ...]
    pretrained: tuple[str, ...]
    others: tuple[str, ...]
    bases: frozenset[str]
    loaders: frozenset[str]


@cache
def daft() -> Daft:
    """Read the table once."""
    table = knowledge.table("daft.toml")
    models = table["models"]
    return Daft(
        {name: tuple(options) for name, options in table["classes"].items()},
        frozenset(models["calls"]),
        tuple(models["prefixes"]),
        tuple(models["pretrained"]),
        tuple(models["others"]),
        frozenset(models["bases"]),
        frozenset(models["loaders"]),
    )
