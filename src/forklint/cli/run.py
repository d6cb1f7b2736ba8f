"""One run over the paths: files found, linted or fixed, and the outcome printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from forklint import config
from forklint.cli.output import print_findings, print_fixed, print_notes, print_summary, say, show_diff
from forklint.cli.parameters import CLEAN, FAILED, FOUND, overrides
from forklint.cli.settings import show_settings
from forklint.model import FileReport, Severity
from forklint.source.discovery import Missing, find_files


def run(options: dict[str, Any]) -> int:
    """Do what the options of ``lint`` say; gives the exit code; raises ConfigError."""
    from forklint.parallel import Job, fix_all  # noqa: PLC0415 - `--version` and `--help` need none of it
    from forklint.parallel import lint as lint_files  # noqa: PLC0415

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
            code = show_diff(results, reports, missing)
            return CLEAN if options["exit_zero"] and code == FOUND else code
    else:
        results, reports = [], lint_files(job, files, options["jobs"])
    print_notes(reports, verbose=options["verbose"] or options["fix"])
    findings = print_findings(reports, options)
    if options["fix"]:
        print_fixed(results, findings, options)
    elif not options["quiet"] and options["output_format"] != "json":
        print_summary(findings, reports)
    return _exit_code(reports, missing, finder, exit_zero=options["exit_zero"])


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
