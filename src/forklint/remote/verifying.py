"""Experiments on several machines: each finding on the one that can decide it, and again elsewhere if that is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from forklint.model import Finding
from forklint.remote.cluster import Cluster, ClusterError, LostError, Machine
from forklint.remote.labels import described
from forklint.remote.placing import Placement, fits, missing_label, runs_here, unplaced
from forklint.remote.remote_runner import COMING_BACK, MOST_RETRIES, RemoteRunner, Retries
from forklint.remote.slices import slice_of
from forklint.verify.curing import Cure, cures
from forklint.verify.doctor import Environment
from forklint.verify.experiments.base import Context
from forklint.verify.proving import Planned, Result, Tell, plan, prove
from forklint.verify.runner import TrialRunner
from forklint.verify.words import Judgement, Verdict

Replan = Callable[[Finding, Environment], Planned]
"""Plans the experiment of a finding for the machine with this environment."""
Together = Callable[[Sequence[Finding]], Mapping[str, str]]


def replan(context_of: Callable[[Finding], Context]) -> Replan:
    """Plans findings as ``verify`` does, but for another machine."""

    def planned(finding: Finding, environment: Environment) -> Planned:
        (found,) = plan([finding], lambda one: replace(context_of(one), environment=environment))
        return found

    return planned


@dataclass(frozen=True)
class Proved:
    """What became of one finding."""

    planned: Planned
    result: Result
    cure: Cure | None = None


@dataclass
class Verifying:
    """One run of ``verify`` over several machines."""

    cluster: Cluster
    local: TrialRunner
    """Runs what stays here."""
    replan: Replan
    tell: Tell
    together: Together | None = None
    """As in ``curing.cures``; None if fixes are not tested."""
    used: dict[str, Environment] = field(default_factory=dict)
    """The environments of the machines that were used, by name."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, planned: Sequence[Planned], placed: Sequence[Placement]) -> list[Proved]:
        """Prove all findings, one at a time on each machine; in the order in which they were given."""
        queues: dict[str, list[int]] = {}
        for number, where in enumerate(placed):
            queues.setdefault(where.machine.token if where.machine else "", []).append(number)
        done: dict[int, Proved] = {}

        def work(numbers: Sequence[int]) -> None:
            for number in numbers:
                done[number] = self._one(planned[number], placed[number])

        with ThreadPoolExecutor(max(1, len(queues)), thread_name_prefix="machine") as threads:
            for future in [threads.submit(work, numbers) for numbers in queues.values()]:
                future.result()
        return [done[number] for number in range(len(planned))]

    def _one(self, planned: Planned, where: Placement) -> Proved:
        if where.machine is None:
            if not runs_here(planned, where):
                return Proved(planned, Result(planned.finding, "", unplaced(where.needs, planned)))
            proved = self._on(planned, self.local)
            judgement = proved.result.judgement
            if judgement.verdict is Verdict.UNSUPPORTED and where.needs:
                judgement = replace(judgement, advice=missing_label(where.needs))
            return replace(proved, result=replace(proved.result, judgement=judgement))
        try:
            return self._away(planned, where)
        except ClusterError as error:
            judgement = Judgement(Verdict.INCONCLUSIVE, f"its trials were refused: {error}", "run it there by hand")
            return Proved(planned, Result(planned.finding, "", judgement))

    def _on(self, planned: Planned, runner: TrialRunner) -> Proved:
        result = prove(planned, runner, self.tell)
        if self.together is None:
            return Proved(planned, result)
        found = cures([planned], [result], lambda _: runner, self.tell, self.together)
        return Proved(planned, result, found[0] if found else None)

    def _away(self, planned: Planned, where: Placement) -> Proved:
        """All trials of a finding on one machine; from the beginning on another one if it is lost."""
        retries, machine = Retries(), where.machine
        while machine is not None:
            there = self.replan(planned.finding, machine.environment)
            runner = RemoteRunner(self.cluster, machine, slice_of(there), retries)
            proved = self._on(there, runner)
            with self._lock:
                self.used[machine.name] = machine.environment
            if not runner.is_lost:
                return replace(proved, result=_signed(proved.result, machine, retries))
            machine = self._another(where) if len(retries.losses) <= MOST_RETRIES else None
        times = "1 time" if len(retries.losses) == 1 else f"{len(retries.losses)} times"
        judgement = Judgement(
            Verdict.INCONCLUSIVE,
            f"its trials were lost {times}: {'; '.join(retries.losses)}",
            "check the workers and the network, and run it again",
            {"lost": True},
        )
        return Proved(planned, Result(planned.finding, "", judgement, reruns=tuple(retries.losses)))

    def _another(self, where: Placement) -> Machine | None:
        """A machine that can take the place of one that was lost."""
        try:
            return self.cluster.wait_for(lambda one: fits(one, where.needs), COMING_BACK)
        except LostError:
            return None


def _signed(result: Result, machine: Machine, retries: Retries) -> Result:
    """The result, with the machine that it is from."""
    name = f"{machine.name} ({described(machine.environment)})" if result.observations else ""
    return replace(result, machine=name, reruns=tuple(retries.losses))


def missing(proved: Sequence[Proved]) -> list[Finding]:
    """The findings whose trials were lost for good."""
    return [one.result.finding for one in proved if one.result.judgement.details.get("lost")]
