"""Calls back when a module has been imported, without importing it: the program's order of imports stays its own."""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, List, Set

Callback = Callable[[ModuleType], None]
_waiting: Dict[str, List[Callback]] = {}
_uncollected: Set[str] = set()


def after_import(name: str, callback: Callback) -> None:
    """Call ``callback(module)`` once, as soon as the module has run: now, if it has already."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        callback(module)
        return
    _waiting.setdefault(name, []).append(callback)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def without_collecting(name: str) -> None:
    """Import this module with the garbage collector off: torch makes so many objects that this saves a seventh.

    The program's own code runs with the collector as the program has set it.
    """
    _uncollected.add(name)
    after_import(name, lambda _: None)


@contextmanager
def _collector_off() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Finder:
    """Stands first on the meta path, finds nothing itself, and marks what the other finders find."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Ask the finders behind this one for a module that is waited for; let all others pass."""
        if name not in _waiting:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if isinstance(finder, _Finder) or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                _mark(spec)
                return spec
        return None


def _mark(spec: Any) -> None:
    """Let the loader tell when it has run the module; it stays an object of its own class."""
    loader, name = spec.loader, spec.name
    run = getattr(loader, "exec_module", None)
    if run is None or name not in _waiting:
        return

    def exec_module(module: ModuleType) -> None:
        with _collector_off() if name in _uncollected else nullcontext():
            run(module)
        if module.__name__ == name:
            if getattr(loader, "exec_module", None) is exec_module:
                del loader.exec_module
            for callback in _waiting.pop(name, []):
                callback(module)

    try:
        loader.exec_module = exec_module
    except (AttributeError, TypeError):  # a loader that takes no attributes: the module is left alone
        return
