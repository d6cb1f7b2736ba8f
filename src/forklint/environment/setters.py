"""What stands in every file that sets an environment variable; apart, since a screen asks it of every file."""

from __future__ import annotations

SETTERS = (b"environ", b"putenv", b"magic")
"""One of these stands in every file that sets a variable by itself."""


def may_set(data: bytes) -> bool:
    """Whether a file may set a variable, judged by its bytes."""
    return any(word in data for word in SETTERS)
