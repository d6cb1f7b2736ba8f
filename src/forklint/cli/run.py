"""One run over the paths: files found, linted or fixed, and the outcome printed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click

from forklint import config
from forklint.cli.output import check_options, print_findings, print_fixed, print_notes, print_summary, say, show_diff
from forklint.cli.output_file import output_to
from forklint.cli.parameters import CLEAN, FAILED, FOUND, overrides
from forklint.cli.settings import show_settings
from forklint.model import FileReport, Note, Severity
from forklint.report import Outcome, all_findings
from forklint.report.formats import FORMATS
from forklint.source.discovery import Missing, find_files
from forklint.source.paths import shown


def run(options: dict[str, Any]) -> int:
    """Do what the options of ``lint`` say; gives the exit code; raises ConfigError."""
    from forklint.parallel import Job, fix_all  # noqa: PLC0415 - `--version` and `--help` need none of it
    from forklint.parallel import lint as lint_files  # noqa: PLC0415

    check_options(options)
    finder = config.SettingsFinder(overrides(options), config=options["config_file"], isolated=options["isolated"])
    paths = options["paths"] or (Path(),)
    if options["show_settings"]:
        show_settings(finder, paths[0])
        return CLEAN
    excluded = lambda path: finder.for_file(path).excludes(path)  # noqa: E731 - it is not called by its name
    found = list(find_files(paths, excluded, force_exclude=options["force_exclude"]))
    missing = [item for item in found if isinstance(item, Missing)]
    files = [item for item in found if isinstance(item, Path)]
    for item in missing:
        say(f"{item.path}: {item.reason}")
    if options["show_files"]:
        click.echo("".join(f"{path}\n" for path in files), nl=False)
        return FAILED if missing else CLEAN
    for path in files:
        finder.for_file(path)  # a wrong configuration is said before any work is done
    named = None if options["verbose"] else {shown(path) for path in paths}
    job = Job(
        overrides=overrides(options),
        config=options["config_file"],
        isolated=options["isolated"],
        screen=not options["no_screen"],
        with_fixes=not options["statistics"] or options["fix"],
    )
    if options["fix"] or options["diff"]:
        write = options["fix"] and not options["diff"]
        results = fix_all(job, files, options["jobs"], unsafe=options["unsafe_fixes"], write=write)
        reports = [result.report for result in results]
        if options["diff"]:
            code = show_diff(results, reports, missing, named)
            return CLEAN if options["exit_zero"] and code == FOUND else code
    else:
        results, reports = [], lint_files(job, files, options["jobs"])
    print_notes(reports, named, verbose=options["verbose"] or options["fix"])
    outcome = _outcome(finder, reports, missing, named)
    with output_to(options["output_file"]):
        print_findings(outcome, options)
        if options["fix"]:
            print_fixed(results, outcome.findings, options)
        elif not options["quiet"] and FORMATS[options["output_format"]].for_people:
            print_summary(outcome.findings, reports)
    return _exit_code(reports, missing, finder, exit_zero=options["exit_zero"])


def _outcome(
    finder: config.SettingsFinder,
    reports: Sequence[FileReport],
    missing: Sequence[Missing],
    named: Collection[str] | None,
) -> Outcome:
    """What the run has to tell, for the formats; ``named`` as for ``print_notes``."""
    from forklint.rules import registry  # noqa: PLC0415

    settings = {id(one): one for one in (finder.for_file(Path(report.path)) for report in reports)}.values()
    return Outcome(
        all_findings(reports),
        notes=[
            *(Note(str(item.path), item.reason, failure=True) for item in missing),
            *(
                note
                for report in reports
                for note in report.notes
                if not note.only_if_named or named is None or note.path in named
            ),
        ],
        files=[report.path for report in reports],
        enabled=frozenset().union(*(one.enabled(registry.codes()) for one in settings)),
    )


def _exit_code(
    reports: Sequence[FileReport], missing: Sequence[Missing], finder: config.SettingsFinder, *, exit_zero: bool
) -> int:
    if missing or any(note.failure for report in reports for note in report.notes):
        return FAILED
    if exit_zero:
        return CLEAN
    for report in reports:
        threshold: Severity = finder.for_file(Path(report.path)).exit_on
        if any(finding.severity.rank >= threshold.rank for finding in report.findings):
            return FOUND
    return CLEAN
