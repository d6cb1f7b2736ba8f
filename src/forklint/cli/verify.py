"""The command ``forklint verify``: proves findings by running them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forklint import config
from forklint.cli.ending import CLEAN, FAILED, FOUND, Failure, one_line_errors
from forklint.cli.files import find, interpreter
from forklint.cli.output import print_notes, say
from forklint.cli.output_file import check, output_to
from forklint.cli.parameters import CODES, overrides
from forklint.cli.telling import Ran, outcome_of
from forklint.model import Finding
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root, shown
from forklint.source.roots import find_extent

if TYPE_CHECKING:
    from forklint.report import Outcome
    from forklint.source.discovery import Missing
    from forklint.verify.doctor import Environment
    from forklint.verify.proving import Planned, Result
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
@click.option("--replay", metavar="ID", help="Run the one trial of this name, and show what it printed.")
@click.option("--python", type=click.Path(path_type=Path), help="The project's interpreter, which has torch.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=60, show_default=True, help="Seconds for one trial at most."
)
@click.option("--workers", type=click.IntRange(min=1), default=4, show_default=True, help="Worker processes to try.")
@click.option(
    "--budget", type=click.FloatRange(min=0), default=2, show_default=True, help="Seconds to provoke one race."
)
@click.option("--start-method", type=click.Choice(METHODS), multiple=True, help="Start methods to try: all by default.")
@click.option("--until-loader", is_flag=True, help="Run scripts on to the loader, checkpoints included.")
@click.option("--select", type=CODES, multiple=True, help="Rules whose findings are proved.")
@click.option("--ignore", type=CODES, multiple=True, help="Rules to leave out.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Use this file and no other.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--allow-inconclusive", is_flag=True, help="Exit with 0 though something be inconclusive.")
@click.option("--output-format", type=click.Choice(["text", "json", "sarif"]), default="text", show_default=True)
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
    ran = _lint(finder, files, missing, options["paths"][0] if entry else None)
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
    planned, untried = proving.plan(findings, context_of), proving.without_experiment(findings)
    if options["plan"]:
        click.echo(verdicts.plan(planned) + verdicts.untried(untried), nl=False)
        return FAILED if ran.failed else CLEAN
    if not environment.torch:
        raise Failure(f"{python} cannot import torch: name the project's Python with --python")
    try:
        if options["replay"]:
            return _replay(options["replay"], planned, python)
        results = _prove(planned, python, options)
    except CannotRunError as error:
        raise Failure(str(error)) from None
    with output_to(options["output_file"]):
        _tell(results, untried, environment, outcome_of(ran, finder), options)
    return FAILED if ran.failed else _exit_code(results, allow_inconclusive=options["allow_inconclusive"])


def _check(options: dict[str, Any]) -> None:
    """Raise Failure for a report that cannot be written, before anything is run."""
    if options["output_file"] and (options["plan"] or options["replay"]):
        raise Failure("--output-file takes a report, and --plan and --replay give none: drop one")
    check(options["output_file"])


def _tell(
    results: Sequence[Result],
    untried: Sequence[Finding],
    environment: Environment,
    linted: Outcome,
    options: dict[str, Any],
) -> None:
    """Print what came of the experiments in the chosen form."""
    from forklint.report import sarif, verdicts  # noqa: PLC0415

    if options["output_format"] == "json":
        click.echo(verdicts.to_json(environment, results, untried), nl=False)
    elif options["output_format"] == "sarif":
        proofs = {result.finding: verdicts.properties(result) for result in results}
        click.echo(sarif.render(replace(linted, properties=proofs)), nl=False)
    else:
        if not options["quiet"]:
            click.echo(verdicts.environment(environment))
        click.echo(verdicts.text(results), nl=False)
        if not options["quiet"]:
            click.echo(verdicts.untried(untried), nl=False)
        click.echo(verdicts.summary(results, untried))


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


def _lint(finder: config.SettingsFinder, files: Sequence[Path], missing: Sequence[Missing], entry: Path | None) -> Ran:
    """Find what is to be proved, in what an entry imports, too; says what could not be read."""
    from forklint.engine import Options  # noqa: PLC0415
    from forklint.linters import Linters  # noqa: PLC0415

    linters = Linters(finder, Options())  # with fixes: they are the controls of tolerant runs
    reached = linters.of(entry).project.graph.reached(entry.absolute()) if entry else ()
    named = {path.absolute() for path in files}
    further = [Path(shown(path)) for path in reached if path not in named and not finder.for_file(path).excludes(path)]
    reports = [linters.of(path).lint(path) for path in (*files, *further)]
    print_notes(reports, (), verbose=False)
    return Ran(reports, missing=missing, named=())


def _prove(planned: Sequence[Planned], python: Path, options: dict[str, Any]) -> list[Result]:
    """Run all experiments, with their progress on standard error where that is a terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

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

        return [prove(one, runner, tell) for one in planned]


def _replay(name: str, planned: Sequence[Planned], python: Path) -> int:
    """Run one trial and print what it printed and what was seen of it; exits as the trial's first process did."""
    from forklint.report.verdicts import ended  # noqa: PLC0415
    from forklint.verify.runner import Runner  # noqa: PLC0415

    trials = {trial.name: trial for one in planned for trial in one.trials}
    if name not in trials:
        raise Failure(f"no trial '{name}'{config.nearest(name, list(trials))}: --plan lists them")
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
