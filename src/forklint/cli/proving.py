"""Running the experiments of ``forklint verify``, here or on other machines, with a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forklint.cli.output import say

if TYPE_CHECKING:
    from forklint.model import Finding
    from forklint.remote.cluster import Cluster, Machine
    from forklint.verify.curing import Cure
    from forklint.verify.doctor import Environment
    from forklint.verify.experiments.base import Context
    from forklint.verify.proving import Planned, Result, Tell
    from forklint.verify.words import Observation, Trial

    Mended = Callable[[Sequence[Finding]], dict[str, str]]
    """The texts of files in which some findings are fixed."""
    Prove = Callable[[Sequence[Planned], Mended], "Proved"]


@dataclass(frozen=True)
class Proved:
    """What was proved."""

    planned: Sequence[Planned]
    """As it was planned for the machine that ran it."""
    results: Sequence[Result]
    cures: Sequence[Cure] = ()
    machines: Mapping[str, Environment] = field(default_factory=dict)
    """The environments of other machines that ran trials, by name."""


@contextmanager
def progress_of(planned: Sequence[Planned], *, quiet: bool) -> Iterator[Tell]:
    """Show progress if standard error is a terminal."""
    from rich.console import Console  # noqa: PLC0415 - `--help` needs none of it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        bar = progress.add_task("planning", total=sum(len(one.trials) for one in planned))

        def tell(finding: Finding, trial: Trial, seen: Observation | None) -> None:
            place = f"{finding.code} {finding.path}:{finding.span.row}"
            progress.update(bar, description=f"{place}: {trial.factors}", advance=0 if seen is None else 1)

        yield tell


def prove_here(planned: Sequence[Planned], python: Path, options: dict[str, Any], mended: Mended) -> Proved:
    """Run all experiments on this machine, and test fixes if requested."""
    from forklint.parallel import available_cores  # noqa: PLC0415 - `--help` needs none of it
    from forklint.verify.curing import cures  # noqa: PLC0415
    from forklint.verify.failed_imports import FailedImports  # noqa: PLC0415
    from forklint.verify.parallel_findings import prove_all  # noqa: PLC0415
    from forklint.verify.runner import Runner  # noqa: PLC0415

    with progress_of(planned, quiet=options["quiet"]) as tell, Runner(python) as runner:
        wanted = options["fix"] or options["apply"]  # then what trials cost is compared: none is to slow another down
        results = prove_all(planned, runner, FailedImports(runner), tell, 1 if wanted else available_cores())
        return Proved(planned, results, cures(planned, results, lambda _: runner, tell, mended) if wanted else ())


def on_machines(
    cluster: Cluster, python: Path, options: dict[str, Any], context_of: Callable[[Finding], Context]
) -> Prove:
    """Run each experiment on a machine that can decide it, and test fixes there if requested."""
    from forklint.remote.verifying import Verifying, missing, replan  # noqa: PLC0415 - forklint[dask]
    from forklint.verify.runner import Runner  # noqa: PLC0415

    def prove(planned: Sequence[Planned], mended: Mended) -> Proved:
        placed = placements(planned, _machines(cluster), options)
        wanted = options["fix"] or options["apply"]
        with progress_of(planned, quiet=options["quiet"]) as tell, Runner(python) as runner:
            verifying = Verifying(cluster, runner, replan(context_of), tell, mended if wanted else None)
            proved = verifying.run(planned, placed)
        for finding in missing(proved):
            say(f"missing: {finding.code} {finding.path}:{finding.span.row}: its trials were lost with their machines")
        found = [one.cure for one in proved if one.cure is not None]
        return Proved([one.planned for one in proved], [one.result for one in proved], found, verifying.used)

    return prove


def show_plan(
    cluster: Cluster,
    planned: Sequence[Planned],
    options: dict[str, Any],
    context_of: Callable[[Finding], Context],
) -> None:
    """Print what would run where, and which files would travel."""
    from forklint.remote.plan_text import plan_text  # noqa: PLC0415 - forklint[dask]
    from forklint.remote.verifying import replan  # noqa: PLC0415

    machines = _machines(cluster)
    click.echo(plan_text(planned, placements(planned, machines, options), machines, replan(context_of)), nl=False)


def placements(planned: Sequence[Planned], machines: Sequence[Machine], options: dict[str, Any]) -> list[Any]:
    """Where each finding goes."""
    from forklint.remote.placing import labels_for, place  # noqa: PLC0415 - forklint[dask]

    return place([labels_for(one, options["label"]) for one in planned], machines)


def _machines(cluster: Cluster) -> list[Machine]:
    """The machines of a scheduler."""
    for name in cluster.strangers():
        say(f"{name} is not used: it is not a worker of this version of forklint")
    found = cluster.machines()
    if not found:
        say("the scheduler has no workers: start one with `forklint worker`")
    return found
