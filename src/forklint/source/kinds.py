"""What kinds of files there are, told by their names."""

from __future__ import annotations

from enum import Enum
from pathlib import Path


class Kind(Enum):
    """What a file is read as."""

    PYTHON = "python"
    NOTEBOOK = "notebook"
    PRESET = "preset"
    """Settings in YAML, TOML or JSON."""
    FOREIGN = "foreign"
    """Written in one of these languages, and never settings of a training: lock files, maps, other tools' settings."""


SUFFIXES = {
    ".py": Kind.PYTHON,
    ".pyi": Kind.PYTHON,
    ".pyw": Kind.PYTHON,
    ".ipynb": Kind.NOTEBOOK,
    ".yaml": Kind.PRESET,
    ".yml": Kind.PRESET,
    ".toml": Kind.PRESET,
    ".json": Kind.PRESET,
}
PYTHON_SUFFIXES = tuple(suffix for suffix, kind in SUFFIXES.items() if kind is Kind.PYTHON)
PRESET_SUFFIXES = tuple(suffix for suffix, kind in SUFFIXES.items() if kind is Kind.PRESET)
LINTED_SUFFIXES = tuple(SUFFIXES)
"""Files that are linted wherever they are found."""
FOREIGN_SUFFIXES = frozenset(
    (
        *(".lock", ".geojson", ".topojson", ".jsonld", ".yamlld", ".ejson", ".eyaml", ".json5", ".jsonc", ".jsonl"),
        *(".cff", ".piskel", ".xctestplan", ".webmanifest"),
    )
)
"""pre-commit hands such files to hooks for YAML, TOML and JSON, as it does ``Pipfile`` and ``.clang-format``."""


def kind_of(path: Path) -> Kind:
    """The kind of a file; one with another suffix, or none, was named outright and is Python."""
    suffix = path.suffix.lower()
    if suffix in FOREIGN_SUFFIXES or path.name == "Pipfile" or (path.name.startswith(".") and not suffix):
        return Kind.FOREIGN
    return SUFFIXES.get(suffix, Kind.PYTHON)
