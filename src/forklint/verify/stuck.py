"""Where a hung trial stands, read from the stacks of its processes."""

from __future__ import annotations

import linecache
import re
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from forklint.verify.words import Observation

PROCESS = re.compile(r"^process (\d+)\b.*$", re.MULTILINE)
FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<row>\d+) in (?P<name>.+)$', re.MULTILINE)
INSTALLED = ("site-packages", "dist-packages")


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


def stuck_workers(seen: Observation) -> list[tuple[int, Frame]]:
    """The workers of a trial that was stopped for time, with the innermost frame of the project in each."""
    return stuck_in(seen, {record["pid"] for record in seen.of("worker")})


def stuck_in(seen: Observation, pids: Container[int]) -> list[tuple[int, Frame]]:
    """The same for the processes with these ids."""
    heads = list(PROCESS.finditer(seen.stacks))
    ends = [*(head.start() for head in heads[1:]), *([len(seen.stacks)] if heads else [])]
    found = []
    for head, end in zip(heads, ends, strict=True):
        frame = _own(seen.stacks[head.end() : end], seen.trial.subject.folder)
        if int(head[1]) in pids and frame:
            found.append((int(head[1]), frame))
    return found


def _own(stack: str, folder: Path) -> Frame | None:
    """The first frame whose file lies in the folder where the trial runs; the innermost comes first."""
    for match in FRAME.finditer(stack):
        file = Path(match["file"])
        if folder in (folder / file).parents and not any(part in file.parts for part in INSTALLED):
            return Frame(file, int(match["row"]), match["name"])
    return None
