"""What a store consists of."""

from __future__ import annotations

from forklint.records import dataclass


@dataclass(frozen=True)
class Schema:
    """Which tables there are, and how large all of them together may become."""

    tables: tuple[str, ...]
    """Their names, each an identifier."""
    evictable: tuple[str, ...]
    """The tables of which rows are removed, the oldest first, when there is more than ``limit``."""
    limit: int
    """Bytes."""
