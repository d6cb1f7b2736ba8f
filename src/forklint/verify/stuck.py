"""Where a hung trial stands, read from the stacks of its processes."""

from __future__ import annotations

import linecache
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from forklint.verify.words import Observation

PROCESS = re.compile(r"^process (\d+)\b.*$", re.MULTILINE)
FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<row>\d+) in (?P<name>.+)$', re.MULTILINE)
INSTALLED = ("site-packages", "dist-packages")
LONGEST_PAUSE = 5.0
"""Seconds without a sign of life from which on a trial may stand still, or a third of its limit if that is less."""
USUAL_TWICE = 2
"""And so many times as long as the control was ever silent: a slow dataset and a slow start are no hang."""


@dataclass(frozen=True)
class Frame:
    """One of the project's own frames."""

    file: Path
    row: int
    name: str

    def __str__(self) -> str:
        return f"{self.file.name}:{self.row}, in {self.name}"

    @property
    def text(self) -> str:
        """The line that is being run."""
        return linecache.getline(str(self.file), self.row)


def is_hung(seen: Observation, controls: Sequence[Observation]) -> bool:
    """Whether a trial that was stopped for time stood still while it read, rather than being slow."""
    if seen.ending.stopped_for != "time" or seen.of("done") or not seen.of("handle-held"):
        return False
    times = [record["time"] for record in seen.records]
    quiet: float = min(times) + seen.wall_seconds - max(times)
    is_forked = seen.trial.factors.start_method == "fork"  # otherwise a worker imports what the program has imported
    usual: float = max((_longest_silence(control, reading_alone=is_forked) for control in controls), default=0.0)
    return quiet >= max(USUAL_TWICE * usual, min(LONGEST_PAUSE, seen.trial.seconds / 3))


def _longest_silence(control: Observation, *, reading_alone: bool) -> float:
    """Seconds between two of its records, those of its start included or not."""
    began = min((record["time"] for record in control.of("target")), default=0.0) if reading_alone else 0.0
    times = sorted(record["time"] for record in control.records if record["time"] >= began)
    return max((later - sooner for sooner, later in pairwise(times)), default=0.0)


def stuck_workers(seen: Observation) -> list[tuple[int, Frame]]:
    """The workers of a trial that was stopped for time, with the innermost frame of the project in each."""
    return stuck_in(seen, {record["pid"] for record in seen.of("worker")})


def stuck_in(seen: Observation, pids: Container[int]) -> list[tuple[int, Frame]]:
    """The same for the processes with these ids."""
    frames = frames_of(seen.stacks, seen.trial.subject.folder)
    return [(pid, frame) for pid, frame in frames.items() if pid in pids]


def frames_of(stacks: str, folder: Path) -> dict[int, Frame]:
    """The innermost frame of the project in each process of which there are stacks."""
    heads = list(PROCESS.finditer(stacks))
    ends = [*(head.start() for head in heads[1:]), len(stacks)]
    found = {}
    for head, end in zip(heads, ends, strict=False):  # nobody may have been there to ask
        frame = _own(stacks[head.end() : end], folder)
        if frame:
            found[int(head[1])] = frame
    return found


def _own(stack: str, folder: Path) -> Frame | None:
    """The first frame whose file lies in the folder where the trial runs; the innermost comes first."""
    for match in FRAME.finditer(stack):
        file = Path(match["file"])
        if folder in (folder / file).parents and not any(part in file.parts for part in INSTALLED):
            return Frame(file, int(match["row"]), match["name"])
    return None
