"""Methods are looked for in the order of Python itself: random hierarchies, made for real."""

from __future__ import annotations

import random

from forklint.project.linearization import linearized

CLASSES = 7
HIERARCHIES = 2000


def test_the_order_is_python_s() -> None:
    choice, refused = random.Random(5), 0
    for _ in range(HIERARCHIES):
        bases: dict[int, list[int]] = {}
        made: dict[int, type] = {}
        for name in range(CLASSES):
            own = choice.sample(sorted(made), min(len(made), choice.randint(0, 3)))
            try:
                made[name] = type(str(name), tuple(made[one] for one in own), {})
            except TypeError:
                refused += 1
                assert linearized(name, {**bases, name: own}) is None
            else:
                bases[name] = own
                assert linearized(name, bases) == [int(one.__name__) for one in made[name].__mro__[:-1]]
    assert refused > 100


def test_a_circle_has_none() -> None:
    assert linearized(1, {1: [2], 2: [3], 3: [1]}) is None
    assert linearized(1, {1: [1]}) is None
