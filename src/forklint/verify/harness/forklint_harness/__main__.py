"""Makes and iterates a loader where no script does: ``class FILE QUALNAME`` or ``factory MODULE:NAME [JSON]``."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from functools import reduce
from typing import Any, List

from forklint_harness import journal
from forklint_harness.frames import raised_at


def module_at(file: str) -> Any:
    """Import a source file under the name that its packages give it, so that workers can import it, too."""
    path, name = os.path.split(os.path.abspath(file))
    parts = [os.path.splitext(name)[0]]
    while os.path.exists(os.path.join(path, "__init__.py")):
        path, package = os.path.split(path)
        parts.insert(0, package)
    if parts[-1] == "__init__":
        parts.pop()
    if path not in sys.path:
        sys.path.insert(0, path)
    return importlib.import_module(".".join(parts))


def loader_of(arguments: List[str]) -> Any:
    """What is to be iterated: what the factory gives, or a loader of the class built with its defaults."""
    from torch.utils.data import DataLoader

    kind, where, *rest = arguments
    if kind == "class":
        dataset = reduce(getattr, rest[0].split("."), module_at(where))()
        return DataLoader(dataset, batch_size=4, collate_fn=list)
    module, _, name = where.partition(":")
    made = reduce(getattr, name.split("."), importlib.import_module(module))(**json.loads(rest[0] if rest else "{}"))
    if not hasattr(made, "dataset") and hasattr(made, "__getitem__") and not isinstance(made, (list, tuple, dict)):
        return DataLoader(made, batch_size=4, collate_fn=list)
    return made


def main(arguments: List[str]) -> None:
    """Make the loader and iterate it: the task's hook takes it from there."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        made = loader_of(arguments)
    except Exception as error:
        frame = raised_at(error.__traceback__)
        journal.record("cannot-build", type=type(error).__name__, text=str(error), frame=frame)
        raise
    loaders = made.values() if isinstance(made, dict) else made if isinstance(made, (list, tuple)) else [made]
    for loader in loaders:
        if hasattr(loader, "dataset") and not inspect.isclass(loader):
            for _ in loader:
                break


if __name__ == "__main__":
    main(sys.argv[1:])
