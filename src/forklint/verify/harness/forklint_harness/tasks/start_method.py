"""For FKL202: what each call of set_start_method does in the program, and what the fork server's workers hold.

Run as a program it imports a module after it has set a start method of its own.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import multiprocessing.context
import multiprocessing.process
import os
import sys
from typing import Any, Dict

from forklint_harness import ending, journal
from forklint_harness.frames import caller, raised_at

OWN = "spawn"
"""What the program that imports a module has set."""


def install(order: Dict[str, Any]) -> None:
    """Watch the setter; for a variable, watch where it is set and what later workers hold."""
    spec = order["spec"]
    if "file" not in spec:
        return
    places = {"{}:{}".format(spec["file"], row) for row in range(spec["rows"][0], spec["rows"][1] + 1)}
    if spec["kind"] == "environment":
        _watch_variable(order, places)
    elif journal.is_main():
        _watch_setter(order, places)


def _watch_setter(order: Dict[str, Any], places: Any) -> None:
    default: Any = multiprocessing.context.DefaultContext
    plain = default.set_start_method

    def set_start_method(self: Any, *args: Any, **kwargs: Any) -> None:
        place = caller()
        try:
            plain(self, *args, **kwargs)
        except BaseException as error:
            if place in places:
                journal.record("set", place=place, error="{}: {}".format(type(error).__name__, error))
                ending.end(order["journal"])
            raise
        if place in places:
            journal.record("set", place=place, error="")
            ending.end(order["journal"])

    default.set_start_method = set_start_method
    setter: Any = multiprocessing
    setter.set_start_method = multiprocessing.context._default_context.set_start_method


def _watch_variable(order: Dict[str, Any], places: Any) -> None:
    """A fork server has this too: its children inherit the watch on their beginning."""
    name = order["spec"]["method"]
    environ: Any = type(os.environ)
    plain = environ.__setitem__

    def __setitem__(self: Any, key: Any, given: Any) -> None:
        plain(self, key, given)
        place = caller() if self is os.environ and key == name and journal.is_main() else ""
        if place in places:
            journal.record("variable", place=place, value=str(given))

    environ.__setitem__ = __setitem__
    process: Any = multiprocessing.process.BaseProcess
    bootstrap = process._bootstrap

    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        journal.record("child", value=os.environ.get(name))
        return bootstrap(self, *args, **kwargs)

    process._bootstrap = _bootstrap


def run(spec: Dict[str, Any]) -> None:
    """Set a start method, import the module, and see what is left of it."""
    for folder in reversed(spec["search"]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    own = next(method for method in (OWN, "forkserver", "fork") if method != spec["method"])
    multiprocessing.set_start_method(own)
    try:
        importlib.import_module(spec["module"])
    except BaseException as error:  # SystemExit of a script that wants arguments included
        text = "{}: {}".format(type(error).__name__, error)
        journal.record("imported", own=own, error=text, place=raised_at(error.__traceback__), left=own)
        return
    journal.record("imported", own=own, error="", place="", left=multiprocessing.get_start_method())


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
