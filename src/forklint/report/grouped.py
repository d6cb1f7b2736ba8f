"""Findings grouped by file, with positions and codes in columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from click import style

from forklint.model import Applicability, Finding
from forklint.report import Outcome, visible


def render(outcome: Outcome) -> str:
    """One block a file, a blank line after each."""
    groups = groupby(outcome.findings, key=lambda finding: finding.path)
    return "".join(_block(path, list(findings)) + "\n" for path, findings in groups)


def _block(path: str, findings: Sequence[Finding]) -> str:
    places = [(_row(finding), str(finding.span.column)) for finding in findings]
    left, right = (max(map(len, column)) for column in zip(*places, strict=True))
    lines = [f"{style(visible(path), bold=True)}:\n"]
    for finding, (row, column) in zip(findings, places, strict=True):
        safe = finding.fix is not None and finding.fix.applicability is Applicability.SAFE
        mark = style("[*] ", fg="cyan") if safe else ""
        code = style(finding.code, fg="red", bold=True)
        lines.append(f"  {row:>{left}}:{column:<{right}}  {code} {mark}{finding.message}\n")
    return "".join(lines)


def _row(finding: Finding) -> str:
    cell = "" if finding.notebook_cell is None else f"cell {finding.notebook_cell}:"
    return f"{cell}{finding.span.row}"
