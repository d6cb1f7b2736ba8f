"""FKL204 proved: what pickle refuses is confirmed with the attribute, what it is taught to send is refuted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from needed import need_torch

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="all start methods exist on Linux alone")

LOADER = """
import torch
from torch.utils.data import DataLoader


def main():
    data = list(range(8))
    for batch in DataLoader(data, batch_size=2):
        print(batch)
    loader = DataLoader(
        data,
        num_workers=1,
        collate_fn=lambda batch: torch.tensor(batch),
    )
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main()
"""

DATASET = """
import threading
{import_}
from torch.utils.data import Dataset


class Cached(Dataset):
    def __init__(self):
        self.lock = threading.Lock()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with self.lock:
            return index
"""

PROCESSES = """
import multiprocessing
{extra}

def main():
    def work(part):
        print(part)

{body}


if __name__ == "__main__":
    main()
"""

GUARDED = """
from torch.utils.data import DataLoader, Dataset

if __name__ == "__main__":

    class Numbers(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index

    for batch in DataLoader(Numbers(), num_workers=1):
        print(batch)
"""


ACTORS = """
import multiprocessing


class Actors:
    def __init__(self):
        self.actors = []

    def act(self, index):
        print(index)

    def start(self):
        for index in range({number}):
            actor = multiprocessing.Process(target=self.act, args=(index,))
            actor.start()
            self.actors.append(actor)


if __name__ == "__main__":
    Actors().start()
"""


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str) -> dict:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "train.py").write_text(text)
        options = ("--select", "FKL204", "--output-format", "json", *arguments)
        done = command("verify", "train.py", *options, cwd=tmp_path)
        (found,) = json.loads(done.stdout)["experiments"]
        return found

    return run


@pytest.mark.parametrize("methods", [("spawn",), pytest.param(("fork", "spawn", "forkserver"), marks=pytest.mark.soak)])
def test_a_lambda_for_a_loader(verdict, methods: tuple[str, ...]) -> None:
    """The loader that the program iterates before is another one, and is let alone."""
    found = verdict(LOADER, *(word for method in methods for word in ("--start-method", method)))
    assert found["verdict"] == "confirmed"
    error = "AttributeError: Can't pickle local object 'main.<locals>.<lambda>' (collate_fn)"
    sent = [f"{method}, 2 workers" for method in methods if method != "fork"]
    assert found["evidence"] == " and ".join(sent) + f": {error}"
    assert found["details"]["cells"] == {
        "0 workers": "control",
        **{f"{method}, 2 workers": "control" for method in methods if method == "fork"},
        **dict.fromkeys(sent, "confirmed"),
    }


@pytest.mark.soak
def test_a_lock_in_a_dataset(verdict) -> None:
    found = verdict(DATASET.format(import_=""), "--start-method", "fork", "--start-method", "spawn")
    assert found["verdict"] == "confirmed"
    assert "cannot pickle '_thread.lock' object (dataset.lock)" in found["evidence"]


@pytest.mark.soak
def test_a_generator_of_torch_is_gone_when_it_arrives(verdict) -> None:
    text = DATASET.format(import_="import torch").replace("threading.Lock()", "torch.Generator().manual_seed(3)")
    text = text.replace(
        "with self.lock:\n            return index", "return index + torch.rand(1, generator=self.lock)"
    )
    found = verdict(text, "--start-method", "fork", "--start-method", "spawn", "--start-method", "forkserver")
    assert found["verdict"] == "confirmed"
    assert "the new process ends with RuntimeError: unable to resize file" in found["evidence"]


@pytest.mark.soak
def test_a_lock_that_the_program_teaches_pickle_to_send(verdict, tmp_path: Path) -> None:
    (tmp_path / "locks.py").write_text(
        "import copyreg, threading\ncopyreg.pickle(type(threading.Lock()), lambda lock: (threading.Lock, ()))\n"
    )
    found = verdict(DATASET.format(import_="import locks"), "--start-method", "fork", "--start-method", "spawn")
    assert (found["verdict"], found["evidence"]) == (
        "refuted",
        "spawn, 2 workers: it can be pickled, and the process receives it",
    )


def test_a_local_function_for_a_process(verdict) -> None:
    body = "    process = multiprocessing.Process(target=work, args=([1],))\n    process.start()\n    process.join()"
    found = verdict(PROCESSES.format(extra="", body=body))
    assert found["verdict"] == "confirmed"
    assert "Can't pickle local object 'main.<locals>.work' (target)" in found["evidence"]
    assert found["details"]["cells"] == {"fork": "control", "spawn": "confirmed", "forkserver": "confirmed"}


@pytest.mark.soak
def test_a_queue_of_multiprocessing_is_not_held_against_a_process(verdict) -> None:
    """Its semaphores and pipes are handed over as descriptors: only the lock is refused."""
    body = (
        "    lock = threading.Lock()\n    queue = multiprocessing.Queue()\n"
        "    multiprocessing.Process(target=print, args=(queue, lock)).start()"
    )
    found = verdict(PROCESSES.format(extra="import threading", body=body), "--start-method", "spawn")
    assert found["verdict"] == "confirmed"
    assert found["evidence"] == "spawn: TypeError: cannot pickle '_thread.lock' object (args[1])"


@pytest.mark.parametrize(
    ("extra", "body"),
    [
        ("", "    with multiprocessing.Pool(1) as pool:\n        print(pool.map(lambda one: one, [1, 2]))"),
        (
            "from concurrent.futures import ProcessPoolExecutor",
            "    with ProcessPoolExecutor(1) as pool:\n        print(pool.submit(work, 1).result())",
        ),
    ],
)
def test_what_goes_through_a_pipe_fails_after_a_fork_too(verdict, extra: str, body: str) -> None:
    found = verdict(PROCESSES.format(extra=extra, body=body))
    assert found["verdict"] == "confirmed"
    assert found["details"]["cells"] == dict.fromkeys(("fork", "spawn", "forkserver"), "confirmed")
    assert "(function)" in found["evidence"]


@pytest.mark.soak
def test_a_class_under_the_guard_is_not_found(verdict) -> None:
    found = verdict(GUARDED, "--start-method", "fork", "--start-method", "spawn")
    assert found["verdict"] == "confirmed"
    assert "Can't get attribute 'Numbers' on <module '__mp_main__'" in found["evidence"]


def test_a_started_process_is_sent_with_the_next_one(verdict) -> None:
    found = verdict(ACTORS.format(number=3), "--start-method", "fork", "--start-method", "spawn")
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "weakref" in found["evidence"]


def test_a_first_process_shows_nothing_of_the_next_one(verdict) -> None:
    found = verdict(ACTORS.format(number=1), "--start-method", "fork", "--start-method", "spawn")
    assert found["verdict"] == "inconclusive", found["evidence"]


@pytest.mark.soak
def test_a_call_that_is_not_reached_decides_nothing(verdict) -> None:
    found = verdict(LOADER.replace("    main()\n", "    print('later')\n"), "--start-method", "spawn")
    assert found["verdict"] == "inconclusive"
    assert "never iterated the loader" in found["evidence"]


BY_OPTION = """\
import sys

from torch.utils.data import DataLoader


def main():
    options = {"num_workers": 2, "batch_size": 2}
    if "--plain" in sys.argv:
        options["collate_fn"] = lambda batch: batch
    for batch in DataLoader(list(range(6)), **options):
        print(batch)


if __name__ == "__main__":
    main()
"""


@pytest.mark.soak
@pytest.mark.parametrize(("arguments", "verdict_is"), [((), "inconclusive"), (("--", "--plain"), "confirmed")])
def test_what_an_option_adds_is_not_refuted_by_a_run_without_it(verdict, arguments, verdict_is: str) -> None:
    found = verdict(BY_OPTION, "--start-method", "spawn", *arguments)
    assert found["verdict"] == verdict_is, found["evidence"]
    assert ("the loader gets `default_collate` instead" in found["evidence"]) == (not arguments)


def test_a_notebook_is_not_run(command, tmp_path: Path) -> None:
    """Its findings need a sign that processes are spawned: the Python that the project asks for."""
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.14"\n[tool.forklint]\n')
    source = GUARDED.replace('if __name__ == "__main__":', "if True:").splitlines(keepends=True)
    cells = [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}]
    metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "explore.ipynb").write_text(json.dumps(notebook))
    done = command("verify", "explore.ipynb", "--select", "FKL204", "--output-format", "json", cwd=tmp_path)
    (found,) = json.loads(done.stdout)["experiments"]
    assert (found["verdict"], found["evidence"].partition(":")[0]) == (
        "inconclusive",
        "notebook cells cannot be run",
    )
