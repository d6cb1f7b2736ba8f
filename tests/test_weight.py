"""What is imported when: a run that finds nothing pays for nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("libcst", "torch", "numpy", "ruamel", "rich", "pathspec", "flake8", "watchfiles")
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
