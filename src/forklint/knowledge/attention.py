"""Typed reader of attention.toml: what takes attention masks, and what gives tensors of which dtype."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class Attention:
    """One row of attention.toml; its file explains the fields."""

    call: tuple[str, ...]
    how: str
    parameters: tuple[str, ...]
    masks: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    true: str
    adds: bool
    is_causal: str = ""

    @property
    def name(self) -> str:
        """The name people know it by."""
        return self.call[0].rpartition(".")[2]


@dataclass(frozen=True)
class Making:
    """What is known of the functions and methods that make masks."""

    dtypes: Mapping[str, str]
    """Kind (``bool``, ``float``, ``int``) by the dtype's qualified name."""
    casts: Mapping[str, str]
    """Kind by the name of the method that casts."""
    makers: Mapping[str, str]
    """What a function's tensor holds (``zeros``, ``ones``, ``both``, ``any``, ``full``, ``causal``), by its name."""
    like: Mapping[str, str]
    """The same for those that take the dtype of another tensor, by their last name."""
    tests: frozenset[str]
    keeps: frozenset[str]


@cache
def attention() -> dict[str, Attention]:
    """Map each qualified name to its row."""
    rows = [
        Attention(
            call=tuple(row["call"]),
            how=row["how"],
            parameters=tuple(row["parameters"]),
            masks=tuple(row["masks"]),
            pairs=tuple((first, second) for first, second in row["pairs"]),
            true=row["true"],
            adds=row["adds"],
            is_causal=row.get("is_causal", ""),
        )
        for row in knowledge.table("attention.toml")["attention"]
    ]
    return {name: row for row in rows for name in row.call}


@cache
def mask_names() -> frozenset[str]:
    """The parameters that take a mask, of all rows."""
    return frozenset(name for row in attention().values() for name in row.masks)


@cache
def making() -> Making:
    """The rest of attention.toml."""
    table = knowledge.table("attention.toml")
    turned = {part: {name: kind for kind, names in table[part].items() for name in names} for part in PARTS}
    return Making(
        dtypes=turned["dtypes"],
        casts=turned["casts"],
        makers=turned["makers"],
        like=turned["like"],
        tests=frozenset(table["tests"]["names"]),
        keeps=frozenset(table["keeps"]["names"]),
    )


PARTS = ("dtypes", "casts", "makers", "like")
