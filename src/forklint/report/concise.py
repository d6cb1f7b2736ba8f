"""One line for each finding."""

from __future__ import annotations

from click import style

from forklint.model import Applicability, Finding
from forklint.report import Outcome, file_and_cell, visible


def render(outcome: Outcome) -> str:
    """``path:row:column: CODE [*] message``, ``[*]`` where a safe fix is at hand."""
    return "".join(_line(finding, outcome) for finding in outcome.findings)


def _line(finding: Finding, outcome: Outcome) -> str:
    fix = finding.fix
    mark = style("[*] ", fg="cyan") if fix and fix.applicability is Applicability.SAFE else ""
    file = style(file_and_cell(finding.path, finding.notebook_cell), bold=True)
    place = f"{file}:{finding.span.row}:{finding.span.column}:"
    shown = outcome.verdicts.get(finding)
    verdict = f" ({visible(shown.words)})" if shown else ""
    return f"{place} {style(finding.code, fg='red', bold=True)} {mark}{finding.message}{verdict}\n"
