"""When the server looks for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from forklint.server.memory import FEW, Collector


@pytest.fixture
def looks() -> Iterator[list[str]]:
    """Each look for garbage while the test runs."""
    found: list[str] = []

    def note(phase: str, _: object) -> None:
        found.append(phase)

    gc.collect()
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.enable()


def test_nothing_is_looked_for_after_a_file_that_has_not_changed(looks: list[str]) -> None:
    collector = Collector()
    collector.sweep()
    assert looks == ["start", "stop"]
    collector.sweep()
    assert looks == ["start", "stop"]


def test_what_is_out_of_use_is_freed_once_there_is_enough_of_it(looks: list[str]) -> None:
    collector = Collector()
    collector.sweep()
    circles: list[list[object]] = [[] for _ in range(2 * FEW)]
    for one in circles:
        one.append(one)
    del circles, one
    before = len(looks)
    collector.sweep()
    assert len(looks) > before
    assert gc.collect() < FEW
