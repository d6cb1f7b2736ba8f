"""Clock forklint file by file, to see whether some take far longer than their size explains.

    python bench/each_file.py FOLDER...

All rules are run on each file, in one process from the first file to the last and in another from the last to the
first; of a file's two times the smaller one is printed, since whoever comes first pays for what is learned about the
whole project. One line of JSON per file: its path from the folder's parent, its bytes, the seconds of CPU time and how
many findings it has.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from forklint.parallel import Job

Clocked = dict[Path, tuple[float, int]]
"""Seconds and findings of each file."""


def python_files(folder: Path) -> list[Path]:
    """The Python files below a folder, in the order of their paths."""
    return sorted(Path(parent, name) for parent, _, names in os.walk(folder) for name in names if name.endswith(".py"))


def clock(files: Sequence[Path]) -> Clocked:
    """Lint files one after another, as a run with one process does."""
    linters = Job(overrides={"preview": True}, isolated=True, with_fixes=False).linters()
    gc.disable()
    clocked: Clocked = {}
    last = None
    for path in files:
        began = time.process_time()
        linter = linters.of(path)
        report = linter.lint(path)
        clocked[path] = time.process_time() - began, len(report.findings)
        if last is not None and linter is not last:
            linters.leave(linter)
            gc.collect()
        last = linter
    return clocked


def main(folders: Sequence[Path]) -> None:
    """Clock the files of folders in both orders, and print them."""
    files = [(folder, path) for folder in folders for path in python_files(folder)]
    paths = [path for _, path in files]
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        forward, backward = pool.map(clock, (paths, paths[::-1]), chunksize=1)
    for folder, path in files:
        seconds, findings = min(forward[path], backward[path])
        row = {
            "path": path.relative_to(folder.parent).as_posix(),
            "bytes": path.stat().st_size,
            "seconds": seconds,
            "findings": findings,
        }
        print(json.dumps(row))


if __name__ == "__main__":
    main([Path(argument).absolute() for argument in sys.argv[1:]])
