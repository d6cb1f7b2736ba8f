"""``--repro``: the script stands alone, and running it shows the harm."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from handle_projects import write
from needed import need_torch

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork, spawn and the pools were measured on Linux")

IMPORTS = """import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

"""
LAMBDA = """
class Numbers(Dataset):
    def __init__(self):
        self.change = lambda x: x

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.change(index)


if __name__ == "__main__":
    for batch in DataLoader(Numbers(), num_workers=2, multiprocessing_context="spawn"):
        print(batch)
"""
GENERATOR = """
class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.random()


if __name__ == "__main__":
    for batch in DataLoader(Noisy(), num_workers=2):
        print(batch)
"""
STREAM = """
class Lines(IterableDataset):
    def __iter__(self):
        for line in range(100):
            yield line


if __name__ == "__main__":
    for batch in DataLoader(Lines(), num_workers=2):
        print(batch)
"""
UNGUARDED = "for batch in DataLoader(list(range(8)), num_workers=2):\n    print(batch)\n"
LATE = 'import os\n\nos.environ["OMP_NUM_THREADS"] = "1"\n'
VALUE = 'import os\n\nos.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"\n'


@pytest.fixture
def repro(command, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Print the script for the trial whose name holds a word, and run it in an empty folder."""

    def run(code: str, word: str, file: str = "data.py") -> subprocess.CompletedProcess[str]:
        given = ("verify", file, "--isolated", "--select", code)
        plan = command(*given, "--plan", cwd=tmp_path).stdout
        name = next(line.split()[0] for line in plan.splitlines() if line.startswith("    fkl") and word in line)
        done = command(*given, "--repro", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"reported {code} " in done.stdout
        assert f"at {file}:" in done.stdout
        place = tmp_path / "alone"
        place.mkdir()
        (place / "repro.py").write_text(done.stdout)
        words = [sys.executable, "-I", "repro.py"]
        return subprocess.run(words, cwd=place, capture_output=True, text=True, check=False, timeout=300)

    return run


HANDLES = [
    pytest.param("file", "fork", "samples are wrong in pass", marks=pytest.mark.soak),
    pytest.param("file", "spawn", "cannot pickle '_io.BufferedReader' object", marks=pytest.mark.soak),
    ("lmdb", "fork", "MDB_"),
    pytest.param("lmdb", "spawn", "cannot pickle", marks=pytest.mark.soak),
    pytest.param("hdf5", "spawn", "h5py objects cannot be pickled", marks=pytest.mark.soak),
]


@pytest.mark.parametrize(("name", "method", "harm"), HANDLES)
def test_a_shared_handle(name: str, method: str, harm: str, repro, tmp_path: Path) -> None:
    if name != "file":
        pytest.importorskip({"hdf5": "h5py"}.get(name, name))
    write(name, tmp_path)
    done = repro("FKL301", f"-{method}-")
    assert done.returncode == 1, done.stdout + done.stderr
    assert harm in done.stdout


OTHERS = [
    pytest.param("FKL204", LAMBDA, "-spawn-", "lambda", marks=pytest.mark.soak),
    pytest.param("FKL302", GENERATOR, "-fork-", "come twice in an epoch", marks=pytest.mark.soak),
    ("FKL303", STREAM, "-fork-", "come 4 times each"),
    pytest.param("FKL101", LATE, "-late", "set after it", marks=pytest.mark.soak),
    pytest.param(
        "FKL101",
        VALUE,
        "-late",
        "DebugLevel.OFF; set before the import: DebugLevel.DETAIL; set after it: DebugLevel.OFF",
        marks=pytest.mark.soak,
    ),
]


@pytest.mark.parametrize(("code", "text", "word", "harm"), OTHERS)
def test_another_hazard(code: str, text: str, word: str, harm: str, repro, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(IMPORTS + text)
    done = repro(code, word)
    assert done.returncode == 1, done.stdout + done.stderr
    assert harm in done.stdout


@pytest.mark.soak
def test_a_script_without_a_guard(repro, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(IMPORTS + UNGUARDED)
    done = repro("FKL201", "-spawn")
    assert done.returncode != 0
    assert "before the current process has finished its bootstrapping phase" in " ".join(done.stderr.split())


def test_a_rule_without_a_script_says_so(command, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text("import torch\n\ntorch.set_num_thread(1)\n")
    plan = command("verify", "data.py", "--isolated", "--plan", cwd=tmp_path).stdout
    name = next(line.split()[0] for line in plan.splitlines() if line.startswith("    fkl501"))
    done = command("verify", "data.py", "--isolated", "--repro", name, cwd=tmp_path)
    assert done.returncode == 2
    assert "no script for FKL501; `forklint rule FKL501` shows an example" in done.stderr
    done = command("verify", "data.py", "--isolated", "--repro", name[:-1] + "x", cwd=tmp_path)
    assert done.returncode == 2
    assert "--plan lists all trials" in done.stderr
