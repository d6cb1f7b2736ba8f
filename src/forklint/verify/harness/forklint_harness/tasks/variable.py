"""For FKL101: what a reader made of a variable, seen where the program sets it.

The order's spec is that of ``threads``, with ``probes``: by reader, how its effect is seen (env_vars.toml).
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import sys
import tempfile
import threading
from contextlib import suppress
from typing import Any, Callable, Dict

from forklint_harness import ending, journal
from forklint_harness.tasks import threads
from forklint_harness.tolerance import is_stand_in

THREADS = 4
"""Threads that allocate at the same time, each of which malloc gives an arena of its own by default."""
NO_CODE = ("displays",)
"""Probes that are read in what the program prints."""


def install(order: Dict[str, Any]) -> None:
    """Wait for the program to set the variable."""
    threads.watch(order, _look)


def _look(order: Dict[str, Any], place: str) -> None:
    for reader, probe in order["spec"]["probes"].items():
        kind, _, rest = probe.partition(":")
        if kind in NO_CODE:
            evaluated("torch")  # it brings libgomp, which prints as it is loaded
            journal.record("probed", reader=reader, shown="", error="", place=place)
            continue
        try:
            value = PROBES[kind](rest, order)
            shown, error = ("", "a stand-in") if is_stand_in(value) else (str(value), "")
        except Exception as fault:
            shown, error = "", "{}: {}".format(type(fault).__name__, fault)
        journal.record("probed", reader=reader, shown=shown, error=error, place=place)
    ending.end(order["journal"])


def _threads(api: str, order: Dict[str, Any]) -> Any:
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        _ = torch.ones(64, 64) @ torch.ones(64, 64)  # some pools are sized when they are first used
    return sorted(threads.pools_of(order, api))


def evaluated(expression: str) -> Any:
    """The value of an expression over modules, which are imported as far as its dotted names say."""
    names: Dict[str, Any] = {}
    for dotted in re.findall(r"(?<![\w.'\"])[A-Za-z_]\w*(?:\.\w+)*", expression):
        parts = dotted.split(".")
        with suppress(ImportError, AttributeError, ValueError):  # what is no module is an attribute
            for length in range(1, len(parts) + 1):
                importlib.import_module(".".join(parts[:length]))
        if parts[0] in sys.modules:
            names[parts[0]] = sys.modules[parts[0]]
    return eval(expression, names)  # noqa: S307 - an expression of forklint's own table


def _value(expression: str, _order: Dict[str, Any]) -> Any:
    return evaluated(expression)


def _symbol(rest: str, _order: Dict[str, Any]) -> Any:
    library, _, function = rest.partition(":")
    path = next(line.split()[-1] for line in _maps() if library in line)
    return getattr(ctypes.CDLL(path), function)()


def _log(expression: str, _order: Dict[str, Any]) -> bool:
    """Whether it writes to stderr; if it fails, as sockets do without a loopback network, whether it informs."""
    failed = False
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            evaluated(expression)
        except Exception:  # what it says of its own failure is no information
            failed = True
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        lines = file.read().splitlines()
    return any(line.startswith(b"[I") for line in lines) if failed else bool(lines)


def _raises(expression: str, _order: Dict[str, Any]) -> bool:
    try:
        evaluated(expression)
    except Exception as error:
        return "C++" in str(error) or "Exception raised from" in str(error)
    return False


def _fails(expression: str, _order: Dict[str, Any]) -> bool:
    try:
        evaluated(expression)
    except Exception:
        return True
    return False


def _opens(_rest: str, _order: Dict[str, Any]) -> str:
    import fcntl

    h5py: Any = importlib.import_module("h5py")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "locked.h5")
        h5py.File(path, "w").close()
        number = os.open(path, os.O_RDWR)
        fcntl.flock(number, fcntl.LOCK_EX)
        try:
            h5py.File(path, "r").close()
        except OSError:
            return "locked"
        finally:
            os.close(number)
    return "opened"


def _maps_it(library: str, _order: Dict[str, Any]) -> bool:
    return any(library in line for line in _maps())


def _dlopens(library: str, _order: Dict[str, Any]) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _arenas(_rest: str, _order: Dict[str, Any]) -> bool:
    """Whether malloc has more than one arena once several threads have allocated at the same time."""
    library = ctypes.CDLL(None)
    library.malloc.restype = library.fopen.restype = ctypes.c_void_p
    barrier = threading.Barrier(THREADS)

    def allocate() -> None:
        barrier.wait()
        for _ in range(50):
            library.malloc(ctypes.c_size_t(5000))
        barrier.wait()

    running = [threading.Thread(target=allocate) for _ in range(THREADS)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    with tempfile.NamedTemporaryFile() as file:
        stream = ctypes.c_void_p(library.fopen(file.name.encode(), b"w"))
        library.malloc_info(0, stream)
        library.fclose(stream)
        return file.read().count(b"<heap nr=") > 1


def _started(_rest: str, order: Dict[str, Any]) -> bool:
    with open("/proc/self/environ", "rb") as file:
        began = file.read().split(b"\0")
    return os.fsencode("{variable}={value}".format(**order["spec"])) in began


def _maps() -> Any:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


PROBES: Dict[str, Callable[[str, Dict[str, Any]], Any]] = {
    "threads": _threads,
    "value": _value,
    "symbol": _symbol,
    "log": _log,
    "raises": _raises,
    "fails": _fails,
    "opens": _opens,
    "maps": _maps_it,
    "dlopens": _dlopens,
    "arenas": _arenas,
    "started": _started,
}
