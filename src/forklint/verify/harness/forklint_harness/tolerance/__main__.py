"""Runs a program of the project as ``__main__``, in its tolerant form: ``SCRIPT ARGUMENTS`` or ``-m MODULE ARGUMENTS``.

With ``--reach`` it comes by itself to the place that the order names.

Children that are spawned import it again by the same path or name.
"""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import sys
from types import ModuleType
from typing import Any, List

from forklint_harness import journal
from forklint_harness.frames import raised_at
from forklint_harness.tolerance import reaching


def main(arguments: List[str]) -> None:
    """Run the program, as Python itself would."""
    if arguments[0] == "--reach":
        place = order()["spec"]["reach"]
        sys.argv[:] = [place["file"]]  # a function that parses the command line finds an empty one
        reaching.reach(place)
        return
    if arguments[0] == "-m":
        sys.argv[:] = arguments[1:]
        sys.path.insert(0, os.getcwd())
        _run_module(arguments[1])
        return
    script = os.path.abspath(arguments[0])
    sys.argv[:] = arguments
    sys.path.insert(0, os.path.dirname(script))
    code = _project_code(script)
    module = ModuleType("__main__")
    module.__dict__.update(__file__=script, __spec__=None, __package__=None, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102 - the program itself, which the user asked to be run


def order() -> Any:
    """What this trial is to do."""
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        return json.load(file)


def _run_module(name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(name + ".__main__")
    if spec is None or spec.loader is None or spec.origin is None:
        raise ModuleNotFoundError("No module named {!r}".format(name), name=name)
    sys.argv[0] = spec.origin
    loader: Any = spec.loader
    code = loader.get_code(spec.name)
    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=spec.origin, __spec__=spec, __package__=spec.parent, __loader__=loader, __builtins__=__builtins__
    )
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102 - the program itself, which the user asked to be run


def _project_code(script: str) -> Any:
    from forklint_harness.tolerance import loading

    for finder in sys.meta_path:
        if isinstance(finder, loading.Finder):
            return finder.project.code_of(script)
    return runpy._get_code_from_file("__main__", script)[0]  # type: ignore[attr-defined]


def _tell(error: BaseException) -> None:
    """Write down with which error the program ended, and where: what it prints of it may be long."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    journal.record("program-raised", type=type(error).__name__, text=text[:300], frame=raised_at(error.__traceback__))


if __name__ == "__main__":
    kept = sys.modules["__main__"]  # its functions still run when the program's own module has taken its place
    try:
        main(sys.argv[1:])
    except BaseException as raised:
        _tell(raised)
        raise
