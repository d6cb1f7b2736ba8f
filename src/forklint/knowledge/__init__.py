"""Facts about libraries, as tables: one loader, and one typed reader for each table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forklint.knowledge.tables import read_toml, table

__all__ = ["KNOWN_KEYS", "REQUIRED_KEYS", "check_row", "read_toml", "table"]

REQUIRED_KEYS: dict[str, dict[str, type]] = {
    "handles": {"call": list, "kind": str},
    "env_vars": {"name": str, "modules": list},
    "starters": {"call": list},
}
"""What a row that a project adds must have at least."""

KNOWN_KEYS: dict[str, frozenset[str]] = {
    "handles": frozenset(
        [
            "call",
            "kind",
            "module",
            "fork",
            "fork_effect",
            "spawn",
            "spawn_effect",
            "close",
            "in_child",
            "derived",
            "suffix",
            "shown_by",
            "names",
            "keywords",
            "harmless",
            "position",
            "releases",
            "reads",
            "with_closes",
            "write_modes",
            "when",
            "source",
        ]
    ),
    "env_vars": frozenset(["name", "modules", "severity", "effect", "source"]),
    "starters": frozenset(
        [
            "handed_to",
            "chained",
            "least",
            "call",
            "how",
            "methods",
            "workers",
            "workers_position",
            "workers_default",
            "workers_when_made",
            "context",
            "context_position",
            "start_method",
            "known_as",
            "threads",
            "threads_position",
            "positions",
            "keywords",
            "others",
            "passes_on",
            "prefix",
            "keeps",
            "off",
            "platforms",
            "built_by",
            "platforms",
            "off",
            "source",
        ]
    ),
}
"""The keys that a row may have; a test compares them with what the readers use."""


def check_row(kind: str, row: Mapping[str, Any]) -> None:
    """Raise ValueError if a row that a project adds to a table has an unknown, missing or invalid key."""
    for key in row:
        if key not in KNOWN_KEYS[kind]:
            raise ValueError(f"unknown key '{key}' in a row; choose from {', '.join(sorted(KNOWN_KEYS[kind]))}")
    for key, wanted in REQUIRED_KEYS[kind].items():
        if key not in row:
            raise ValueError(f"the key '{key}' is missing in a row")
        if not isinstance(row[key], wanted):
            raise ValueError(f"'{key}': expected a {'list' if wanted is list else 'string'}")
        for name in row[key] if wanted is list else ():
            if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
                raise ValueError(f"'{key}': {name!r} is not a qualified name; write package.module.name")
