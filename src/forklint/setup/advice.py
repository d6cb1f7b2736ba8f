"""Advice about settings of other linters that conflict with forklint. They are never changed."""

from __future__ import annotations

import configparser
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forklint.source.regular import read_regular

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CODES = "FKL"


def advice(folder: Path) -> Iterator[str]:
    """Yield one line for each linter whose settings conflict with forklint's."""
    for name in ("ruff.toml", ".ruff.toml", "pyproject.toml"):
        settings = _table(folder / name)
        if name == "pyproject.toml":
            tools = settings.get("tool")
            settings = tools.get("ruff", {}) if isinstance(tools, dict) else {}
        if isinstance(settings, dict) and settings:
            if not _external(settings):
                key = "tool.ruff.lint.external" if name == "pyproject.toml" else "lint.external"
                yield f'{name}: set {key} = ["{CODES}"], so that Ruff accepts comments such as `# noqa: {CODES}301`'
            break
    for name in (".flake8", "setup.cfg", "tox.ini"):
        chosen = _flake8_selection(folder / name)
        if chosen and not any(CODES.startswith(word[:3]) for word in chosen):
            yield f"{name}: add {CODES} to flake8's `select` to see forklint's findings in flake8"


def _table(path: Path) -> Any:
    try:
        return tomllib.loads(read_regular(path).decode())
    except (OSError, ValueError):  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        return {}


def _external(settings: dict[str, Any]) -> bool:
    lint = settings.get("lint")
    tables = (settings, lint if isinstance(lint, dict) else {})
    return any(str(code).startswith(CODES) for table in tables for code in _list(table.get("external")))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _flake8_selection(path: Path) -> list[str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
        return parser.get("flake8", "select", fallback="").replace(",", " ").split()
    except (configparser.Error, UnicodeDecodeError, OSError):
        return []
