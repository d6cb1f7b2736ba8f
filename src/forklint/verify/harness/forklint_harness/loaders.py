"""The program's own DataLoaders: which it makes, where, and which one a trial is about."""

from __future__ import annotations

import os
import sys
from itertools import islice
from types import ModuleType
from typing import Any, Callable, Iterator, List, Mapping, Optional, Tuple

from forklint_harness import ending, journal
from forklint_harness.bounds import Bounds
from forklint_harness.frames import caller
from forklint_harness.imports import after_import

MOST_OBJECTS = 2000
"""Objects looked at in search of one class below a dataset."""
FIRST_OF_MANY = 50
"""Elements looked at of a list or dict."""
DEEPEST = 6
LEAVES = (str, bytes, int, float, complex, bool, type(None), type, ModuleType)


class Watch:
    """Waits until the program iterates the loader that is meant, and hands it over instead of its batches."""

    def __init__(
        self,
        classes: Optional[List[Mapping[str, str]]],
        take: Callable[[Any], None],
        *,
        others: str = "one",
        is_import_in_question: bool = False,
    ) -> None:
        """Take the classes (``file``, ``qualname``), what to do with the loader, and what becomes of others.

        Without classes the first loader that is iterated is meant.

        The program gets ``one`` batch or ``all`` of them from a loader that it iterates before; where it gets one,
        it is ended as soon as it trains without having come to the loader that is meant. A child that iterates a
        loader while it imports the program is refused that, as it would train there: unless just that is in question.
        """
        self._classes = classes
        self._take = take
        self._bounds = Bounds() if others == "one" else None
        if self._bounds is not None:
            self._bounds.install()
        self._is_import_in_question = is_import_in_question
        self._made = 0
        self._done = False

    def begin(self) -> None:
        """Wait for torch to be imported."""
        after_import("torch.utils.data.dataloader", self.install)

    def install(self, module: ModuleType) -> None:
        """Set the hooks in ``torch.utils.data.dataloader``."""
        kind = module.DataLoader
        make, iterate = kind.__init__, kind.__iter__

        def __init__(loader: Any, *arguments: Any, **keywords: Any) -> None:
            make(loader, *arguments, **keywords)
            if journal.is_main() and not self._done:
                self._note(loader)

        def __iter__(loader: Any) -> Iterator[Any]:
            if self._done or journal.role() == "worker":
                return iterate(loader)  # type: ignore[no-any-return]
            if is_importing_main() and not self._is_import_in_question:
                journal.record("runs-while-importing", where=caller())
                raise RuntimeError("the program iterates a loader while a child process imports it")
            if self.is_meant(loader):
                self._found(loader)
                return iterate(loader)  # type: ignore[no-any-return]
            if self._bounds is None:
                return iterate(loader)  # type: ignore[no-any-return]
            if journal.is_main():
                self._bounds.pass_by(loader, name_of(type(loader.dataset)))
            return islice(iterate(loader), 1)

        __init__.__wrapped__ = make  # type: ignore[attr-defined]
        kind.__init__, kind.__iter__ = __init__, __iter__

    def _found(self, loader: Any) -> None:
        """Take the loader, if it is the program's own process that iterates it; else that is all there is to say."""
        if not journal.is_main():
            journal.record("in-another-process", where=caller())
            ending.end_unwatched()
        self._done = True
        self._take(loader)

    def is_meant(self, loader: Any) -> bool:
        """Whether workers of this loader get an object of one of the classes."""
        return self._classes is None or any(find(loader.dataset, one) for one in self._classes)

    def _note(self, loader: Any) -> None:
        self._made += 1
        if self._made <= 100:
            journal.record(
                "loader",
                where=caller(),
                dataset=name_of(type(loader.dataset)),
                workers=loader.num_workers,
                batch_size=loader.batch_size,
                is_meant=self.is_meant(loader),
            )


def is_importing_main() -> bool:
    """Whether this is a spawned child that runs the program's main module anew, under another name."""
    process = sys.modules.get("multiprocessing.process")
    is_beginning = process is not None and getattr(process.current_process(), "_inheriting", False)
    return is_beginning and sys.modules.get("__main__") is not sys.modules.get("__mp_main__")


def name_of(kind: type) -> str:
    """A class with its module."""
    return "{}.{}".format(kind.__module__, kind.__qualname__)


def is_of(value: Any, wanted: Mapping[str, str]) -> bool:
    """Whether an object's class, or a base of it, is the one of that name in that file."""
    for kind in type(value).__mro__:
        name = kind.__qualname__.replace("<locals>.", "")
        if name == wanted["qualname"] or name.endswith("." + wanted["qualname"]):
            file = getattr(sys.modules.get(kind.__module__), "__file__", None)
            if file is None or os.path.realpath(file) == os.path.realpath(wanted["file"]):
                return True
    return False


def find(root: Any, wanted: Mapping[str, str]) -> List[Tuple[str, Any]]:
    """Objects of a class in what hangs on ``root``, each with its path: ``.dataset.reader``; nearest first."""
    found, seen = [], set()  # type: ignore[var-annotated]
    waiting = [("", root)]
    for depth in range(DEEPEST + 1):
        below: List[Tuple[str, Any]] = []
        for path, value in waiting:
            if isinstance(value, LEAVES) or id(value) in seen or len(seen) > MOST_OBJECTS:
                continue
            seen.add(id(value))
            if is_of(value, wanted):
                found.append((path, value))
            elif depth < DEEPEST:
                below += [(path + step, part) for step, part in parts_of(value)]
        waiting = below
    return found


def parts_of(value: Any) -> Iterator[Tuple[str, Any]]:
    """Attributes and elements of an object, without running any of its code."""
    if isinstance(value, dict):
        for key in islice(list(value), FIRST_OF_MANY):
            yield "[{!r}]".format(key), dict.__getitem__(value, key)
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(islice(value, FIRST_OF_MANY)):
            yield "[{}]".format(index), part
    elif type(value).__module__.split(".")[0] not in ("numpy", "builtins"):
        for name, part in attributes_of(value).items():
            yield "." + name, part


def attributes_of(value: Any) -> Mapping[str, Any]:
    """What an object itself holds, in its ``__dict__`` and its slots."""
    held = {}
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            slot: Any = kind.__dict__.get(name)
            if type(slot).__name__ == "member_descriptor":
                try:
                    held[name] = slot.__get__(value, type(value))
                except AttributeError:  # a slot that nothing was put into
                    continue
    try:
        held.update(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):
        pass
    return held
