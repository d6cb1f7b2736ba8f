"""A view of folders that is one trial's own: what the trial writes there is seen by nobody else, and is thrown away.

Linux alone: the first process of a trial enters a mount namespace in which an overlay (the kernel's
``filesystems/overlayfs.rst``) lies over each folder, at the very path that the folder has. So nothing looks different
to the program: its working directory, ``__file__``, ``sys.path``, the paths in its errors. Reading costs nothing; a
file is copied when it is first opened for writing, into the trial's own folder, and counts as what it writes to disk.

Who may not mount (nearly every user) gets a user namespace for it, in which the user is who they are. Where even that
is forbidden, as in most containers, ``enter`` raises OSError; ``is_possible`` tries it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .tree import contents

NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000
"""``CLONE_NEWNS`` and ``CLONE_NEWUSER`` (unshare(2))."""
BIND, RECURSIVE, PRIVATE = 4096, 16384, 1 << 18
"""``MS_BIND``, ``MS_REC`` and ``MS_PRIVATE`` (mount(2))."""
DETACH = 2
"""``MNT_DETACH`` (umount(2))."""
OVERLAYS = ("lowerdir={},upperdir=upper,workdir=work,userxattr", "lowerdir={},upperdir=upper,workdir=work")
"""Within a user namespace the overlay's own marks need ``userxattr``; kernels before 5.11 do not know it."""
OCTAL = re.compile(rb"\\([0-7]{3})")
_LIBRARY = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class View(NamedTuple):
    """Which folders a trial sees through overlays."""

    roots: Sequence[str]
    """Real paths, none below another."""
    in_memory: bool
    """Whether what is written is kept in memory: not every file system can hold an overlay's upper part."""


def enter(view: View, place: str, size: int) -> None:
    """Let this process, and all that it starts, see the folders through overlays; raises OSError.

    ``place`` is an empty folder for what is written; in memory that may be ``size`` bytes.
    """
    mounted = _mounted()
    _unshare()
    _mount("none", "/", flags=RECURSIVE | PRIVATE)
    if view.in_memory:
        _mount("tmpfs", place, kind="tmpfs", data=f"size={size}")
    inside = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    trial = os.path.dirname(place)  # noqa: PTH120 - pathlib would double the start of a supervisor
    for number, root in enumerate(view.roots):
        os.chdir(inside)
        os.mkdir(str(number))  # noqa: PTH102
        os.chdir(str(number))
        os.mkdir("lower")  # noqa: PTH102
        _mount(root, "lower", flags=BIND | RECURSIVE)
        below = [path[len(root) :] for path in mounted if path.startswith(f"{root}/")]
        for layer, part in enumerate(["", *below]):
            _lay(f"lower{part}", root + part, str(layer))
        if trial.startswith(f"{root}/"):  # what the trial tells must come out
            _mount(f"lower{trial[len(root) :]}", trial, flags=BIND | RECURSIVE)
        _call("umount2", b"lower", DETACH)
    os.close(inside)
    os.chdir("/")


def _lay(lower: str, target: str, name: str) -> None:
    """Lay an overlay of one folder over the target; a single file that is mounted there is seen as it is."""
    if not os.path.isdir(lower):  # noqa: PTH112
        _mount(lower, target, flags=BIND)
        return
    os.mkdir(name)  # noqa: PTH102
    os.chdir(name)
    os.mkdir("upper")  # noqa: PTH102
    os.mkdir("work")  # noqa: PTH102
    seen = os.stat(f"../{lower}")  # noqa: PTH116
    os.chmod("upper", seen.st_mode & 0o7777)  # noqa: PTH101 - it is the upper folder whose mode and owner are seen
    with contextlib.suppress(OSError):
        os.chown("upper", seen.st_uid, seen.st_gid)
    for data in OVERLAYS:
        try:
            _mount("overlay", target, kind="overlay", data=data.format(f"../{lower}"))
            break
        except OSError as error:
            if error.errno != errno.EINVAL or data == OVERLAYS[-1]:
                raise
    os.chdir("..")


def is_possible(view: View, place: str) -> bool:
    """Whether a view can be had: tried in a child, which writes into each folder what must not be found there."""
    name = f".forklint-{os.getpid()}"
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(OSError):
            enter(view, place, 1 << 20)
            for root in view.roots:
                Path(root, name).write_text(name, encoding="ascii")
            code = 0
        os._exit(code)
    ended = os.waitpid(child, 0)[1] == 0
    leaked = [Path(root, name) for root in view.roots if Path(root, name).exists()]
    for path in leaked:
        path.unlink()
    return ended and not leaked


def _unshare() -> None:
    """Enter a mount namespace of our own: as who may mount, or else in a user namespace where this user may."""
    try:
        _call("unshare", NEW_MOUNTS)
    except PermissionError:
        user, group = os.geteuid(), os.getegid()
        _call("unshare", NEW_USER | NEW_MOUNTS)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text, encoding="ascii")


def _mounted() -> list[str]:
    """Where something is mounted, outer places before inner ones (proc(5))."""
    lines = contents("/proc/self/mountinfo").splitlines()
    return sorted(os.fsdecode(OCTAL.sub(lambda match: bytes([int(match[1], 8)]), line.split()[4])) for line in lines)


def _mount(source: str, target: str, *, kind: str = "", flags: int = 0, data: str = "") -> None:
    words = [word.encode("utf-8", "surrogateescape") for word in (source, target, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), data.encode() or None)


def _call(name: str, *arguments: Any) -> None:
    if _LIBRARY is None:
        raise OSError(errno.ENOSYS, "mounts are not to be had here")
    if getattr(_LIBRARY, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
