"""How soon diagnostics follow a key press, and what the server takes of memory, in a large project.

``python bench/key_presses.py PROJECT [--seconds 60]`` starts the real server, opens the five files whose lengths are
nearest to 2,000 lines, types into them as people do, and prints the figures as JSON. Nothing else should run meanwhile:
time is the clock's, and the server's processor time is given beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "server"))
from lsp_client import Client, point

from forklint.server.learning import SMALL

LINES = 2_000
FILES = 5
PAUSES = (0.08, 0.15, 0.3, 0.8, 2.5)
"""Seconds between key presses, of which one is drawn each time."""
PLACES = 3
"""In so many places of each file each statement is typed before figures of memory are compared."""


class Typist:
    """Types statements into functions of one file, key by key, and takes some of them out again."""

    def __init__(self, client: Client, name: str, dice: random.Random) -> None:
        self._client = client
        self._dice = dice
        self._waiting: list[dict[str, Any]] = []
        self.uri = client.open(name)
        lines = (client.root / name).read_text().split("\n")
        self._rows = [row for row, line in enumerate(lines) if line.startswith(("        self.", "        return "))]
        self._version = 1

    def key(self) -> int:
        """Press one key; gives the version of the document."""
        if not self._waiting:
            self.begin(self._dice.choice(WORDS))
        self._client.change(self.uri, self._waiting.pop(0))
        self._version += 1
        return self._version

    def begin(self, word: str) -> int:
        """Type a statement next, and take it out again; gives how many keys that takes."""
        row = self._dice.choice(self._rows)
        start = [{"range": _at(row, 0), "text": "        \n"}]
        keys = [{"range": _at(row, 8 + number), "text": letter} for number, letter in enumerate(word)]
        away = {"start": point(row, 0), "end": point(row + 1, 0)}
        self._waiting = [*start, *keys, {"range": away, "text": ""}]
        return len(self._waiting)


WORDS = ("# a note on this", "value = len(names)", "torch.set_num_threads(2)", "x = lmdb.open(path)", "if x:")


def _at(row: int, column: int) -> dict[str, Any]:
    return {"start": point(row, column), "end": point(row, column)}


def memory(pid: int) -> float:
    """Megabytes that a process holds."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    return 0.0


def processor(pid: int) -> float:
    """Seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(root: Path, names: list[str], seconds: float) -> dict[str, Any]:
    """Open files of a project and type for some seconds."""
    dice = random.Random(1)  # noqa: S311 - it keeps no secrets
    with tempfile.TemporaryDirectory() as cache:
        client = Client(root, env={"FORKLINT_CACHE_DIR": cache, "FORKLINT_NO_CACHE": ""})
        try:
            client.start()
            figures = _opened(client, names, dice)
            return {**figures[0], **_typed(client, figures[1], dice, seconds)}
        finally:
            client.stop()


def _opened(client: Client, names: list[str], dice: random.Random) -> tuple[dict[str, Any], list[Typist]]:
    begin = time.monotonic()
    typists, first = [], 0.0
    for name in names:
        typists.append(Typist(client, name, dice))
        client.found(typists[-1].uri)
        first = first or time.monotonic() - begin
    if len(list(client.root.rglob("*.py"))) > SMALL:
        is_read = lambda: any("has been read" in message for message in client.messages("window/logMessage"))  # noqa: E731
        client.wait(is_read, "it is never read", 600)
    read = time.monotonic() - begin
    client.settle(10)
    return {"first_file_s": first, "project_read_s": read, "open_mb": memory(client.process.pid)}, typists


class Record:
    """What each key press took, and what the server held after it."""

    def __init__(self, client: Client, dice: random.Random) -> None:
        self._client = client
        self._dice = dice
        self._took: list[float] = []
        self._spent: list[float] = []
        self._held: list[float] = []
        self._steady = 0
        """How many keys were pressed until every statement had been typed into every file often enough."""

    def press(self, typist: Typist, pauses: tuple[float, ...] = PAUSES) -> None:
        """Press a key, wait for the answer, and rest."""
        pid = self._client.process.pid
        begin, before = time.monotonic(), processor(pid)
        typist.key()
        self._client.found(typist.uri)
        self._took.append(time.monotonic() - begin)
        self._spent.append(processor(pid) - before)
        self._held.append(memory(pid))
        self._client.settle(self._dice.choice(pauses))

    def warm_up(self, typists: list[Typist]) -> None:
        """Type each statement into some places of each file, as somebody does who hardly pauses.

        What a statement asks of the project differs by place; memory that was in use once stays with the process.
        """
        for typist, word in product(typists * PLACES, WORDS):
            for _ in range(typist.begin(word)):
                self.press(typist, PAUSES[:2])
        self._steady = len(self._held)

    def figures(self) -> dict[str, Any]:
        """How soon answers came, and what the server held: at most, and in two tenths of the time after the warm-up."""
        steady = self._held[self._steady :]
        tenths = max(len(steady) // 10, 1)
        took, spent = sorted(self._took), sorted(self._spent)
        return {
            "keys": len(took),
            "median_ms": 1000 * statistics.median(took),
            "p95_ms": 1000 * took[int(0.95 * len(took))],
            "worst_ms": 1000 * took[-1],
            "median_processor_ms": 1000 * statistics.median(spent),
            "p95_processor_ms": 1000 * spent[int(0.95 * len(spent))],
            "most_mb": max(self._held),
            "first_tenth_mb": statistics.mean(steady[:tenths]),
            "last_tenth_mb": statistics.mean(steady[-tenths:]),
            "load": os.getloadavg()[0],
        }


def _typed(client: Client, typists: list[Typist], dice: random.Random, seconds: float) -> dict[str, Any]:
    record = Record(client, dice)
    record.warm_up(typists)
    end, typist = time.monotonic() + seconds, typists[0]
    while time.monotonic() < end:
        if dice.random() < 0.02:
            typist = dice.choice(typists)
        record.press(typist)
    return record.figures()


def files_of(root: Path) -> list[str]:
    """The files whose lengths are nearest to LINES, by their paths from the root."""
    lengths = {path: path.read_bytes().count(b"\n") for path in root.rglob("*.py")}
    nearest = sorted(lengths, key=lambda path: (abs(lengths[path] - LINES), path))
    return [path.relative_to(root).as_posix() for path in nearest[:FILES]]


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    print(json.dumps(measure(given.project, files_of(given.project), given.seconds), indent=2))


if __name__ == "__main__":
    main()
