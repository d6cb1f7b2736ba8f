"""Files written in one step, so that nobody ever reads half of one."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
"""The bits of a file's mode of which one at least is set where it may be written."""


def replace(target: Path, data: bytes) -> None:
    """Put ``data`` in place of a regular file, or make it; mode and owner of an old one are kept; raises OSError.

    ``target`` must be no link: the link would be replaced, not what it leads to.
    """
    import shutil  # noqa: PLC0415 - most runs write nothing
    import tempfile  # noqa: PLC0415

    status = target.stat() if target.exists() else None
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".forklint", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if status is None:
            temporary.chmod(0o666 & ~_mask())
        else:
            shutil.copymode(target, temporary)
            _give_to(status, temporary)
        temporary.replace(target)
    except BaseException:  # Ctrl-C as well: nothing is left behind
        temporary.unlink(missing_ok=True)
        raise


def _mask() -> int:
    """The permissions that new files of this process do not get; they can only be read by setting them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _give_to(status: os.stat_result, path: Path) -> None:
    """Give a file the owner and group that another has, where that is another's and allowed."""
    own = path.stat()
    if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid) and hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
