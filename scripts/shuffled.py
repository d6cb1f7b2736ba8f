"""A plugin of pytest that runs tests in a random order: files in any order, and the tests of each in any order.

``SHUFFLE=7 python -m pytest -p scripts.shuffled`` draws by the seed 7.
"""

from __future__ import annotations

import os
import random

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests in random order, those of a file together."""
    dice = random.Random(int(os.environ["SHUFFLE"]))  # noqa: S311 - an order is no secret
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    groups = list(files.values())
    dice.shuffle(groups)
    for group in groups:
        dice.shuffle(group)
    items[:] = [item for group in groups for item in group]
