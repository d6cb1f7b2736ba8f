"""What a run prints: findings, notes, figures, differences."""

from __future__ import annotations

import difflib
import json as json_module
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from forklint.cli.parameters import CLEAN, FAILED, FOUND
from forklint.model import FileReport, Finding
from forklint.source.discovery import Missing

SKIPPED = ("skipped", "cannot be read")
"""How a note begins that says that a file was not linted."""


def say(line: str) -> None:
    """Print to standard error, with characters that cannot be printed made visible."""
    from forklint.report import visible  # noqa: PLC0415

    click.echo(f"forklint: {visible(line)}", err=True)


def print_findings(reports: Sequence[FileReport], options: dict[str, Any]) -> list[Finding]:
    """Print all findings in the chosen format, or how many there are of each rule; gives them in order."""
    from forklint import report  # noqa: PLC0415
    from forklint.report import concise, full  # noqa: PLC0415
    from forklint.report import json as json_report  # noqa: PLC0415

    findings = report.all_findings(reports)
    if options["statistics"]:
        _print_statistics(findings, as_json=options["output_format"] == "json")
    else:
        render = {"full": full.render, "concise": concise.render, "json": json_report.render}[options["output_format"]]
        click.echo(render(findings), nl=False)
    return findings


def _print_statistics(findings: Sequence[Finding], *, as_json: bool) -> None:
    counts = Counter((finding.code, finding.name) for finding in findings)
    if as_json:
        rows = [{"code": code, "name": name, "count": number} for (code, name), number in counts.most_common()]
        click.echo(json_module.dumps(rows, indent=2))
        return
    for (code, name), number in counts.most_common():
        click.echo(f"{number:>6}  {code}  {name}")


def print_summary(findings: Sequence[Finding], reports: Sequence[FileReport]) -> None:
    """Print how many findings there are and how many can be fixed."""
    from forklint.report import Summary  # noqa: PLC0415

    if not reports:
        say("warning: no Python files found under the given paths")
        return
    skipped = sum(note.message.startswith(SKIPPED) for report in reports for note in report.notes)
    if findings or skipped < len(reports):
        click.echo(Summary.of(findings).line())


def print_fixed(results: Sequence[Any], findings: Sequence[Finding], options: dict[str, Any]) -> None:
    """Print what was fixed and what is left."""
    from forklint.report import Summary  # noqa: PLC0415

    applied = [finding for result in results for finding in result.applied]
    if options["show_fixes"]:
        for finding in applied:
            click.echo(
                f"fixed {finding.path}:{finding.span.row}: {finding.code} {finding.fix.message if finding.fix else ''}"
            )
    if options["quiet"] or options["output_format"] == "json":
        return
    summary = Summary.of(findings)
    tail = "" if options["unsafe_fixes"] else f", {summary.unsafe} more with --unsafe-fixes"
    click.echo(f"{len(applied)} fixed{tail}, {summary.findings} left")


def print_notes(reports: Sequence[FileReport], *, verbose: bool) -> None:
    """Print the notes that a user must see: failures, and files without a finding that were passed over."""
    for report in reports:
        for note in report.notes:
            if note.failure or verbose or not report.findings:
                say(f"{note.path}: {note.message}")


def print_difference(before: str, after: str, name: str, *, new: bool = False) -> None:
    """Print what becomes of a file as a unified difference; ``new`` if there is none so far."""
    from forklint.edits.text import split_lines  # noqa: PLC0415

    old = os.devnull if new else name
    for line in difflib.unified_diff(split_lines(before), split_lines(after), old, name):
        color = {"+": "green", "-": "red", "@": "cyan"}.get(line[0])
        whole = line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        click.echo(click.style(whole, fg=color), nl=False)


def show_diff(results: Sequence[Any], reports: Sequence[FileReport], missing: Sequence[Missing]) -> int:
    """Print what the fixes change, as unified differences; gives the exit code."""
    from forklint.report import visible  # noqa: PLC0415

    changed = 0
    for result in results:
        if result.changed:
            changed += 1
            print_difference(result.before, result.after, visible(result.report.path))
    print_notes(reports, verbose=True)
    say(f"{changed} file{'' if changed == 1 else 's'} would change")
    if missing or any(note.failure for report in reports for note in report.notes):
        return FAILED
    return FOUND if changed else CLEAN
