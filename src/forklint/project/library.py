"""What is known of a project's files before any of them is looked at: from an earlier run, or gathered beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from forklint.summaries.codec import StoredSummary

Found = Mapping[str, tuple[Path, ...]]


class Library(Protocol):
    """Summaries by content, and the terms of a state of the project that may be an older one."""

    files: tuple[Path, ...] | None
    """The Python files of the project, where they were walked already."""
    presets: tuple[Path, ...] | None
    """Its files of settings, likewise."""
    left_out: tuple[str, ...]
    """What that walk left out, as ``discovery.walk`` says."""
    newer: frozenset[Path]
    """Files that have changed, come or gone since ``where`` was written down."""

    def digest(self, path: Path) -> str | None:
        """What stands for the content of a file; None if the file is to be read for that."""

    def summary(self, digest: str) -> StoredSummary | None:
        """The summary of a content, by its digest; None if it is not known."""

    def where(self, kind: str, name: str) -> tuple[Path, ...] | None:
        """The files that had a term; None if terms were not written down. Those of ``newer`` are to be asked anew."""
