"""Each row of the table fits its message: made for real where a Linux machine without a GPU makes it, quoted else."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from crash_quotes import ENDINGS, QUOTES
from needed import need_torch

from forklint.crashes.exit_status import signal_of
from forklint.crashes.reading import NO_CRASH, LogReader, Reading, of_signal
from forklint.knowledge.crashes import crashes

SCENARIOS = Path(__file__).parent / "fixtures" / "crashes" / "scenarios.py"
LEAST_PROVOKED = 70


def read(text: str) -> Reading:
    reader = LogReader()
    reader.feed(text.encode())
    return reader.end()


def names(reading: Reading) -> set[str]:
    return {sign.crash.name for sign in reading.signs}


class Unused(ModuleType):
    """Stands for a library that the scenarios would use as they run; it has whatever name they import."""

    def __getattr__(self, name: str) -> type:
        return type(name, (), {})


@pytest.fixture(scope="module")
def made_for_real() -> set[str]:
    """The rows whose messages the scenarios make; to read their names takes no torch."""
    with pytest.MonkeyPatch.context() as patch:
        for library in ("torch", "torch.utils", "torch.utils.data", "h5py", "lmdb", "numpy", "PIL"):
            patch.setitem(sys.modules, library, Unused(library))
        scenarios = runpy.run_path(str(SCENARIOS))["SCENARIOS"]
    return {row for key in scenarios for row in key.split("/")}


@pytest.fixture(scope="module")
def provoked() -> dict[str, set[str]]:
    """By row, the rows that fit what was printed, and how it ended."""
    need_torch()
    done = subprocess.run([sys.executable, SCENARIOS], capture_output=True, text=True, check=True, timeout=300)
    found: dict[str, set[str]] = {}
    for key, (output, code) in json.loads(done.stdout).items():
        signal = signal_of(code) if code < 0 else ("" if code else NO_CRASH)
        for row in key.split("/"):
            found.setdefault(row, set()).update(names(read(output) | of_signal(signal)))
    return found


@pytest.mark.soak
def test_each_row_fits_its_message(provoked: dict[str, set[str]], made_for_real: set[str]) -> None:
    assert provoked.keys() == made_for_real
    missed = [row for row, found in provoked.items() if row not in found]
    assert not missed, f"made for real, and not recognised: {missed}"
    missed = [row for row, text in QUOTES.items() if row not in names(read(text))]
    assert not missed, f"quoted, and not recognised: {missed}"


def test_each_row_is_tested_and_most_are_made_for_real(made_for_real: set[str]) -> None:
    rows = {row.name for row in crashes().rows}
    assert rows == made_for_real | QUOTES.keys()
    assert not made_for_real & QUOTES.keys()
    assert len(made_for_real) >= LEAST_PROVOKED, f"{len(made_for_real)} made for real, {len(QUOTES)} quoted"


@pytest.mark.parametrize(("line", "signal"), ENDINGS.items(), ids=str)
def test_how_a_process_ended_is_read(line: str, signal: str) -> None:
    assert read(f"before\n{line}\nafter\n").signals == ((signal,) if signal else ())


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-22 12:00:00 INFO epoch 3 loss 0.25",
        "Traceback (most recent call last):",
        "ValueError: operands could not be broadcast together",
        "KeyError: 'labels'",
        "Training aborted by the user: no error",
        "exit code 0",
    ],
)
def test_what_is_none_of_it_fits_nothing(line: str) -> None:
    assert not read(line).signs
