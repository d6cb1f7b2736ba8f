"""Comes to a place by itself, where no program leads there: the class is built, the function called, as made up.

``reach`` of the order's spec: ``file``, ``qualname`` (of the function or class around the place, by its definitions;
empty for the module), ``makes_loader`` (whether what is built is a dataset, to be put into a loader).
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from typing import Any, List, Mapping

from forklint_harness.__main__ import module_at
from forklint_harness.tolerance import arguments, loading
from forklint_harness.tolerance.consuming import consume

SAMPLES = 4
RELATIVE = re.compile(r"^\s*from\s+(\.+)", re.MULTILINE)


def reach(spec: Mapping[str, Any]) -> None:
    """Import the module under the name that its packages give it, and call what leads to the place."""
    module = _module(spec["file"])
    found = _made(module, [part for part in spec["qualname"].split(".") if part and part != "<locals>"])
    if spec.get("makes_loader"):
        from torch.utils.data import DataLoader

        DataLoader(found, batch_size=SAMPLES, collate_fn=list)
    else:
        consume("fit", (), [found])  # who calls a function that returns a loader iterates it


def _module(file: str) -> Any:
    """The module; one that imports by dots though its folder is marked as no package is of the folders above it."""
    folder, name = os.path.split(os.path.abspath(file))
    dots = [len(found) for found in RELATIVE.findall(loading.text_of(file))]
    if not dots or os.path.exists(os.path.join(folder, "__init__.py")):
        return module_at(file)
    parts = [os.path.splitext(name)[0]]
    for _ in range(max(dots)):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(".".join(parts))


def _made(owner: Any, path: List[str]) -> Any:
    """What comes of the definitions on the way: a class is built, a function called, and what is in it looked at."""
    made = owner
    for name in path:
        holder = made
        made = getattr(holder, name, None)
        if made is None:  # a local definition: what its function gave is all there is
            return _called(holder) if inspect.isclass(holder) else holder
        if inspect.isclass(made):
            made = made if name != path[-1] and _has_static(made, path) else _called(made)
        elif callable(made):
            made = _called(made)
    return made


def _has_static(kind: Any, path: List[str]) -> bool:
    """Whether the next step is a class of this class, or needs no object of it."""
    after = vars(kind).get(path[path.index(kind.__name__) + 1]) if kind.__name__ in path[:-1] else None
    return inspect.isclass(after) or isinstance(after, (staticmethod, classmethod))


def _called(function: Any) -> Any:
    return function(**arguments.for_call(function))
