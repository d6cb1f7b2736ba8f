"""The harness: in every process of a trial, and otherwise out of the program's way."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch

from forklint.verify.runner import HARNESS, Runner
from forklint.verify.words import Observation, Subject, Trial

SPEC = {
    "classes": [],
    "keeper": None,
    "attributes": [],
    "file": "",
    "openers": ["open", "lmdb.open"],
    "mode": "control",
}


def run(code: str, folder: Path, seconds: float = 60, **environment: str) -> Observation:
    (folder / "program.py").write_text(code)
    subject = Subject("entry", ("program.py",), folder, (), environment)
    with Runner(Path(sys.executable)) as runner:
        return runner.run(Trial("one", subject, "samples", SPEC, seconds=seconds))


READERS = {"lmdb", "h5py", "PIL", "pandas", "cv2"}
"""Libraries whose stores are made, by whom they are installed."""


@pytest.mark.parametrize("path", sorted(HARNESS.rglob("*.py")), ids=lambda path: path.name)
def test_runs_on_python_38_with_the_standard_library(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    plain |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    others = {name.partition(".")[0] for name in plain} - set(sys.stdlib_module_names) - {"forklint_harness"}
    assert others <= {"torch", "numpy"} | (READERS if path.parent.name == "kinds" else set())
    at_start = {name for node in tree.body if isinstance(node, ast.Import) for name in (a.name for a in node.names)}
    assert not at_start & others


CHILDREN = """
import multiprocessing, os, signal, sys
import forklint_harness.journal as journal

def child(method, how):
    journal.record("child", method=method)
    if how == "exit":
        os._exit(3)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        for how in ("exit", "kill"):
            process = multiprocessing.get_context(method).Process(target=child, args=(method, how))
            process.start()
            process.join()
    journal.record("modules", torch="torch" in sys.modules, numpy="numpy" in sys.modules, argv=sys.argv, name=__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="all three start methods exist on Linux alone")
def test_is_in_every_child_and_loses_no_record(tmp_path: Path) -> None:
    seen = run(CHILDREN, tmp_path)
    assert seen.ending.exit_code == 0, seen.output
    assert sorted(record["method"] for record in seen.of("child")) == ["fork"] * 2 + ["forkserver"] * 2 + ["spawn"] * 2
    assert {record["role"] for record in seen.of("child")} == {"other"}
    (modules,) = seen.of("modules")
    assert modules["role"] == "main"
    assert (modules["torch"], modules["numpy"]) == (False, False)
    assert (modules["argv"], modules["name"]) == (["program.py"], "__main__")


OTHERS = """
import sys
order = []

class Finder:
    def find_spec(self, name, path=None, target=None):
        order.append(name)

sys.meta_path.insert(0, Finder())
import forklint_harness.journal as journal
import mine
from importlib.metadata import version
import gc
before = sum(one["collections"] for one in gc.get_stats())
import torch
collected = sum(one["collections"] for one in gc.get_stats()) - before
import torch.utils.data.dataloader as dataloader, inspect, pickle
journal.record("seen", mine=mine.__name__, asked="torch.utils.data.dataloader" in order, own=sys.own,
               source=len(inspect.getsource(dataloader)), loader=type(dataloader.__spec__.loader).__name__,
               opened=pickle.loads(pickle.dumps(open)) is open, patched=dataloader.DataLoader.__init__.__name__,
               collected=collected, collects=gc.isenabled())
"""


def test_leaves_import_hooks_and_the_sitecustomize_of_others_alone(tmp_path: Path) -> None:
    need_torch()
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import sys\nsys.own = __name__\n")
    (tmp_path / "mine.py").touch()
    seen = run(OTHERS, tmp_path, PYTHONPATH=str(site))
    assert seen.ending.exit_code == 0, seen.output
    (record,) = seen.of("seen")
    assert record["asked"]
    assert record["own"] == "sitecustomize"
    assert record["source"] > 1000
    assert record["loader"] == "SourceFileLoader"
    assert record["opened"]
    assert record["patched"] == "__init__"
    assert record["collected"] < 20, "torch is imported without the collector, which otherwise runs hundreds of times"
    assert record["collects"]


HANGING = """
import multiprocessing, time

def sleep_for_ever():
    time.sleep(600)

if __name__ == "__main__":
    process = multiprocessing.get_context("fork").Process(target=sleep_for_ever)
    process.start()
    process.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="stacks are asked for by a real-time signal")
def test_stacks_of_a_hang_name_the_frames(tmp_path: Path) -> None:
    seen = run(HANGING, tmp_path, seconds=3)
    assert seen.ending.stopped_for == "time"
    assert "in sleep_for_ever" in seen.stacks
    assert "in join" in seen.stacks


DIGEST = """
import sys
sys.path.insert(0, {harness!r})
import dataclasses, io, collections
from forklint_harness.digest import digest

@dataclasses.dataclass
class Box:
    corners: list
    label: str = "cat"

class Sample:
    def __init__(self, value):
        self.value = value

def samples():
    yield from (None, 1, 1.0, True, "a", b"a", bytearray(b"a"), 1j, (), [], (1,), [1], {{1: 2}}, {{2: 1}}, {{1, 2}})
    yield from (Box([1.0]), Box([2.0]), Sample(1), Sample(2), collections.OrderedDict(a=1), len, Sample)
    try:
        import numpy as np
        yield from (np.arange(3), np.arange(3.0), np.arange(3).reshape(3, 1), np.float32(1), np.array(["a", None]))
        yield np.arange(6).reshape(2, 3).T
    except ImportError:
        pass
    try:
        import torch
        yield from (torch.arange(3), torch.arange(3.0), torch.arange(3).bfloat16(), torch.eye(2).to_sparse())
        yield from (torch.arange(6).reshape(2, 3).t(), torch.empty(0), torch.zeros((), requires_grad=True))
    except ImportError:
        pass
    try:
        from PIL import Image
        yield from (Image.new("L", (2, 2)), Image.new("RGB", (2, 2)), Image.new("L", (2, 2), 7))
    except ImportError:
        pass

found = [digest(sample) for sample in samples()]
assert None not in found, found
assert len(set(found)) == len(found), found
assert digest(open(__file__)) is None
assert digest((1, io.BytesIO)) == digest((1, io.BytesIO))
print(found)
"""


SUBSET = """
import sys
sys.path.insert(0, {harness!r})
import torch
from torch.utils.data import Dataset, Subset
from forklint_harness.workers import Seeding

class Noise(Dataset):
    def __getitem__(self, index):
        return torch.rand(1).item()

class Batched(Noise):
    def __getitems__(self, indices):
        return [torch.rand(1).item() for _ in indices]

seeding = Seeding(Subset(Subset(Noise(), range(9)), range(8)))
assert not hasattr(seeding, "__getitems__")
assert seeding[3] == seeding[3] != seeding[4]
batched = Seeding(Subset(Batched(), range(9)))
assert batched.__getitems__([1, 2]) == batched.__getitems__([1, 2]) != batched.__getitems__([3, 2])
"""


@pytest.mark.soak
def test_noise_of_a_sample_in_a_subset_does_not_depend_on_its_batch(tmp_path: Path) -> None:
    need_torch()
    path = tmp_path / "subset.py"
    path.write_text(SUBSET.format(harness=str(HARNESS)))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_digests_tell_values_apart_and_are_the_same_in_each_process(tmp_path: Path) -> None:
    path = tmp_path / "digests.py"
    path.write_text(DIGEST.format(harness=str(HARNESS)))
    told: list[Any] = [
        subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, timeout=120)
        for _ in range(2)
    ]
    assert told[0].returncode == 0, told[0].stderr
    assert told[0].stdout == told[1].stdout
