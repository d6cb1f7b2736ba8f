"""While a package is edited, one process finds what a fresh run finds, from a few questions asked again."""

from __future__ import annotations

import gc
import statistics
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from incremental_runs import Workbench, work

from forklint.source.document import collector_paused
from scripts import corpus


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    with collector_paused():
        yield
    gc.collect()


def package(name: str) -> Path:
    """The folder of a package of the corpus, fetched if need be."""
    (row,) = (one for one in corpus.packages() if one.name == name)
    try:
        return corpus.fetch(row, corpus.home())
    except (corpus.FetchError, OSError) as error:
        warnings.warn(f"SKIPPED: {name} cannot be had: {error}", stacklevel=1)
        pytest.skip(f"{name} cannot be had: {error}")


@pytest.mark.parametrize(
    ("name", "edits", "seed"),
    [
        pytest.param("torchvision", 5, 1, id="torchvision", marks=pytest.mark.soak),
        pytest.param("torchvision", 100, 2, id="torchvision, a hundred times", marks=pytest.mark.soak),
        pytest.param("transformers", 10, 3, id="transformers", marks=pytest.mark.soak),
    ],
)
def test_after_each_edit_it_finds_what_a_fresh_run_finds(name: str, edits: int, seed: int) -> None:
    shares = work(Workbench(package(name), seed), edits)
    print(f"{name}: at most {max(shares):.1%} of the questions again, {statistics.median(shares):.1%} at the median")
