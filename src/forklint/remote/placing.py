"""Which machine runs a finding's trials: this one, or one that has a label that they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forklint.remote.cluster import Machine
from forklint.verify.proving import Planned
from forklint.verify.words import Judgement, Verdict


@dataclass(frozen=True)
class Placement:
    """Where a finding goes."""

    needs: tuple[str, ...] = ()
    """Labels, any one of which the machine must have; empty if the finding stays here."""
    machine: Machine | None = None
    """None if it stays here, or if no machine has the labels."""


def labels_for(planned: Planned, forced: Sequence[str]) -> tuple[str, ...]:
    """Labels, any one of which a machine must have to decide a finding; empty if this machine will do.

    ``forced`` are those that the user asks for, for all findings.
    """
    if isinstance(planned.outcome, Judgement) and planned.outcome.verdict is not Verdict.UNSUPPORTED:
        return ()
    return tuple(forced) or planned.outcome.needs


def place(needs: Sequence[tuple[str, ...]], machines: Sequence[Machine]) -> list[Placement]:
    """Place findings by what they need: each on the machine with a fitting label that has the fewest so far."""
    load: Counter[str] = Counter()
    placed = []
    for labels in needs:
        fitting = [machine for machine in machines if fits(machine, labels)]
        best = min(fitting, key=lambda one: load[one.token], default=None) if labels else None
        if best is not None:
            load[best.token] += 1
        placed.append(Placement(labels, best))
    return placed


def fits(machine: Machine, labels: Iterable[str]) -> bool:
    """Whether a machine has one of the labels."""
    return not machine.labels.isdisjoint(labels)


def runs_here(planned: Planned, where: Placement) -> bool:
    """Whether a finding's trials run on this machine: also those that show something here, if no other one has them."""
    if where.machine is not None or isinstance(planned.outcome, Judgement):
        return not where.needs
    return not where.needs or where.needs == planned.outcome.needs


def unplaced(needs: Sequence[str], planned: Planned) -> Judgement:
    """The judgement of a finding that no machine can run: it says which label is missing."""
    evidence = planned.outcome.evidence if isinstance(planned.outcome, Judgement) else "it needs another machine"
    return Judgement(Verdict.UNSUPPORTED, evidence, missing_label(needs), needs=tuple(needs))


def missing_label(needs: Sequence[str]) -> str:
    """What to do about labels that nobody has."""
    labels = " or ".join(f"'{label}'" for label in needs)
    return f"no worker has the label {labels}: start one with `forklint worker` on such a machine"
