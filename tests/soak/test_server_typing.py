"""An hour of typing into files of transformers: the server answers soon, and its memory does not grow."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

import pytest

from bench import key_presses
from scripts import corpus

PACKAGE = "transformers"
MOST_MB = 300
MOST_P95_MS = 150
GROWTH = 1.1


@pytest.mark.soak
@pytest.mark.minutes(50)
def test_it_answers_soon_and_does_not_grow(soak_seconds: float, record_property: Callable[[str, object], None]) -> None:
    (row,) = (one for one in corpus.packages() if one.name == PACKAGE)
    try:
        root = corpus.fetch(row, corpus.home()) / PACKAGE
    except (corpus.FetchError, OSError) as error:
        warnings.warn(f"SKIPPED: {PACKAGE} cannot be had: {error}", stacklevel=1)
        pytest.skip(f"{PACKAGE} cannot be had: {error}")
    figures = key_presses.measure(root, key_presses.files_of(root), soak_seconds)
    print(figures)
    record_property(
        "figures",
        f"{figures['keys']} key presses, answered in {figures['median_ms']:.0f} ms in the median and 95 in 100 within "
        f"{figures['p95_ms']:.0f} ms; "
        f"at most {figures['most_mb']:.0f} MB, {figures['first_tenth_mb']:.0f} MB at first and "
        f"{figures['last_tenth_mb']:.0f} MB at last",
    )
    assert figures["most_mb"] < MOST_MB
    assert figures["last_tenth_mb"] < GROWTH * figures["first_tenth_mb"]
    if os.getloadavg()[1] < (os.cpu_count() or 1):  # else the clock says nothing of the server
        assert figures["p95_ms"] < MOST_P95_MS
    else:
        warnings.warn(f"the machine is busy: times are not judged: {figures}", stacklevel=1)
