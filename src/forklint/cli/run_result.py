"""The result of a run: printed in the chosen format, and as an exit code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forklint.cli.errors import CLEAN, FAILED, FOUND
from forklint.cli.output import print_differences, print_findings, print_fixed, print_notes, print_summary, say
from forklint.cli.output_file import output_to
from forklint.config import SettingsFinder
from forklint.model import FileReport, Note, Severity
from forklint.records import dataclass
from forklint.report import Outcome, all_findings
from forklint.report.formats import FORMATS
from forklint.report.sources import Sources
from forklint.source.discovery import Missing

if TYPE_CHECKING:
    from forklint.fixing import Fixed
    from forklint.model import Finding
    from forklint.saved_verdicts import Shown


@dataclass(frozen=True)
class RunResult:
    """The result of a run."""

    reports: Sequence[FileReport]
    fixed: Sequence[Fixed] = ()
    missing: Sequence[Missing] = ()
    named: Collection[str] | None = None
    """Paths on the command line, as shown; None prints the notes on every file that is not Python, too."""
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    """As in Sources."""
    closing: str = ""
    """A line that replaces the summary."""
    verdicts: Mapping[Finding, Shown] = field(default_factory=dict)
    """Saved verdicts of ``forklint verify``."""
    left_aside: str = ""
    """A last line about findings that are not shown."""

    @property
    def failed(self) -> bool:
        """Whether some files could not be linted."""
        return bool(self.missing) or any(note.failure for report in self.reports for note in report.notes)


def print_result(ran: RunResult, finder: SettingsFinder, options: dict[str, Any]) -> int:
    """Print the result of a run; returns the exit code."""
    verbose = any(options[name] for name in ("verbose", "fix", "diff")) or bool(ran.closing)
    print_notes(ran.reports, ran.named, verbose=verbose, stopped=options["verbose"])
    if options["diff"]:
        print_differences(ran.fixed)
        return _exit_code(ran, finder, options)
    outcome = outcome_of(ran, finder, fix_only=options["fix_only"], stopped=options["verbose"])
    with output_to(options["output_file"]):
        print_findings(outcome, options)
        if options["fix"]:
            print_fixed(ran.fixed, outcome.findings, options)
        elif options["quiet"] or not FORMATS[options["output_format"]].for_people:
            pass
        elif not ran.reports and not ran.missing:
            say("warning: no Python files found under the given paths")
        elif options["update_baseline"]:
            pass
        elif ran.closing:
            click.echo(ran.closing)
        else:
            print_summary(outcome.findings, ran.reports)
        if ran.left_aside and not options["quiet"]:
            click.echo(ran.left_aside, err=not FORMATS[options["output_format"]].for_people)
    return _exit_code(ran, finder, options)


def outcome_of(ran: RunResult, finder: SettingsFinder, *, fix_only: bool = False, stopped: bool = False) -> Outcome:
    """The result of a run, for output formats; with ``stopped``, also which rules ran out of their budgets."""
    return Outcome(
        [] if fix_only else all_findings(ran.reports),
        notes=[
            *(Note(str(item.path), item.reason, failure=True) for item in ran.missing),
            *(
                note
                for report in ran.reports
                for note in report.notes
                if (not note.only_if_named or ran.named is None or note.path in ran.named)
                and (not note.stopped or stopped)
            ),
        ],
        files=[report.path for report in ran.reports],
        enabled=lambda: _enabled(ran.reports, finder),
        sources=Sources(ran.overlay),
        verdicts=ran.verdicts,
    )


def _enabled(reports: Sequence[FileReport], finder: SettingsFinder) -> frozenset[str]:
    from forklint.rules import registry  # noqa: PLC0415 - it imports all rules, and few formats name them

    settings = {id(one): one for one in (finder.for_file(Path(report.path)) for report in reports)}.values()
    return frozenset().union(*(one.enabled(registry.codes()) for one in settings))


def _exit_code(ran: RunResult, finder: SettingsFinder, options: dict[str, Any]) -> int:
    if ran.failed:
        return FAILED
    if options["exit_zero"]:
        return CLEAN
    if options["diff"]:
        return FOUND if any(result.changed for result in ran.fixed) else CLEAN
    if options["exit_non_zero_on_fix"] and any(result.applied for result in ran.fixed):
        return FOUND
    return FOUND if not options["fix_only"] and _fails(ran.reports, finder) else CLEAN


def _fails(reports: Sequence[FileReport], finder: SettingsFinder) -> bool:
    """Whether a finding is at least as severe as ``exit-on``."""
    for report in (report for report in reports if report.findings):
        threshold: Severity = finder.for_file(Path(report.path)).exit_on
        if any(finding.severity.rank >= threshold.rank for finding in report.findings):
            return True
    return False
