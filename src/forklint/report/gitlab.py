"""A code quality report of GitLab, for ``artifacts:reports:codequality``.

Fields: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from forklint.model import Finding, Severity
from forklint.report import Outcome, repository, spelt_out
from forklint.report.sources import Sources

SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(outcome: Outcome) -> str:
    """All findings as one JSON array."""
    seen: Counter[str] = Counter()
    issues = []
    for finding in outcome.findings:
        seen[finding.fingerprint] += 1
        issues.append(_issue(finding, seen[finding.fingerprint], outcome.sources))
    return json.dumps(issues, indent=2) + "\n"


def _issue(finding: Finding, number: int, sources: Sources) -> dict[str, Any]:
    """One finding; ``number`` distinguishes equal ones, since GitLab drops duplicates."""
    span, cell = finding.span, finding.notebook_cell
    first, last = (sources.file_row(finding.path, row, cell) for row in (span.row, span.end_row))
    where = "" if cell is None else f"cell {cell}, line {span.row}: "
    return {
        "description": spelt_out(f"{where}{finding.message}"),
        "check_name": f"{finding.code} {finding.name}",
        "fingerprint": hashlib.sha256(f"{finding.fingerprint}:{number}".encode()).hexdigest(),
        "severity": SEVERITIES[finding.severity],
        "location": {
            "path": repository.plain(finding.path),
            "lines": {"begin": first, "end": last},
        },
    }
