"""Typed reader of loading.toml: how the settings of a loader reach it."""

from __future__ import annotations

from functools import cache

from forklint import knowledge


@cache
def names(section: str, key: str) -> frozenset[str]:
    """Give one list of the table; its file explains each."""
    return frozenset(knowledge.table("loading.toml")[section][key])
