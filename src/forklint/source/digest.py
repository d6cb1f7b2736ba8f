"""What stands for the content of a file."""

from __future__ import annotations


def digest(data: bytes) -> str:
    """The digest of ``data``: 32 hexadecimal digits."""
    import hashlib  # noqa: PLC0415 - only where something is stored

    return hashlib.blake2b(data, digest_size=16).hexdigest()
