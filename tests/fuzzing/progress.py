"""How far random inputs were checked: kept beside pytest's cache, so that a run that was ended goes on where it was.

A state belongs to one version of the program; another version begins again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from forklint.store import identity

CHUNK = 250
"""Inputs for which one process is started."""
TESTS = Path(__file__).parent.parent
INPUTS = {
    "programs": 14_000,
    "mutants": 12_000,
    "notebooks": 4_000,
    "presets": 4_000,
    "configurations": 2_500,
    "baselines": 1_500,
    "verdicts": 1_500,
    "stores": 500,
}
"""How many inputs of each kind are checked for each seed: 40,000 in all."""
COSTS = {
    "programs": 70,
    "mutants": 35,
    "notebooks": 100,
    "presets": 15,
    "configurations": 45,
    "baselines": 20,
    "verdicts": 3,
    "stores": 400,
}
"""About how many milliseconds of processor time an input takes: what each kind's share of a run is made of."""


def share(kind: str) -> float:
    """Which part of the time of a run is a kind's."""
    return INPUTS[kind] * COSTS[kind] / sum(INPUTS[one] * COSTS[one] for one in INPUTS)


@dataclass
class Progress:
    """What was checked of one kind of input."""

    kind: str
    file: Path
    seed: int = 0
    program: str = field(default_factory=identity.program)
    next: int = 0
    """How many inputs are done."""
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)
    """By number, what went wrong."""

    @classmethod
    def of(cls, kind: str, folder: Path, seed: int = 0) -> Progress:
        """As it was left in a folder; anew for another version of the program."""
        new = cls(kind, folder / f"{kind}-{seed}.json", seed)
        try:
            told = json.loads(new.file.read_text())
        except (OSError, ValueError):
            return new
        if told.pop("program", None) != new.program:
            return new
        return cls(kind, new.file, seed, **{name: told[name] for name in ("next", "seconds", "failed")})

    def save(self) -> None:
        """Leave it for the next run."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        written = {**asdict(self), "file": None}
        partly = self.file.with_suffix(".part")
        partly.write_text(json.dumps(written, indent=1))
        partly.replace(self.file)

    def go_on(self, inputs: int, until: float) -> None:
        """Check up to ``inputs`` inputs in all, in processes of their own, until a moment in time."""
        while self.next < inputs and time.monotonic() < until:
            start, count = time.monotonic(), min(CHUNK, inputs - self.next)
            first = self.seed * sum(INPUTS.values()) + self.next
            last = first - 1
            for row in _ran(self.kind, first, count, until - start):
                if "stopped" in row:
                    count = int(str(row["stopped"])) - first
                elif "at" in row:
                    last = int(str(row["at"]))
                elif "failed" in row:
                    self.failed[str(row["failed"])] = str(row["error"])
                else:
                    self.failed[str(last)] = f"the process ended: {row}"
                    count = last - first + 1
            self.next += count
            self.seconds += time.monotonic() - start
            self.save()


def _ran(kind: str, first: int, count: int, seconds: float) -> Iterator[dict[str, object]]:
    """Give the rows that a process prints, and one of its end where that is none of ours."""
    command = [sys.executable, "-m", "fuzzing", kind, "--first", str(first), "--count", str(count)]
    command += ["--seconds", str(seconds)]
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    done = subprocess.run(
        command, cwd=TESTS, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            yield json.loads(line)
    if done.returncode not in {0, 1}:
        yield {"exit": done.returncode, "errors": done.stderr[-2000:]}
