"""Typed reader of removed.toml: what torch once had and no longer has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class Gone:
    """Since which version of torch something is gone, and what to use instead, in words."""

    since: tuple[int, int]
    instead: str = ""
    is_attribute: bool = False
    """Of a module: whether it could be reached as an attribute without being imported."""

    @property
    def version(self) -> str:
        """The version as people write it."""
        return f"{self.since[0]}.{self.since[1]}"


@cache
def removed_modules() -> Mapping[str, Gone]:
    """By dotted path."""
    return {row["path"]: _gone(row) for row in knowledge.table("removed.toml")["module"]}


@cache
def removed_from(owner: str) -> Mapping[str, Gone]:
    """By name, what a module or class of torch had."""
    rows = knowledge.table("removed.toml")["name"]
    return {name: _gone(row) for row in rows if row["owner"] == owner for name in row["names"]}


def _gone(row: Mapping[str, Any]) -> Gone:
    first, second = row["since"]
    return Gone((first, second), row.get("instead", ""), row.get("is_attribute", False))
