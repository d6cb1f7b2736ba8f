"""Runs the trials of one finding on one machine, in place of ``verify.runner.Runner``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from forklint.remote.cluster import Cluster, ClusterError, LostError, Machine
from forklint.remote.messages import MessageError, observation_from_json, trial_to_json
from forklint.remote.sending import TaskWithFiles
from forklint.remote.slices import Slice
from forklint.verify.runner import told
from forklint.verify.words import Ending, Observation, Trial

MOST_RETRIES = 2
"""How often what was lost is run again."""
COMING_BACK = 30.0
"""Seconds to wait for a machine that was lost; then another one is used."""
LOST = "machine"
"""The reason in ``Ending.stopped_for``."""


@dataclass
class Retries:
    """What was lost for one finding, and run again."""

    losses: list[str] = field(default_factory=list)
    """One sentence each."""

    def spend(self, machine: Machine, reason: object) -> bool:
        """Note a loss; returns whether it may be run again."""
        self.losses.append(f"{machine.name}: {reason}")
        return len(self.losses) <= MOST_RETRIES


class RemoteRunner:
    """Runs trials on one machine; once that is lost for good, later trials end at once."""

    def __init__(self, cluster: Cluster, machine: Machine, files: Slice, retries: Retries) -> None:
        self._cluster, self.machine, self._files, self._retries = cluster, machine, files, retries
        self._content = {one.digest: one.path.read_bytes for one in files.files}
        self.is_lost = False
        """Whether the machine was lost and did not come back."""
        self._lock = threading.Lock()

    def can_lay_over(self, trial: Trial) -> bool:
        """A trial can always be given other texts there: it runs on files of its own."""
        return bool(trial.folders)

    def run_all(
        self,
        trials: Sequence[Trial],
        side_by_side: int = 1,
        on_start: Callable[[Trial], None] | None = None,
        on_end: Callable[[Observation], None] | None = None,
    ) -> list[Observation]:
        """Run all, in order; a worker runs one at a time, and the next is sent while it does."""
        with ThreadPoolExecutor(1 if side_by_side == 1 else 2, thread_name_prefix="remote") as threads:
            return list(threads.map(told(self.run, on_start, on_end), trials))

    def run(self, trial: Trial) -> Observation:
        """Run one trial, again if it is lost and its machine comes back; raises ClusterError if it is refused."""
        while not self.is_lost:
            seen = self._once(trial)
            if seen is not None:
                return seen
        return Observation(trial, Ending(stopped_for=LOST), output=self._retries.losses[-1])

    def _once(self, trial: Trial) -> Observation | None:
        """None if it was lost."""
        machine = self.machine
        request = {**self._files.message(), "trial": trial_to_json(trial)}
        try:
            reply = TaskWithFiles("trial", request, self._content, trial.seconds).run(self._cluster, machine)
            return observation_from_json(trial, reply.get("observation", {}))
        except LostError as error:
            self._recover(machine, error)
            return None
        except MessageError as error:
            raise ClusterError(f"{machine.name}: {error}") from None

    def _recover(self, machine: Machine, error: LostError) -> None:
        """Wait for the machine, once for all trials that were lost with it."""
        with self._lock:
            if self.is_lost or self.machine is not machine:
                return
            may_go_on = self._retries.spend(machine, error)
            back = self._cluster.wait_for(lambda one: one.token == machine.token, COMING_BACK) if may_go_on else None
            self.is_lost = back is None
            self.machine = back or machine
