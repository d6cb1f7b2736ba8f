"""Which handle a dataset holds when its workers start, and in which process it is used."""

from __future__ import annotations

import gc
import io
import os
import sys
import time
from itertools import islice
from types import FunctionType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Set, Tuple

from forklint_harness import journal
from forklint_harness.loaders import (
    DEEPEST,
    FIRST_OF_MANY,
    LEAVES,
    MOST_OBJECTS,
    attributes_of,
    find,
    name_of,
    parts_of,
)
from forklint_harness.openers import opened_by
from forklint_harness.pickling import error_of

ABSENT = object()
CLOSERS = ("close", "release", "dispose", "fileno")
CACHE_DEPTH = 3
"""From a function to its table of results, from there to an entry, and to the result."""
NO_HANDLE = (str, bytes, bytearray, int, float, complex, bool)

SHARED = ("lmdb.Environment", "Environment.Environment", "builtins.Environment", "h5py.File", "sqlite3.Connection")
ARCHIVES = ("zipfile", "tarfile", "tempfile")


class Held:
    """One holder: the object, class or module that has the attribute, and what is in it as workers start."""

    def __init__(self, path: str, holder: Any, attribute: str) -> None:
        self.path = path
        self.holder = holder
        self.attribute = attribute
        self.value = attribute_of(holder, attribute)
        self.state = state_of(self.value)

    def record(self, kind: str = "handle-held") -> None:
        """Write down what is held."""
        opened = opened_by(self.value)
        journal.record(
            kind,
            attribute=self.path,
            type="" if self.value is ABSENT else name_of(type(self.value)),
            state=self.state,
            opener=opened[0] if opened else os.getpid(),
            opened_at=opened[2] if opened else "",
        )


def held_by(root: Any, keeper: Optional[Mapping[str, str]], attribute: str, module_file: str) -> List[Held]:
    """Find the attribute in what hangs on a dataset, or in a module if no class keeps it.

    There it may belong to something else: ``Records.env``, or to the cache of a function: ``handle()``.
    """
    if keeper is None:
        named = [(name, one) for name, one in sorted(sys.modules.items()) if _is_file(one, module_file)]
        found = [(name, holder_in(module, attribute)) for name, module in named]
        return [Held("{}.{}".format(name, attribute), *one) for name, one in found if one is not None]
    holders = find(root, keeper)
    return [Held("dataset{}.{}".format(path, attribute), holder, attribute) for path, holder in holders]


def holder_in(module: Any, attribute: str) -> Optional[Tuple[Any, str]]:
    """What in a module has an attribute that is given by its path, with the attribute's own name; None if nothing."""
    owner, _, name = attribute.rpartition(".")
    holder = module
    for step in owner.split(".") if owner else ():
        holder = attribute_of(holder, step)
    if name.endswith("()"):
        function = attribute_of(holder, name[:-2])
        return None if function is ABSENT else (Cache(function), "opened")
    return None if holder is ABSENT or attribute_of(holder, name) is ABSENT else (holder, name)


class Cache:
    """What a function has opened and keeps in its cache, of which the standard library's says nothing."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.opened = list(_opened_below(function))


def _opened_below(function: Any) -> Iterator[Any]:
    """Give what a cached function refers to, through its table of results, that was seen to be opened."""
    waiting, seen = [function], {id(getattr(function, "__wrapped__", None))}
    for _ in range(CACHE_DEPTH):
        below = [one for each in waiting for one in gc.get_referents(each) if not isinstance(one, (type, str))]
        waiting = [one for one in below if id(one) not in seen][:MOST_OBJECTS]
        seen.update(map(id, waiting))
        yield from (one for one in waiting if opened_by(one))


def rivals_of(root: Any, held: List[Held]) -> List[Held]:
    """Other open handles that hang on a dataset: what goes wrong may be their doing."""
    own = {id(one.value) for one in held} | {id(part) for one in held for _, part in parts_of(one.value)}
    found: List[Held] = []
    seen: Set[int] = set()
    waiting: List[Tuple[str, Any]] = [("dataset", root)]
    for _ in range(DEEPEST + 1):
        below: List[Tuple[str, Any]] = []
        for path, holder in waiting:
            if isinstance(holder, LEAVES) or id(holder) in seen or len(seen) > MOST_OBJECTS:
                continue
            seen.add(id(holder))
            for step, part in parts_of(holder):
                if id(part) in own:
                    continue
                if not _is_shared(part):
                    below.append((path + step, part))
                elif step.startswith(".") and not is_closed(part):
                    found.append(Held(path + step, holder, step[1:]))
        waiting = below
    return found


def _is_shared(value: Any) -> bool:
    """Whether a value is a handle for sure, told without running code of the project.

    That is an open file that can be read, or a handle of a package whose handles do not cross.
    """
    kind = type(value)
    package = kind.__module__.split(".")[0]
    if "{}.{}".format(package, kind.__name__) in SHARED:
        return True
    if not isinstance(value, io.IOBase) and package not in ARCHIVES:
        return False
    if isinstance(value, io.IOBase) and not (value.closed or value.readable()):  # a log spoils no sample
        return False
    return offset_of(value) is not None


def _is_file(module: Any, file: str) -> bool:
    own = getattr(module, "__file__", None)
    return own is not None and os.path.realpath(own) == os.path.realpath(file)


def attribute_of(holder: Any, attribute: str) -> Any:
    """The value as it lies there, without running a property; ABSENT if there is none."""
    own = attributes_of(holder)
    if attribute in own:
        return own[attribute]
    kinds = holder.__mro__ if isinstance(holder, type) else type(holder).__mro__
    for kind in kinds:
        if attribute in kind.__dict__:
            value = kind.__dict__[attribute]
            return ABSENT if hasattr(value, "__get__") else value
    return ABSENT


def state_of(value: Any, depth: int = 3) -> str:
    """``absent``, ``none``, ``plain``, ``array``, ``closed`` or ``open``; of a list or dict the worst."""
    if value is ABSENT:
        return "absent"
    if value is None:
        return "none"
    if isinstance(value, NO_HANDLE) and not isinstance(value, int):
        return "plain"
    if isinstance(value, int):
        return "open" if _is_descriptor(value) else "plain"
    if isinstance(value, (list, tuple, set, dict)):
        parts = value.values() if isinstance(value, dict) else value
        states = {state_of(part, depth - 1) for part in islice(list(parts), FIRST_OF_MANY) if depth} - {"none"}
        return next((state for state in ("open", "closed", "array") if state in states), "plain")
    if _is_array(value):
        return "array"
    if isinstance(value, (FunctionType, type)):
        return "plain"
    if not _is_handle(value):
        return "plain"
    return "closed" if is_closed(value) else "open"


def handles_in(value: Any, depth: int = 3) -> List[Any]:
    """The value itself, and what is in it if it is a list or dict of handles."""
    parts: List[Any] = []
    if isinstance(value, (list, tuple, set, dict)) and depth:
        parts = list(islice(value.values() if isinstance(value, dict) else value, FIRST_OF_MANY))
    return [value] + [handle for part in parts for handle in handles_in(part, depth - 1)]


def _is_handle(value: Any) -> bool:
    """Whether an object can be closed, was seen to be opened, or at least cannot be pickled."""
    if opened_by(value) or any(hasattr(value, name) for name in CLOSERS):
        return True
    return error_of(value) is not None


def _is_array(value: Any) -> bool:
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    return (numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))) or (
        torch is not None and isinstance(value, torch.Tensor)
    )


def _is_descriptor(value: int) -> bool:
    if isinstance(value, bool) or value < 3:
        return False
    try:
        os.fstat(value)
    except (OSError, OverflowError):
        return False
    return True


def is_closed(value: Any) -> bool:
    """Whether a handle says of itself that it is closed; one that cannot say counts as open."""
    closed = getattr(value, "closed", None)
    if isinstance(closed, (bool, int)) and closed:
        return True
    package = type(value).__module__.split(".")[0]
    if hasattr(value, "fp") and value.fp is None:  # zipfile.ZipFile
        return True
    if hasattr(value, "fid") and hasattr(value, "zip"):  # numpy's NpzFile
        return value.zip is None
    if package == "h5py":
        return not value
    question = ASKED.get(package)
    if question is None:
        return False
    try:
        question(value)
    except Exception:
        return True
    return False


ASKED: Dict[str, Callable[[Any], Any]] = {
    "lmdb": lambda value: value.path() if hasattr(value, "path") else value.id(),
    "Environment": lambda value: value.path(),  # lmdb's C extension names no module
    "sqlite3": lambda value: getattr(value, "total_changes", None),
    "mmap": len,
    "cv2": lambda value: 1 // value.isOpened(),
}
"""What raises an error if the handle is closed, by package."""


_uses: List["Uses"] = []
PAUSE = 2e-5
"""Seconds for which a worker stops where it takes the handle: that lets others run between its seek and its read."""
MOST_PAUSES = 5000
"""Such pauses in one worker."""
WAIT = 5e-3
"""Seconds for which it waits there for another to move the offset: on a busy machine workers seldom run at once."""
MOST_WAITS = 20
"""Such waits in one worker that nobody answers."""
MOST_CALLS = 50000
"""Calls watched in a worker for one of a handle's methods."""


def begin_uses() -> None:
    """Begin to watch calls in this worker: not every handle is reached by the attribute that holds it."""
    for uses in _uses:
        uses.watch_calls()


class Uses:
    """Tells of the first use of an attribute in each process but the one in which its holder was made.

    Each use there is a moment at which the scheduler may turn to another worker, and is made to.
    """

    def __init__(self, held: List[Held]) -> None:
        _uses[:] = [self]
        self._open = [
            (one.attribute, handle) for one in held if one.state == "open" for handle in handles_in(one.value)
        ]
        self._home = os.getpid()
        self._inherited = {id(handle) for _, handle in self._open}
        self._told: Set[int] = set()
        self._pauses: Dict[int, int] = {}
        self._waits: Dict[int, int] = {}
        for kind, attribute in {(type(one.holder), one.attribute) for one in held}:
            if kind is not type and getattr(kind, "__module__", "") != "builtins":
                self._watch(kind, attribute)

    def _watch(self, kind: Any, attribute: str) -> None:
        look_up = kind.__getattribute__

        def __getattribute__(holder: Any, name: str) -> Any:
            value = look_up(holder, name)
            if name == attribute and os.getpid() != self._home and value is not None:
                self._tell(attribute, value)
                self._pause(value)
            return value

        try:
            kind.__getattribute__ = __getattribute__
        except (AttributeError, TypeError):
            return

    def _pause(self, value: Any) -> None:
        """Let others run: until one of them has moved the shared offset, if there is one, or the wait is over."""
        pid = os.getpid()
        if self._pauses.get(pid, 0) >= MOST_PAUSES:
            return
        self._pauses[pid] = self._pauses.get(pid, 0) + 1
        time.sleep(PAUSE)
        if id(value) not in self._inherited or self._waits.get(pid, 0) >= MOST_WAITS:
            return
        before = offset_of(value)
        end = time.monotonic() + WAIT
        while before is not None and offset_of(value) == before:
            if time.monotonic() > end:
                self._waits[pid] = self._waits.get(pid, 0) + 1
                return
            time.sleep(PAUSE)

    def watch_calls(self) -> None:
        """Tell of the first call of a handle's method in this process, however the program came by the handle.

        Each such call is a moment for others to run, too: where the handle is taken once, that is between its calls.
        """
        if not self._open or os.getpid() == self._home or sys.getprofile() is not None:
            return
        left = MOST_CALLS

        def profile(frame: Any, event: str, called: Any) -> None:
            nonlocal left
            left -= 1
            if event == "c_call":
                owner = getattr(called, "__self__", None)
            elif event == "call" and frame.f_code.co_argcount:
                owner = frame.f_locals.get(frame.f_code.co_varnames[0])
            else:
                return
            for attribute, handle in self._open:
                if owner is handle:
                    self._tell(attribute, owner)
                    self._pause(owner)
            if left <= 0:
                sys.setprofile(None)

        sys.setprofile(profile)

    def _tell(self, attribute: str, value: Any) -> None:
        if os.getpid() in self._told:
            return
        self._told.add(os.getpid())
        opened = opened_by(value)
        opener = opened[0] if opened else self._home if id(value) in self._inherited else os.getpid()
        journal.record("handle-used", attribute=attribute, opener=opener, user=os.getpid(), type=name_of(type(value)))


def offset_of(value: Any) -> Optional[int]:
    """Offset of the open file description below a handle, which forked processes share; None if there is none."""
    for step in ("", "fp", "fileobj", "_fp", "fid"):
        inner = getattr(value, step, None) if step else value
        try:
            number = inner if isinstance(inner, int) and not isinstance(inner, bool) else inner.fileno()  # type: ignore[union-attr]
            return os.lseek(number, 0, os.SEEK_CUR)
        except Exception:  # noqa: S112 - no file, a closed one, a pipe
            continue
    return None
