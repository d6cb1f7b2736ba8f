"""What a test cannot do without: it is skipped, with a word, where that is not installed."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest


def need_torch(*programs: Path) -> None:
    """Skip a test, or a file of tests, that needs torch, or whose programs do.

    Those do that mention it, or that files beside them do. It is not imported, as ``pytest.importorskip`` would: each
    process of the tests would take seconds and memory for what only the processes need that it starts.
    """
    if find_spec("torch") is not None:
        return
    files = [file for program in programs for file in program.parent.rglob("*.py")]
    if not programs or any("torch" in file.read_text(encoding="utf-8", errors="replace") for file in files):
        pytest.skip("torch is not installed", allow_module_level=True)


def need_libraries(program: Path) -> None:
    """Skip a test whose program imports a library that is not installed; what lies beside it is none."""
    tree = ast.parse(program.read_bytes())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    for name in sorted({name.partition(".")[0] for name in names} - {path.stem for path in program.parent.iterdir()}):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
