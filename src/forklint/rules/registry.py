"""Finds the rules: every concrete subclass of Rule in a file of this folder, or in ``rule.py`` of a folder in it."""

from __future__ import annotations

import importlib
import os
from abc import ABCMeta
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from forklint import rules
from forklint.rules.needs import Card, Needs

if TYPE_CHECKING:
    from forklint.config import Settings
    from forklint.rules.base import Rule


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by code."""
    import pkgutil  # few runs ask for all

    found = (info for info in pkgutil.iter_modules(rules.__path__) if info.name != "table")  # drawn from them
    names = (f"{info.name}.rule" if info.ispkg else info.name for info in found)
    modules = (importlib.import_module(f"{rules.__name__}.{name}") for name in names)
    return tuple(sorted((rule for module in modules for rule in _in_module(module)), key=lambda rule: rule.code))


def _in_module(module: ModuleType) -> Iterator[type[Rule]]:
    import inspect  # no rule is needed for a file that none can want

    from forklint.rules.base import Rule

    for value in vars(module).values():
        own = isinstance(value, ABCMeta) and issubclass(value, Rule) and value.__module__ == module.__name__
        if own and not inspect.isabstract(value):
            yield value


def drawn(settings: Settings) -> tuple[Card, ...]:
    """The cards of all rules under some settings, drawn from their classes, by code."""
    return tuple(_drawn(rule, settings) for rule in all_rules())


def _drawn(rule: type[Rule], settings: Settings) -> Card:
    return Card(
        rule.code,
        rule.name,
        rule.__module__.removeprefix(f"{rules.__name__}."),
        rule.preview,
        rule.needs_under(settings),
    )


@cache
def _written() -> tuple[Card, ...]:
    """The cards as ``table.py`` has them; drawn anew if there are other rules than when it was written."""
    from forklint.config import Settings  # which asks what rules there are
    from forklint.rules import table

    if files() != table.FILES:
        return drawn(Settings())
    return tuple(Card(code, name, module, preview, Needs(*needs)) for code, name, module, preview, needs in table.ROWS)


def files() -> frozenset[str]:
    """The names in this folder; those that were written down where it is an archive, which does not change."""
    try:
        names = [entry.name for entry in os.scandir(Path(__file__).parent) if entry.name != "__pycache__"]
        return frozenset(name for name in names if name.endswith(".py") or "." not in name)
    except OSError:
        from forklint.rules import table

        return table.FILES


def cards(settings: Settings) -> tuple[Card, ...]:
    """What is known of every rule without its module, by code; rows of the project's own add to what a rule needs."""
    return drawn(settings) if settings.adds_rows else _written()


def load(card: Card) -> type[Rule]:
    """The rule of a card."""
    module = importlib.import_module(f"{rules.__name__}.{card.module}")
    return next(rule for rule in _in_module(module) if rule.code == card.code)


@cache
def codes() -> dict[str, tuple[str, bool]]:
    """Map each code to its rule's name and whether the rule is preview."""
    return {card.code: (card.name, card.preview) for card in _written()}


@cache
def names() -> dict[str, str]:
    """Map each code to its rule's name."""
    return {card.code: card.name for card in _written()}


@cache
def spelt_names() -> tuple[bytes, ...]:
    """The names of all rules, as comments spell them."""
    return tuple(name.encode() for name in names().values())


def find(word: str) -> type[Rule] | None:
    """The rule of this code or name, if there is one."""
    return next((load(card) for card in _written() if word.upper() == card.code or word.lower() == card.name), None)
