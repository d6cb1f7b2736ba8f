"""The command ``forklint verify``: proves findings by running code of the project."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from forklint import config
from forklint.cli import proved_fixes
from forklint.cli.connection import connected, tls_options
from forklint.cli.dashes import CommandWithRest
from forklint.cli.errors import CLEAN, FAILED, FOUND, Failure, one_line_errors
from forklint.cli.files import find, interpreter
from forklint.cli.output import print_notes, say
from forklint.cli.output_file import check, output_to
from forklint.cli.parameters import CODES, complete_label, complete_scheduler, complete_suspect, overrides
from forklint.cli.proving import on_machines, prove_here, show_plan
from forklint.cli.run_result import RunResult, outcome_of
from forklint.cli.single_trial import replay, script_of
from forklint.cli.verdicts import file_for
from forklint.model import Finding
from forklint.report import count
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root, shown
from forklint.source.roots import Roots

if TYPE_CHECKING:
    from forklint.cli.proving import Prove, Proved
    from forklint.report import Outcome
    from forklint.source.discovery import Missing
    from forklint.verify.doctor import Environment
    from forklint.verify.experiments.base import Context
    from forklint.verify.proving import Planned, Result
    from forklint.verify.suspects import Suspicion

UNDECIDED = 3
"""Exit code: no finding was confirmed, and at least one is inconclusive."""
METHODS = ("fork", "forkserver", "spawn")


@click.command(
    cls=CommandWithRest,
    short_help="Confirm or refute findings by running code.",
    options_metavar="[OPTIONS]",
    epilog="This command runs code of your project. Use --plan to see first what it would run.",
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]... [-- ARGS]")
@click.option("--plan", is_flag=True, help="Show what would be run, without running it.")
@click.option(
    "--suspect",
    multiple=True,
    metavar="PATH:LINE:CODE",
    shell_complete=complete_suspect,
    help="Run the experiment of a rule on a line without a finding. Can be repeated.",
)
@click.option("--replay", metavar="ID", help="Run a single trial again and show its output.")
@click.option("--repro", metavar="ID", help="Print a stand-alone script that reproduces the hazard of a trial.")
@click.option("--fix", is_flag=True, help="Test the fixes on a copy of the files, and compare their cost.")
@click.option("--apply", is_flag=True, help="Apply the fixes that passed the test. Implies --fix.")
@click.option(
    "--on",
    metavar="SCHEDULER",
    shell_complete=complete_scheduler,
    help="Use other machines, too: for example tcp://scheduler:8786.",
)
@click.option(
    "--label",
    multiple=True,
    shell_complete=complete_label,
    help="With --on: run all findings on machines with this label.",
)
@tls_options
@click.option("--python", type=click.Path(path_type=Path), help="Python interpreter of the project, with torch.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=60, show_default=True, help="Time limit of a trial in seconds."
)
@click.option(
    "--workers", type=click.IntRange(min=1), default=4, show_default=True, help="Number of DataLoader workers."
)
@click.option("--budget", type=click.FloatRange(min=0), default=2, show_default=True, help="Seconds to provoke a race.")
@click.option("--start-method", type=click.Choice(METHODS), multiple=True, help="Start method to try.  [default: all]")
@click.option("--until-loader", is_flag=True, help="Run scripts up to the loader, even past training and checkpoints.")
@click.option("--select", type=CODES, multiple=True, help="Rules to enable: codes, prefixes, names or ALL.")
@click.option("--ignore", type=CODES, multiple=True, help="Rules to disable.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Configuration file to use.")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--allow-inconclusive", is_flag=True, help="Exit with 0 even if verdicts are inconclusive.")
@click.option("--save-verdicts", is_flag=True, help="Save the verdicts to forklint-verdicts.json, for lint to show.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "html", "json", "sarif"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option("--output-file", type=click.Path(path_type=Path), help="Write the report to this file.")
@click.option("-q", "--quiet", is_flag=True, help="Print verdicts, but nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of internal errors.")
@click.pass_context
def verify(ctx: click.Context, /, **options: Any) -> None:
    """Confirm or refute the findings in PATHS by running the code in question.

    To pass arguments to a script, write them after `--`: forklint verify train.py -- --epochs 1. The findings in the
    modules that it imports are then verified, too.

    Exit codes: 0 if no finding was confirmed, 1 if one was, 2 if forklint failed, 3 if none was confirmed but some
    are inconclusive.
    """
    with one_line_errors(verbose=options["verbose"]):
        try:
            code = run(options, ctx.obj)
        except KeyboardInterrupt:
            say("interrupted: all processes were ended, and temporary files removed")
            raise
        sys.exit(code)


def run(options: dict[str, Any], arguments: Sequence[str] | None) -> int:
    """Run ``verify`` with these options; returns the exit code; raises ConfigError and Failure."""
    from forklint.cli.trial_context import contexts  # noqa: PLC0415 - `--help` needs none of it
    from forklint.report import all_findings, verdicts  # noqa: PLC0415
    from forklint.verify import proving  # noqa: PLC0415

    _check(options)
    entry, importable = _entry(options["paths"], arguments)
    finder = config.SettingsFinder(overrides(options), config=options["config_file"], isolated=options["isolated"])
    files, missing = find(finder, options["paths"] or (Path(),))
    suspicions = _suspicions(options["suspect"])
    python = interpreter(options["python"]) if options["python"] else Path(sys.executable)
    with ThreadPoolExecutor(1) as threads:  # it imports torch, which takes as long as linting
        probed = threads.submit(_probed, python)
        ran = _lint(finder, files, missing, options["paths"][0] if entry else None, suspicions)
        environment = probed.result()
    scripts = tuple(from_root(path) for path in files if kind_of(path) is Kind.PYTHON)
    context_of = contexts(finder, environment, (entry, importable), scripts, options)
    findings = all_findings(ran.reports)
    if suspicions:
        planned, untried = _plan_suspects(suspicions, findings, context_of), []
    else:
        planned, untried = proving.plan(findings, context_of), proving.without_experiment(findings)
    if options["repro"]:
        click.echo(script_of(options["repro"], planned), nl=False)
        return CLEAN
    if options["plan"]:
        if options["on"]:
            with connected(options) as cluster:
                show_plan(cluster, planned, options, context_of)
            click.echo(verdicts.untried(untried), nl=False)
        else:
            click.echo(verdicts.plan(planned, _isolation(planned)) + verdicts.untried(untried), nl=False)
        return FAILED if ran.failed else CLEAN
    planning, place = Planning(planned, untried, ran), Place(environment, python)
    if options["on"]:
        with connected(options) as cluster:
            return _verify(planning, finder, place, options, on_machines(cluster, python, options, context_of))
    if not environment.torch:
        raise Failure(f"{python} cannot import torch: pass the project's interpreter with --python")
    if options["replay"]:
        with _cannot_run():
            return replay(options["replay"], planned, python)
    here = partial(prove_here, python=python, options=options)
    return _verify(planning, finder, place, options, lambda found, mended: here(found, mended=mended))


def _probed(python: Path) -> Environment:
    """The environment of an interpreter; raises Failure."""
    from forklint.verify.doctor import ProbeError, probe  # noqa: PLC0415

    try:
        return probe(python)
    except ProbeError as error:
        raise Failure(str(error)) from None


@contextmanager
def _cannot_run() -> Iterator[None]:
    """Turn trials that cannot be started into a Failure."""
    from forklint.verify.supervisor import CannotRunError  # noqa: PLC0415

    try:
        yield
    except CannotRunError as error:
        raise Failure(str(error)) from None


class Place(NamedTuple):
    """The environment of this machine, and the interpreter that runs trials here."""

    environment: Environment
    python: Path


class Planning(NamedTuple):
    """The experiments to run, findings without one, and the result of linting."""

    planned: Sequence[Planned]
    untried: Sequence[Finding]
    linted: RunResult


def _verify(
    planning: Planning, finder: config.SettingsFinder, place: Place, options: dict[str, Any], prove: Prove
) -> int:
    """Run the trials, save, apply and report; returns the exit code."""
    planned, untried, ran = planning
    environment, python = place
    with _cannot_run():
        proved = prove(planned, lambda found: proved_fixes.mended(found, finder))
    planned, results, cures = proved.planned, proved.results, proved.cures
    if options["save_verdicts"]:
        _save(planned, results, python, finder)
    linted = outcome_of(ran, finder)
    for planned_one in planned if options["apply"] else ():
        finding = planned_one.finding
        linted.sources.lines(finding.path, finding.notebook_cell)  # as it is before fixes are written
    written = proved_fixes.write(cures, finder) if options["apply"] else []
    with output_to(options["output_file"]):
        _tell(Proofs(proved, untried, len(written)), environment, linted, options)
    left = [one for one in results if one.finding not in written]
    return FAILED if ran.failed else _exit_code(left, allow_inconclusive=options["allow_inconclusive"])


def _check(options: dict[str, Any]) -> None:
    """Raise Failure if the report could not be written, before anything is run."""
    if options["output_file"] and (options["plan"] or options["replay"]):
        raise Failure("--output-file cannot be used with --plan or --replay, which print no report")
    if options["on"] and options["replay"]:
        raise Failure("--replay cannot be used with --on: it runs a trial on this machine")
    if options["label"] and not options["on"]:
        raise Failure("--label needs --on")
    check(options["output_file"])


def _save(planned: Sequence[Planned], results: Sequence[Result], python: Path, finder: config.SettingsFinder) -> None:
    """Save the verdicts where lint reads them; raises Failure."""
    from forklint import saved_verdicts  # noqa: PLC0415 - seldom asked
    from forklint.verify.saving import kept  # noqa: PLC0415

    roots = Roots()
    files = kept(planned, results, python, lambda finding: file_for(Path(finding.path), finder, roots))
    try:
        for file, verdicts in files.items():
            saved_verdicts.save(file, verdicts)
            say(f"{shown(file)}: {count(len(verdicts), 'verdict')} saved")
    except saved_verdicts.VerdictsError as error:
        raise Failure(str(error)) from None


def _isolation(planned: Sequence[Planned]) -> str:
    """How files that trials write are isolated on this machine."""
    from forklint.verify.isolation import Isolations  # noqa: PLC0415 - `--help` needs none of it

    folders = [folder for one in planned for trial in one.trials for folder in trial.folders]
    return Isolations(Path(tempfile.gettempdir())).of(folders).words if folders else ""


class Proofs(NamedTuple):
    """The results of a run."""

    proved: Proved
    untried: Sequence[Finding]
    written: int
    """How many fixes."""


def _tell(done: Proofs, environment: Environment, linted: Outcome, options: dict[str, Any]) -> None:
    """Print the results in the chosen format."""
    from forklint.report import cures as curing  # noqa: PLC0415
    from forklint.report import sarif, verdicts  # noqa: PLC0415

    proved, untried, written = done
    results, cures = proved.results, proved.cures
    if options["output_format"] == "json":
        told = {one.result.finding: curing.to_dict(one) for one in cures}
        click.echo(verdicts.to_json(environment, results, untried, told, proved.machines), nl=False)
    elif options["output_format"] == "sarif":
        proofs = {result.finding: verdicts.properties(result) for result in results}
        click.echo(sarif.render(replace(linted, properties=proofs)), nl=False)
    elif options["output_format"] == "html":
        from forklint.report.html import verify as page  # noqa: PLC0415 - few reports are pages

        shown = page.Proofs(environment, results, untried, cures, written, linted, proved.machines)
        click.echo(page.render(shown).encode(errors="backslashreplace"), nl=False)
    else:
        if not options["quiet"]:
            click.echo(verdicts.environment(environment) + verdicts.machines(proved.machines))
        click.echo(verdicts.text(results), nl=False)
        if not options["quiet"]:
            click.echo(verdicts.untried(untried), nl=False)
        click.echo(curing.text(cures), nl=False)
        click.echo(verdicts.summary(results, untried))
        if cures:
            click.echo(curing.summary(cures, written))


def _entry(paths: Sequence[Path], arguments: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """The command of the script, if there is one: the first of PATHS, with the arguments after ``--``.

    The second value holds the directories that it needs on PYTHONPATH.
    """
    from forklint.verify.subjects import command_of  # noqa: PLC0415 - `--help` needs none of it

    if arguments is None:
        return (), ()
    if not paths or not paths[0].is_file():
        raise Failure("arguments after `--` need a script: forklint verify train.py -- --config x.yaml")
    command, importable = command_of(from_root(paths[0]))
    return (*command, *arguments), importable


def _suspicions(texts: Sequence[str]) -> list[Suspicion]:
    """The values of ``--suspect``; raises Failure."""
    from forklint.verify import suspects  # noqa: PLC0415 - `--help` needs none of it

    try:
        return [suspects.read(text) for text in texts]
    except suspects.SuspectError as error:
        raise Failure(str(error)) from None


def _plan_suspects(
    suspicions: Sequence[Suspicion], findings: Sequence[Finding], context_of: Callable[[Finding], Context]
) -> list[Planned]:
    """An experiment for each suspected line, based on the finding there, if there is one."""
    from forklint.verify import proving, suspects  # noqa: PLC0415 - `--help` needs none of it

    planned: list[Planned] = []
    for one in suspicions:
        near = [finding for finding in findings if from_root(Path(finding.path)) == from_root(one.path)]
        project = context_of(suspects.bare(one)).project()
        finding, judgement = suspects.finding_for(one, project, near)
        if judgement is None:
            planned += proving.plan([finding], context_of)
        else:
            planned.append(proving.Planned(finding, context_of(finding), judgement))
    return planned


def _lint(
    finder: config.SettingsFinder,
    files: Sequence[Path],
    missing: Sequence[Missing],
    entry: Path | None,
    suspicions: Sequence[Suspicion],
) -> RunResult:
    """Find what to prove, including the modules that a script imports; reports files that cannot be read.

    With ``--suspect``, only the files of the suspected lines are linted.
    """
    from forklint.engine import Options  # noqa: PLC0415
    from forklint.linters import Linters  # noqa: PLC0415

    linters = Linters(finder, Options())  # with fixes: they are the controls of tolerant runs
    if suspicions:
        paths = dict.fromkeys(one.path for one in suspicions)
        return RunResult([linters.of(path).lint(path) for path in paths], missing=missing, named=())
    reached = linters.of(entry).project.graph.reached(entry.absolute()) if entry else ()
    named = {path.absolute() for path in files}
    further = [Path(shown(path)) for path in reached if path not in named and not finder.for_file(path).excludes(path)]
    reports = [linters.of(path).lint(path) for path in (*files, *further)]
    print_notes(reports, (), verbose=False)
    return RunResult(reports, missing=missing, named=())


def _exit_code(results: Sequence[Result], *, allow_inconclusive: bool) -> int:
    from forklint.verify.words import Verdict  # noqa: PLC0415

    verdicts = {result.judgement.verdict for result in results}
    if Verdict.CONFIRMED in verdicts:
        return FOUND
    return UNDECIDED if Verdict.INCONCLUSIVE in verdicts and not allow_inconclusive else CLEAN
