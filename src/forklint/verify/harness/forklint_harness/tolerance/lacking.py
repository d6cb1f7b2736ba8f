"""Whether an error says that the world is missing, and what of it; any other error is the program's own."""

from __future__ import annotations

import builtins
import re
import types
from typing import Any, Iterable, Iterator, Optional, Tuple

from forklint_harness.frames import is_library
from forklint_harness.tolerance import lacks, tainted
from forklint_harness.tolerance.stand_ins import EndlessError, StandInBase, is_stand_in

NEVER = (StopIteration, StopAsyncIteration, GeneratorExit, MemoryError, RecursionError, SyntaxError)
"""Errors that no missing thing causes: those that steer a loop, and those of a program that cannot go on."""
ACCELERATOR = re.compile(r"CUDA|cuda|NVIDIA|nccl|NCCL|cuDNN|HIP|MPS|no accelerator|XPU|Neuron|hpu")
READERS = (
    "lmdb",
    "h5py",
    "sqlite3",
    "zipfile",
    "tarfile",
    "PIL",
    "cv2",
    "urllib",
    "requests",
    "http",
    "socket",
    "json",
)
"""Libraries whose errors, with no stand-in in sight, are about a file or a server that is not what it should be."""
VERSION = re.compile(r"unexpected keyword argument|has no attribute|cannot import name|is not a package|missing \d+")
OF_MODULE = re.compile(r"module '\w+' has no attribute '\w+'")
"""What a module's own ``__getattr__`` says, which names no object."""
NO_PATH = re.compile(r"(?:path should be|expected str, bytes or os\.PathLike object).*not NoneType")
"""What Python says of a path that an option would have given."""
EMPTY = re.compile(
    r"num_samples|empty|not enough values|at least one|positive integer|zero-size|No objects to concat|"
    r"__len__\(\) should return >= 0"  # fewer rows than a window takes
)
DEEPEST = 50
Lack = Tuple[str, str]


def lack_of(error: BaseException, frame: Any, names: Iterable[str]) -> Optional[Lack]:
    """What was missing: its kind, as ``lacks.record`` has it, and its name; None if the error is the program's own.

    ``frame`` is that of the statement which failed, ``names`` are those that it reads.
    """
    is_made_up_code = isinstance(error, SyntaxError) and error.filename == "<string>"  # ``eval`` of a stand-in
    if (isinstance(error, NEVER) and not is_made_up_code) or getattr(error, "_forklint_own", False):
        return None
    if isinstance(error, AssertionError) and not is_library(_innermost(error).f_code.co_filename):
        return None
    found = _by_kind(error) or _by_stand_in(error, frame, names) or _by_version(error) or _by_emptiness(error)
    return found or _by_made_up_data(error)


def _by_kind(error: BaseException) -> Optional[Lack]:
    text = str(error)
    if isinstance(error, EndlessError):
        return "statement", "a loop waits for the end of a stand-in"
    if isinstance(error, ImportError):
        return "package", error.name or text.partition("from ")[2] or text
    if isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)):
        return "file", str(error.filename) if error.filename is not None else text
    if isinstance(error, (ConnectionError, TimeoutError)) or type(error).__module__.partition(".")[0] in (
        "urllib",
        "socket",
        "requests",
        "http",
    ):
        return "network", text
    if isinstance(error, (AssertionError, RuntimeError, ValueError, AttributeError)) and ACCELERATOR.search(text):
        return "accelerator", text.splitlines()[0]
    if _is_of_reader(error):
        return None if lacks.are_data_there() else ("file", text)
    if isinstance(error, (ValueError, RuntimeError)) and "process group has not been init" in text:
        return "process group", "one rank"
    if isinstance(error, TypeError) and NO_PATH.search(text):
        return "argument", text
    if isinstance(error, KeyError) and _innermost(error).f_code.co_filename.endswith("os.py"):
        return "variable", str(error.args[0]) if error.args else text
    return None


def _by_stand_in(error: BaseException, frame: Any, names: Iterable[str]) -> Optional[Lack]:
    here = [_value(frame, name) for name in names]
    if isinstance(error, AttributeError) and "'super' object" in str(error):
        here += [frame.f_locals.get(name) for name in ("self", "cls")]
    if any(_is_made_up(value) for value in here) or any(_is_made_up(value) for value in _locals_of(error)):
        return "statement", "{}: {}".format(type(error).__name__, str(error)[:120])
    return None


def _by_version(error: BaseException) -> Optional[Lack]:
    """A library that is there, in a version that lacks what is asked for."""
    owner = getattr(error, "obj", None)
    of_module = isinstance(error, AttributeError) and isinstance(owner, types.ModuleType)
    if of_module and is_library(getattr(owner, "__file__", "") or "<built-in>"):
        return "package", "{} ({})".format(getattr(owner, "__name__", "?"), error)
    if owner is None and isinstance(error, AttributeError) and OF_MODULE.match(str(error)):
        return "package", str(error).splitlines()[0]
    if isinstance(error, TypeError) and VERSION.search(str(error)) and is_library(_innermost(error).f_code.co_filename):
        return "package", str(error)
    return None


def _by_emptiness(error: BaseException) -> Optional[Lack]:
    """What comes of data that is not there: nothing to count, to take or to divide by."""
    is_of_data = (
        isinstance(error, (IndexError, KeyError, ZeroDivisionError))
        or (isinstance(error, ValueError) and EMPTY.search(str(error)))
        or (isinstance(error, AttributeError) and "'Namespace' object" in str(error))  # options kept with the data
    )
    if is_of_data and lacks.are_data_missing():
        return "statement", "{}: {}".format(type(error).__name__, str(error)[:120])
    return None


def _by_made_up_data(error: BaseException) -> Optional[Lack]:
    """Any failure on made-up data, but for what a reader says of how its store is used."""
    if isinstance(error, Exception) and lacks.is_forgiving() and not _is_of_reader(error):
        return "statement", "{}: {}".format(type(error).__name__, str(error)[:120])
    return None


def _is_of_reader(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in READERS or isinstance(error, OSError)


def _is_made_up(value: Any) -> bool:
    if is_stand_in(value) or isinstance(value, StandInBase):
        return True
    if type(value) in (list, tuple, dict):
        return tainted.holds_tainted((value,))
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict) and not isinstance(value, (type, types.ModuleType, types.FunctionType)):
        return any(is_stand_in(part) for part in list(held.values())[:DEEPEST])
    return False


def _value(frame: Any, name: str) -> Any:
    if name in frame.f_locals:
        return frame.f_locals[name]
    return frame.f_globals.get(name, getattr(builtins, name, None))


def _locals_of(error: BaseException) -> Iterator[Any]:
    trace = error.__traceback__
    trace = trace.tb_next if trace is not None else None  # the statement's own frame holds much that it does not read
    while trace is not None:
        yield from list(trace.tb_frame.f_locals.values())[:DEEPEST]
        trace = trace.tb_next


def _innermost(error: BaseException) -> Any:
    trace: Any = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame
