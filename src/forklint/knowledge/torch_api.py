"""The names of torch's and lightning's modules and classes, from torch_api.json, and those of Python's own classes.

The file is written by scripts/make_torch_api.py, which says where each name was read; python_api.json by
scripts/make_python_api.py. They are opened at the first question, so that a run that asks none pays nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from functools import cache
from typing import Any

from forklint.knowledge import table
from forklint.knowledge.removed import Gone, removed_from
from forklint.records import dataclass

PLAIN = {
    "abc.ABC": frozenset({"register"}),
    "typing.Generic": frozenset(dir(object)),
    "typing_extensions.Generic": frozenset(dir(object)),
}
"""Bases outside torch and the builtins that give an object nothing, or next to nothing."""
RETURN_SELF = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "share_memory"}
)
"""Methods of ``torch.nn.Module`` that give the module itself."""
BUILTINS = frozenset({"object", "dict", "list", "set", "tuple", "str", "int", "float", "bytes"})
"""Builtin classes whose objects have what the class has, and no more."""
MANAGING = frozenset({"__enter__", "__exit__", "__aenter__", "__aexit__", "__missing__", "__copy__", "__deepcopy__"})
"""Special methods that classes of Python's library have and no builtin class has."""


@dataclass(frozen=True)
class ApiNames:
    """The names of one module or class."""

    path: str
    offered: frozenset[str]
    """Those that the torch of today has."""
    every: frozenset[str]
    """Those that some version has, but for those that are known to be removed: never called missing."""
    bases: tuple[str, ...] = ()


@cache
def torch_module(path: str) -> ApiNames | None:
    """The names of module ``path`` ("torch.nn"); None where they are not known for sure."""
    found = table("torch_api.json")["modules"].get(path)
    return _names(path, found) if found else None


@cache
def torch_class(path: str) -> ApiNames | None:
    """The names of class ``path`` ("torch.nn.Conv2d"), its bases' included; None where they are not known."""
    api = table("torch_api.json")
    for part in (api, api["lightning"]):
        key = part["aliases"].get(path, path)
        if key in part["classes"]:
            return _inherited(_names(key, part["classes"][key])) if "open" not in part["classes"][key] else None
    return None


def _inherited(own: ApiNames) -> ApiNames | None:
    offered, every = own.offered, own.every
    for base in own.bases:
        names = torch_class(base)
        if names is None:
            return None
        offered, every = offered | names.offered, every | names.every
    return ApiNames(own.path, offered, every | _special(), own.bases)


def _names(path: str, found: Mapping[str, Any]) -> ApiNames:
    names = frozenset(found["names"])
    every = names.union(found.get("other", ())).difference(removed_from(path))
    return ApiNames(path, names, every, tuple(found.get("bases", ())))


def gone_from(path: str, name: str) -> Gone | None:
    """Since when a module of torch, or a class by itself or one of its bases, lacks a name that it once had."""
    gone = removed_from(path).get(name)
    names = torch_class(path) if gone is None else None
    for base in names.bases if names is not None else ():
        gone = gone or gone_from(base, name)
    return gone


@cache
def class_names(path: str) -> ApiNames | None:
    """The names that a base outside the project gives: torch's, lightning's, or one of Python's own."""
    if path in PLAIN:
        return ApiNames(path, frozenset(), PLAIN[path] | frozenset(dir(object)))
    package, _, name = path.rpartition(".")
    if package == "builtins":
        found = getattr(builtins, name, None)
        if isinstance(found, type) and (name in BUILTINS or issubclass(found, BaseException)):
            names = frozenset(dir(found))
            return ApiNames(path, names - frozenset(dir(object)), names)
    return torch_class(path) or _by_hand(path) or _python_class(path)


def _by_hand(path: str) -> ApiNames | None:
    row = next((one for one in table("base_classes.toml")["base"] if path in one["paths"]), None)
    if row is None:
        return None
    above = [one for one in map(class_names, row.get("derives", ())) if one is not None]
    names = frozenset[str](row["names"]).union(*(one.every for one in above))
    offered = frozenset[str](row.get("offered", ())).union(*(one.offered for one in above))
    return ApiNames(path, offered, names | frozenset(dir(object)))


def _python_class(path: str) -> ApiNames | None:
    api = table("python_api.json")
    key = api["aliases"].get(path, path)
    if key != path and key.startswith("builtins."):
        return class_names(key)
    names = frozenset(api["classes"].get(key, ()))
    return ApiNames(path, names, names | _special()) if names else None


@cache
def _special() -> frozenset[str]:
    """The special methods that classes of Python have, one or the other: no table lists those of a class."""
    kinds = [one for one in vars(builtins).values() if isinstance(one, type)]
    return MANAGING.union(name for kind in kinds for name in dir(kind) if name.startswith("__"))
