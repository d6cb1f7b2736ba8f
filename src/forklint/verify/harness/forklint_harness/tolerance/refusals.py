"""Nothing is destroyed or sent: what would delete, rename, write, connect or start a program is refused and told.

Writing is allowed in the trial's own folder. Python reports what it is about to do to audit hooks, those of children
included, since each sets its own; libraries that write by themselves are watched one by one.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from types import ModuleType
from typing import Any, Callable, Dict, Sequence, Tuple

from forklint_harness.imports import after_import
from forklint_harness.tolerance import lacks

CHANGES: Dict[str, Tuple[int, ...]] = {
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.truncate": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "os.setxattr": (0,),
    "os.removexattr": (0,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
    "shutil.copyfile": (1,),
    "sqlite3.connect": (0,),
}
"""Events that change what is on the disk, and which of their arguments name it."""
FOLDERS: Dict[str, Tuple[int, ...]] = {
    "os.remove": (1,),
    "os.rmdir": (1,),
    "os.mkdir": (2,),
    "os.rename": (2, 3),
    "os.link": (3,),
    "os.symlink": (2,),
    "os.chmod": (2,),
    "os.utime": (3,),
}
"""Where these events have the open folder, if any, that a path is relative to: for each path in turn."""
PROGRAMS = frozenset(
    [
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.startfile/2",
        "subprocess.Popen",
        "pty.spawn",
    ]
)
ENDS = frozenset({"os.kill", "os.killpg", "signal.pthread_kill"})
CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
SENDERS = frozenset(
    {"urllib.Request", "ftplib.connect", "smtplib.connect", "http.client.connect", "telnetlib.Telnet.open"}
)
HERE = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "", "None"})  # noqa: S104 - nothing is bound to it
WRITERS = (
    ("torch", "save", 1),
    ("torch.jit", "save", 1),
    ("cv2", "imwrite", 0),
    ("cv2", "VideoWriter", 0),
    ("safetensors.torch", "save_file", 1),
    ("soundfile", "write", 0),
    ("torchvision.utils", "save_image", 1),
)
"""Functions that write a file without Python's knowledge, and the place of its path among their arguments."""
READS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class RefusedError(PermissionError):
    """What a tolerant run does not do."""


class Refusals:
    """What may be done in one trial."""

    def __init__(self, folder: str) -> None:
        """Take the trial's own folder."""
        self._allowed = [os.path.realpath(one) for one in (folder, tempfile.gettempdir(), "/dev", "/proc/self")]
        self._own_pid = os.getpid()

    def begin(self) -> None:
        """Set the hook of this process; it cannot be taken off."""
        sys.addaudithook(self.hear)
        for module, name, place in WRITERS:
            after_import(module, functools.partial(_guard, self, name, place))
        after_import("h5py", functools.partial(_guard_modes, self, "File"))
        after_import("lmdb", functools.partial(_guard_lmdb, self))

    def hear(self, event: str, arguments: Sequence[Any]) -> None:
        """Raise RefusedError if what is about to happen is not allowed."""
        if event == "open":
            if _writes(arguments):
                self.check(event, arguments[0])
        elif event in CHANGES:
            folders = [arguments[place] for place in FOLDERS.get(event, ()) if place < len(arguments)]
            for number, place in enumerate(CHANGES[event]):
                if place < len(arguments):
                    folder = folders[number] if number < len(folders) else -1
                    self.check(event, arguments[place], folder)
        elif event in PROGRAMS:
            self.refuse(event, _shown(arguments[0]) if arguments else "")
        elif event in CONNECTIONS:
            address = arguments[1] if len(arguments) > 1 else None
            if isinstance(address, tuple) and address and str(address[0]) not in HERE:
                self.refuse(event, _shown(address[0]))
        elif event == "socket.getaddrinfo":
            if str(arguments[0]) not in HERE and arguments[0] is not None:
                self.refuse(event, _shown(arguments[0]))
        elif event in SENDERS:
            self.refuse(event, _shown(arguments[0] if event == "urllib.Request" else arguments[1]))

    def check(self, event: str, path: Any, folder: int = -1) -> None:
        """Raise RefusedError for a path outside of the trial's own folder; ``folder`` is a descriptor or -1."""
        if isinstance(path, int) or path is None:
            return  # an open descriptor: it was looked at when it was opened
        try:
            plain = os.fsdecode(os.fspath(path))
        except TypeError:
            return
        if plain == ":memory:":
            return
        if folder != -1:
            plain = os.path.join(_path_of(folder), plain)
        real = os.path.realpath(plain)
        if not any(real == one or real.startswith(one + os.sep) for one in self._allowed):
            self.refuse(event, plain)

    def refuse(self, event: str, what: str) -> None:
        """Tell of it, and raise."""
        lacks.record("refused", "{} {}".format(event, what).strip())
        raise RefusedError(13, "a tolerant run refuses {}".format(event), what)


def _path_of(folder: int) -> str:
    """Where an open folder is; where the system does not say, its root."""
    try:
        return os.readlink("/proc/self/fd/{}".format(folder))
    except OSError:
        return os.sep


def _writes(arguments: Sequence[Any]) -> bool:
    mode = arguments[1] if len(arguments) > 1 else None
    flags = arguments[2] if len(arguments) > 2 else 0
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & READS)


def _shown(value: Any) -> str:
    return str(value[0] if isinstance(value, (list, tuple)) and value else value)[:120]


def _guard(refusals: Refusals, name: str, place: int, module: ModuleType) -> None:
    plain: Any = getattr(module, name, None)
    if plain is None:
        return

    def guarded(*arguments: Any, **keywords: Any) -> Any:
        given = [*arguments[place : place + 1], *keywords.values()]
        for one in given[:3]:
            if isinstance(one, (str, os.PathLike)):
                refusals.check("{}.{}".format(module.__name__, name), one)
        return plain(*arguments, **keywords)

    guarded.__wrapped__ = plain  # type: ignore[attr-defined]
    setattr(module, name, guarded)


def _guard_modes(refusals: Refusals, name: str, module: ModuleType) -> None:
    """HDF5 files are opened by a library of C: what is not for reading alone is refused."""
    kind: Any = getattr(module, name)
    make: Callable[..., None] = kind.__init__

    def __init__(self: Any, name: Any, mode: str = "r", *arguments: Any, **keywords: Any) -> None:
        if mode != "r":
            refusals.check("h5py.File", name)
        make(self, name, mode, *arguments, **keywords)

    kind.__init__ = __init__


def _guard_lmdb(refusals: Refusals, module: ModuleType) -> None:
    """An LMDB environment is made where it is not: only one that is there may be opened outside."""
    plain: Any = module.open

    def guarded(path: Any, *arguments: Any, **keywords: Any) -> Any:
        if not os.path.exists(path):
            refusals.check("lmdb.open", path)
        return plain(path, *arguments, **keywords)

    module.open = guarded  # type: ignore[attr-defined]
