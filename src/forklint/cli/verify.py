"""The command ``forklint verify``: proves findings by running them."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from forklint import config
from forklint.cli import proved_fixes
from forklint.cli.ending import CLEAN, FAILED, FOUND, Failure, one_line_errors
from forklint.cli.files import find, interpreter
from forklint.cli.output import print_notes, say
from forklint.cli.output_file import check, output_to
from forklint.cli.parameters import CODES, overrides
from forklint.cli.telling import Ran, outcome_of
from forklint.cli.verdicts import file_for
from forklint.model import Finding
from forklint.report import count
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root, shown
from forklint.source.roots import Roots, find_extent

if TYPE_CHECKING:
    from forklint.report import Outcome
    from forklint.source.discovery import Missing
    from forklint.verify.curing import Cure
    from forklint.verify.doctor import Environment
    from forklint.verify.experiments.base import Context
    from forklint.verify.proving import Planned, Result
    from forklint.verify.suspects import Suspicion
    from forklint.verify.words import Observation, Trial

UNDECIDED = 3
"""Exit code: nothing was confirmed, and something is inconclusive."""
METHODS = ("fork", "forkserver", "spawn")


class VerifyCommand(click.Command):
    """What stands behind ``--`` are the arguments of the entry, whatever they look like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep them aside in ``ctx.obj``; None if there is no ``--``."""
        ctx.obj = None
        if "--" in args:
            place = args.index("--")
            args, ctx.obj = args[:place], tuple(args[place + 1 :])
        return super().parse_args(ctx, args)


@click.command(cls=VerifyCommand, options_metavar="[OPTIONS]", epilog="Runs code of the project: see --plan first.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--plan", is_flag=True, help="Show what would be run, and run nothing.")
@click.option(
    "--suspect",
    multiple=True,
    metavar="PATH:LINE:CODE",
    help="Run a rule's experiment at a line where lint is silent. May be repeated.",
)
@click.option("--replay", metavar="ID", help="Run the one trial of this name, and show what it printed.")
@click.option("--repro", metavar="ID", help="Print a stand-alone script that shows the hazard of this trial.")
@click.option("--fix", is_flag=True, help="Try the fixes on a copy, and show what each way out costs.")
@click.option("--apply", is_flag=True, help="Write the fixes that were proved, and only those. Implies --fix.")
@click.option("--python", type=click.Path(path_type=Path), help="The project's interpreter, which has torch.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=60, show_default=True, help="Seconds for one trial at most."
)
@click.option("--workers", type=click.IntRange(min=1), default=4, show_default=True, help="Worker processes to try.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0),
    default=2,
    show_default=True,
    help="Seconds to provoke one race, longer on a busy machine.",
)
@click.option("--start-method", type=click.Choice(METHODS), multiple=True, help="Start methods to try: all by default.")
@click.option("--until-loader", is_flag=True, help="Run scripts on to the loader, checkpoints included.")
@click.option("--select", type=CODES, multiple=True, help="Rules whose findings are proved.")
@click.option("--ignore", type=CODES, multiple=True, help="Rules to leave out.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Use this file and no other.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--allow-inconclusive", is_flag=True, help="Exit with 0 though something be inconclusive.")
@click.option("--save-verdicts", is_flag=True, help="Keep the verdicts in forklint-verdicts.json, for lint to show.")
@click.option(
    "--output-format", type=click.Choice(["text", "html", "json", "sarif"]), default="text", show_default=True
)
@click.option("--output-file", type=click.Path(path_type=Path), help="Write the report to this file.")
@click.option("-q", "--quiet", is_flag=True, help="Print verdicts alone, and no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Show where forklint itself failed.")
@click.pass_context
def verify(ctx: click.Context, /, **options: Any) -> None:
    """Prove the findings in PATHS by running them.

    With -- ARGS the first of PATHS is a script that is run with them, from here; what it imports is looked at, too.

    Exits with 0 if all ended and none was confirmed, 1 if one was, 2 if it could not do its work, 3 if none was
    confirmed and one is inconclusive.
    """
    with one_line_errors(verbose=options["verbose"]):
        try:
            code = run(options, ctx.obj)
        except KeyboardInterrupt:
            say("interrupted; what ran was ended and cleared away")
            raise
        sys.exit(code)


def run(options: dict[str, Any], arguments: Sequence[str] | None) -> int:
    """Do what the options say; gives the exit code; raises ConfigError and Failure."""
    from forklint.report import all_findings, verdicts  # noqa: PLC0415 - `--help` needs none of it
    from forklint.verify import proving  # noqa: PLC0415
    from forklint.verify.doctor import ProbeError, probe  # noqa: PLC0415
    from forklint.verify.experiments.base import Context  # noqa: PLC0415
    from forklint.verify.runner import CannotRunError  # noqa: PLC0415
    from forklint.verify.subjects import Factory  # noqa: PLC0415

    _check(options)
    entry, importable = _entry(options["paths"], arguments)
    finder = config.SettingsFinder(overrides(options), config=options["config_file"], isolated=options["isolated"])
    files, missing = find(finder, options["paths"] or (Path(),))
    suspicions = _suspicions(options["suspect"])
    ran = _lint(finder, files, missing, options["paths"][0] if entry else None, suspicions)
    scripts = tuple(from_root(path) for path in files if kind_of(path) is Kind.PYTHON)
    python = interpreter(options["python"]) if options["python"] else Path(sys.executable)
    try:
        environment = probe(python)
    except ProbeError as error:
        raise Failure(str(error)) from None

    def context_of(finding: Finding) -> Context:
        path = Path(finding.path)
        settings, extent = finder.for_file(path), find_extent(path)
        given = settings.verify
        return Context(
            root=extent.root,
            extent=extent,
            settings=settings,
            environment=environment,
            entry=entry,
            importable=importable,
            entry_folder=Path.cwd(),
            factories=tuple(Factory(call, given["args"]) for call in given.get("loaders", ())),
            scripts=scripts,
            variables=given.get("env", {}),
            others="all" if options["until_loader"] else "one",
            start_methods=options["start_method"],
            workers=options["workers"],
            seconds=options["timeout"],
            provoking=min(options["budget"], options["timeout"] / 2),
        )

    findings = all_findings(ran.reports)
    if suspicions:
        planned, untried = _plan_suspects(suspicions, findings, context_of), []
    else:
        planned, untried = proving.plan(findings, context_of), proving.without_experiment(findings)
    if options["repro"]:
        click.echo(_repro(options["repro"], planned), nl=False)
        return CLEAN
    if options["plan"]:
        click.echo(verdicts.plan(planned, _isolation(planned)) + verdicts.untried(untried), nl=False)
        return FAILED if ran.failed else CLEAN
    if not environment.torch:
        raise Failure(f"{python} cannot import torch: name the project's Python with --python")
    try:
        if options["replay"]:
            return _replay(options["replay"], planned, python)
        results, cures = _prove(planned, python, options, lambda found: proved_fixes.mended(found, finder))
    except CannotRunError as error:
        raise Failure(str(error)) from None
    if options["save_verdicts"]:
        _save(planned, results, python, finder)
    linted = outcome_of(ran, finder)
    for finding in findings if options["apply"] else ():
        linted.sources.lines(finding.path, finding.notebook_cell)  # as it is before fixes are written
    written = proved_fixes.write(cures, finder) if options["apply"] else []
    with output_to(options["output_file"]):
        _tell(Proofs(results, untried, cures, len(written)), environment, linted, options)
    left = [one for one in results if one.finding not in written]
    return FAILED if ran.failed else _exit_code(left, allow_inconclusive=options["allow_inconclusive"])


def _check(options: dict[str, Any]) -> None:
    """Raise Failure for a report that cannot be written, before anything is run."""
    if options["output_file"] and (options["plan"] or options["replay"]):
        raise Failure("--output-file takes a report, and --plan and --replay give none: drop one")
    check(options["output_file"])


def _save(planned: Sequence[Planned], results: Sequence[Result], python: Path, finder: config.SettingsFinder) -> None:
    """Keep the verdicts where lint finds them; raises Failure."""
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
    """What becomes of what the trials write here."""
    from forklint.verify.isolation import Isolations  # noqa: PLC0415 - `--help` needs none of it

    folders = [folder for one in planned for trial in one.trials for folder in trial.folders]
    return Isolations(Path(tempfile.gettempdir())).of(folders).words if folders else ""


class Proofs(NamedTuple):
    """What came of a run."""

    results: Sequence[Result]
    untried: Sequence[Finding]
    cures: Sequence[Cure]
    written: int
    """How many fixes."""


def _tell(done: Proofs, environment: Environment, linted: Outcome, options: dict[str, Any]) -> None:
    """Print what came of the experiments in the chosen form."""
    from forklint.report import cures as curing  # noqa: PLC0415
    from forklint.report import sarif, verdicts  # noqa: PLC0415

    results, untried, cures, written = done
    if options["output_format"] == "json":
        told = {one.result.finding: curing.to_dict(one) for one in cures}
        click.echo(verdicts.to_json(environment, results, untried, told), nl=False)
    elif options["output_format"] == "sarif":
        proofs = {result.finding: verdicts.properties(result) for result in results}
        click.echo(sarif.render(replace(linted, properties=proofs)), nl=False)
    elif options["output_format"] == "html":
        from forklint.report.html import verify as page  # noqa: PLC0415 - few reports are pages

        shown = page.Proofs(environment, results, untried, cures, written, linted)
        click.echo(page.render(shown).encode(errors="backslashreplace"), nl=False)
    else:
        if not options["quiet"]:
            click.echo(verdicts.environment(environment))
        click.echo(verdicts.text(results), nl=False)
        if not options["quiet"]:
            click.echo(verdicts.untried(untried), nl=False)
        click.echo(curing.text(cures), nl=False)
        click.echo(verdicts.summary(results, untried))
        if cures:
            click.echo(curing.summary(cures, written))


def _entry(paths: Sequence[Path], arguments: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """The command of the entry, if there is one: the first of PATHS, with what stands behind ``--``.

    Beside it the folders that it needs on PYTHONPATH.
    """
    from forklint.verify.subjects import command_of  # noqa: PLC0415 - `--help` needs none of it

    if arguments is None:
        return (), ()
    if not paths or not paths[0].is_file():
        raise Failure("what stands behind -- is for a script: forklint verify train.py -- --config x.yaml")
    command, importable = command_of(from_root(paths[0]))
    return (*command, *arguments), importable


def _suspicions(texts: Sequence[str]) -> list[Suspicion]:
    """What the user suspects; raises Failure."""
    from forklint.verify import suspects  # noqa: PLC0415 - `--help` needs none of it

    try:
        return [suspects.read(text) for text in texts]
    except suspects.SuspectError as error:
        raise Failure(str(error)) from None


def _plan_suspects(
    suspicions: Sequence[Suspicion], findings: Sequence[Finding], context_of: Callable[[Finding], Context]
) -> list[Planned]:
    """An experiment for each, at what lint found there or at what stands there."""
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
) -> Ran:
    """Find what is to be proved, in what an entry imports, too; says what could not be read.

    Where a line is suspected, its file alone is looked at.
    """
    from forklint.engine import Options  # noqa: PLC0415
    from forklint.linters import Linters  # noqa: PLC0415

    linters = Linters(finder, Options())  # with fixes: they are the controls of tolerant runs
    if suspicions:
        paths = dict.fromkeys(one.path for one in suspicions)
        return Ran([linters.of(path).lint(path) for path in paths], missing=missing, named=())
    reached = linters.of(entry).project.graph.reached(entry.absolute()) if entry else ()
    named = {path.absolute() for path in files}
    further = [Path(shown(path)) for path in reached if path not in named and not finder.for_file(path).excludes(path)]
    reports = [linters.of(path).lint(path) for path in (*files, *further)]
    print_notes(reports, (), verbose=False)
    return Ran(reports, missing=missing, named=())


def _prove(
    planned: Sequence[Planned],
    python: Path,
    options: dict[str, Any],
    mended: Callable[[Sequence[Finding]], dict[str, str]],
) -> tuple[list[Result], list[Cure]]:
    """Run all experiments, and try fixes if that is asked for, with progress on standard error if it is a terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    from forklint.verify.curing import cures  # noqa: PLC0415
    from forklint.verify.proving import prove  # noqa: PLC0415
    from forklint.verify.runner import Runner  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    hidden = options["quiet"] or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress, Runner(python) as runner:
        bar = progress.add_task("planning", total=sum(len(one.trials) for one in planned))

        def tell(finding: Finding, trial: Trial, seen: Observation | None) -> None:
            place = f"{finding.code} {finding.path}:{finding.span.row}"
            progress.update(bar, description=f"{place}: {trial.factors}", advance=0 if seen is None else 1)

        results = [prove(one, runner, tell) for one in planned]
        wanted = options["fix"] or options["apply"]
        return results, cures(planned, results, runner, tell, mended) if wanted else []


def _repro(name: str, planned: Sequence[Planned]) -> str:
    """The script for one trial's hazard; nothing is run. Raises Failure."""
    from forklint.verify import repro  # noqa: PLC0415 - seldom asked

    found = repro.find(name, planned)
    if found is None:
        raise Failure(_no_trial(name, planned))
    try:
        return repro.script(*found)
    except repro.NoScriptError as error:
        raise Failure(str(error)) from None


def _no_trial(name: str, planned: Sequence[Planned]) -> str:
    names = [trial.name for one in planned for trial in one.trials]
    return f"no trial '{name}'{config.nearest(name, names)}: --plan lists them"


def _replay(name: str, planned: Sequence[Planned], python: Path) -> int:
    """Run one trial and print what it printed and what was seen of it; exits as the trial's first process did."""
    from forklint.report.verdicts import ended  # noqa: PLC0415
    from forklint.verify.runner import Runner  # noqa: PLC0415

    trials = {trial.name: trial for one in planned for trial in one.trials}
    if name not in trials:
        raise Failure(_no_trial(name, planned))
    with Runner(python) as runner:
        seen = runner.run(trials[name])
    click.echo(seen.output, nl=False)
    for record in seen.records:
        click.echo(json.dumps(record))
    say(f"{name}: {ended(seen)}")
    return CLEAN


def _exit_code(results: Sequence[Result], *, allow_inconclusive: bool) -> int:
    from forklint.verify.words import Verdict  # noqa: PLC0415

    verdicts = {result.judgement.verdict for result in results}
    if Verdict.CONFIRMED in verdicts:
        return FOUND
    return UNDECIDED if Verdict.INCONCLUSIVE in verdicts and not allow_inconclusive else CLEAN
