"""Whether two names are a slip apart."""

from __future__ import annotations


def is_one_slip(wanted: str, name: str) -> bool:
    """Whether one letter more, less, other or changed in case, or two swapped, tell them apart."""
    if wanted.replace("_", "") == name.replace("_", ""):
        return True
    start = 0
    while start < min(len(wanted), len(name)) and wanted[start] == name[start]:
        start += 1
    a, b = wanted[start:], name[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
