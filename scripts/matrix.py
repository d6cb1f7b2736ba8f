"""Run ``make test`` on every Python that forklint supports, each in an environment of its own.

Interpreters are looked up on PATH and among the versions of pyenv. torch is installed where pip finds a build for the
CPU; elsewhere the tests run without it, those that need it are skipped, and the summary says so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
COUNTS = re.compile(r"\b(\d+) (passed|skipped|failed|errors?)\b")


@dataclass(frozen=True)
class Outcome:
    """What ``make test`` said on one version of Python."""

    version: str
    status: int | None
    torch: str = ""
    counts: str = ""
    minutes: float = 0.0

    def line(self) -> str:
        """One line of the summary."""
        if self.status is None:
            return f"{self.version}: NOT TESTED: no such Python on PATH or in pyenv"
        result = "passed" if self.status == 0 else f"FAILED (exit status {self.status})"
        return f"{self.version}: {result}; {self.counts or 'no tests ran'}; {self.torch}; {self.minutes:.0f} min"


def interpreter(version: str) -> str | None:
    """The path of a Python of this version that starts, or None."""
    found = [shutil.which(f"python{version}")]
    if pyenv := shutil.which("pyenv"):
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=False).stdout.strip()
        found += map(str, sorted(Path(root, "versions").glob(f"{version}.*/bin/python{version}")))
    for path in found:
        if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            return path
    return None


def torch_build(python: str) -> tuple[bool, str]:
    """Whether pip would install torch for the CPU, and a phrase that says what it found."""
    command = [python, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps"]
    command += ["--report", "-", "--constraint", str(ROOT / "constraints-dev.txt"), "torch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return False, "without torch: pip finds no build"
    metadata = json.loads(done.stdout)["install"][0]["metadata"]
    name = f"torch {metadata['version']}"
    needs_cuda = [one for one in metadata.get("requires_dist", []) if re.match(r"(nvidia|cuda)\b", one)]
    if needs_cuda and sys.platform == "linux":
        return False, f"without torch: pip finds a build for CUDA alone ({name})"
    return True, f"with {name}"


def tested(version: str, into: Path, *, torch: bool, options: str) -> Outcome:
    """Set up the environment of a version in ``into``, and run the tests there."""
    python = interpreter(version)
    if python is None:
        return Outcome(version, None)
    has_torch, phrase = torch_build(python) if torch else (False, "without torch")
    started = time.monotonic()
    log = into / f"{version}.log"
    command = ["make", "test", f"PYTHON={python}", f"VENV={into / version}", f"EXTRAS={'dev' if has_torch else 'test'}"]
    if options:
        command.append(f"TEST_OPTIONS={options}")
    print(f"{version}: {phrase}; output in {log}", flush=True)
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    with log.open("wb") as output:
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=output, check=False)
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
    counts = ", ".join(f"{number} {word}" for line in tail for number, word in COUNTS.findall(line))
    return Outcome(version, done.returncode, phrase, counts, (time.monotonic() - started) / 60)


def main() -> int:
    """Run all versions, one after the other; 0 if each passed, 1 if one failed, 2 if one was not found."""
    parser = argparse.ArgumentParser(description="Run `make test` on every supported Python.")
    parser.add_argument(
        "versions", nargs="*", default=VERSIONS, metavar="VERSION", help="default: " + " ".join(VERSIONS)
    )
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "matrix", help="folder for environments and logs")
    parser.add_argument("--no-torch", action="store_true", help="do not install torch anywhere")
    parser.add_argument("--test-options", default="", help="more options for pytest, in one word")
    chosen = parser.parse_args()
    into = chosen.into.absolute()
    into.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for version in chosen.versions:
        outcomes.append(tested(version, into, torch=not chosen.no_torch, options=chosen.test_options))
        print(outcomes[-1].line(), flush=True)
    print("\n" + "\n".join(one.line() for one in outcomes))
    if any(one.status for one in outcomes):
        return 1
    return 2 if any(one.status is None for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
