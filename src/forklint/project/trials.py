"""Which code is a test: it may start workers to see that they work."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from forklint.project.module import Module
from forklint.project.scopes import FUNCTIONS

TEST_FILE = re.compile(r"test_.*\.py$|.*_test\.py$|conftest\.py$")
HOOKS = ("test_dataloader", "test_loader")
"""They are named as tests are, and make the loader of a test set."""


def is_test_file(path: Path) -> bool:
    """Whether a file is one of tests, by its name."""
    return bool(TEST_FILE.match(path.name))


def is_test(module: Module, node: ast.AST) -> bool:
    """Whether a node stands in a test: a function named so, but for those that make the loader of a test set."""
    around = (above for above in (node, *module.above(node)) if isinstance(above, FUNCTIONS))
    return any(above.name.startswith("test_") and not above.name.startswith(HOOKS) for above in around)
