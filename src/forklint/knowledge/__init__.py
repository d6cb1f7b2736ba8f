"""What is known of the world, as tables: one loader, one typed reader for each table."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@cache
def table(name: str) -> Any:
    """Read ``knowledge/<name>``, a TOML or JSON file, once."""
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else tomllib.loads(text)


REQUIRED_KEYS: dict[str, dict[str, type]] = {
    "handles": {"call": list, "kind": str},
    "env_vars": {"name": str, "modules": list},
    "starters": {"call": list},
}
"""What a row that a project adds must have at least."""


def check_row(kind: str, row: Mapping[str, Any]) -> None:
    """Raise ValueError if a row that a project adds to a table lacks a key or has one of the wrong type."""
    for key, wanted in REQUIRED_KEYS[kind].items():
        if key not in row:
            raise ValueError(f"a row needs '{key}'")
        if not isinstance(row[key], wanted):
            raise ValueError(f"'{key}' must be a {'list' if wanted is list else 'string'}")
