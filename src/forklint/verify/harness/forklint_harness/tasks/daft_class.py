"""For FKL602: which processes build a Daft class.

As a hook it counts them in the user's program. Run as a program it makes a small class with such options, and runs it.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
from typing import Any, Callable, Dict, List

from forklint_harness import journal
from forklint_harness.imports import after_import

ROWS = 2000


def install(order: Dict[str, Any]) -> None:
    """Wait for Daft, here and in the processes that it starts, and put a watch on the class."""
    spec = order["spec"]
    if "file" in spec:
        after_import("daft", lambda module: _watch(module, spec))


def _watch(daft: Any, spec: Dict[str, Any]) -> None:
    name = spec["decorator"].rpartition(".")[2]
    plain = getattr(daft, name)
    wanted = spec["class"].rpartition(".")[2]

    @functools.wraps(plain)
    def decorator(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], type):
            return plain(_counted(args[0], wanted), *args[1:], **kwargs)
        inner = plain(*args, **kwargs)
        return lambda target: inner(_counted(target, wanted)) if isinstance(target, type) else inner(target)

    for method in ("batch",):  # daft.func.batch and the like hang on their decorators
        if hasattr(plain, method):
            setattr(decorator, method, getattr(plain, method))
    setattr(daft, name, decorator)


def _counted(target: Any, wanted: str) -> Any:
    """The class, whose objects tell in which process they are made."""
    if target.__name__ != wanted:
        return target
    target.__init__ = _telling(target.__init__)
    return target


def _telling(plain: Callable[..., None]) -> Callable[..., None]:
    """The constructor with a word in the journal; it is sent to other processes with the class, so it imports there."""

    @functools.wraps(plain)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        from forklint_harness import journal as mine

        mine.record("built", main=mine.is_main())
        plain(self, *args, **kwargs)

    return __init__


def run(spec: Dict[str, Any]) -> None:
    """Run a small class with those options over a column, and see who built it."""
    try:
        daft: Any = importlib.import_module("daft")
    except ImportError as error:
        journal.record("not-imported", error="{}: {}".format(type(error).__name__, error))
        return
    if spec["decorator"] == "daft.udf":
        made = daft.udf(return_dtype=daft.DataType.string(), **spec["options"])(_Pids)
    else:
        made = daft.cls(**spec["options"])(_Pid)()
    for text in sorted(set(_column(daft, made))):
        journal.record("built", main=text.startswith("{}:".format(os.getpid())))


def _column(daft: Any, function: Any) -> List[Any]:
    frame = daft.from_pydict({"row": list(range(ROWS))})
    return list(frame.with_column("built", function(daft.col("row"))).to_pydict()["built"])


class _Pid:
    """Gives the process that it runs in, and its own identity."""

    def __call__(self, row: int) -> str:
        return "{}:{}".format(os.getpid(), id(self))


class _Pids:
    """The same for a batch of rows; ``daft.udf`` wants a constructor."""

    def __init__(self) -> None:
        self.name = "{}:{}".format(os.getpid(), id(self))

    def __call__(self, rows: Any) -> List[str]:
        return [self.name] * len(rows)


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
