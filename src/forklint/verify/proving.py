"""From findings to verdicts: plans the experiments, runs their trials, and asks the experimenters what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from forklint.model import Finding
from forklint.parallel import available_cores
from forklint.verify.experiments.base import Context, Experimenter
from forklint.verify.experiments.registry import experimenters
from forklint.verify.runner import TrialRunner
from forklint.verify.suspects import with_doubt
from forklint.verify.words import Experiment, Judgement, Observation, Trial, Verdict

NOTEBOOK = Judgement(
    Verdict.INCONCLUSIVE,
    "notebook cells cannot be run: a worker process cannot import them",
    "move the code to a module, or export it with `jupyter nbconvert --to script`",
)
REACHED = ("target", "sent", "inherited", "pools", "probed")
"""Records of a trial that came to the loader, to the call that sends something, or to where a variable is set."""
Tell = Callable[[Finding, Trial, Observation | None], None]
"""Called when a trial begins (no observation yet) and when it has ended."""


@dataclass(frozen=True)
class Planned:
    """A finding and what is to be done about it: an experiment, or a verdict at once."""

    finding: Finding
    context: Context
    outcome: Experiment | Judgement

    @property
    def trials(self) -> tuple[Trial, ...]:
        """What would be run, that included which is for where the first comes to nothing."""
        if isinstance(self.outcome, Judgement):
            return ()
        return tuple(trial for attempt in self.outcome.attempts for trial in attempt.trials)


@dataclass(frozen=True)
class Result:
    """A finding, what was run for it, and the verdict."""

    finding: Finding
    claim: str
    judgement: Judgement
    observations: tuple[Observation, ...] = ()
    experiment: Experiment | None = None
    """The one that was judged."""
    machine: str = ""
    """The machine that ran the trials, if it was another one."""
    reruns: tuple[str, ...] = ()
    """Why trials were run again there: each time that the machine or the connection was lost."""


def plan(findings: Iterable[Finding], context_of: Callable[[Finding], Context]) -> list[Planned]:
    """Plan an experiment for each finding of a rule that has one; the others are left out."""
    planned = []
    for finding in findings:
        kind = experimenters().get(finding.code)
        if kind is not None:
            context = context_of(finding)
            experimenter = kind(context)
            is_out_of_reach = finding.notebook_cell and experimenter.imports(finding)
            planned.append(Planned(finding, context, NOTEBOOK if is_out_of_reach else experimenter.plan(finding)))
    return planned


def without_experiment(findings: Iterable[Finding]) -> list[Finding]:
    """Those that ``plan`` leaves out: nothing that runs could prove them."""
    return [finding for finding in findings if finding.code not in experimenters()]


def prove(planned: Planned, runner: TrialRunner, tell: Tell) -> Result:
    """Run an experiment, or what is to be tried otherwise if its program does not come to where it should; judge."""
    if isinstance(planned.outcome, Judgement):
        return Result(planned.finding, "", planned.outcome)
    experimenter = experimenters()[planned.finding.code](planned.context)
    seen: list[Observation] = []
    judgement: Judgement | None = None
    has_come = False
    tolerantly: list[Observation] = []
    for attempt in planned.outcome.attempts:
        if judgement is not None and not _is_worth_trying(attempt, judgement, planned.context, has_come=has_come):
            continue
        if attempt.is_tolerant and any(one.of(kind) for one in tolerantly for kind in REACHED):
            continue  # the place was reached, so that what it showed there stands
        experiment = replace(attempt, instead_of=judgement or attempt.instead_of)
        shown = observe(experiment, experimenter, runner, tell)
        seen += shown
        tolerantly += shown if attempt.is_tolerant else []
        judgement = experimenter.judge(experiment, shown)
        if attempt.is_tolerant and experiment.instead_of is not None:
            judgement = with_reason(judgement, experiment.instead_of)
        has_come = has_come or any(one.of("done") or not one.trial.is_control for one in shown)
    assert judgement is not None  # noqa: S101 - there is an attempt at least
    judgement = with_doubt(planned.finding, judgement, seen)
    return Result(planned.finding, planned.outcome.claim, judgement, tuple(seen), experiment)


def _is_worth_trying(attempt: Experiment, judgement: Judgement, context: Context, *, has_come: bool) -> bool:
    """Whether what came before leaves something to an attempt.

    A tolerant one says more only where nothing is said, and where the user has not named what is to be run as it is.
    """
    if attempt.is_tolerant:
        return judgement.verdict is Verdict.INCONCLUSIVE and not (context.entry or context.factories)
    return not has_come


def with_reason(judgement: Judgement, before: Judgement) -> Judgement:
    """A judgement of a tolerant run that says nothing, behind the reason for which it was tried."""
    if judgement.verdict is not Verdict.INCONCLUSIVE:
        return judgement
    return replace(judgement, evidence=f"{before.evidence}; {judgement.evidence}", advice=before.advice)


def observe(experiment: Experiment, experimenter: Experimenter, runner: TrialRunner, tell: Tell) -> list[Observation]:
    """Run the controls, the treatments if those can then decide, and further trials that these call for."""
    seen: list[Observation] = []
    if not experiment.side_by_side:
        for group in _groups([trial for trial in experiment.trials if trial.is_control], experiment):
            seen += _run(group, experiment, runner, tell)
        if experimenter.unprovable(seen):
            return seen
    done = {one.trial.name for one in seen}
    for together in _groups([trial for trial in experiment.trials if trial.name not in done], experiment):
        seen += _run([experimenter.informed(trial, seen) for trial in together], experiment, runner, tell)
    while further := experimenter.follow_up(experiment, seen):
        seen += [one for group in _groups(further, experiment) for one in _run(group, experiment, runner, tell)]
    return seen


def _groups(trials: Sequence[Trial], experiment: Experiment) -> list[list[Trial]]:
    """Neighbours that may run at the same time; one group runs after another."""
    return [list(some) for _, some in groupby(trials, key=lambda one: experiment.side_by_side or one.side_by_side)]


def _run(trials: Sequence[Trial], experiment: Experiment, runner: TrialRunner, tell: Tell) -> list[Observation]:
    """Run one group."""
    are_together = any(experiment.side_by_side or trial.side_by_side for trial in trials)
    return runner.run_all(
        tuple(trials),
        available_cores() if are_together else 1,
        on_start=lambda trial: tell(experiment.finding, trial, None),
        on_end=lambda seen: tell(experiment.finding, seen.trial, seen),
    )
