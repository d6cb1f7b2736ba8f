"""One module for each kind of store: how it is opened, how its content is learned, and how it is created.

Each has ``HOOKS``, replacements by qualified name, and ``MAKERS``, functions that create a store, by kind.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, Callable, Dict

from forklint_harness.stores.hooks import Answer
from forklint_harness.stores.node import Node


def hooks() -> Dict[str, Answer]:
    """What is answered, by qualified name, of all kinds."""
    from forklint_harness.stores import readers

    found: Dict[str, Answer] = dict(readers.HOOKS)
    for kind in _kinds():
        found.update(kind.HOOKS)
    return found


def makers() -> Dict[str, Callable[[str, Node], None]]:
    """What makes a store at a path, by kind."""
    found: Dict[str, Callable[[str, Node], None]] = {}
    for kind in _kinds():
        found.update(kind.MAKERS)
    return found


def _kinds() -> Any:
    for one in pkgutil.iter_modules(__path__):
        yield importlib.import_module("{}.{}".format(__name__, one.name))
