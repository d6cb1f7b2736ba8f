"""A JSON array in the format of Ruff, with additional keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forklint.model import Finding, Fix
from forklint.pages import URL
from forklint.report import Outcome
from forklint.source.paths import from_root


def render(outcome: Outcome) -> str:
    """All findings as one JSON text."""
    return json.dumps([of_outcome(finding, outcome) for finding in outcome.findings], indent=2) + "\n"


def of_outcome(finding: Finding, outcome: Outcome) -> dict[str, Any]:
    """One finding, with its saved verdict if there is one."""
    shown = outcome.verdicts.get(finding)
    return to_dict(finding) | ({"verdict": shown.as_json()} if shown else {})


def to_dict(finding: Finding) -> dict[str, Any]:
    """One finding; rows and columns count from 1, columns in characters."""
    span = finding.span
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "subject": finding.subject,
        "filename": str(from_root(Path(finding.path))),
        **_cell(finding.notebook_cell),
        "location": {"row": span.row, "column": span.column},
        "end_location": {"row": span.end_row, "column": span.end_column},
        "cells": [{"platform": cell.platform, "start_method": cell.start_method} for cell in finding.cells],
        "chain": [
            {
                "filename": link.path,
                **_cell(link.notebook_cell),
                "location": {"row": link.row, "column": link.column},
                "message": link.message,
            }
            for link in finding.chain
        ],
        "fix": _fix(finding.fix) if finding.fix else None,
        "alternatives": [_fix(fix) for fix in finding.fixes if fix is not finding.fix],
        "fingerprint": finding.fingerprint,
        "url": URL.format(code=finding.code),
    }


def _cell(number: int | None) -> dict[str, int]:
    """The number of a notebook's cell; nothing for other files."""
    return {} if number is None else {"cell": number}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "message": fix.message,
        "applicability": fix.applicability.value,
        "edits": [
            {
                "content": edit.content,
                **_cell(edit.notebook_cell),
                "location": {"row": edit.span.row, "column": edit.span.column},
                "end_location": {"row": edit.span.end_row, "column": edit.span.end_column},
            }
            for edit in fix.edits
        ],
    }
