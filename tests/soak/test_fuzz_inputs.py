"""Random inputs, 40,000 of them: no traceback, no hang, whole fixes, the same findings with and without a store.

``FORKLINT_FUZZ_INPUTS`` is how many there are in all, ``FORKLINT_FUZZ_MINUTES`` how long one run takes at most (50). A
run goes on where the last one stopped; its state lies in pytest's cache folder. A failure is shown again by
``python -m fuzzing KIND --seed NUMBER`` in ``tests``.
"""

from __future__ import annotations

import os
import time

import pytest
from fuzzing.checks import KINDS
from fuzzing.progress import INPUTS, Progress

pytestmark = pytest.mark.soak
MINUTES = float(os.environ.get("FORKLINT_FUZZ_MINUTES", "50"))
WANTED = int(os.environ.get("FORKLINT_FUZZ_INPUTS", str(sum(INPUTS.values()))))


@pytest.mark.parametrize("kind", INPUTS)
def test_random_inputs(kind: str, pytestconfig: pytest.Config) -> None:
    progress = Progress.of(kind, pytestconfig.cache.mkdir("forklint-fuzz"))
    share = INPUTS[kind] / sum(INPUTS.values())
    progress.go_on(round(WANTED * share), time.monotonic() + 60 * MINUTES * share)
    print(f"{kind}: {progress.next} of {round(WANTED * share)} inputs in {progress.seconds:.0f} s")
    shown = [f"python -m fuzzing {kind} --seed {number}: {what}" for number, what in progress.failed.items()]
    assert not shown, "\n".join(shown)


def test_every_kind_has_its_share() -> None:
    assert set(INPUTS) == set(KINDS)
    assert sum(INPUTS.values()) == 40_000
