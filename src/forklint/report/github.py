"""Workflow commands of GitHub Actions: one annotation for each finding.

Form and escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions and the functions
``escapeData`` and ``escapeProperty`` of https://github.com/actions/toolkit (packages/core/src/command.ts).
"""

from __future__ import annotations

from forklint.model import Finding, Severity
from forklint.report import Outcome, repository, visible
from forklint.report.sources import Sources

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = {**DATA, **str.maketrans({":": "%3A", ",": "%2C"})}


def render(outcome: Outcome) -> str:
    """``::error file=...,line=...,title=...::message``, a line each; nothing where there is no finding."""
    return "".join(_command(finding, outcome.sources) + "\n" for finding in outcome.findings)


def _command(finding: Finding, sources: Sources) -> str:
    span, cell = finding.span, finding.notebook_cell
    message = _printable(finding.message)
    properties = {"file": _printable(repository.plain(finding.path))}
    if cell is None:
        properties |= {"line": str(span.row), "endLine": str(span.end_row)}
        if span.end_row == span.row:  # GitHub drops columns that are not on one line
            properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    else:  # rows of a cell are no rows of the file, and columns none of its JSON
        message = f"cell {cell}, line {span.row}: {message}"
        properties["line"] = str(sources.file_row(finding.path, span.row, cell))
    properties["title"] = f"forklint ({finding.code})"
    pairs = ",".join(f"{name}={value.translate(PROPERTY)}" for name, value in properties.items())
    return f"::{COMMANDS[finding.severity]} {pairs}::{message.translate(DATA)}"


def _printable(text: str) -> str:
    """Text whose control characters are spelt out, but for those that have an escape of their own."""
    return "".join(character if character in "\r\n" else visible(character) for character in text)
