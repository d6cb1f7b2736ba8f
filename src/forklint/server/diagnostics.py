"""Findings as the protocol's diagnostics."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from forklint.model import FileReport, Finding, Link, Severity, Span
from forklint.pages import URL
from forklint.rules.syntax_error import SyntaxFault
from forklint.rules.unused_suppression import UnusedSuppression
from forklint.server.positions import range_of
from forklint.server.texts import Snapshot
from forklint.skipped import is_unconfirmed
from forklint.source.lines import common
from forklint.source.paths import from_root

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
SOURCE = "forklint"
Place = tuple[str, list[str]]
"""The URI and the lines of a text."""


@dataclass(frozen=True)
class Verified:
    """What ``forklint verify`` said of a finding."""

    verdict: str
    evidence: str


@dataclass(frozen=True)
class Result:
    """The report of one version of a document."""

    snapshot: Snapshot
    report: FileReport
    has_fixes: bool = False

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the text is no Python as far as is known, as it is while somebody types in it."""
        return is_unconfirmed(self.report)

    @property
    def is_broken(self) -> bool:
        """Whether the text is no Python, so that the syntax error is all that is found."""
        codes = {finding.code for finding in self.report.findings}
        return codes == {SyntaxFault.code} and self.snapshot.notebook is None

    def ranges(self, encoding: str) -> Iterator[tuple[Finding, str, types.Range]]:
        """Give each finding with the URI of its text, or cell, and the range there."""
        for finding in self.report.findings:
            try:
                uri, lines = self.snapshot.place(finding.notebook_cell)
            except LookupError:  # a notebook without cells
                continue
            yield finding, uri, range_of(lines, finding.span, encoding)


@dataclass(frozen=True)
class Renderer:
    """Makes diagnostics for one client."""

    encoding: str
    place_of: Callable[[Path, int | None], Place | None]
    """The text of a file, or of a cell, for the places that a finding leads through."""
    verdict_of: Callable[[Snapshot, Finding], Verified | None]
    has_related: bool = True
    """Whether the client shows related information."""

    def by_uri(self, result: Result) -> dict[str, list[types.Diagnostic]]:
        """The diagnostics of each text of a document; an empty list for one without."""
        found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in result.snapshot.uris}
        for finding, uri, where in result.ranges(self.encoding):
            found[uri].append(self._diagnostic(result.snapshot, finding, uri, where))
        return found

    def _diagnostic(self, snapshot: Snapshot, finding: Finding, uri: str, where: types.Range) -> types.Diagnostic:
        verified = self.verdict_of(snapshot, finding)
        related = list(self._related(finding))
        message = finding.message
        if verified is not None:
            message += f"\n{verified.verdict} by forklint verify: {verified.evidence}"
            words = f"{verified.verdict}: {verified.evidence}"
            related.append(types.DiagnosticRelatedInformation(types.Location(uri, where), words))
        return types.Diagnostic(
            range=where,
            message=message,
            severity=SEVERITIES[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(URL.format(code=finding.code)),
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if finding.code == UnusedSuppression.code else None,
            related_information=related if self.has_related and related else None,
            data={"fingerprint": finding.fingerprint, "subject": finding.subject},
        )

    def _related(self, finding: Finding) -> Iterator[types.DiagnosticRelatedInformation]:
        for link in finding.chain:
            place = self.place_of(from_root(Path(link.path)), link.notebook_cell)
            if place is not None:
                uri, lines = place
                where = range_of(lines, self._span(link, lines), self.encoding)
                yield types.DiagnosticRelatedInformation(types.Location(uri, where), link.message)

    @staticmethod
    def _span(link: Link, lines: list[str]) -> Span:
        """From the place of a link to the end of its line."""
        end = len(lines[link.row - 1].rstrip()) + 1 if 0 < link.row <= len(lines) else link.column
        return Span(link.row, link.column, link.row, max(end, link.column))


def moved(found: Sequence[types.Diagnostic], before: list[str], after: list[str]) -> list[types.Diagnostic]:
    """The diagnostics of a text, at their places in an edited one; those of edited lines are left out."""
    top = common(before, after)
    bottom = common(before[top:][::-1], after[top:][::-1])
    shift = len(after) - len(before)
    kept = []
    for one in found:
        start, end = one.range.start, one.range.end
        if end.line < top:
            kept.append(one)
        elif start.line >= len(before) - bottom:
            shifted = copy.copy(one)
            rows = (types.Position(place.line + shift, place.character) for place in (start, end))
            shifted.range = types.Range(*rows)
            kept.append(shifted)
    return kept


def can_be_silenced(finding: Finding) -> bool:
    """Whether a comment silences a finding."""
    return finding.code not in {SyntaxFault.code, UnusedSuppression.code}
