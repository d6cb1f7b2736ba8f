"""For FKL501: whether the imported class, or an object of it, has the name; run as a program."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, Dict

from forklint_harness import journal
from forklint_harness.frames import raised_at


def install(order: Dict[str, Any]) -> None:
    """Set no hooks: this task is the program itself."""


def run(spec: Dict[str, Any]) -> None:
    """Import the class, look, and write down what there is; the error of an import is written down too."""
    name = spec["name"]
    try:
        owner = _owner(spec)
    except BaseException as error:  # SystemExit of a script that wants arguments included
        journal.record("not-imported", error=f"{type(error).__name__}: {error}", place=raised_at(error.__traceback__))
        return
    if not isinstance(owner, type):
        journal.record("looked", found=hasattr(owner, name), on="module", error=_error(owner, name))
        return
    if hasattr(owner, name):
        journal.record("looked", found=True, on="class", error="")
        return
    bare = _bare(owner)
    journal.record(
        "looked", found=hasattr(owner, name), on="object", error=_error(bare, name), supplier=_supplier(owner)
    )


def _bare(owner: type) -> Any:
    """An object that no ``__init__`` has set up; the class itself where Python makes none.

    What ``__init__`` sets was read by the rule; this shows what the class supplies.
    """
    try:
        return object.__new__(owner)
    except TypeError:
        pass
    try:
        concrete: Any = type(owner.__name__, (owner,), {})
        concrete.__abstractmethods__ = frozenset()
        return object.__new__(concrete)
    except Exception:  # a class of C, or one that wants no subclass
        return owner


def _owner(spec: Dict[str, Any]) -> Any:
    """The class or module that the finding speaks of."""
    if "torch" in spec:
        return _torch(spec["torch"])
    for folder in reversed(spec["search"]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    found: Any = importlib.import_module(spec["module"])
    for part in spec["qualname"].split("."):
        found = getattr(found, part)
    return found


def _torch(path: str) -> Any:
    """A module or class of torch by its dotted path."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ImportError(path)


def _error(thing: Any, name: str) -> str:
    """What reading the name raises; empty if it raises nothing."""
    try:
        getattr(thing, name)
    except Exception as error:  # a __getattr__ of the project's may raise anything
        return f"{type(error).__name__}: {error}"
    return ""


def _supplier(owner: type) -> str:
    """The class whose __getattr__ or __getattribute__ is the project's own and may supply the name; empty if none."""
    for base in owner.__mro__:
        own = {"__getattr__", "__getattribute__"} & set(vars(base))
        if own and base is not object and not base.__module__.startswith(("torch.", "lightning", "pytorch_lightning")):
            return base.__qualname__
    return ""


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
