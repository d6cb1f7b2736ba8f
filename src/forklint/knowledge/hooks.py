"""Typed reader of hooks.toml: by which names torch asks, and how they are misspelt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class Role:
    """What classes that derive from one of ``base`` are asked for; hooks.toml explains the fields."""

    kind: str
    base: frozenset[str]
    asks: tuple[str, ...]
    lacks: Mapping[str, str]
    asker: str = "torch"


@dataclass(frozen=True)
class Hook:
    """One method by which torch asks."""

    name: str
    written: frozenset[str]
    bare: frozenset[str]
    slips: bool
    arguments: int | None
    special: frozenset[str] = frozenset()

    @property
    def is_special(self) -> bool:
        """Whether it is one of Python's special methods, with underscores around it."""
        return self.name.startswith("__")


@dataclass(frozen=True)
class RemovedHook:
    """A hook that classes of a kind no longer have; hooks.toml explains the fields."""

    kind: str
    name: str
    instead: str
    refused: str
    """What raises where a class still has it; empty for one that is merely not called."""
    since: tuple[int, int]

    @property
    def effect(self) -> str:
        """What Lightning does about it: ``refused`` or ``uncalled``."""
        return "refused" if self.refused else "uncalled"


@cache
def removed_hooks() -> Mapping[str, tuple[RemovedHook, ...]]:
    """The removed hooks by name."""
    table = knowledge.table("hooks.toml")
    found: dict[str, tuple[RemovedHook, ...]] = {}
    for row in table["removed"]:
        hook = RemovedHook(row["kind"], row["name"], row["instead"], row["refused"], tuple(row["since"]))
        found[hook.name] = (*found.get(hook.name, ()), hook)
    for row in table["uncalled"]:
        for kind in row["kinds"]:
            for name, instead in row["instead"].items():
                hook = RemovedHook(kind, name, instead, "", tuple(row["since"]))
                found[name] = (*found.get(name, ()), hook)
    return found


@cache
def roles() -> tuple[Role, ...]:
    """The roles, in the order of the table."""
    rows = knowledge.table("hooks.toml")["role"]
    return tuple(
        Role(row["kind"], frozenset(row["base"]), tuple(row["asks"]), row["lacks"], row.get("asker", "torch"))
        for row in rows
    )


@cache
def hooks() -> Mapping[str, Hook]:
    """The hooks by name."""
    asked = {name for role in roles() if role.asker != "torch" for name in role.asks}
    named = {name: Hook(name, frozenset(), frozenset(), slips=True, arguments=None) for name in sorted(asked)}
    return named | {
        row["name"]: Hook(
            row["name"],
            frozenset(row["written"]),
            frozenset(row.get("bare", ())),
            row.get("slips", False),
            row.get("arguments"),
            frozenset(row.get("special", ())),
        )
        for row in knowledge.table("hooks.toml")["hook"]
    }


@cache
def meant_keywords() -> Mapping[str, str]:
    """For what people write, the keyword that they mean."""
    table = knowledge.table("hooks.toml")["keywords"]
    return {wrong: meant for meant, written in table.items() for wrong in written}


@cache
def words() -> Mapping[str, str]:
    """For what people write in the name of a hook, the word that stands for all that say the same."""
    table = knowledge.table("hooks.toml")["words"]
    return {wrong: meant for meant, written in table.items() for wrong in written}
