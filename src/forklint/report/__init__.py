"""Output formats for people and programs, one module for each format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from forklint.model import Applicability, FileReport, Finding, Note, Severity
from forklint.records import dataclass
from forklint.report.sources import Sources

if TYPE_CHECKING:
    from forklint.saved_verdicts import Shown


@dataclass(frozen=True)
class Outcome:
    """The result of a run, from which each format is rendered."""

    findings: Sequence[Finding]
    """In order of path and place."""
    notes: Sequence[Note] = ()
    """Notes about skipped files and failures, including paths that do not exist."""
    files: Sequence[str] = ()
    """Paths of all files that were linted, as shown to the user."""
    enabled: Callable[[], frozenset[str]] = frozenset
    """Returns the codes of the rules that ran in at least one file; this imports all rules."""
    sources: Sources = field(default_factory=Sources)
    verdicts: Mapping[Finding, Shown] = field(default_factory=dict)
    """Saved verdicts of ``forklint verify`` on the findings."""
    properties: Mapping[Finding, Mapping[str, Any]] = field(default_factory=dict)
    """Additional data on findings, such as their proofs, for formats that support it."""

    @property
    def failed(self) -> bool:
        """Whether forklint could not do all of its work."""
        return any(note.failure for note in self.notes)


@dataclass(frozen=True)
class Summary:
    """The figures of a run."""

    findings: int
    errors: int
    warnings: int
    safe: int
    unsafe: int

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Summary:
        """Count findings."""
        fixes = [finding.fix for finding in findings]
        return cls(
            len(findings),
            sum(finding.severity is Severity.ERROR for finding in findings),
            sum(finding.severity is Severity.WARNING for finding in findings),
            sum(fix is not None and fix.applicability is Applicability.SAFE for fix in fixes),
            sum(fix is not None and fix.applicability is Applicability.UNSAFE for fix in fixes),
        )

    def line(self) -> str:
        """One line with the number of findings and the number that can be fixed."""
        if not self.findings:
            return "All checks passed."
        parts = [f"Found {count(self.findings, 'finding')}."]
        if self.safe:
            parts.append(f"{self.safe} fixable with --fix.")
        if self.unsafe:
            parts.append(f"{self.unsafe} {'more ' if self.safe else ''}with --fix --unsafe-fixes.")
        return " ".join(parts)


def visible(text: str) -> str:
    """A path or name with escaped control characters and undecodable bytes, so that it stays on one line."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def visible_code(line: str) -> str:
    """A line of code with escaped control characters, but for tabs."""
    return "\t".join(map(visible, line.split("\t")))


def spelt_out(text: str) -> str:
    """Text with escaped undecodable bytes, which strict readers would reject."""
    return text.encode(errors="backslashreplace").decode()


def place(finding: Finding) -> str:
    """The position of a finding: ``path:row:column``, in a notebook ``path:cell n:row:column``."""
    return f"{file_and_cell(finding.path, finding.notebook_cell)}:{finding.span.row}:{finding.span.column}"


def file_and_cell(path: str, notebook_cell: int | None) -> str:
    """A path, and in a notebook the number of the cell: ``path:cell n``."""
    return visible(path) if notebook_cell is None else f"{visible(path)}:cell {notebook_cell}"


def count(number: int, word: str) -> str:
    """``1 finding``, ``2 findings``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def all_findings(reports: Sequence[FileReport]) -> list[Finding]:
    """The findings of all files, in order of path and place."""
    return sorted((finding for report in reports for finding in report.findings), key=lambda finding: finding.sort_key)
