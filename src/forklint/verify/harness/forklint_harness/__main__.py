"""Makes and iterates loaders where no script does: ``class FILE QUALNAME``, or ``factories JSON``.

The JSON is a list of objects with ``call`` (``package.module:name``) and ``arguments``.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from functools import reduce
from typing import Any, Iterator, List

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


def loaders_of(arguments: List[str]) -> Iterator[Any]:
    """What is to be iterated: what factories give, or a loader of the class built with its defaults."""
    from torch.utils.data import DataLoader, Dataset

    kind, *rest = arguments
    if kind == "class":
        dataset: Any = reduce(getattr, rest[1].split("."), module_at(rest[0]))
        yield DataLoader(dataset(), batch_size=4, collate_fn=list)
        return
    for factory in json.loads(rest[0]):
        module, _, name = factory["call"].partition(":")
        make: Any = reduce(getattr, name.split("."), importlib.import_module(module))
        made = make(**factory.get("arguments", {}))
        found = list(made.values()) if isinstance(made, dict) else made if isinstance(made, (list, tuple)) else [made]
        for one in found:
            is_dataset = isinstance(one, Dataset) or (hasattr(one, "__getitem__") and not hasattr(one, "dataset"))
            yield DataLoader(one, batch_size=4, collate_fn=list) if is_dataset else one


def main(arguments: List[str]) -> None:
    """Make the loaders and iterate them: the task's hook takes over at the one that is meant."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    loaders = loaders_of(arguments)
    while True:
        try:
            loader = next(loaders, None)
        except Exception as error:
            frame = raised_at(error.__traceback__)
            journal.record("cannot-build", type=type(error).__name__, text=str(error), frame=frame)
            raise
        if loader is None:
            return
        for _ in loader:
            break


if __name__ == "__main__":
    main(sys.argv[1:])
