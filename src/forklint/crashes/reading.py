"""What a log says: the rows of the table that it matches, how processes ended, and the code that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

from forklint.crashes.exit_status import DESCRIPTIONS, described, signal_in
from forklint.crashes.log_lines import Blocks, lines_at
from forklint.knowledge.crashes import Crash, Crashes, crashes

BLOCK = 256 * 1024
"""Bytes that are searched at a time."""
NO_CRASH = "exit 0"
"""The row of the table for a program that ended well: some hazards harm without a word."""
MOST_LINES = 1000
"""So many different lines of a block are matched; one that is repeated says no more by it."""
MOST_PLACES = 500
"""Places in code that are kept of a log, the last ones."""
SHOWN = 300
"""Characters of a line that are kept."""
_TRACEBACK = re.compile(rb'File "([^"\n]{1,512})", line (\d{1,7})')
_PY_SPY = re.compile(rb" \(([^()\s:]{1,512}\.py):(\d{1,7})\)")
_WORKER = re.compile(r"(?i)worker \(pid(?:\(s\))? (\d+)")


@dataclass(frozen=True)
class Place:
    """A line of code that a log names."""

    file: str
    row: int


@dataclass(frozen=True)
class Sign:
    """A row of the table, and where a log says it first."""

    crash: Crash
    line: int
    """Number of the line, from 1; 0 if it is known otherwise than from a line."""
    text: str
    """The line itself."""
    worker: int = 0
    """Process id of a DataLoader worker, if the line names one."""


@dataclass(frozen=True)
class Reading:
    """All that a log says."""

    signs: tuple[Sign, ...] = ()
    """In the order of the log."""
    places: tuple[Place, ...] = ()
    """Code that tracebacks and stacks go through."""
    lines: int = 0

    @cached_property
    def signals(self) -> tuple[str, ...]:
        """The signals that ended processes, in the order of the log."""
        return tuple(sign.crash.signal for sign in self.signs if sign.crash.signal)

    def __or__(self, other: Reading) -> Reading:
        """What two sources say together; what both say is taken from the first."""
        names = {sign.crash.name for sign in self.signs}
        more = tuple(sign for sign in other.signs if sign.crash.name not in names)
        return Reading(self.signs + more, self.places + other.places, self.lines + other.lines)


@dataclass
class LogReader:
    """Reads a log piece by piece, in bounded memory."""

    table: Crashes = field(default_factory=crashes)

    def __post_init__(self) -> None:
        self._blocks = Blocks()
        self._lines = 0
        self._signs: dict[str, Sign] = {}
        self._places: dict[Place, None] = {}
        self._texts = {text.encode(): text for text in sorted(self.table.texts)}

    def feed(self, data: bytes) -> None:
        """Read the next bytes of a stream."""
        for start in range(0, len(data), BLOCK):
            self._read(self._blocks.feed(data[start : start + BLOCK]))

    def end(self) -> Reading:
        """What was read, once the stream has ended."""
        rest = self._blocks.close()
        self._read(rest)
        lines = self._lines + (1 if rest and not rest.endswith(b"\n") else 0)
        signs = sorted(self._signs.values(), key=lambda sign: sign.line)
        return Reading(tuple(signs), tuple(self._places), lines)

    def _read(self, block: bytes) -> None:
        if not block:
            return
        found: dict[str, int] = {}
        for text in [text for text in self._texts if text in block]:
            for start, line in lines_at(block, text):
                if len(found) < MOST_LINES:
                    found.setdefault(line, start)
        known = len(self._signs)
        for line, start in sorted(found.items(), key=itemgetter(1)):
            self._match(line, self._lines + block.count(b"\n", 0, start) + 1)
        if len(self._signs) > known:
            self._forget()
        self._note_places(block)
        self._lines += block.count(b"\n")

    def _forget(self) -> None:
        """Search no more for what has been found; how processes ended is searched to the end."""
        open_rows = [row.text for row in self.table.rows if row.name not in self._signs]
        wanted = {find for text in (*open_rows, *(row.text for row in self.table.endings)) for find in text.find}
        self._texts = {data: text for data, text in self._texts.items() if text in wanted}

    def _match(self, line: str, number: int) -> None:
        line = line.rstrip()
        for row in self.table.rows:
            if row.name not in self._signs and row.text.match(line):
                self._signs[row.name] = _sign(row, number, line)
        for signal in self._signals(line):
            row = self.table.by_signal[signal]
            self._signs.setdefault(row.name, _sign(row, number, line))

    def _signals(self, line: str) -> Iterable[str]:
        for ending in self.table.endings:
            match = ending.text.match(line)
            if match:
                groups: Mapping[str, str | None] = match.groupdict()
                signal = ending.signal or signal_in(groups.get("signal") or groups.get("status") or "")
                if signal in self.table.by_signal:
                    yield signal

    def _note_places(self, block: bytes) -> None:
        for pattern, mark in ((_TRACEBACK, b'File "'), (_PY_SPY, b".py:")):
            if mark not in block:
                continue
            for file, row in pattern.findall(block)[-MOST_PLACES:]:
                place = Place(file.decode(errors="replace"), int(row))
                self._places.pop(place, None)  # the last ones are kept
                self._places[place] = None
        while len(self._places) > MOST_PLACES:
            del self._places[next(iter(self._places))]


def of_signal(signal: str, text: str = "") -> Reading:
    """What is known where nothing but the signal is: a status on the command line, or one that was seen."""
    row = crashes().by_signal.get(signal)
    return Reading((Sign(row, 0, text or described(signal)),)) if row else Reading()


def of_worker(signal: str, text: str) -> Reading:
    """What torch says of a DataLoader worker that a signal ended, where it had no time to.

    Its main process may hear first that a pipe was reset: then it raises an error that names neither worker nor signal.
    """
    said = f"DataLoader worker (pid 1) is killed by signal: {DESCRIPTIONS.get(signal, signal).capitalize()}."
    return Reading(tuple(Sign(row, 0, text) for row in crashes().rows if row.text.match(said)))


def _sign(row: Crash, number: int, line: str) -> Sign:
    worker = _WORKER.search(line)
    return Sign(row, number, " ".join(line.split())[:SHOWN], int(worker[1]) if worker else 0)
