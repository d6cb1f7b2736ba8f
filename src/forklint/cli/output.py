"""What a run prints: findings, notes, statistics, diffs."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from forklint.model import FileReport, Finding
from forklint.report import Outcome, Summary, file_and_cell, visible, visible_code
from forklint.report.formats import FORMATS, Counts

if TYPE_CHECKING:
    from forklint.fixing import Fixed

SKIPPED = ("skipped", "cannot be read")
"""A note that begins with one of these says that a file was not linted."""


def say(line: str) -> None:
    """Print to standard error, with unprintable characters escaped."""
    click.echo(f"forklint: {visible(line)}", err=True)


def print_findings(outcome: Outcome, options: dict[str, Any]) -> None:
    """Print all findings in the chosen format, or the number of findings for each rule."""
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
    import json  # noqa: PLC0415 - only for these forms

    rows = [{"code": code, "name": name, "count": number} for (code, name), number in counts]
    if form is Counts.JSON:
        click.echo(json.dumps(rows, indent=2))
    else:
        click.echo("".join(json.dumps(row) + "\n" for row in rows), nl=False)


def print_summary(findings: Sequence[Finding], reports: Sequence[FileReport]) -> None:
    """Print how many findings there are and how many can be fixed."""
    skipped = sum(note.message.startswith(SKIPPED) for report in reports for note in report.notes)
    if findings or skipped < len(reports):
        click.echo(Summary.of(findings).line())


def print_fixed(results: Sequence[Fixed], findings: Sequence[Finding], options: dict[str, Any]) -> None:
    """Print what was fixed and how many findings remain."""
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
    tail = f" ({summary.unsafe} fixable with --unsafe-fixes)" if summary.unsafe and not options["unsafe_fixes"] else ""
    click.echo(f"{len(applied)} fixed, {summary.findings} remaining{tail}")


def print_notes(
    reports: Sequence[FileReport], named: Collection[str] | None, *, verbose: bool, stopped: bool = False
) -> None:
    """Print the notes that a user must see: failures, and skipped files without findings.

    ``named`` are the paths on the command line, as shown; None prints the notes on every file that is not Python, too.
    ``stopped`` also prints the notes on rules that ran out of their budget.
    """
    for report in reports:
        for note in report.notes:
            if note.only_if_named and named is not None and note.path not in named:
                continue
            if note.stopped:
                if stopped:
                    say(f"{note.path}: {note.message}")
                continue
            if note.failure or verbose or not report.findings:
                say(f"{note.path}: {note.message}")


def print_difference(before: str, after: str, name: str, *, new: bool = False) -> None:
    """Print the change of a file as a unified diff; ``new`` if the file does not exist yet."""
    import difflib  # noqa: PLC0415 - most runs show no difference

    from forklint.source.lines import split_lines  # noqa: PLC0415

    old = os.devnull if new else name
    is_terminal = sys.stdout.isatty()
    wanted = click.get_current_context().color
    is_colored = is_terminal if wanted is None else wanted
    for line in difflib.unified_diff(split_lines(before), split_lines(after), old, name):
        color = {"+": "green", "-": "red", "@": "cyan"}.get(line[0])
        whole = line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        if is_terminal:  # elsewhere it must stay a patch that can be applied
            whole = "".join(f"{visible_code(row)}\n" for row in whole.splitlines())
        click.echo(click.style(whole, fg=color) if is_colored else whole, nl=False, color=True)


def print_differences(results: Sequence[Fixed]) -> None:
    """Print what the fixes change as unified diffs, and the number of files."""
    changed = 0
    for result in results:
        changed += result.changed
        for cell, before, after in result.changes():
            print_difference(before, after, file_and_cell(result.report.path, cell))
    say(f"{changed} file{'' if changed == 1 else 's'} would change")
