"""Runs the main job on the example: find, look at the fixes, mend a copy, train it under fork and spawn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORKLINT = [sys.executable, "-m", "forklint"]
START = "import multiprocessing\nmultiprocessing.set_start_method({!r}, force=True)\n"


def step(title: str, command: list[str], folder: Path, *, expect: int, shown: str, **environment: str) -> None:
    """Say what is run, run it, and end the demo if it does not end as it should."""
    print(f"\n\033[1m# {title}\033[0m\n$ {shown}", flush=True)
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, check=False)
    if done.returncode != expect:
        sys.exit(f"demo: expected exit code {expect}, got {done.returncode}")


def main() -> None:
    """Run the demo; exits with 1 if any step ends otherwise than it should."""
    with tempfile.TemporaryDirectory(prefix="forklint-demo-") as name:
        folder = Path(name)
        copy = folder / "examples"
        shutil.copytree(ROOT / "examples", copy, ignore=shutil.ignore_patterns(".data", "__pycache__"))
        (folder / "forklint.toml").touch()
        lint = [*FORKLINT, "examples/", "--color", "always"]
        step("Find: five hazards in one small project", lint, folder, expect=1, shown="forklint examples/")
        safe = [*FORKLINT, "examples/", "--fix", "--show-fixes", "-q"]
        step("Mend what is safe", [*safe, "--exit-zero", "--output-format", "concise"], folder, expect=0,
             shown="forklint examples/ --fix --show-fixes")  # fmt: skip
        step("Mend the rest, which wants your judgement", [*FORKLINT, "examples/", "--fix", "--unsafe-fixes", "--show-fixes"],
             folder, expect=0, shown="forklint examples/ --fix --unsafe-fixes --show-fixes")  # fmt: skip
        for method in ("fork", "spawn"):
            platform = folder / method
            platform.mkdir()
            (platform / "sitecustomize.py").write_text(START.format(method), encoding="utf-8")
            step(f"Train the mended project where processes start by {method}", [sys.executable, "train.py", "--epochs", "1"],
                 copy / "ocr", expect=0, shown="python train.py --epochs 1", PYTHONPATH=str(platform))  # fmt: skip


if __name__ == "__main__":
    main()
