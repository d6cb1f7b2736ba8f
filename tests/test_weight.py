"""What is imported when: a run that finds nothing pays for nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hazards import SHORT_HAZARD as HAZARD

HEAVY = ("libcst", "torch", "numpy", "ruamel", "rich", "pathspec", "flake8", "watchfiles")
WORKING = ("multiprocessing", "forklint.engine", "forklint.project.index", "forklint.rules.base")
PROBE = """
import sys
sys.argv = ["forklint", *{arguments!r}]
from forklint.cli import main
try:
    main()
except SystemExit:
    pass
print("loaded:", sorted(set(sys.modules) & set({heavy!r})))
"""


def loaded(arguments: list[str], cwd: Path) -> str:
    code = PROBE.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["clean.py"]])
def test_nothing_heavy_is_imported(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "clean.py").write_text("import torch\n\nmodel = torch.nn.Linear(2, 2)\n")
    assert loaded(arguments, tmp_path) == "loaded: []"


def test_libcst_is_imported_where_there_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "import lmdb\nfrom torch.utils.data import Dataset\n\n\nclass Words(Dataset):\n"
        "    def __init__(self, root):\n        self.env = lmdb.open(root)\n\n"
        "    def __getitem__(self, index):\n        return self.env.stat()\n"
    )
    assert loaded(["data.py"], tmp_path) == "loaded: ['libcst']"


def test_a_run_that_knows_all_imports_no_rule(tmp_path: Path) -> None:
    """Not even where there are findings, with their fixes."""
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "data.py").write_text(HAZARD)
    code = PROBE.format(arguments=["data.py"], heavy=(*HEAVY, *WORKING))
    for expected in (True, False):
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "FKL301" in done.stdout
        assert ("libcst" in done.stdout.splitlines()[-1]) == expected
    assert done.stdout.splitlines()[-1] == "loaded: []"
