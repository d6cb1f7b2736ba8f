"""Finds the rules: every concrete subclass of Rule in a file of this folder."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from abc import ABCMeta
from functools import cache

from forklint import rules
from forklint.rules.base import Rule


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by code."""
    found = set()
    for info in pkgutil.iter_modules(rules.__path__):
        module = importlib.import_module(f"{rules.__name__}.{info.name}")
        for value in vars(module).values():
            own = isinstance(value, ABCMeta) and issubclass(value, Rule) and value.__module__ == module.__name__
            if own and not inspect.isabstract(value):
                found.add(value)
    return tuple(sorted(found, key=lambda rule: rule.code))


@cache
def codes() -> dict[str, tuple[str, bool]]:
    """Map each code to its rule's name and whether the rule is preview."""
    return {rule.code: (rule.name, rule.preview) for rule in all_rules()}


@cache
def names() -> dict[str, str]:
    """Map each code to its rule's name."""
    return {rule.code: rule.name for rule in all_rules()}


def find(word: str) -> type[Rule] | None:
    """The rule of this code or name, if there is one."""
    return next((rule for rule in all_rules() if word.upper() == rule.code or word.lower() == rule.name), None)
