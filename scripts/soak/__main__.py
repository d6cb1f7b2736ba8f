"""Run the long tests in parts: ``python -m scripts.soak fuzz server``, or all of them without a name.

A part goes on where it was stopped as long as no file has changed. When it has come to its end, its figures are written
into tests/soak/results.json and docs/tested.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import pytest

from scripts.soak.parts import Part, parts
from scripts.soak.plugin import Recorder
from scripts.soak.progress import Run, begun, tree
from scripts.soak.results import record, write_page

MINUTES, SEED = "FORKLINT_SOAK_MINUTES", "FORKLINT_SOAK_SEED"
"""Tests that run for a length of time or draw at random read these."""
NOTHING_LEFT = pytest.ExitCode.NO_TESTS_COLLECTED


def ran(part: Part, run: Run, *, again: bool, limit: float) -> int:
    """Run what is left of a part; gives the exit status of pytest."""
    progress = begun(part.name, run, again=again)
    recorder = Recorder(part, progress, limit)
    files = list(map(str, part.files()))
    if not files:
        print(f"{part.name}: no file has such tests")
        return 0
    print(f"{part.name}: {part.about}", flush=True)
    status = pytest.main(["-q", "-m", "soak", "-p", "no:xdist", *files], plugins=[recorder])
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, NOTHING_LEFT} or recorder.left:
        return int(status) or 1
    row = record(progress)
    print(f"{part.name}: {row.passed} passed, {row.skipped} skipped, {row.failed} failed, {row.minutes:g} min")
    return 1 if row.failed else 0


def main() -> int:
    """Return 0 if every part passed, 1 if a test failed, 2 for a wrong name, 3 if the time of a part was up."""
    parser = argparse.ArgumentParser(prog="python -m scripts.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="default: all; `list` lists them")
    parser.add_argument("--again", action="store_true", help="start over, even if tests have passed with this code")
    parser.add_argument("--limit", type=float, default=60, help="stop a part after so many minutes (default 60)")
    parser.add_argument("--minutes", type=float, help="length of tests that run for a length of time")
    parser.add_argument("--seed", type=int, help="seed of tests that draw at random")
    parser.add_argument("--page", action="store_true", help="only write the table of docs/tested.md again")
    asked = parser.parse_args()
    known = parts()
    if asked.page:
        write_page()
        return 0
    if asked.parts == ["list"]:
        print("\n".join(f"{part.name:<12} {part.about}" for part in known.values()))
        return 0
    if unknown := [name for name in asked.parts if name not in known]:
        print(f"no such part: {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    for name, value in ((MINUTES, asked.minutes), (SEED, asked.seed)):
        if value is not None:
            os.environ[name] = str(value)
    run = Run(tree(), asked.seed, asked.minutes)
    names = asked.parts or list(known)
    if len(names) == 1:
        return ran(known[names[0]], run, again=asked.again, limit=60 * asked.limit)
    options = [word for word in sys.argv[1:] if word not in known]  # each part in a process of its own
    return max(
        subprocess.run([sys.executable, "-m", "scripts.soak", name, *options], check=False).returncode for name in names
    )


if __name__ == "__main__":
    sys.exit(main())
