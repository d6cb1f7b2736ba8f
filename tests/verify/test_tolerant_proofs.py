"""Findings proved in tolerant runs: the harm as it is and none with the fix; and the hard cases, never confirmed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch
from proven import prove

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.project.index import Project
from forklint.verify.tolerant import Shown, judged
from forklint.verify.words import Verdict
from tests.verify.tolerant_trial import run

need_torch()

HEAD = """
import torch
import missing
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path="rows.txt"):
        self.lines = open(path).read().splitlines()
        self.look = missing.transforms.Compose([missing.transforms.ToTensor()])

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.zeros(2)

"""


@pytest.fixture
def verify(command, tmp_path: Path):
    def run(text: str, code: str, *further: str, name: str = "train.py") -> dict[str, Any]:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / name).write_text(text)
        words = ["verify", name, "--select", code, "--output-format", "json", "--start-method", "spawn"]
        done = command(*words, *further, cwd=tmp_path)
        (found,) = json.loads(done.stdout)["experiments"]
        assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == sorted(
            {"forklint.toml", name, *(path.name for path in tmp_path.glob("*.py"))}
        )
        return found

    return run


@pytest.mark.soak
def test_an_unguarded_loop_is_confirmed_and_its_fix_is_the_control(verify) -> None:
    found = verify(
        HEAD
        + "model = missing.Net().cuda()\nraise_if_run = model.fit(1 / 0)\n"
        + "loader = DataLoader(Rows(), num_workers=1)\nfor batch in loader:\n    open('made', 'w')\n",
        "FKL201",
    )
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "with the fix it does not occur" in found["evidence"]
    assert found["details"]["stood_in"]["package"] == ["missing"]
    assert [trial["factors"].get("code") for trial in found["trials"]][-2:] == ["tolerant", "with the fix"]


@pytest.mark.parametrize(
    ("workers", "made_up"),
    [
        ("missing.count", {"num_workers", "batch_size"}),
        pytest.param("int(missing.count)", {"num_workers", "batch_size"}, marks=pytest.mark.soak),
        pytest.param("max(1, missing.count)", {"num_workers", "batch_size"}, marks=pytest.mark.soak),
        pytest.param("missing.n - 1", {"num_workers", "batch_size"}, marks=pytest.mark.soak),
        pytest.param("1", {"batch_size"}, marks=pytest.mark.soak),
    ],
)
def test_a_number_of_workers_that_is_made_up_is_known_as_such(tmp_path: Path, workers: str, made_up: set[str]) -> None:
    text = HEAD + f"for batch in DataLoader(Rows(), num_workers={workers}, batch_size=missing.size):\n    pass\n"
    seen = run(tmp_path, text, task="guard", start_method="fork")
    assert set(seen.of("starts")[0]["made_up"]) == made_up


def test_what_is_made_up_is_no_proof_whatever_it_shows() -> None:
    shown = Shown(
        "place", "harm", made_up=("the loader's num_workers is replaced by a stand-in (missing.count)",), works=True
    )
    for harm in ("harm", ""):
        found = judged(replace(shown, harm=harm, spared=True), Shown("place", works=True, spared=True), ())
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "missing.count" in found.evidence


@pytest.mark.parametrize(
    ("as_it_is", "control", "verdict"),
    [
        (Shown("place", "harm"), Shown("place", works=True), Verdict.CONFIRMED),
        (Shown("place", "harm"), Shown("place", "harm", works=True), Verdict.INCONCLUSIVE),
        (Shown("place", "harm"), Shown("elsewhere", works=True), Verdict.INCONCLUSIVE),
        (Shown("place", "harm"), Shown("place", works=False), Verdict.INCONCLUSIVE),
        (Shown("place", "harm"), Shown(None), Verdict.INCONCLUSIVE),
        (Shown(None), Shown("place", works=True), Verdict.INCONCLUSIVE),
        (Shown("place", other="ValueError"), Shown("place", works=True), Verdict.INCONCLUSIVE),
        (Shown("place", works=True, spared=True), Shown("place", works=True), Verdict.REFUTED),
        (Shown("place", works=True), Shown("place", works=True), Verdict.NOT_REPRODUCED),
    ],
)
def test_a_pair_is_judged_by_its_control(as_it_is: Shown, control: Shown, verdict: Verdict) -> None:
    assert judged(as_it_is, control, ()).verdict is verdict


@pytest.mark.soak
def test_a_program_that_fails_by_itself_proves_nothing(verify) -> None:
    found = verify(
        HEAD + "if torch.__version__ > '0':\n    raise RuntimeError('not with this torch')\n"
        "for batch in DataLoader(Rows(), num_workers=1):\n    pass\n",
        "FKL201",
    )
    assert found["verdict"] == "inconclusive", found["evidence"]
    assert "not with this torch" in found["evidence"]


@pytest.mark.soak
def test_a_lambda_is_confirmed_where_no_script_makes_the_call(verify) -> None:
    """A worker that begins was sent everything: that its first sample takes for ever does not matter."""
    found = verify(
        HEAD.replace("return torch.zeros(2)", "__import__('time').sleep(600)")
        + "def loader_for(path, batch_size):\n    rows = Rows(path)\n"
        "    return DataLoader(rows, batch_size=batch_size, num_workers=1, collate_fn=lambda rows: rows)\n",
        "FKL204",
        name="loading.py",
    )
    assert found["verdict"] == "confirmed", found["evidence"]
    assert [trial["stopped_for"] for trial in found["trials"]] == ["", ""]
    assert "<lambda>" in found["evidence"]
    assert "with the fix it does not occur" in found["evidence"]


@pytest.mark.soak
def test_a_loader_that_a_missing_framework_would_ask_for_is_made_alone(verify) -> None:
    """And its sampler, which refuses a made-up number of ranks, stays with the parent."""
    found = verify(
        HEAD + "class Ranks(torch.utils.data.Sampler):\n    def __init__(self, rows, ranks):\n"
        "        self.rows, self.ranks = rows, ranks\n\n    def __iter__(self):\n"
        "        raise ValueError('a number of ranks that does not fit')\n\n"
        "    def __len__(self):\n        return 8\n\n"
        "class Data(missing.DataModule):\n    def loader(self, ranks):\n"
        "        rows = Rows()\n        sampler = Ranks(rows, ranks)\n"
        "        return DataLoader(rows, sampler=sampler, num_workers=1, collate_fn=lambda rows: rows)\n\n"
        "if __name__ == '__main__':\n    missing.Trainer().fit(Data())\n",
        "FKL204",
    )
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "with the fix it does not occur" in found["evidence"]
    codes = [trial["factors"].get("code") for trial in found["trials"]]
    assert codes[-4:] == ["tolerant", "with the fix"] * 2, "the script did not come to the loader"


@pytest.mark.soak
def test_without_a_fix_the_one_object_is_sent_by_value(verify) -> None:
    found = verify(
        HEAD + "def loader_for(size):\n    import random\n    width = size\n\n    def collate(rows):\n"
        "        random.random()\n        return width, rows\n\n"
        "    return DataLoader(Rows(), num_workers=1, collate_fn=collate)\n",
        "FKL204",
        name="loading.py",
    )
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "with a minimal change it does not occur" in found["evidence"]


@pytest.mark.soak
def test_another_part_that_cannot_be_sent_is_no_proof_of_this_one(verify) -> None:
    """Without workers all is well, and with the lambda mended nothing is sent, either."""
    found = verify(
        HEAD.replace(
            "        self.look =", "        self.lock = __import__('_thread').allocate_lock()\n        self.look ="
        )
        + "def loader_for(path):\n"
        "    return DataLoader(Rows(path), num_workers=1, collate_fn=lambda rows: rows)\n",
        "FKL204",
        name="loading.py",
    )
    assert found["verdict"] == "inconclusive", found["evidence"]
    assert "with the fix" in found["evidence"]


@pytest.mark.soak
def test_a_stand_in_that_swallows_the_lambda_refutes_nothing(verify) -> None:
    keeps = "self.look = missing.transforms.Compose([missing.transforms.ToTensor()])"
    found = verify(HEAD.replace(keeps, "self.look = missing.fixed(lambda row: row) or (lambda row: row)"), "FKL204")
    assert found["verdict"] == "inconclusive", found["evidence"]
    assert "`look` is a stand-in" in found["evidence"]


@pytest.mark.soak
def test_a_late_variable_is_confirmed_though_packages_are_missing(verify) -> None:
    text = (
        "import missing\nimport numpy\nimport os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\nx = missing.work(numpy)\n"
    )
    found = verify(text, "FKL101")
    assert found["verdict"] in {"confirmed", "inconclusive"}, found["evidence"]
    if found["verdict"] == "confirmed":
        assert "with the fix it does not occur" in found["evidence"]
        assert found["details"]["stood_in"]["package"] == ["missing"]


def test_plan_names_the_tolerant_trials(command, tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "train.py").write_text(HEAD + "for batch in DataLoader(Rows(), num_workers=1):\n    pass\n")
    done = command("verify", "train.py", "--select", "FKL201", "--plan", cwd=tmp_path)
    assert "spawn, tolerant" in done.stdout
    told = " ".join(done.stdout.split())
    assert "may not write, rename or delete files outside the temporary directory of the trial" in told
    assert "spawn, with the fix" in done.stdout


WINDOWS = (
    "class Windows(Dataset):\n    def __init__(self, path):\n        self.rows = missing.read_table(path)[:2]\n\n"
    "    def __len__(self):\n        return len(self.rows) - 96\n\n"
    "    def __getitem__(self, index):\n        return self.rows[index]\n\n"
)


@pytest.mark.soak
def test_a_window_longer_than_the_data_and_a_batch_that_fails_on_them(verify) -> None:
    """What is sent is the claim: all of it is with a worker that begins, whatever made-up samples then come to."""
    found = verify(
        HEAD + WINDOWS + "def loader_for(path, size):\n    import threading\n    lock = threading.Lock()\n"
        "    windows = Windows(path)\n    print(len(windows))\n\n    def collate(rows):\n        with lock:\n"
        "            first, second, third = [len(str(row)) for row in rows][:1]\n        return first\n\n"
        "    return DataLoader(windows, num_workers=1, collate_fn=collate)\n",
        "FKL204",
        name="loading.py",
    )
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "with a minimal change it does not occur" in found["evidence"]


@pytest.mark.soak
def test_where_the_fix_does_not_help_the_variable_is_set_from_the_start(tmp_path: Path) -> None:
    """Another file of the package reads it first, so that no place in this file is early enough."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import numpy\nimport missing\n")
    text = (
        "import os\nimport numpy\nimport missing\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\nx = missing.work(numpy)\n"
    )
    (package / "train.py").write_text(text)
    (tmp_path / "forklint.toml").touch()
    finding = next(one for one in Linter(Project(tmp_path, Settings()), Options()).lint(package / "train.py").findings)
    assert finding.code == "FKL101"
    proof = prove(finding, tmp_path, scripts=(package / "train.py",))
    words = proof.judgement.evidence
    pools = [pool for seen in proof.observations for record in seen.of("pools") for pool in record["pools"]]
    if not any(pool["internal_api"] == "openblas" for pool in pools):
        pytest.skip("numpy brings no OpenBLAS here")
    assert proof.verdict() == "confirmed", words
    assert "set from the start it does not occur" in words
    assert "with the fix it is not, for something reads it before" in words


@pytest.mark.soak
def test_a_script_in_a_package_that_fails_as_a_module_is_run_under_its_path(tmp_path: Path) -> None:
    """Its package cannot be imported, for a reason of its own, and nobody imports it."""
    package = tmp_path / "training"
    package.mkdir()
    (package / "__init__.py").write_text("cores = missing_name.cpu_count()\n")
    (package / "beside.py").write_text("import missing\nthreads = '1'\n")
    (tmp_path / "shared.py").write_text("import numpy\n")
    text = "import os\nfrom beside import threads\nfrom shared import numpy\n\nif __name__ == '__main__':\n"
    (package / "train.py").write_text(text + "    os.environ['OPENBLAS_NUM_THREADS'] = threads\n")
    (tmp_path / "forklint.toml").touch()
    finding = next(one for one in Linter(Project(tmp_path, Settings()), Options()).lint(package / "train.py").findings)
    assert finding.code == "FKL101"
    proof = prove(finding, tmp_path, scripts=(package / "train.py",))
    assert any(seen.of("pools") for seen in proof.observations), proof.judgement.evidence
    assert proof.observations[-1].trial.subject.command[-1] == str(package / "train.py")
    assert proof.verdict() in {"confirmed", "inconclusive"}, "numpy may bring no OpenBLAS"
