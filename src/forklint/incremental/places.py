"""Brings the chains of stored findings up to date where the files that they lead to were written otherwise since."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from forklint.incremental.rows import MalformedError
from forklint.model import FileReport
from forklint.project.module import Module
from forklint.project.places import with_places
from forklint.source import document
from forklint.store.stamps import content_of


class Places:
    """Finds nodes by their numbers, in files that have the tree that they had."""

    def __init__(self) -> None:
        self._modules: dict[str, Module] = {}

    def refreshed(self, report: FileReport, moved: Collection[str]) -> FileReport:
        """A report with the links into files that ``moved`` brought up to date; raises MalformedError if one cannot."""
        if not moved:
            return report
        try:
            return with_places(report, lambda path: self._module(path) if path in moved else None)
        except LookupError:
            raise MalformedError from None

    def _module(self, path: str) -> Module:
        known = self._modules.get(path)
        if known is None:
            try:
                doc = document.decode(Path(path), content_of(path))
                known = self._modules[path] = Module(Path(path), doc, document.parse(doc))
            except (document.UnreadableError, SyntaxError, RecursionError, MemoryError, ValueError):
                raise MalformedError from None
        return known
