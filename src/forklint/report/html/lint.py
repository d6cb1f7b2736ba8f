"""What the page of a run of lint shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from forklint.model import Applicability, Cell, Finding, Link
from forklint.report import Outcome, Summary, count
from forklint.report.html import diffs
from forklint.report.html.code import Excerpts
from forklint.report.html.rule_pages import explanations
from forklint.source.paths import relative_to

MOST_WITH_CODE = 300
"""Findings that are shown with their code and fixes: a page with more is slow to open, above all on a phone."""
MOST_LINKED = 200
"""Files in the list beside the findings."""
LABELS = {"error": "errors", "warning": "warnings", "info": "info"}
FIXES = {
    Applicability.SAFE: "Safe fix",
    Applicability.UNSAFE: "Unsafe fix",
    Applicability.DISPLAY: "Suggestion",
}
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "windows": "Windows"}


def view(outcome: Outcome) -> dict[str, Any]:
    """Make what the template shows."""
    findings = outcome.findings
    excerpts = Excerpts(outcome.sources)
    files = [
        _file(number, path, list(some), outcome, excerpts)
        for number, (path, some) in enumerate(groupby(_detailed(findings), key=lambda pair: pair[1].path), 1)
    ]
    return {
        "title": _title(findings, files),
        "lead": _lead(findings, len(outcome.files)),
        "tallies": tallies(Counter(one.severity.value for one in findings), LABELS),
        "rules": rules(findings),
        "files": files,
        "linked": files[:MOST_LINKED],
        "most_with_code": MOST_WITH_CODE if len(findings) > MOST_WITH_CODE else 0,
        "failures": [note for note in outcome.notes if note.failure],
        "notes": [note for note in outcome.notes if not note.failure],
        "explanations": explanations(one.code for one in findings),
    }


def tallies(counts: Counter[str], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """How many of each kind there are, with their parts of a bar that is 100 wide."""
    total, at, rows = counts.total(), 0.0, []
    for kind, label in labels.items():
        width = 100 * counts[kind] / total if total else 0.0
        rows.append(
            {"kind": kind, "label": label, "number": counts[kind], "at": round(at, 2), "width": round(width, 2)}
        )
        at += width
    return rows


def rules(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The rules that found something, the most frequent first."""
    counts = Counter((one.code, one.name) for one in findings)
    worst = {one.code: one.severity.value for one in sorted(findings, key=lambda one: one.severity.rank)}
    return [
        {"code": code, "name": name, "number": number, "kind": worst[code]}
        for (code, name), number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def describe(number: int, finding: Finding, excerpts: Excerpts) -> dict[str, Any]:
    """What is shown of a finding, without its fixes: where it is, what it says, its code and its chain."""
    return {
        "id": f"finding-{number}",
        "code": finding.code,
        "name": finding.name,
        "kind": finding.severity.value,
        "message": finding.message,
        "place": place(finding.span.row, finding.span.column, finding.notebook_cell),
        "cells": cells(finding.cells),
        "excerpt": excerpts.around(finding.path, finding.notebook_cell, finding.span),
        "chain": [_link(link, excerpts) for link in finding.chain],
    }


def cells(found: Sequence[Cell]) -> list[str]:
    """Where a finding applies, by platform."""
    methods: dict[str, list[str]] = {}
    for cell in found:
        methods.setdefault(SYSTEMS.get(cell.platform, cell.platform), []).append(cell.start_method)
    return [f"{system}: {', '.join(some)}" for system, some in methods.items()]


def place(row: int, column: int, cell: int | None) -> str:
    """A place in a file, as it is said in a sentence."""
    return f"{'' if cell is None else f'cell {cell}, '}line {row}, column {column}"


def _title(findings: Sequence[Finding], files: Sequence[Any]) -> str:
    if not findings:
        return "No findings"
    return f"{count(len(findings), 'finding')} in {count(len(files), 'file')}"


def _lead(findings: Sequence[Finding], linted: int) -> str:
    summary = Summary.of(findings)
    parts = [f"{count(linted, 'file')} checked"]
    if summary.safe:
        parts.append(f"{summary.safe} fixable with --fix")
    if summary.unsafe:
        parts.append(f"{summary.unsafe}{' more' if summary.safe else ' fixable'} with --fix --unsafe-fixes")
    return "; ".join(parts) + "."


def _detailed(findings: Sequence[Finding]) -> Iterator[tuple[int, Finding]]:
    return enumerate(sorted(findings, key=lambda one: one.sort_key), 1)


def _file(
    number: int, path: str, numbered: Sequence[tuple[int, Finding]], outcome: Outcome, excerpts: Excerpts
) -> dict[str, Any]:
    shown = [_finding(at, finding, outcome, excerpts) for at, finding in numbered]
    worst = max((finding.severity for _, finding in numbered), key=lambda one: one.rank)
    return {"id": f"file-{number}", "path": path, "kind": worst.value, "findings": shown}


def _finding(number: int, finding: Finding, outcome: Outcome, excerpts: Excerpts) -> dict[str, Any]:
    if number > MOST_WITH_CODE:
        short = {"excerpt": [], "chain": [], "fixes": [], "verified": ""}
        where = place(finding.span.row, finding.span.column, finding.notebook_cell)
        words = {"code": finding.code, "name": finding.name, "message": finding.message}
        kind = finding.severity.value
        return {**short, **words, "id": f"finding-{number}", "kind": kind, "place": where, "cells": []}
    verdict = outcome.verdicts.get(finding)
    fixes = [
        {
            "label": FIXES[fix.applicability],
            "message": fix.message,
            "changes": diffs.of_fix(finding, fix, outcome.sources),
        }
        for fix in finding.fixes
    ]
    verified = f"{verdict.words}: {verdict.kept.evidence}" if verdict else ""
    return {**describe(number, finding, excerpts), "fixes": fixes, "verified": verified}


def _link(link: Link, excerpts: Excerpts) -> dict[str, Any]:
    path = relative_to(Path(link.path), Path.cwd())
    return {
        "place": f"{path}, {place(link.row, link.column, link.notebook_cell)}",
        "message": link.message,
        "excerpt": excerpts.line(path, link.notebook_cell, link.row),
    }
