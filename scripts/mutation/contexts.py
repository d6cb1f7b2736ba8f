"""A plugin of pytest: coverage is recorded for each test by its id, parameters included, with the time it took."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

TIMES = "MUTATION_TIMES"
"""The variable that names the file for the times."""
_times: dict[str, float] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record what a test reaches under its id."""
    measuring = coverage.Coverage.current()
    if measuring is None:
        raise pytest.UsageError("not started by `coverage run`")
    measuring.switch_context(item.nodeid)
    started = time.perf_counter()
    try:
        return (yield)
    finally:
        _times[item.nodeid] = time.perf_counter() - started
        measuring.switch_context("")


def pytest_sessionfinish() -> None:
    """Write how long each test took."""
    Path(os.environ[TIMES]).write_text(json.dumps(_times), encoding="utf-8")
