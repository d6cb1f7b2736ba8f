"""Typed reader of what torch and libraries beside it once had and no longer have.

removed.toml is written by hand and says what to use instead; removed_api.json, which has the many other names, is
written by scripts/make_removed.py from the source of all versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from typing import Any

from forklint import knowledge
from forklint.records import dataclass

BESIDE = ("torch", "python", "transformers")


@dataclass(frozen=True)
class Gone:
    """Since which version of torch something is gone, and what to use instead, in words."""

    since: tuple[int, int]
    instead: str = ""
    is_attribute: bool = False
    """Of a module: whether it could be reached as an attribute without being imported."""
    raises: bool = False
    """Of a function: whether it is still there, and does nothing but raise an error."""
    is_setter: bool = False
    """Of a member: whether it is still there, and can no longer be assigned."""
    beside: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Of what is not torch's own: by library, or ``python``, the first version that goes with it."""
    renamed: str = ""
    """Another dotted path, or builtin, for the same object."""

    @property
    def version(self) -> str:
        """The version as people write it."""
        return f"{self.since[0]}.{self.since[1]}"


@cache
def removed_modules() -> Mapping[str, Gone]:
    """By dotted path."""
    found = {path: _since(version) for path, version in knowledge.table("removed_api.json")["modules"].items()}
    return found | {row["path"]: _gone(row) for row in knowledge.table("removed.toml")["module"]}


@cache
def removed_from_companions() -> Mapping[str, Gone]:
    """What libraries beside torch had, by dotted path: modules and names alike."""
    rows = knowledge.table("removed.toml")["companion"]
    found = {path: _gone(row) for row in rows for path in row.get("paths", ())}
    return found | {
        path: replace(_gone(row), instead=f"use `{name}` instead", renamed=name, is_attribute=True)
        for row in rows
        for path, name in row.get("renamed", {}).items()
    }


@cache
def removed_members() -> Mapping[str, Mapping[str, Gone]]:
    """What objects of classes of libraries beside torch had, by the class's dotted path and by name."""
    found: dict[str, dict[str, Gone]] = {}
    for row in knowledge.table("removed.toml")["member"]:
        found.setdefault(row["owner"], {}).update(dict.fromkeys(row["names"], _gone(row)))
    return found


@cache
def removed_from(owner: str) -> Mapping[str, Gone]:
    """By name, what a module or class of torch had."""
    versions = knowledge.table("removed_api.json")["names"].get(owner, {})
    found = {name: _since(version) for version, names in versions.items() for name in names}
    rows = knowledge.table("removed.toml")["name"]
    return found | {name: _gone(row) for row in rows if row["owner"] == owner for name in row["names"]}


def removed_by_hand() -> set[str | tuple[str, str]]:
    """What removed.toml has: paths of modules, and owners with their names."""
    table = knowledge.table("removed.toml")
    return {row["path"] for row in table["module"]} | {
        (row["owner"], name) for row in table["name"] for name in row["names"]
    }


def _gone(row: Mapping[str, Any]) -> Gone:
    first, second = row["since"]
    beside = {one: (row[one][0], row[one][1]) for one in BESIDE if one in row}
    is_attribute = row.get("is_attribute", "paths" in row)
    raises, is_setter = row.get("raises", False), row.get("is_setter", False)
    return Gone((first, second), row.get("instead", ""), is_attribute, raises, is_setter, beside)


def _since(version: str) -> Gone:
    first, _, second = version.partition(".")
    return Gone((int(first), int(second)))
