"""FKL204's table measured again, what stays with the parent, and how much a finding weighs where."""

from __future__ import annotations

import inspect
import io
import logging
import os
import pickle
import pkgutil
import queue
import re
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing import reduction
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.knowledge.unpicklable import memoizers, modules, refused
from forklint.project.index import Project
from forklint.rules.unpicklable_payload.beside import MAKING, MOST_IMPORTERS
from forklint.rules.unpicklable_payload.rule import UnpicklablePayload

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "threading.Barrier": (2,),
    "threading.Timer": (1, print),
    "concurrent.futures.ThreadPoolExecutor": (1,),
    "concurrent.futures.thread.ThreadPoolExecutor": (1,),
    "concurrent.futures.ProcessPoolExecutor": (1,),
    "concurrent.futures.process.ProcessPoolExecutor": (1,),
    "multiprocessing.pool.ThreadPool": (1,),
    "multiprocessing.dummy.Pool": (1,),
    "multiprocessing.Pool": (1,),
    "multiprocessing.pool.Pool": (1,),
    "subprocess.Popen": ([sys.executable, "-c", ""],),
    "weakref.ref": (Path,),
    "types.MappingProxyType": ({},),
    "contextvars.ContextVar": ("name",),
    "builtins.memoryview": (b"",),
    "ssl.SSLContext": (ssl.PROTOCOL_TLS_CLIENT,),
    "logging.FileHandler": (os.devnull,),
    "logging.handlers.RotatingFileHandler": (os.devnull,),
    "cv2.aruco.getPredefinedDictionary": (0,),
    "torch.distributed.TCPStore": ("127.0.0.1", 0, 1, True),
}
GROUPS = {"torch.distributed.new_group", "torch.distributed.distributed_c10d.new_group"}
NEEDS_MORE = {"asyncio.get_event_loop", "torch.multiprocessing.Pool", *GROUPS}
"""The first makes no loop where none runs, the second is the standard library's, the others need a group."""

STAYS = """
import threading
from torch.utils.data import DataLoader, Dataset, RandomSampler
import torch

class Numbers(Dataset):
    scale = lambda self, number: number
    lock = threading.Lock()
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return self.scale(index)

class Pairs:
    def __init__(self):
        self.lock, self.key = threading.Lock(), lambda index: index
    def __iter__(self):
        return iter([[0, 1], [2, 3]])
    def __len__(self):
        return 2

if __name__ == "__main__":
    one = {"num_workers": 1, "multiprocessing_context": "spawn"}
    print(len(list(DataLoader(Numbers(), batch_sampler=Pairs(), **one))))
    shuffled = RandomSampler(range(4), generator=torch.Generator())
    shuffled.lock = threading.Lock()
    print(len(list(DataLoader(Numbers(), sampler=shuffled, generator=torch.Generator(), **one))))
"""


REFUSED = {name for name, row in refused().items() if not row.late}


def scripted(function: str) -> tuple[object, ...]:
    """What a function of ``torch.jit`` is given: a model, perhaps with what it is traced with, or a scripted one."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(2, 2)
    if function == "trace":
        return model, torch.zeros(1, 2)
    if function == "script":
        return (model,)
    saved = io.BytesIO()
    torch.jit.save(torch.jit.script(model), saved)
    saved.seek(0)
    return (saved,)


@pytest.fixture
def one_rank() -> Iterator[None]:
    """A process group of torch.distributed with this process alone, for the functions that need one."""
    distributed = pytest.importorskip("torch.distributed")
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.mark.parametrize("name", sorted(GROUPS))
@pytest.mark.usefixtures("one_rank")
def test_pickle_refuses_a_process_group(name: str) -> None:
    with pytest.raises(TypeError, match="cannot pickle"):
        reduction.ForkingPickler(io.BytesIO()).dump(pkgutil.resolve_name(name)([0]))


@pytest.mark.parametrize("name", sorted(REFUSED - NEEDS_MORE))
def test_pickle_refuses_what_the_table_says(name: str) -> None:
    if name.startswith("torch."):
        need_torch()
    if name.startswith("boto"):
        pytest.importorskip(name.partition(".")[0], reason="not installed: pip install boto3")
    if name.startswith("cv2."):
        pytest.importorskip("cv2", reason="cv2 is not installed: pip install opencv-contrib-python-headless")
    module, _, last = name.rpartition(".")
    given = scripted(last) if module == "torch.jit" and last.islower() else ARGUMENTS.get(name, ())
    made = pkgutil.resolve_name(name)(*given)
    try:
        with pytest.raises((TypeError, AttributeError, NotImplementedError, RuntimeError)):
            reduction.ForkingPickler(io.BytesIO()).dump(made)
    finally:
        for end in ("shutdown", "terminate", "wait"):
            if hasattr(made, end) and not name.startswith(("threading", "torch.distributed")):
                getattr(made, end)()


class OwnThread(threading.Thread):
    pass


class OwnLocal(threading.local):
    pass


class OwnQueue(queue.Queue):  # type: ignore[type-arg]
    pass


class OwnHandler(logging.StreamHandler):  # type: ignore[type-arg]
    pass


@pytest.mark.parametrize("own", [OwnThread, OwnLocal, OwnQueue, OwnHandler])
def test_pickle_refuses_objects_of_a_class_that_inherits_from_one_of_the_table(own: type[object]) -> None:
    with pytest.raises(TypeError, match="cannot pickle"):
        reduction.ForkingPickler(io.BytesIO()).dump(own())


@pytest.mark.parametrize("name", sorted(memoizers()))
def test_pickle_refuses_a_cached_method(name: str) -> None:
    cached = pkgutil.resolve_name(name)(Path("here").exists)
    with pytest.raises((pickle.PicklingError, TypeError, AttributeError)):
        reduction.ForkingPickler(io.BytesIO()).dump(cached)


@pytest.mark.parametrize("name", sorted(modules()))
def test_pickle_refuses_the_modules_of_the_table(name: str) -> None:
    pytest.importorskip(name.partition(".")[0], reason="not installed")
    found = pytest.importorskip(name, reason="not installed")
    assert inspect.ismodule(found)
    with pytest.raises(TypeError):
        reduction.ForkingPickler(io.BytesIO()).dump(found)


@pytest.mark.soak
def test_samplers_generators_and_class_attributes_stay_with_the_parent(tmp_path: Path) -> None:
    need_torch()
    script = tmp_path / "stays.py"
    script.write_text(STAYS)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.split(), done.returncode) == (["2", "4"], 0), done.stderr


LOADER = (
    "from torch.utils.data import DataLoader\n\nloader = DataLoader([1], num_workers=2, collate_fn=lambda b: b{})\n"
)
POOL = "from multiprocessing import Pool\n\nPool(2).map(lambda one: one, [1])\n"


@pytest.mark.parametrize(
    ("text", "files", "expected"),
    [
        (LOADER.format(""), {}, "info"),
        (LOADER.format(""), {"tools.py": "import sys\nMAC = sys.platform == 'darwin'\n"}, "warning"),
        (
            LOADER.format(""),
            {"pyproject.toml": "classifiers = ['Programming Language :: Python :: 3.14']\n"},
            "warning",
        ),
        (LOADER.format(""), {"pyproject.toml": "requires-python = '>=3.10'\n"}, "info"),
        (LOADER.format(", multiprocessing_context='spawn'"), {}, "error"),
        (POOL, {}, "error"),
    ],
)
def test_how_much_it_weighs(text: str, files: dict[str, str], expected: str, tmp_path: Path) -> None:
    for name, content in {**files, "train.py": text}.items():
        (tmp_path / name).write_text(content)
    linter = Linter(Project(tmp_path, Settings()), Options(with_fixes=False))
    (found,) = [one for one in linter.lint(tmp_path / "train.py").findings if one.code == "FKL204"]
    assert found.severity.value == expected


def test_the_rule_is_asked_wherever_something_is_made_for_another_file() -> None:
    """What FKL204 needs in a file, and what the files that send ask for, are the same words."""
    words = {word.decode() for word in UnpicklablePayload.made}
    assert words == {re.sub(r"\\", "", part) for part in MAKING.pattern.decode().split("|")}


TOOLS = "def first(key):\n    return lambda row: row[key]\n"
KEPT = (
    "from torch.utils.data import DataLoader, Dataset\nfrom tools import first\n\n\nclass Rows(Dataset):\n"
    "    def __init__(self):\n        self.rows, self.first = [[1]], first(0)\n\n"
    "    def __len__(self):\n        return 1\n\n"
    "    def __getitem__(self, index):\n        return self.first(self.rows[index])\n"
)
SENT = (
    "from torch.utils.data import DataLoader\nfrom tools import first\n\n"
    "DataLoader([1], num_workers=2, collate_fn=first(0))\n"
)


@pytest.mark.parametrize(("text", "line"), [(KEPT, 5), (SENT, 4)], ids=["kept", "sent"])
@pytest.mark.parametrize("many", [False, True])
def test_what_many_import_is_told_of_by_those_who_keep_or_send_it(
    text: str, line: int, many: bool, tmp_path: Path
) -> None:
    files = {"tools.py": TOOLS, "rows.py": text}
    files |= {f"other{number}.py": "import tools\n" for number in range(MOST_IMPORTERS if many else 1)}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    linter = Linter(Project(tmp_path, Settings()), Options(with_fixes=False))
    found = [
        (name, one.span.row)
        for name in ("tools.py", "rows.py")
        for one in linter.lint(tmp_path / name).findings
        if one.code == "FKL204"
    ]
    assert found == ([("rows.py", line)] if many else [("tools.py", 2)])


REBOUND = """
import torch
from torch.utils.data import DataLoader, Dataset

class Pairs(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

images, labels = torch.ones(8, 3), torch.ones(8)
for turn in range(3):
    if turn:
        {}
    for batch in DataLoader(Pairs(images, labels), num_workers=2):
        print(batch)
"""


@pytest.mark.parametrize("count", [12, pytest.param(20, marks=pytest.mark.soak)])
def test_names_that_are_bound_again_and_again_are_each_followed_once(tmp_path: Path, count: int) -> None:
    def spent(times: int) -> int:
        steps = "\n        ".join(["images = images.view(labels)", "labels = labels.view(images)"] * times)
        path = tmp_path / "run.py"
        path.write_text(REBOUND.format(steps), encoding="utf-8")
        linter = Linter(Project(tmp_path, Settings()), Options(with_fixes=False))
        assert [one.code for one in linter.lint(path).findings] == ["FKL201"]
        return linter.project.budgets.spent["following payloads"]

    assert spent(2 * count) < 3 * spent(count)
