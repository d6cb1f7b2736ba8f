"""Runs programs one after another, each in a child forked from a process that has imported what they use.

``python program_outcomes.py PATHS OUTCOMES``: both are JSON files; an outcome is how a program ended, what it printed
and which names it left.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import multiprocessing
import os
import re
import runpy
import signal
import sys
import tempfile
from pathlib import Path

SECONDS = 120
"""After which a program hangs; one that spawns workers takes half a minute where others use the processors."""
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Where an object is in memory, which no two runs agree on."""
LIBRARIES = ("numpy", "torch", "torch.utils.data", "torch.multiprocessing", "h5py", "lmdb", "PIL.Image", "tokenizers")


def main(paths: Path, outcomes: Path) -> None:
    """Run all, and write what became of them."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            __import__(name)
    import torch

    torch.set_num_threads(1)
    outcomes.write_text(json.dumps([outcome(Path(path)) for path in json.loads(paths.read_text())]))


def outcome(path: Path) -> dict[str, object]:
    """Run one program in a session of its own."""
    with tempfile.TemporaryDirectory() as folder:
        printed, told = Path(folder, "printed"), Path(folder, "told")
        child = os.fork()
        if not child:
            os.setsid()
            _run(path, printed, told)
        ended = _waited(child)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        row = json.loads(told.read_text()) if told.exists() else {"end": ended, "names": []}
        text = ADDRESS.sub("", printed.read_text(errors="replace").replace(str(path.parent), ""))
    return {**row, "printed": "".join(sorted(text.splitlines(keepends=True)))}  # workers print in any order


def _waited(child: int) -> str:
    import time

    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return f"status {status}"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hang"


def _run(path: Path, printed: Path, told: Path) -> None:
    import random

    import numpy as np
    import torch

    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(0)
    stream = os.open(printed, os.O_WRONLY | os.O_CREAT)
    os.dup2(stream, 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.chdir(path.parent)
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    names: list[str] = []
    try:
        names = _names(runpy.run_path(str(path), run_name="__main__"))
        end = "done"
    except SystemExit as error:
        end = "done" if error.code in {None, 0} else f"exit {error.code}"
    except BaseException as error:  # noqa: BLE001 - that is what is asked
        end = type(error).__name__
    sys.stdout.flush()
    told.write_text(json.dumps({"end": end, "names": names}))
    for process in multiprocessing.active_children():  # as an interpreter does that ends by itself
        if not process.daemon:
            process.join()
    os._exit(0)


def _names(left: dict[str, object]) -> list[str]:
    """The functions, with their signatures, and the classes, with their bases, that a program defines itself."""
    found = []
    for name, value in left.items():
        if getattr(value, "__module__", None) not in {"__main__", "<run_path>"} or name.startswith("_"):
            continue
        if inspect.isclass(value):
            found.append(f"class {name}({', '.join(base.__name__ for base in value.__bases__)})")
        elif inspect.isfunction(value):
            found.append(f"{name}{inspect.signature(value)}".partition(" at 0x")[0])
    return sorted(found)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
