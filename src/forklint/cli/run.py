"""One run of the linter: find the files, lint or fix them, and print the result."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forklint.cli import output_file, stdin
from forklint.cli.baselines import Baselines
from forklint.cli.errors import CLEAN, FAILED
from forklint.cli.files import find, left_out, say_what_is_bounded
from forklint.cli.option_conflicts import check_together
from forklint.cli.output import say
from forklint.cli.parameters import overrides
from forklint.cli.run_result import RunResult, print_result
from forklint.cli.verdicts import SavedVerdicts, only_confirmed
from forklint.parallel import Job, fix_all, lint
from forklint.report import visible
from forklint.report.formats import FORMATS
from forklint.source.paths import shown

if TYPE_CHECKING:
    from forklint.source.discovery import Missing


def run(options: dict[str, Any]) -> int:
    """Run ``lint`` with these options; returns the exit code; raises ConfigError."""
    options["fix"] |= options["fix_only"]
    name = stdin.named(options)
    check_together(options, from_stdin=name is not None)
    output_file.check(options["output_file"])
    job = _job(options, name)
    finder = job.finder
    if options["show_settings"]:
        from forklint.cli.settings import show_settings  # noqa: PLC0415

        show_settings(finder, name or (options["paths"] or [Path()])[0])
        return CLEAN
    if options["watch"]:
        return _watch(options)
    files, missing = ([name], []) if name else find(finder, options["paths"] or (Path(),))
    if options["show_files"]:
        click.echo("".join(f"{visible(str(path))}\n" for path in files), nl=False)
        return FAILED if missing else CLEAN
    for path in files:
        finder.for_file(path)  # an invalid configuration is reported before any work is done
    if options["verbose"]:
        say_what_is_bounded(finder, files)
    if options["explain_cache"]:
        from forklint.cli.explain_cache import explain_cache  # noqa: PLC0415 - seldom used

        explain_cache(job, options["explain_cache"])
        return CLEAN
    known = Baselines(finder, files, options)
    if name:
        return _run_stdin(job, known, name, options)
    return print_result(_run_files(job, known, files, missing, options), finder, options)


def _job(options: dict[str, Any], name: Path | None) -> Job:
    """How to lint; ``name`` is the file name for standard input, if that is linted."""
    changes = options["fix"] or options["diff"]
    return Job(
        overrides=overrides(options),
        config=options["config_file"],
        isolated=options["isolated"],
        screen=not options["no_screen"],
        with_fixes=changes or (not options["statistics"] and FORMATS[options["output_format"]].shows_fixes),
        named=frozenset(map(shown, [name] if name else options["paths"] or (Path(),))),
        keeps=not options["no_cache"],
    )


def _watch(options: dict[str, Any]) -> int:
    from forklint.cli.watch import watch  # noqa: PLC0415

    return watch(
        options["paths"] or (Path(),),
        lambda: _job(options, None).finder,
        lambda: run({**options, "watch": False}),
        options["output_file"],
    )


def _run_files(
    job: Job, known: Baselines, files: Sequence[Path], missing: Sequence[Missing], options: dict[str, Any]
) -> RunResult:
    named = None if options["verbose"] else job.named
    if options["fix"] or options["diff"]:
        write = not options["diff"]
        fixed = fix_all(job, files, options["jobs"], unsafe=options["unsafe_fixes"], write=write)
        reports = [result.report for result in fixed]
        return RunResult(known.sift(reports) if write else reports, fixed, missing, named)
    reports = known.sift(lint(job, files, options["jobs"], say if options["verbose"] else None))
    if options["add_noqa"] is None:
        verdicts = SavedVerdicts(job.finder).of(reports)
        left_aside = ""
        if options["only_confirmed"]:
            reports, left_aside = only_confirmed(reports, verdicts)
        return RunResult(reports, missing=missing, named=named, verdicts=verdicts, left_aside=left_aside)
    from forklint.cli.suppress import add_noqa  # noqa: PLC0415

    left, closing = add_noqa(job, files, reports, options["add_noqa"])
    return RunResult(left, missing=missing, named=named, closing=closing)


def _run_stdin(job: Job, known: Baselines, name: Path, options: dict[str, Any]) -> int:
    data = stdin.read()
    fixes = options["fix"] or options["diff"]
    prints_source = options["fix"] and not options["diff"]
    passed, code = data, CLEAN
    if not left_out(job.finder, name):
        done = stdin.lint(job, name, data, fix=fixes, unsafe=options["unsafe_fixes"])
        passed, reports = done.data, [done.report]
        ran = RunResult(
            reports if options["diff"] else known.sift(reports),
            [done.fixed] if done.fixed else [],
            overlay={shown(name): passed},
        )
        with contextlib.redirect_stdout(sys.stderr) if prints_source else contextlib.nullcontext():
            code = print_result(ran, job.finder, options)
    if prints_source:
        click.echo(passed, nl=False)
    return code
