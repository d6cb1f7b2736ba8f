"""``make new-rule`` writes a rule that works at once, with a page and fixtures, for its author to change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_new_rule_exists_at_once(tmp_path: Path) -> None:
    for name in ("src", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    done = run(tmp_path, "scripts/new_rule.py", "FKL999_noisy_worker")
    assert done.stdout.split() == [
        "src/forklint/rules/noisy_worker.py",
        "tests/fixtures/FKL999_noisy_worker/bad_first.py",
        "tests/fixtures/FKL999_noisy_worker/good_first.py",
    ]
    assert run(tmp_path, "-m", "forklint", "rule", "noisy-worker").stdout.startswith("# noisy-worker (FKL999)")
    fixtures = "tests/fixtures/FKL999_noisy_worker"
    line = ("-m", "forklint", "--isolated", "--no-cache", "--preview", "--output-format", "concise")
    assert run(tmp_path, *line, f"{fixtures}/bad_first.py").stdout.startswith(f"{fixtures}/bad_first.py:4:1: FKL999 ")
    assert run(tmp_path, *line, f"{fixtures}/good_first.py").returncode == 0
    assert run(tmp_path, "scripts/new_rule.py", "FKL999_noisy_worker").returncode == 1
    assert run(tmp_path, "scripts/new_rule.py", "noisy").stderr.startswith("name it like")
