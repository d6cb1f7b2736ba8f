"""FKL201: does a child that is started by this method get as far as its work, or does it start processes itself?"""

from __future__ import annotations

import multiprocessing.context
import multiprocessing.process
import multiprocessing.spawn
from typing import Any

from forklint_harness import ending, frames, journal


def install(order: Any) -> None:
    """Make the cell's start method the default one, as another platform would, and watch children begin."""
    method = order.factors.get("start_method")
    if method:
        default = multiprocessing.context._default_context
        default._default_context = multiprocessing.context._concrete_contexts[method]  # type: ignore[attr-defined]
    _watch_work(order)
    _watch_imports(order)


def _watch_work(order: Any) -> None:
    """A child that comes to its own work has the program imported without starting processes."""
    bootstrap = multiprocessing.process.BaseProcess._bootstrap  # type: ignore[attr-defined]

    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        journal.record("child-works", name=self.name, target=type(self).__name__)
        ending.end(order.journal)
        return bootstrap(self, *args, **kwargs)

    multiprocessing.process.BaseProcess._bootstrap = _bootstrap  # type: ignore[attr-defined]


def _watch_imports(order: Any) -> None:
    """A child that starts a process while it imports the program is refused by multiprocessing; see where."""
    check = multiprocessing.spawn._check_not_importing_main  # type: ignore[attr-defined]

    def _check_not_importing_main() -> None:
        try:
            check()
        except RuntimeError as error:
            place = frames.of_project(order.root)
            words = " ".join(str(error).split())
            journal.record("starts-while-importing", error=words, **place)
            ending.end(order.journal)
            raise

    multiprocessing.spawn._check_not_importing_main = _check_not_importing_main  # type: ignore[attr-defined]
