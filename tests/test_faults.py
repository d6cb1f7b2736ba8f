"""A fault in a rule is said in one line, costs that rule alone, and fails the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BROKEN = """
import sys
from forklint.rules.unknown_method.rule import UnknownMethod

def suspects(self, module):
    raise KeyError("surprise")

UnknownMethod.may_hold = lambda self, path, data: True
UnknownMethod.suspects = suspects
sys.argv = ["forklint", "--output-format", "concise", "-q", "data.py"]
from forklint.cli import main
main()
"""


def test_the_other_rules_still_answer(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "import lmdb\nfrom torch.utils.data import Dataset\n\n\nclass Words(Dataset):\n"
        "    def __init__(self, root):\n        self.env = lmdb.open(root)\n\n"
        "    def __getitem__(self, index):\n        return self.env.stat()\n"
    )
    done = subprocess.run([sys.executable, "-c", BROKEN], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "forklint: data.py: FKL501 failed: KeyError: 'surprise'; please report it\n"
    assert "FKL301" in done.stdout


FAULTY_FIX = """
import sys
from forklint.rules.handle_in_init.rule import HandleInInit

def fixes(self, suspect, module, tree):
    raise KeyError("surprise")

HandleInInit.fixes = fixes
sys.argv = ["forklint", "--output-format", "concise", "-q", *sys.argv[1:], "data.py"]
from forklint.cli import main
main()
"""


def test_a_fix_that_fails_costs_that_fix_alone(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "import lmdb\nfrom torch.utils.data import DataLoader, Dataset\n\n\nclass Words(Dataset):\n"
        "    def __init__(self, root):\n        self.env = lmdb.open(root)\n\n"
        "    def __getitem__(self, index):\n        return self.env.stat()\n\n\n"
        "words = DataLoader(Words('.'), num_workers=2, collate=list)\n"
    )
    for options in ([], ["--fix"]):
        done = subprocess.run(
            [sys.executable, "-c", FAULTY_FIX, *options], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        said = "forklint: data.py: the fix of FKL301 on line 7 failed: KeyError: 'surprise'; please report it\n"
        assert said in done.stderr
        assert "FKL301" in done.stdout
    assert "collate_fn=list" in (tmp_path / "data.py").read_text(), "the other fix is made"


def test_a_fault_of_forklint_itself_is_one_line_and_no_finding(tmp_path: Path) -> None:
    code = (
        "import sys, forklint.cli, forklint.cli.run as run\n"
        "run.run = lambda options: 1 / 0\nsys.argv = ['forklint']\nforklint.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: internal error (ZeroDivisionError: division by zero)")
