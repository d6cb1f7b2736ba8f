"""Loaded by every Python process of a trial as it starts: hands on to the machine's own sitecustomize, then begins."""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

HERE = os.path.dirname(os.path.abspath(__file__))


def run_the_next() -> None:
    """Run the sitecustomize that this one hides, if there is one, under its own name."""
    others = [path for path in sys.path if os.path.abspath(path or ".") != HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    mine = sys.modules.get("sitecustomize")
    sys.modules["sitecustomize"] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        sys.stderr.write("sitecustomize: {}: {}\n".format(type(error).__name__, error))
        if mine is not None:
            sys.modules["sitecustomize"] = mine


run_the_next()
if os.environ.get("FORKLINT_TRIAL"):
    import forklint_harness.start  # noqa: F401
