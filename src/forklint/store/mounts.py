"""Whether a folder lies on a disk of this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

LOCAL = {"apfs", "bcachefs", "btrfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "hfsplus", "jfs", "msdos"}
LOCAL |= {"ntfs", "ntfs3", "overlay", "ramfs", "rootfs", "squashfs", "tmpfs", "ufs", "vfat", "xfs", "zfs"}
"""File systems on which two processes may share memory by mapping a file."""
MOUNTS = "/proc/self/mounts"


def is_local(folder: Path) -> bool:
    """Whether the file system of a folder is one of LOCAL; True where the system does not say."""
    if sys.platform != "linux":
        return True
    whole = os.path.realpath(folder)
    best = kind = ""
    try:
        with open(MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                _, point, name, *_ = line.split(" ")
                point = _unescaped(point)
                if len(point) >= len(best) and (whole + "/").startswith(point.rstrip("/") + "/"):
                    best, kind = point, name
    except (OSError, ValueError):
        return True
    return kind in LOCAL or not kind


def _unescaped(point: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, character)
    return point
