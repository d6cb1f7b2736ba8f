"""JUnit XML, which Jenkins and most other services read: a suite for each file, a failed test for each finding."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as ET

from forklint.model import Finding, Note
from forklint.report import Outcome, repository, visible
from forklint.report.sources import Sources

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def render(outcome: Outcome) -> str:
    """All files as one XML document: a file without a finding is a case that passes."""
    findings = {path: list(found) for path, found in groupby(outcome.findings, key=lambda finding: finding.path)}
    failures = [note for note in outcome.notes if note.failure]
    paths = dict.fromkeys([*outcome.files, *findings, *(note.path for note in failures)])
    suites = ET.Element("testsuites", name="forklint")
    for path in paths:
        broken = [note for note in failures if note.path == path]
        _suite(suites, path, findings.get(path, []), broken, outcome.sources)
    for name in ("tests", "failures", "errors"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    ET.indent(suites)
    return f"{DECLARATION}\n{ET.tostring(suites, encoding='unicode')}\n"


def _suite(suites: ET.Element, path: str, findings: list[Finding], failures: list[Note], sources: Sources) -> None:
    name = visible(repository.plain(path))
    suite = ET.SubElement(suites, "testsuite", name=name)
    counts = {
        "tests": max(1, len(findings) + len(failures)),
        "failures": len(findings),
        "errors": len(failures),
        "skipped": 0,
    }
    for key, number in counts.items():
        suite.set(key, str(number))
    for finding in findings:
        case = ET.SubElement(suite, "testcase", classname=name, file=name)
        case.set("name", f"{finding.code} {finding.name} ({_place(finding)})")
        case.set("line", str(sources.file_row(path, finding.span.row, finding.notebook_cell)))
        text = visible(finding.message)
        failure = ET.SubElement(case, "failure", message=text, type=finding.severity.value)
        failure.text = f"{name}:{_place(finding)}: {finding.code} {text}"
    for note in failures:
        case = ET.SubElement(suite, "testcase", classname=name, file=name, name="forklint")
        ET.SubElement(case, "error", message=visible(note.message), type="failed")
    if not findings and not failures:
        ET.SubElement(suite, "testcase", classname=name, file=name, name="forklint")


def _place(finding: Finding) -> str:
    cell = "" if finding.notebook_cell is None else f"cell {finding.notebook_cell}:"
    return f"{cell}{finding.span.row}:{finding.span.column}"
