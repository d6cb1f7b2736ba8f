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
PATH = os.environ.get("PYTHONPATH", "")
START = "import multiprocessing\nmultiprocessing.set_start_method({!r}, force=True)\n"


def step(title: str, command: list[str], folder: Path, *, expect: int, **environment: str) -> None:
    """Say what is run, run it, and end the demo if it does not end as it should."""
    words = [
        "forklint" if word == "-m" else Path(word).name for word in command if word not in {sys.executable, "forklint"}
    ]
    if command[1] != "-m":
        words = ["python", *words]
    print(f"\n\033[1m# {title}\033[0m\n$ {' '.join(words)}", flush=True)
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
        step("Find: five hazards in one small project", [*FORKLINT, "examples"], folder, expect=1)
        mend = [*FORKLINT, "examples", "--fix", "--show-fixes", "--output-format", "concise"]
        step("Mend what is safe", mend, folder, expect=1)
        step("Mend the rest, which wants your judgement", [*mend, "--unsafe-fixes"], folder, expect=0)
        for method in ("fork", "spawn"):
            platform = folder / method
            platform.mkdir()
            (platform / "sitecustomize.py").write_text(START.format(method), encoding="utf-8")
            title = f"Train the mended project where processes start by {method}"
            command = [sys.executable, "train.py", "--epochs", "1"]
            step(title, command, copy / "ocr", expect=0, PYTHONPATH=os.pathsep.join([str(platform), PATH]))


if __name__ == "__main__":
    main()
