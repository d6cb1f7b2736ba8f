"""What random.toml and the page of FKL302 say of random streams in workers, measured on torch itself."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.fixing import fix
from forklint.linters import Linters

need_torch()
pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="both start methods exist on Linux alone")

SCRIPT = """
import json, random, sys
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

SEEDED, UNSEEDED = np.random.default_rng(7), np.random.default_rng()

class Data(Dataset):
    def __init__(self, source):
        self.source = source
        self.kept = {
            "default_rng": lambda: np.random.default_rng(0),
            "unseeded": lambda: np.random.default_rng(),
            "RandomState": lambda: np.random.RandomState(0),
            "Random": lambda: random.Random(0),
            "Generator": lambda: torch.Generator().manual_seed(0),
        }.get(source, lambda: None)()
    def __len__(self):
        return 8
    def __getitem__(self, index):
        number = {
            "RandomState": lambda: self.kept.rand(),
            "Generator": lambda: torch.rand(1, generator=self.kept).item(),
            "module": lambda: SEEDED.random(),
            "module-unseeded": lambda: UNSEEDED.random(),
            "numpy": lambda: np.random.rand(),
            "random": lambda: random.random(),
            "torch": lambda: torch.rand(1).item(),
        }.get(self.source, lambda: self.kept.random())()
        return get_worker_info().id, number

def nothing(number): pass
def constant(number): np.random.seed(0); random.seed(0); torch.manual_seed(0)
def by_worker(number): np.random.seed(42 + number); random.seed(42 + number); torch.manual_seed(42 + number)
def first_word(number): np.random.seed(np.random.get_state()[1][0] + number)
def right(number): np.random.seed(torch.initial_seed() % 2**32); random.seed(torch.initial_seed())
def large(number): np.random.seed(torch.initial_seed())
def word(number): random.seed(np.random.get_state()[1][0] + number)
def large_info(number): np.random.seed(get_worker_info().seed)

def told(source, method, begin, keeps):
    loader = DataLoader(Data(source), batch_size=None, num_workers=2, multiprocessing_context=method,
                        worker_init_fn=begin, persistent_workers=keeps)
    epochs = []
    for _ in range(2):
        numbers = {0: set(), 1: set()}
        for worker, number in loader:
            numbers[worker].add(number)
        epochs.append(numbers)
    first, second = (epoch[0] | epoch[1] for epoch in epochs)
    return [bool(epochs[0][0] & epochs[0][1]), bool(first & second)]

if __name__ == "__main__":
    method, *questions = sys.argv[1:]
    answers = {}
    for question in questions:
        source, begin, keeps = question.split(",")
        try:
            answers[question] = told(source, method, globals()[begin], keeps == "keeps")
        except Exception as error:
            answers[question] = type(error).__name__ + ": " + str(error).strip().splitlines()[-1]
    print(json.dumps(answers))
"""
KEPT = ["default_rng", "unseeded", "RandomState", "Random", "module"]
GLOBAL = ["numpy", "random", "torch"]
QUESTIONS = [
    *(f"{source},nothing,ends" for source in [*KEPT, "Generator", "module-unseeded", *GLOBAL]),
    "default_rng,nothing,keeps",
    *(f"{source},{begin},ends" for source in GLOBAL for begin in ("constant", "by_worker")),
    "numpy,by_worker,keeps",
    "numpy,first_word,ends",
    "numpy,right,ends",
    "random,right,ends",
    "numpy,large,ends",
    "numpy,large_info,ends",
    "random,word,ends",
]


@cache
def answers(method: str) -> dict[str, Any]:
    """For each question: whether two workers drew the same number, and whether two epochs did."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "streams.py"
        script.write_text(SCRIPT, encoding="utf-8")
        command = [sys.executable, str(script), method, *(QUESTIONS if method == "fork" else SPAWNED)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=True)
    return json.loads(done.stdout)


SPAWNED = ["default_rng,nothing,ends", "module,nothing,ends", "module-unseeded,nothing,ends", "Generator,nothing,ends"]
SPAWNED += ["numpy,nothing,ends"]


@pytest.mark.soak
@pytest.mark.parametrize("source", [*KEPT, "Generator", "module-unseeded"])
def test_forked_workers_share_a_generator(source: str) -> None:
    assert answers("fork")[f"{source},nothing,ends"] == [True, True]


@pytest.mark.soak
@pytest.mark.parametrize("source", GLOBAL)
def test_streams_of_the_process_are_fine(source: str) -> None:
    assert answers("fork")[f"{source},nothing,ends"] == [False, False]


@pytest.mark.soak
@pytest.mark.parametrize("source", GLOBAL)
def test_a_seed_of_one_s_own_takes_that_away(source: str) -> None:
    assert answers("fork")[f"{source},constant,ends"] == [True, True]
    assert answers("fork")[f"{source},by_worker,ends"] == [False, True]


@pytest.mark.soak
def test_the_first_word_of_numpy_s_state_is_the_same_in_every_epoch() -> None:
    assert answers("fork")["numpy,first_word,ends"] == [False, True]


@pytest.mark.soak
def test_workers_that_live_on_do_not_begin_again() -> None:
    assert answers("fork")["default_rng,nothing,keeps"] == [True, False]
    assert answers("fork")["numpy,by_worker,keeps"] == [False, False]


@pytest.mark.soak
@pytest.mark.parametrize("source", ["numpy", "random"])
def test_what_the_fix_seeds_with_is_fine(source: str) -> None:
    assert answers("fork")[f"{source},right,ends"] == [False, False]


@pytest.mark.soak
@pytest.mark.parametrize("begin", ["large", "large_info"])
def test_a_seed_of_64_bits_is_refused(begin: str) -> None:
    assert "Seed must be between 0 and 2**32 - 1" in answers("fork")[f"numpy,{begin},ends"]


@pytest.mark.soak
@pytest.mark.skipif(sys.version_info < (3, 11), reason="older Pythons take it")
def test_an_integer_of_numpy_is_refused_by_random() -> None:
    assert answers("fork")["random,word,ends"].startswith("TypeError: ")


@pytest.mark.soak
def test_spawned_workers_get_the_same_generator_by_pickle_and_make_those_of_the_module_anew() -> None:
    spawned = answers("spawn")
    assert spawned["default_rng,nothing,ends"] == [True, True]
    assert spawned["module,nothing,ends"] == [True, True]
    assert spawned["module-unseeded,nothing,ends"] == [False, False]
    assert spawned["numpy,nothing,ends"] == [False, False]


@pytest.mark.soak
def test_a_spawned_worker_may_not_get_a_torch_generator_at_all() -> None:
    answer = answers("spawn")["Generator,nothing,ends"]
    assert answer == [True, True] or "Error" in answer, "it either fails or shares the stream; the page says which"


MENDED = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __init__(self, seed):
        self.seed = seed
        self.rng = np.random.{made}

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.{draw}
"""
ASK = """
import sys
from data import Data
from torch.utils.data import DataLoader

if __name__ == "__main__":
    data = Data(3)
    data[0]
    loader = DataLoader(data, batch_size=None, num_workers=2, multiprocessing_context=sys.argv[1])
    numbers = [float(number) for _ in range(2) for number in loader]
    assert len(set(numbers)) == 16, numbers
    assert len({float(data[0]) for _ in range(3)}) == 3
"""


@pytest.mark.soak
@pytest.mark.parametrize(
    ("made", "draw"),
    [("default_rng(seed)", "random()"), pytest.param("RandomState(seed)", "rand()", marks=pytest.mark.soak)],
)
def test_a_mended_dataset_draws_each_number_once(made: str, draw: str, tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    file = tmp_path / "data.py"
    file.write_text(MENDED.format(made=made, draw=draw), encoding="utf-8")
    result = fix(Linters(SettingsFinder(), Options()).of(file), file, unsafe=True, write=True)
    assert result.after
    (tmp_path / "ask.py").write_text(ASK, encoding="utf-8")
    for method in ("fork", "spawn"):
        done = subprocess.run(
            [sys.executable, "ask.py", method], cwd=tmp_path, capture_output=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr.decode()


CLASS = """
import numpy as np
import torch
from torch.utils.data import Dataset


class Data(Dataset):
    def __init__(self, rows{arguments}):
        self.rows = rows
        {keeps}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index] + self.rng.normal()
"""
BY_HAND = {
    "shares a line": ("", "self.count = 1; self.rng = np.random.default_rng(0)", ""),
    "draws from it, too": ("", "self.rng = np.random.default_rng(0)\n        self.order = self.rng.permutation(9)", ""),
    "it may come from a caller": (", rng=None", "self.rng = rng or np.random.default_rng(0)", ""),
    "several steps": ("", "rng = np.random.default_rng(0)\n        self.rng = rng", ""),
    "created from more than a seed": ("", "self.rng = np.random.Generator(np.random.PCG64(0))", ""),
    "`__init__` itself": ("", "if rows:\n            self.rng = np.random.default_rng(0)", ""),
    "other code replaces it": (
        "",
        "self.rng = np.random.default_rng(0)",
        "\ndata = Data([1])\ndata.rng = np.random.default_rng(5)\n",
    ),
    "local name": ("", "import numpy\n        self.rng = numpy.random.default_rng(0)", ""),
    "stored elsewhere": (
        "",
        "self.rng = np.random.default_rng(0)",
        "\n    def set_epoch(self, epoch):\n        self.rng = np.random.default_rng(epoch)\n",
    ),
}


@pytest.mark.parametrize("reason", BY_HAND)
def test_what_is_left_to_a_person(reason: str, tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    arguments, keeps, more = BY_HAND[reason]
    file = tmp_path / "data.py"
    file.write_text(CLASS.format(arguments=arguments, keeps=keeps) + more, encoding="utf-8")
    (finding,) = (
        one for one in Linters(SettingsFinder(), Options()).of(file).lint(file).findings if one.code == "FKL302"
    )
    assert finding.fix is None
    assert reason in finding.fixes[0].message


def test_tabs_line_ends_and_comments_are_kept(tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    file = tmp_path / "data.py"
    keeps = "# Repeatable: see the paper.\n        self.rng = np.random.default_rng(0)  # seeded"
    text = CLASS.format(arguments="", keeps=keeps).replace("    ", "\t").replace("\n", "\r\n")
    file.write_bytes(text.encode())
    mended = fix(Linters(SettingsFinder(), Options()).of(file), file, unsafe=True, write=False).after
    assert mended
    assert "\n" not in mended.replace("\r\n", "")
    assert "    " not in mended
    assert "\t# Repeatable: see the paper.\r\n\t# seeded\r\n\t_rng_generator = _rng_seed = None\r\n" in mended
