"""For FKL203 and FKL205: whether a child comes to the end of its task, started by this method.

The task is one function of the program, named by its file, rows and name. Each of its runs in a child is noted when it
begins and when it ends, and the first that ends is enough. Where none does, the trial's time runs out, and the stacks
tell where the child stands.
"""

from __future__ import annotations

import multiprocessing.context
import multiprocessing.process
import os
import sys
import threading
from types import FrameType
from typing import Any, Dict, Optional

from forklint_harness import ending, journal


def install(order: Dict[str, Any]) -> None:
    """Start children as the cell says, whatever the program asks for, and watch them at their task."""
    start_by(order["factors"].get("start_method"))
    ending.watch(order["journal"])
    _hold(order["spec"].get("held", {}))
    _watch(order)


def start_by(method: Optional[str]) -> None:
    """Make a start method the default one, and the one that a program gets that asks for fork by name."""
    if method:
        contexts: Any = multiprocessing.context._concrete_contexts  # type: ignore[attr-defined]
        default: Any = multiprocessing.context._default_context
        default._default_context = contexts[method]
        contexts["fork"] = contexts[method]


def _hold(held: Dict[str, str]) -> None:
    """Keep variables of the environment at these values, whatever the program sets them to."""
    environ: Any = type(os.environ)
    plain = environ.__setitem__

    def __setitem__(self: Any, key: Any, given: Any) -> None:
        plain(self, key, held.get(key, given) if self is os.environ else given)

    if held:
        environ.__setitem__ = __setitem__
        os.environ.update(held)


def _watch(order: Dict[str, Any]) -> None:
    process: Any = multiprocessing.process.BaseProcess
    bootstrap, start = process._bootstrap, process.start

    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        journal.record("child", name=self.name)
        sys.settrace(_tracer(order))
        try:
            return bootstrap(self, *args, **kwargs)
        finally:
            sys.settrace(None)

    def start_noted(self: Any) -> Any:
        journal.record("starts", threads=_foreign_threads())
        return start(self)

    process._bootstrap, process.start = _bootstrap, start_noted


def _foreign_threads() -> int:
    """How many threads this process has that Python does not know; -1 where that cannot be seen."""
    try:
        return len(os.listdir("/proc/self/task")) - threading.active_count()
    except OSError:
        return -1


def _tracer(order: Dict[str, Any]) -> Any:
    """A function for ``sys.settrace`` that notes the task's beginning and end, and looks at nothing else."""
    spec = order["spec"]
    name, file, rows = spec["function"], os.path.realpath(spec["file"]), spec["rows"]
    raised = [""]

    def inside(_frame: FrameType, event: str, value: Any) -> Any:
        if event == "exception":
            raised[0] = "{}: {}".format(value[0].__name__, " ".join(str(value[1]).split())[:300])
        elif event == "line":
            raised[0] = ""  # it was caught
        elif event == "return":
            journal.record("task-ends", error=raised[0])
            ending.end(order["journal"])
        return inside

    def calls(frame: FrameType, _event: str, _value: Any) -> Optional[Any]:
        code = frame.f_code
        if code.co_name != name or not rows[0] <= code.co_firstlineno <= rows[1]:
            return None
        if os.path.realpath(code.co_filename) != file:
            return None
        journal.record("task-begins")
        return inside

    return calls
