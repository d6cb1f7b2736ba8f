"""What the client sets: on top of what the project's own files say, as options of the command are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forklint import config


def of_environment() -> dict[str, Any]:
    """What variables of the environment set, as for the command."""
    folder = os.environ.get("FORKLINT_CACHE_DIR")
    return {"cache_dir": folder} if folder else {}


@dataclass(frozen=True)
class ClientSettings:
    """The settings of the section ``forklint`` of an editor."""

    overrides: Mapping[str, Any] = field(default_factory=of_environment)
    """What comes on top of the settings of each project."""
    configuration: Path | None = None
    """The one file of settings that is read in place of the projects' own."""
    interpreter: str = ""
    """The project's Python, which has torch, for verifying; that of the server if there is none."""
    code_lens: bool = True
    """Whether "Verify this finding" stands above each finding that can be verified."""
    delay: float = 0.005
    """Seconds to wait after a key press, in case another one follows."""
    is_trusted: bool = True
    """Whether code of the workspace may be run."""


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("must be a list of texts")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _milliseconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 10_000:
        raise ValueError("must be a number of milliseconds, at most 10000")
    return value / 1000


OVERRIDES: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "select": ("select", lambda value: config.selectors(_texts(value))),
    "ignore": ("ignore", lambda value: config.selectors(_texts(value))),
    "extendSelect": ("extend_select", lambda value: config.selectors(_texts(value))),
    "extendIgnore": ("extend_ignore", lambda value: config.selectors(_texts(value))),
    "platforms": ("platforms", lambda value: config.platforms(_texts(value))),
    "targetPython": ("target_python", lambda value: config.python_range(_text(value))),
    "preview": ("preview", _flag),
}
"""Settings that a project may have as well: the field and how a value is read."""
OWN: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "configuration": ("configuration", lambda value: Path(_text(value)).expanduser()),
    "interpreter": ("interpreter", _text),
    "codeLens": ("code_lens", _flag),
    "delay": ("delay", _milliseconds),
}
"""Settings of the server alone."""


def read(data: Any, *, is_trusted: bool = True) -> tuple[ClientSettings, list[str]]:
    """Read what a client sent; gives the settings and, for each value that is wrong, a line that says so.

    Empty and missing values stand for what the project says.
    """
    own, overrides, problems = dict[str, Any](), of_environment(), list[str]()
    for key, value in (data if isinstance(data, Mapping) else {}).items():
        known = OVERRIDES.get(key) or OWN.get(key)
        if known is None or value is None or value in ("", []):
            continue
        name, reader = known
        try:
            (overrides if key in OVERRIDES else own)[name] = reader(value)
        except ValueError as error:
            problems.append(f"forklint.{key}: {error}")
    if overrides.get("preview") is False:  # an editor sends the defaults of its settings, too
        del overrides["preview"]
    return ClientSettings(overrides=overrides, is_trusted=is_trusted, **own), problems
