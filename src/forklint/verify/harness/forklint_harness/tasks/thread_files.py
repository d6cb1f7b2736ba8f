"""For FKL305: which threads write one mapped file, and which read where another thread has sought."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from typing import Any, Dict, Set, Tuple

from forklint_harness import ending, journal
from forklint_harness.frames import caller
from forklint_harness.imports import after_import

TRANSFERS = {"read", "readline", "readinto", "write", "writelines"}
MOMENT = 0.001
"""How long a thread waits between its seek and its read, so that another can come in between if nothing hinders it."""
ENOUGH = 200
"""So many waits are enough: a program with more work is not held up by them."""


def install(order: Dict[str, Any]) -> None:
    """Watch the use that the finding speaks of."""
    if order["spec"]["kind"] == "memmap":
        after_import("numpy", lambda module: _watch_maps(order, module))
    else:
        watch = _Handles(order)
        threading.setprofile(watch.hook)
        sys.setprofile(watch.hook)


def _watch_maps(order: Dict[str, Any], numpy: Any) -> None:
    spec = order["spec"]
    places = {"{}:{}".format(spec["file"], row) for row in range(spec["use"][0], spec["use"][1] + 1)}
    plain = numpy.memmap.__setitem__
    seen: Set[int] = set()
    told = threading.Lock()  # whoever ends the program must not do so before the other's record is written

    def __setitem__(self: Any, key: Any, value: Any) -> None:
        plain(self, key, value)
        me = threading.current_thread()
        place = caller()
        if me.ident in seen or place not in places:
            return
        with told:
            seen.add(me.ident or 0)
            journal.record("writes", thread=me.name, main=me is threading.main_thread(), place=place)
            if len(seen) > 1 and sys.platform != "darwin":
                ending.end(order["journal"])
        time.sleep(MOMENT)  # or one thread may do all the work before another has begun

    numpy.memmap.__setitem__ = __setitem__


class _Handles:
    """Follows open files by the calls of their methods, which the profiler sees before they are made."""

    def __init__(self, order: Dict[str, Any]) -> None:
        self.order = order
        self.file = order["spec"]["file"]
        self.sought: Dict[int, int] = {}
        self.users: Set[Tuple[int, int]] = set()
        self.waits = 0

    def hook(self, frame: Any, event: str, argument: Any) -> None:
        """Called for each call in each thread; only those of files, made in the file of the finding, matter."""
        if event != "c_call" or os.path.abspath(frame.f_code.co_filename) != self.file:
            return
        handle, name = getattr(argument, "__self__", None), argument.__name__
        if not isinstance(handle, io.IOBase) or (name != "seek" and name not in TRANSFERS):
            return
        me = threading.get_ident()
        if name == "seek":
            self.sought[id(handle)] = me
            return
        self._uses(handle, me, name)
        if id(handle) not in self.sought:
            return
        if self.waits < ENOUGH:
            self.waits += 1
            time.sleep(MOMENT)
        if self.sought[id(handle)] != me:
            place = "{}:{}".format(self.file, frame.f_lineno)
            journal.record("crossed", name=name, handle=str(getattr(handle, "name", "")), place=place)
            ending.end(self.order["journal"])

    def _uses(self, handle: Any, me: int, name: str) -> None:
        if (id(handle), me) not in self.users:
            self.users.add((id(handle), me))
            thread = threading.current_thread()
            main = thread is threading.main_thread()
            journal.record("uses", handle=str(getattr(handle, "name", "")), name=name, thread=thread.name, main=main)
