"""One file for each kind of store: what opens it, what learns of it, what makes it.

Each has ``HOOKS``, qualified names with their answers, and ``MAKERS``, kinds with what makes a store of it.
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
