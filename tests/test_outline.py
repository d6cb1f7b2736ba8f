"""Imports read from bytes: one too many does no harm, one too few would."""

from __future__ import annotations

import pytest

from forklint.source.outline import Import, imports_of


@pytest.mark.parametrize(
    ("line", "alias", "one"),
    [
        ("import torch.nn as nn", "nn", Import("torch.nn")),
        ("import os, torch.nn", "torch", Import("torch")),
        ("import os; import torch as t", "t", Import("torch")),
        ("from torch import (\n    nn,  # the old (and new) one\n    optim as o,\n)", "o", Import("torch", "optim")),
        ("from torch import \\\n    nn", "nn", Import("torch", "nn")),
        ("from .. import parts", "parts", Import("", "parts", 2)),
        ("from.parts import part", "part", Import("parts", "part", 1)),
        ("try: from torch import cuda\nexcept ImportError: pass", "cuda", Import("torch", "cuda")),
        ("try:\n    x\nexcept E as e:\n    raise F from e\nimport late", "late", Import("late")),
        ("# import (see below\nimport torch\nx = f()", "torch", Import("torch")),
    ],
)
def test_imports(line: str, alias: str, one: Import) -> None:
    assert one in imports_of(f"\n{line}\n".encode())[alias]
