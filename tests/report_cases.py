"""A file with one finding, and outcomes made by hand, for the tests of reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hazards import HAZARD

from forklint.model import Finding, Note, Severity, Span
from forklint.report import Outcome
from forklint.report.sources import Sources


def finding_of(**changes: Any) -> Finding:
    """A finding of FKL301 in ``data.py``, line 7, with some fields changed."""
    values: dict[str, Any] = {
        "code": "FKL301",
        "name": "handle-in-init",
        "severity": Severity.ERROR,
        "path": "data.py",
        "span": Span(7, 9, 7, 50),
        "message": "it keeps a handle",
        "qualname": "Words.__init__",
        "text": "self.env = lmdb.open(root, readonly=True)",
        "project_path": "data.py",
    }
    return Finding(**(values | changes))


def outcome_of(
    *findings: Finding,
    text: str = HAZARD,
    notes: Sequence[Note] = (),
    enabled: frozenset[str] = frozenset(),
    **changes: Any,
) -> Outcome:
    """An outcome with these findings, by default one; ``text`` stands for their file."""
    found = findings or (finding_of(**changes),)
    overlay = {finding.path: text.encode() for finding in found}
    return Outcome(found, notes, [finding.path for finding in found], lambda: enabled, Sources(overlay))
