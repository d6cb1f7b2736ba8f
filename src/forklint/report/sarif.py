"""SARIF 2.1.0, the exchange format of static analysis: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.

What GitHub's code scanning asks of it beyond the schema:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from forklint import __version__, pages
from forklint.model import Applicability, Edit, Finding, Fix, Link, Note, Severity, Span
from forklint.report import Outcome, repository, spelt_out
from forklint.report.sources import Sources
from forklint.rules import registry
from forklint.rules.base import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE = "%SRCROOT%"
"""The name that GitHub knows the repository's root by."""
FINGERPRINT = "forklint/v1"
"""The number goes up when fingerprints are made in another way."""
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
LONGEST = 1000
"""Characters of a description (GitHub takes 1,024) and of a snippet: a table may stand on one line."""
CONTEXT = 2
"""Lines shown around a finding."""

Json = dict[str, Any]


def render(outcome: Outcome) -> str:
    """One run, as a document of its own also where nothing was found."""
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(outcome)]}, indent=2) + "\n"


def _run(outcome: Outcome) -> Json:
    wanted = outcome.enabled() | {finding.code for finding in outcome.findings}
    rules = [rule for rule in registry.all_rules() if rule.code in wanted]
    indices = {rule.code: index for index, rule in enumerate(rules)}
    return {
        "tool": {
            "driver": {
                "name": "forklint",
                "version": __version__,
                "informationUri": pages.SITE,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not outcome.failed,
                "toolExecutionNotifications": [_notification(note) for note in outcome.notes],
            }
        ],
        "originalUriBaseIds": {BASE: {"uri": f"{repository.root().as_uri().rstrip('/')}/"}},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": [_result(finding, indices[finding.code], outcome) for finding in outcome.findings],
    }


def _rule(rule: type[Rule]) -> Json:
    page = rule.page()
    markdown = pages.to_markdown(rule)
    what = page.sections[0][1] if page.sections else page.summary
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _shortened(page.summary)},
        "fullDescription": {"text": _shortened(what)},
        "help": {"text": markdown, "markdown": markdown},
        "helpUri": pages.URL.format(code=rule.code),
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {
            "tags": ["correctness", "pytorch", "multiprocessing"],
            "precision": "medium" if rule.preview else "high",
            "problem.severity": PROBLEMS[rule.severity],
        },
    }


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(None, 1)[0]} ..."


def _notification(note: Note) -> Json:
    return {
        "level": "error" if note.failure else "note",
        "message": {"text": spelt_out(note.message)},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(note.path)}}],
    }


def _result(finding: Finding, rule_index: int, outcome: Outcome) -> Json:
    properties: Json = {"subject": spelt_out(finding.subject), "cells": [str(cell) for cell in finding.cells]}
    if finding.notebook_cell is not None:
        properties["notebookCell"] = finding.notebook_cell
    words = [fix.message for fix in finding.fixes if fix.applicability is Applicability.DISPLAY or not fix.edits]
    if words:
        properties["suggestions"] = words
    shown = outcome.verdicts.get(finding)
    if shown is not None:
        properties["savedVerdict"] = {**shown.as_json(), "evidence": spelt_out(shown.kept.evidence)}
    properties |= outcome.properties.get(finding, {})
    sources = outcome.sources
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [_location(finding, sources)],
        "relatedLocations": [_related(number, link, sources) for number, link in enumerate(finding.chain, 1)],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "fixes": _fixes(finding, sources),
        "properties": properties,
    }
    return {key: value for key, value in result.items() if value != []}


def _message(finding: Finding) -> str:
    """The message with its chain: GitHub shows a related location where the message links to it."""
    links = ", ".join(f"[{_linked(link.message)}]({number})" for number, link in enumerate(finding.chain, 1))
    return spelt_out(f"{finding.message} ({links})" if links else finding.message)


def _linked(text: str) -> str:
    """Text of a link, in which brackets are escaped (SARIF 3.11.6)."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _location(finding: Finding, sources: Sources) -> Json:
    if finding.notebook_cell is not None:
        return _in_cell(finding.path, finding.notebook_cell, finding.span, sources)
    lines = sources.lines(finding.path)
    place: Json = {"artifactLocation": _artifact(finding.path)}
    place["region"] = _region(finding.span) | _snippet(_text_of(lines, finding.span))
    first, last = max(1, finding.span.row - CONTEXT), min(len(lines), finding.span.end_row + CONTEXT)
    context = _snippet("".join(lines[first - 1 : last]))
    if context:
        place["contextRegion"] = {"startLine": first, "endLine": last, **context}
    return {"physicalLocation": place}


def _related(number: int, link: Link, sources: Sources) -> Json:
    if link.notebook_cell is None:
        region = {"startLine": link.row, "startColumn": link.column}
        where: Json = {"physicalLocation": {"artifactLocation": _artifact(link.path), "region": region}}
    else:
        where = _in_cell(link.path, link.notebook_cell, Span(link.row, link.column, link.row, link.column), sources)
    return {"id": number, "message": {"text": spelt_out(link.message)}, **where}


def _in_cell(path: str, number: int, span: Span, sources: Sources) -> Json:
    """A place in a notebook: the lines of its JSON, whole, and the cell and its own line by name."""
    first, last = (sources.file_row(path, row, number) for row in (span.row, span.end_row))
    name = f"cell {number}, line {span.row}"
    return {
        "physicalLocation": {"artifactLocation": _artifact(path), "region": {"startLine": first, "endLine": last}},
        "logicalLocations": [{"name": name, "fullyQualifiedName": name}],
    }


def _fixes(finding: Finding, sources: Sources) -> list[Json]:
    """The fixes that can be applied; in a notebook none, since their places are those of cells."""
    if finding.notebook_cell is not None:
        return []
    lines = sources.lines(finding.path)
    return [
        _fix(fix, finding.path, lines)
        for fix in finding.fixes
        if fix.edits and fix.applicability is not Applicability.DISPLAY
    ]


def _fix(fix: Fix, path: str, lines: Sequence[str]) -> Json:
    replacements = [
        {"deletedRegion": _region(_within(edit, lines)), "insertedContent": {"text": edit.content}}
        for edit in fix.edits
    ]
    return {
        "description": {"text": fix.message},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
        "properties": {"applicability": fix.applicability.value},
    }


def _within(edit: Edit, lines: Sequence[str]) -> Span:
    """The span of an edit; what reaches behind a last line that has no end stops at its last character."""
    span = edit.span
    if not lines or lines[-1].endswith(("\r", "\n")):
        return span
    end = (len(lines), len(lines[-1]) + 1)
    start, stop = min((span.row, span.column), end), min((span.end_row, span.end_column), end)
    return Span(*start, *stop)


def _region(span: Span) -> Json:
    return {
        "startLine": span.row,
        "startColumn": span.column,
        "endLine": span.end_row,
        "endColumn": span.end_column,
    }


def _text_of(lines: Sequence[str], span: Span) -> str:
    rows = list(lines[span.row - 1 : span.end_row])
    if len(rows) == span.end_row - span.row + 1:
        rows[-1] = rows[-1][: span.end_column - 1]
        rows[0] = rows[0][span.column - 1 :]
    return "".join(rows)


def _snippet(text: str) -> Json:
    return {"snippet": {"text": text}} if 0 < len(text) <= LONGEST else {}


def _artifact(path: str) -> Json:
    relative = repository.inside(path)
    if relative is None:
        return {"uri": repository.absolute(path).as_uri()}
    return {"uri": repository.relative_uri(relative), "uriBaseId": BASE}
