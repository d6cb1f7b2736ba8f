"""Typed reader of patches.toml: what libraries add to objects that are not theirs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class Patches:
    """The lists of patches.toml; its comments explain them."""

    given: frozenset[str]
    mixed_in: frozenset[str]
    changing: frozenset[str]
    reparametrizing: frozenset[str]
    harmless: frozenset[str]
    attached: Mapping[tuple[str, str], frozenset[str]]
    """By package and class."""
    extended: Mapping[str, str]
    """The package that adds names to a module of torch, by the module."""

    def attached_to(self, base: str) -> frozenset[str]:
        """What objects of a library's class, by its qualified name, get once a program runs."""
        return self.attached.get((base.partition(".")[0], base.rpartition(".")[2]), frozenset())

    def supply(self, name: str) -> bool:
        """Whether an object may well have a name that no line of the project gives it."""
        return name in self.given or name in self.mixed_in or name.startswith("assert")

    def may_add(self, name: str) -> bool:
        """Whether a function outside the project, by its qualified name, may give other names to what it gets."""
        package = name.partition(".")[0]
        is_known = package in self.harmless or package == "builtins" or package in sys.stdlib_module_names
        return name in self.changing or name in self.reparametrizing or not is_known


@cache
def patches() -> Patches:
    """Read the lists once."""
    table = knowledge.table("patches.toml")
    names = ("given", "mixed_in", "changing", "reparametrizing", "harmless")
    attached = {
        (package, row["base"]): frozenset(row["names"]) for row in table["attached"] for package in row["packages"]
    }
    extended = {module: row["package"] for row in table["extended"] for module in row["modules"]}
    given, mixed_in, changing, reparametrizing, harmless = (frozenset(table[name]) for name in names)
    return Patches(given, mixed_in, changing, reparametrizing, harmless, attached, extended)
