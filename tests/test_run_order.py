"""In what order several workers of xdist take the tests."""

from __future__ import annotations

import random

import pytest
from run_order import FEW, dealt

Named = tuple[str, int]


def suite(files: dict[str, int]) -> list[Named]:
    return [(name, number) for name, count in files.items() for number in range(count)]


def file_of(test: Named) -> str:
    return test[0]


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_every_part_begins_with_files_of_few_tests_and_each_test_is_taken_once(workers: int) -> None:
    dice = random.Random(workers)
    files = {f"few{number}": dice.randint(1, 20) for number in range(60)} | {"many": 2000, "most": 1500}
    tests = suite(dict(dice.sample(list(files.items()), len(files))))
    order = dealt(tests, workers, file_of)
    assert sorted(order) == sorted(tests)
    start = 0
    for worker in range(workers):  # as xdist divides them
        length = (len(order) - start) // (workers - worker)
        part = [file_of(test) for test in order[start : start + length]]
        begins_with = [name for name in part if name.startswith("few")]
        assert part[: len(begins_with)] == begins_with
        assert len(begins_with) >= sum(count for count in files.values() if count <= FEW) / workers / 2
        start += length


def test_tests_of_a_file_that_share_what_is_set_up_once_stay_together() -> None:
    order = dealt(suite({"a": 9, "b": 3, "c": 7, "d": 5, "many": FEW + 1}), 2, file_of)
    names = list(map(file_of, order))
    for name in "abcd":
        first = names.index(name)
        assert names[first : first + names.count(name)] == [name] * names.count(name)
        assert [number for at, number in order if at == name] == list(range(names.count(name)))


def test_more_long_tests_than_a_part_holds() -> None:
    tests = suite({f"few{number}": 10 for number in range(7)})
    assert sorted(dealt(tests, 3, file_of)) == tests
