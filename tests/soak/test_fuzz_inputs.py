"""Random inputs, 40,000 for each seed: no traceback, no hang, whole fixes, the same findings with and without a store.

A run goes on where the last one with the same seed stopped; its state lies in pytest's cache folder. A failure is shown
again by ``python -m fuzzing KIND --seed NUMBER`` in ``tests``.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from fuzzing.checks import KINDS
from fuzzing.progress import COSTS, INPUTS, Progress, share

pytestmark = pytest.mark.soak


@pytest.mark.minutes(50)
@pytest.mark.parametrize("kind", INPUTS)
def test_random_inputs(
    kind: str,
    pytestconfig: pytest.Config,
    soak_seconds: float,
    soak_seed: int,
    record_property: Callable[[str, object], None],
) -> None:
    """Each kind has its share of the time."""
    progress = Progress.of(kind, pytestconfig.cache.mkdir("forklint-fuzz"), soak_seed)
    progress.go_on(INPUTS[kind], time.monotonic() + soak_seconds * share(kind))
    figures = f"{progress.next} of {INPUTS[kind]} inputs, {len(progress.failed)} failed"
    record_property("figures", f"{kind}: {figures}")
    shown = [f"python -m fuzzing {kind} --seed {number}: {what}" for number, what in progress.failed.items()]
    assert not shown, "\n".join(shown)


def test_every_kind_has_its_share() -> None:
    assert set(INPUTS) == set(KINDS) == set(COSTS)
    assert sum(INPUTS.values()) == 40_000
