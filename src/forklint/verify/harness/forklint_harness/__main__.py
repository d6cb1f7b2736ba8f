"""Makes and iterates loaders where no script does: ``class FILE QUALNAME``, ``made QUALNAME`` or ``factories JSON``.

``made`` is a class whose arguments and data are made up: the order says what is known of them (see ``stores``).

The JSON is a list of objects with ``call`` (``package.module:name``) and ``arguments``.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
from functools import reduce
from typing import Any, Callable, Iterator, List, Mapping, Tuple

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


def makers(arguments: List[str]) -> Iterator[Tuple[str, Callable[[], List[Any]]]]:
    """What gives the loaders that are to be iterated, each with its name: factories, or the class by its defaults."""
    kind, *rest = arguments
    if kind == "class":
        yield rest[1], functools.partial(_of_class, *rest)
        return
    if kind == "made":
        from forklint_harness.stores.trial import loaders

        yield rest[0], loaders
        return
    for factory in json.loads(rest[0]):
        yield factory["call"], functools.partial(_of_factory, factory)


def _of_class(file: str, qualname: str) -> List[Any]:
    from torch.utils.data import DataLoader

    dataset: Any = reduce(getattr, qualname.split("."), module_at(file))
    return [DataLoader(dataset(), batch_size=4, collate_fn=list)]


def _of_factory(factory: Mapping[str, Any]) -> List[Any]:
    from torch.utils.data import DataLoader, Dataset

    module, _, name = factory["call"].partition(":")
    make: Any = reduce(getattr, name.split("."), importlib.import_module(module))
    made = make(**factory.get("arguments", {}))
    found = list(made.values()) if isinstance(made, dict) else made if isinstance(made, (list, tuple)) else [made]
    return [
        DataLoader(one, batch_size=4, collate_fn=list)
        if isinstance(one, Dataset) or (hasattr(one, "__getitem__") and not hasattr(one, "dataset"))
        else one
        for one in found
    ]


def main(arguments: List[str]) -> None:
    """Make the loaders and iterate them: the task's hook takes over at the one that is meant.

    What cannot be made is told of, and the rest is tried: another factory may give the loader that is meant.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    failed = None
    for name, make in makers(arguments):
        try:
            loaders = make()
        except Exception as error:
            frame = raised_at(error.__traceback__)
            journal.record("cannot-build", name=name, type=type(error).__name__, text=str(error), frame=frame)
            failed = failed or error
            continue
        for loader in loaders:
            for _ in loader:
                break
    if failed is not None:
        raise failed


if __name__ == "__main__":
    main(sys.argv[1:])
