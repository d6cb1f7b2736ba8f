"""Reports as JSON can hold them, and back; what comes back is checked, since anybody may have written the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from forklint.model import Applicability, Cell, Edit, FileReport, Finding, Fix, Link, Note, Severity, Span

Row = list[Any]
Item = TypeVar("Item")


class MalformedError(Exception):
    """A row that is none of ours."""


def of_report(report: FileReport) -> Row:
    """A report as a row; the path is not in it, nor what only a proof wants to know."""
    return [
        report.suppressed,
        int(report.parsed),
        [_of_finding(finding) for finding in report.findings],
        [[note.message, int(note.failure), int(note.only_if_named), note.stopped] for note in report.notes],
    ]


def report(path: str, row: object) -> FileReport:
    """The report of a file, of which ``path`` is shown; raises MalformedError."""
    suppressed, parsed, findings, notes = _list(row, 4)
    return FileReport(
        path,
        _all(findings, lambda one: replace(_finding(one), path=path)),
        _all(notes, lambda one: _note(path, one)),
        _number(suppressed),
        bool(_number(parsed)),
    )


def _of_finding(finding: Finding) -> Row:
    return [
        finding.code,
        finding.name,
        finding.severity.value,
        _of_span(finding.span),
        finding.message,
        finding.subject,
        [[cell.platform, cell.start_method] for cell in finding.cells],
        [_of_link(link) for link in finding.chain],
        [[fix.message, fix.applicability.value, [_of_edit(edit) for edit in fix.edits]] for fix in finding.fixes],
        finding.qualname,
        finding.text,
        finding.project_path,
        list(finding.comment_rows),
        finding.notebook_cell,
    ]


def _of_link(link: Link) -> Row:
    return [link.path, link.row, link.column, link.message, link.notebook_cell, link.node]


def _of_span(span: Span) -> Row:
    return [span.row, span.column, span.end_row, span.end_column]


def _of_edit(edit: Edit) -> Row:
    return [_of_span(edit.span), edit.content, edit.notebook_cell]


def _finding(row: object) -> Finding:
    code, name, severity, span, *words, cells, chain, fixes, qualname, text, where, rows, cell = _list(row, 14)
    message, subject = words
    first, last = _all(rows, _number)
    return Finding(
        code=_text(code),
        name=_text(name),
        severity=Severity(severity),
        path="",
        span=_span(span),
        message=_text(message),
        subject=_text(subject),
        cells=_all(cells, lambda one: Cell(*_all(_list(one, 2), _text))),
        chain=_all(chain, _link),
        fixes=_all(fixes, _fix),
        qualname=_text(qualname),
        text=_text(text),
        project_path=_text(where),
        comment_rows=(first, last),
        notebook_cell=_cell(cell),
    )


def _note(path: str, row: object) -> Note:
    message, failure, only_if_named, stopped = _list(row, 4)
    return Note(path, _text(message), bool(_number(failure)), bool(_number(only_if_named)), _text(stopped))


def _link(row: object) -> Link:
    path, line, column, message, cell, node = _list(row, 6)
    return Link(_text(path), _number(line), _number(column), _text(message), _cell(cell), _number(node))


def _fix(row: object) -> Fix:
    message, applicability, edits = _list(row, 3)
    return Fix(_text(message), Applicability(applicability), _all(edits, _edit))


def _edit(row: object) -> Edit:
    span, content, cell = _list(row, 3)
    return Edit(_span(span), _text(content), _cell(cell))


def _span(row: object) -> Span:
    return Span(*_all(_list(row, 4), _number))


def _cell(value: object) -> int | None:
    return None if value is None else _number(value)


def _all(row: object, read: Callable[[Any], Item]) -> tuple[Item, ...]:
    if not isinstance(row, list):
        raise MalformedError
    try:
        return tuple([read(item) for item in row])
    except ValueError:  # no word of ours
        raise MalformedError from None


def _list(row: object, length: int) -> Row:
    if not isinstance(row, list) or len(row) != length:
        raise MalformedError
    return row


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise MalformedError
    return value


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise MalformedError
    return value
