"""Five minutes of typing into files of transformers: the server answers soon, and its memory does not grow."""

from __future__ import annotations

import os
import warnings

import pytest

from bench import key_presses
from scripts import corpus

PACKAGE = "transformers"
SECONDS = 300.0
MOST_MB = 300
MOST_P95_MS = 150
GROWTH = 1.1


@pytest.mark.soak
def test_it_answers_soon_and_does_not_grow() -> None:
    (row,) = (one for one in corpus.packages() if one.name == PACKAGE)
    try:
        root = corpus.fetch(row, corpus.home()) / PACKAGE
    except (corpus.FetchError, OSError) as error:
        warnings.warn(f"SKIPPED: {PACKAGE} cannot be had: {error}", stacklevel=1)
        pytest.skip(f"{PACKAGE} cannot be had: {error}")
    figures = key_presses.measure(root, key_presses.files_of(root), SECONDS)
    print(figures)
    assert figures["most_mb"] < MOST_MB
    assert figures["last_tenth_mb"] < GROWTH * figures["first_tenth_mb"]
    if os.getloadavg()[1] < (os.cpu_count() or 1):  # else the clock says nothing of the server
        assert figures["p95_ms"] < MOST_P95_MS
    else:
        warnings.warn(f"the machine is busy: times are not judged: {figures}", stacklevel=1)
