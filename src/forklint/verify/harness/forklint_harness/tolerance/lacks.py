"""What a tolerant run lacked and stood in for: written to the journal once for each thing, by every process."""

from __future__ import annotations

import itertools
import os
from typing import List, Set, Tuple

from forklint_harness import journal

MOST_TOLD = 200
"""Things that one process writes down: a loop over missing files would name each."""
DATA = "FORKLINT_TRIAL_LACKS"
"""Variable that says to descendants that data are missing."""
_told: Set[Tuple[str, str]] = set()
_count = itertools.count(1)
_touched = 0
_made_up_data: List[bool] = []
_forgiving: List[bool] = []


def record(kind: str, what: str, why: str = "", place: str = "") -> None:
    """Write down that something was stood in, or refused.

    ``kind`` is one of ``package``, ``file``, ``argument``, ``variable``, ``accelerator``, ``network``, ``statement``,
    ``refused`` and ``skipped``.
    """
    touch()
    if kind in ("file", "network", "argument"):
        os.environ[DATA] = "1"
    if (kind, what) in _told or len(_told) >= MOST_TOLD:
        return
    _told.add((kind, what))
    journal.record("stood-in", of=kind, what=what[:200], why=why[:300], place=place)


def are_data_missing() -> bool:
    """Whether a file, a server or an argument has been missing in this process, or in one that led to it."""
    return DATA in os.environ


def have_data(*, there: bool) -> None:
    """Note whether all stores that the program reads were made: what a reader then says is about how it is used."""
    _made_up_data[:] = [True] if there else []


def are_data_there() -> bool:
    """Whether the stores that the program reads have been made."""
    return bool(_made_up_data)


def forgive(*, all_failures: bool) -> None:
    """Note whether any statement that fails is passed over: the data are made up, and so may be the failure."""
    _forgiving[:] = [True] if all_failures else []


def is_forgiving() -> bool:
    """Whether any statement that fails is passed over."""
    return bool(_forgiving)


def touch() -> None:
    """Note that something missing was looked at, or that a stand-in gave a plain value."""
    global _touched  # noqa: PLW0603 - a counter of the process
    _touched = next(_count)


def touched() -> int:
    """A number that has changed if something missing was looked at since it was last read."""
    return _touched
