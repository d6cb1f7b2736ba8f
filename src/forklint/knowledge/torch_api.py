"""The names of torch's and lightning's modules and classes, from torch_api.json.

The file is written by scripts/make_torch_api.py, which says where each name was
read. It is opened at the first question, so that a run that asks none pays nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ApiNames:
    """The names of one module or class: those offered, and all that some version has."""

    path: str
    names: frozenset[str]
    every: frozenset[str]
    bases: tuple[str, ...] = ()


def torch_module(path: str) -> ApiNames | None:
    """The names of module `path` ("torch.nn"); None where they are not known for sure."""
    found = _api()["modules"].get(path)
    return _names(path, found) if found else None


def torch_class(path: str) -> ApiNames | None:
    """The names of class `path` ("torch.nn.Conv2d") without its bases'; None if unknown."""
    api = _api()
    for part in (api, api["lightning"]):
        key = part["aliases"].get(path, path)
        found = part["classes"].get(key)
        if found:
            return None if "open" in found else _names(key, found)
    return None


def _names(path: str, found: dict[str, Any]) -> ApiNames:
    names = frozenset(found["names"])
    return ApiNames(path, names, names.union(found.get("other", ())), tuple(found.get("bases", ())))


@cache
def _api() -> dict[str, Any]:
    text = (Path(__file__).parent / "torch_api.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
