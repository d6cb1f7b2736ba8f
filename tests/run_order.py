"""The order of the tests where several workers share them: the long ones first, so that none is left for the end.

xdist gives each worker a part of the list, and who is done takes the second half of what the busiest has left. In the
order of their names, files of `tests/verify` would come last, whose tests take seconds: at the end one worker would
still be busy for a minute, with the others idle. Tests that take long are those of files with few tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Test = TypeVar("Test")
FEW = 150
"""A file with more tests has short ones."""


def dealt(tests: Sequence[Test], workers: int, file_of: Callable[[Test], object]) -> list[Test]:
    """Order the tests so that the part of each worker begins with as many long ones; those of a file stay together."""
    by_file: dict[object, list[Test]] = {}
    for test in tests:
        by_file.setdefault(file_of(test), []).append(test)
    files = sorted(by_file.values(), key=len)
    long = [file for file in files if len(file) <= FEW]
    short = [test for file in files if len(file) > FEW for test in file]
    order: list[Test] = []
    for worker in range(workers):
        part = [test for file in long[worker::workers] for test in file]
        length = (len(tests) - len(order)) // (workers - worker)
        filling = max(0, length - len(part))
        order += part + short[:filling]
        del short[:filling]
    return order + short
