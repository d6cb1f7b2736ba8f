"""Imports point one way, and no file of the product is larger than a person reads at a sitting."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "forklint"
LAYERS = [
    "records",
    "model",
    "knowledge",
    "source",
    "config",
    "settings_reference",
    "summaries",
    "store",
    "project",
    "values",
    "runs",
    "edits",
    "machines",
    "members",
    "loading",
    "datasets",
    "starting",
    "sending",
    "forking",
    "environment",
    "handles",
    "rules",
    "skipped",
    "prefilter",
    "proposing",
    "preset_linting",
    "engine",
    "linters",
    "fixing",
    "suppressing",
    "baseline",
    "saved_verdicts",
    "incremental",
    "dealing",
    "parallel",
    "crashes",
    "verify",
    "pages",
    "report",
    "remote",
    "setup",
    "server",
    "cli",
    "flake8_plugin",
    "__main__",
]
UPWARDS = {
    ("config", "rules"): "selectors are checked against the rules that exist",
}
MOST_LINES = 400


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(tree: ast.Module, within: str = "forklint.") -> set[str]:
    """Rooms of forklint, or of a package in it, that a file imports, whenever it does."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix(within).split(".")[0] for name in names if name.startswith(within)}


SHARED_BY_RULES = {"base", "needs", "registry", "table"}
RULES = sorted(path for path in (SOURCE / "rules").iterdir() if path.name != "__pycache__")
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("here", LAYERS)
def test_imports_point_one_way(here: str) -> None:
    for path in (one for one in FILES if room(one) == here):
        for other in imported(ast.parse(path.read_text(encoding="utf-8"))) & set(LAYERS):
            allowed = LAYERS.index(other) <= LAYERS.index(here) or (here, other) in UPWARDS
            assert allowed, f"{path.relative_to(SOURCE)} imports {other}"


def test_each_file_has_its_place() -> None:
    assert {room(path) for path in FILES} == set(LAYERS)


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_no_rule_rests_on_another(path: Path) -> None:
    """What two rules need stands in a package below them."""
    for file in [path] if path.is_file() else path.rglob("*.py"):
        others = imported(ast.parse(file.read_text(encoding="utf-8")), "forklint.rules.")
        assert others <= {path.stem, *SHARED_BY_RULES}, file.name


def test_no_file_is_too_large() -> None:
    lengths = {path.relative_to(SOURCE): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}
