"""What a run prints: findings, notes, figures, differences."""

from __future__ import annotations

import difflib
import json as json_module
import os
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import click

from forklint.cli import output_file
from forklint.cli.parameters import CLEAN, FAILED, FOUND, Failure
from forklint.model import FileReport, Finding
from forklint.report import Outcome, Summary, file_and_cell, visible
from forklint.report.formats import FORMATS, Counts
from forklint.source.discovery import Missing

SKIPPED = ("skipped", "cannot be read")
"""How a note begins that says that a file was not linted."""


def say(line: str) -> None:
    """Print to standard error, with characters that cannot be printed made visible."""
    click.echo(f"forklint: {visible(line)}", err=True)


def check_options(options: dict[str, Any]) -> None:
    """Raise Failure for options that do not go together, and for a report that cannot be written."""
    name = options["output_format"]
    if options["statistics"] and FORMATS[name].statistics is None:
        able = ", ".join(other for other, form in FORMATS.items() if form.statistics)
        raise Failure(f"--statistics cannot be told as {name}: choose one of {able}")
    if options["output_file"]:
        for other in ("diff", "show_settings", "show_files"):
            if options[other]:
                raise Failure(f"--output-file takes a report, and --{other.replace('_', '-')} prints none: drop one")
    output_file.check(options["output_file"])


def print_findings(outcome: Outcome, options: dict[str, Any]) -> None:
    """Print all findings in the chosen format, or how many there are of each rule."""
    form = FORMATS[options["output_format"]]
    if options["statistics"]:
        _print_statistics(outcome.findings, form.statistics)
        return
    text = form.render(outcome)
    click.echo(text if form.for_people else text.encode(errors="backslashreplace"), nl=False)


def _print_statistics(findings: Sequence[Finding], form: Counts | None) -> None:
    counts = Counter((finding.code, finding.name) for finding in findings).most_common()
    if form is Counts.TABLE:
        for (code, name), number in counts:
            click.echo(f"{number:>6}  {code}  {name}")
        return
    rows = [{"code": code, "name": name, "count": number} for (code, name), number in counts]
    if form is Counts.JSON:
        click.echo(json_module.dumps(rows, indent=2))
    else:
        click.echo("".join(json_module.dumps(row) + "\n" for row in rows), nl=False)


def print_summary(findings: Sequence[Finding], reports: Sequence[FileReport]) -> None:
    """Print how many findings there are and how many can be fixed."""
    if not reports:
        say("warning: no Python files found under the given paths")
        return
    skipped = sum(note.message.startswith(SKIPPED) for report in reports for note in report.notes)
    if findings or skipped < len(reports):
        click.echo(Summary.of(findings).line())


def print_fixed(results: Sequence[Any], findings: Sequence[Finding], options: dict[str, Any]) -> None:
    """Print what was fixed and what is left."""
    applied = [finding for result in results for finding in result.applied]
    for_people = FORMATS[options["output_format"]].for_people
    if options["show_fixes"]:
        for finding in applied:
            words = finding.fix.message if finding.fix else ""
            where = f"{file_and_cell(finding.path, finding.notebook_cell)}:{finding.span.row}"
            click.echo(f"fixed {where}: {finding.code} {words}", err=not for_people)  # a program reads the other stream
    if options["quiet"] or not for_people:
        return
    if options["fix_only"]:
        click.echo(f"{len(applied)} fixed")
        return
    summary = Summary.of(findings)
    tail = f", {summary.unsafe} more with --unsafe-fixes" if summary.unsafe and not options["unsafe_fixes"] else ""
    click.echo(f"{len(applied)} fixed{tail}, {summary.findings} left")


def print_notes(reports: Sequence[FileReport], named: Collection[str] | None, *, verbose: bool) -> None:
    """Print the notes that a user must see: failures, and files without a finding that were passed over.

    ``named`` are the paths that the user gave, as shown; None for every note on a file that is not meant for us.
    """
    for report in reports:
        for note in report.notes:
            if note.only_if_named and named is not None and note.path not in named:
                continue
            if note.failure or verbose or not report.findings:
                say(f"{note.path}: {note.message}")


def print_difference(before: str, after: str, name: str, *, new: bool = False) -> None:
    """Print what becomes of a file as a unified difference; ``new`` if there is none so far."""
    from forklint.source.lines import split_lines  # noqa: PLC0415

    old = os.devnull if new else name
    for line in difflib.unified_diff(split_lines(before), split_lines(after), old, name):
        color = {"+": "green", "-": "red", "@": "cyan"}.get(line[0])
        whole = line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        click.echo(click.style(whole, fg=color), nl=False)


def show_diff(
    results: Sequence[Any], reports: Sequence[FileReport], missing: Sequence[Missing], named: Collection[str] | None
) -> int:
    """Print what the fixes change, as unified differences; gives the exit code."""
    changed = 0
    for result in results:
        changed += result.changed
        for cell, before, after in result.changes():
            print_difference(before, after, file_and_cell(result.report.path, cell))
    print_notes(reports, named, verbose=True)
    say(f"{changed} file{'' if changed == 1 else 's'} would change")
    if missing or any(note.failure for report in reports for note in report.notes):
        return FAILED
    return FOUND if changed else CLEAN
