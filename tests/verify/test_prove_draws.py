"""FKL302 proved: which streams workers share, and which healthy code is not taken for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from needed import need_torch
from proven import Proof, prove

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import Finding, Severity, Span
from forklint.project.index import Project

need_torch()
pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="both start methods exist on Linux alone")

HEAD = """
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
"""
KEPT = """
class Data(Dataset):
    def __init__(self):
        self.rng = {made}

    def __len__(self):
        return 48

    def __getitem__(self, index):
        {before}
        return index + float({draw})
"""
MAIN = """
if __name__ == "__main__":
    for batch in DataLoader({arguments}):
        pass
"""
GLOBALS = """
class Data(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        return index + np.random.rand() + random.random() + torch.rand(1).item()
"""


def write(folder: Path, text: str, arguments: str = "") -> Path:
    main = MAIN.format(arguments=arguments) if arguments else ""
    (folder / "data.py").write_text(HEAD + text + main, encoding="utf-8")
    return folder / "data.py"


def found(folder: Path, text: str, arguments: str = "", **options: object) -> Proof:
    """Prove what forklint finds."""
    file = write(folder, text, arguments)
    report = Linter(Project(folder, Settings()), Options(with_fixes=False)).lint(file)
    (finding,) = [one for one in report.findings if one.code == "FKL302"]
    return prove(finding, folder, scripts=(file,) if arguments else (), samples=48, **options)


def in_spite(folder: Path, text: str, **proof: object) -> Proof:
    """Force an experiment on code in which forklint finds nothing."""
    file = write(folder, text, str(proof.pop("arguments", "")))
    report = Linter(Project(folder, Settings()), Options(with_fixes=False)).lint(file)
    assert [one for one in report.findings if one.code == "FKL302"] == []
    place = (str(file), "Data")
    given = proof or {"dataset": place, "keeper": place, "attribute": "rng", "kind": "NumPy generator"}
    finding = Finding(
        code="FKL302",
        name="rng-in-init",
        severity=Severity.WARNING,
        path=str(file),
        span=Span(1, 1, 1, 1),
        message="forced",
        proof={"file": str(file), **given},
    )
    return prove(finding, folder, scripts=(file,) if "function" in given else (), samples=48, start_methods=("fork",))


@pytest.mark.parametrize(
    ("made", "draw", "methods"),
    [
        pytest.param("np.random.default_rng(0)", "self.rng.random()", ("fork", "spawn"), marks=pytest.mark.soak),
        pytest.param("np.random.RandomState()", "self.rng.rand()", ("fork",), marks=pytest.mark.soak),
        pytest.param("random.Random(0)", "self.rng.random()", ("fork",), marks=pytest.mark.soak),
        ("torch.Generator().manual_seed(0)", "torch.rand(1, generator=self.rng)", ("fork", "spawn")),
    ],
)
def test_a_kept_generator_is_confirmed(made: str, draw: str, methods: tuple[str, ...], tmp_path: Path) -> None:
    proof = found(tmp_path, KEPT.format(made=made, before="pass", draw=draw), start_methods=methods)
    assert proof.verdict() == "confirmed", proof.judgement
    assert "48 of 48 samples got the same numbers as in another worker" in proof.judgement.evidence
    assert "48 of 48 got the numbers of the previous epoch" in proof.judgement.evidence
    assert "none did" in proof.judgement.evidence
    cells = proof.judgement.details["cells"]
    assert len(cells) == (1 if made.startswith("torch") else len(methods))


@pytest.mark.soak
def test_draws_of_differing_length_are_told_by_the_points_where_workers_meet(tmp_path: Path) -> None:
    before = "while self.rng.random() < 0.5: pass"
    proof = found(
        tmp_path, KEPT.format(made="np.random.default_rng(3)", before=before, draw="0"), start_methods=("fork",)
    )
    assert proof.verdict() == "confirmed"


@pytest.mark.soak
def test_a_generator_of_the_module(tmp_path: Path) -> None:
    text = "RNG = np.random.default_rng(5)\n" + KEPT.format(made="None", before="pass", draw="RNG.random()")
    assert found(tmp_path, text, start_methods=("fork",)).verdict() == "confirmed"


@pytest.mark.soak
def test_an_endless_stream(tmp_path: Path) -> None:
    text = """
class Data(IterableDataset):
    def __init__(self):
        self.rng = np.random.default_rng()

    def __iter__(self):
        while True:
            yield self.rng.random()
"""
    proof = found(tmp_path, text, start_methods=("fork",))
    assert proof.verdict() == "confirmed"


@pytest.mark.soak
def test_workers_that_live_on_go_on_drawing(tmp_path: Path) -> None:
    text = KEPT.format(made="np.random.default_rng(0)", before="pass", draw="self.rng.random()")
    proof = found(tmp_path, text, "Data(), num_workers=2, persistent_workers=True", start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "another worker" in proof.judgement.evidence
    assert "previous epoch" not in proof.judgement.evidence


@pytest.mark.soak
def test_a_constant_seed_of_workers(tmp_path: Path) -> None:
    text = GLOBALS + "\ndef worker_init_fn(worker_id):\n    np.random.seed(0)\n"
    proof = found(tmp_path, text, "Data(), num_workers=2, worker_init_fn=worker_init_fn", start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "another worker" in proof.judgement.evidence


@pytest.mark.soak
def test_a_seed_by_worker_comes_again_in_the_next_epoch(tmp_path: Path) -> None:
    text = GLOBALS + "\ndef begin(worker_id):\n    torch.manual_seed(100 + worker_id)\n"
    proof = found(tmp_path, text, "Data(), num_workers=2, worker_init_fn=begin", start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "another worker" not in proof.judgement.evidence
    assert "48 of 48 got the numbers of the previous epoch" in proof.judgement.evidence


@pytest.mark.soak
def test_a_stream_that_no_sample_draws_from_is_not_reproduced(tmp_path: Path) -> None:
    seldom = KEPT.format(made="None", before="pass", draw="random.random() if index < 0 else 0")
    text = seldom + "\ndef worker_init_fn(worker_id):\n    random.seed(0)\n"
    proof = found(tmp_path, text, "Data(), num_workers=2, worker_init_fn=worker_init_fn", start_methods=("fork",))
    assert proof.verdict() == "not reproduced"
    assert "start with the same seed" in proof.judgement.evidence


@pytest.mark.soak
def test_a_seed_of_64_bits(tmp_path: Path) -> None:
    text = GLOBALS + "\ndef begin(worker_id):\n    np.random.seed(torch.initial_seed())\n"
    proof = found(tmp_path, text, "Data(), num_workers=2, worker_init_fn=begin", start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "Seed must be between 0 and 2**32 - 1" in proof.judgement.evidence


@pytest.mark.soak
@pytest.mark.skipif(sys.version_info < (3, 11), reason="older Pythons take it")
def test_a_seed_of_numpy(tmp_path: Path) -> None:
    text = GLOBALS + "\ndef begin(worker_id):\n    random.seed(np.random.get_state()[1][0] + worker_id)\n"
    proof = found(tmp_path, text, "Data(), num_workers=2, worker_init_fn=begin", start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "The only supported seed types" in proof.judgement.evidence


def test_a_function_that_seeds_workers_is_run_alone_where_no_program_leads_to_it(tmp_path: Path) -> None:
    text = "import not_installed\n" + GLOBALS + "\ndef begin(worker_id, rank):\n    np.random.seed(rank + 4)\n"
    made = "DataLoader(Data(), num_workers=2, worker_init_fn=partial(begin, rank=rank))"
    text += f"\ndef loader(rank):\n    return {made}\n"
    proof = found(tmp_path, "from functools import partial\n" + text, start_methods=("fork",))
    words = proof.judgement.evidence
    assert proof.verdict() == "confirmed", words
    assert "32 of 32 samples got the same numbers as in another worker" in words
    assert "drawn from the streams that it seeds; replaced: packages not_installed; arguments rank" in words


def test_a_local_function_that_seeds_workers_needs_a_program(tmp_path: Path) -> None:
    text = GLOBALS + "\ndef loader():\n    def begin(worker_id):\n        np.random.seed(0)\n\n"
    text += "    return DataLoader(Data(), num_workers=2, worker_init_fn=begin)\n"
    proof = found(tmp_path, text)
    assert proof.verdict() == "inconclusive"
    assert proof.judgement.advice


@pytest.mark.soak
def test_a_torch_generator_needs_fork(tmp_path: Path) -> None:
    text = KEPT.format(made="torch.Generator()", before="pass", draw="torch.rand(1, generator=self.rng)")
    proof = found(tmp_path, text, start_methods=("spawn",))
    assert proof.verdict() == "unsupported here"


@pytest.mark.parametrize(
    ("made", "before", "draw"),
    [
        pytest.param("None", "self.rng = np.random.default_rng(index)", "self.rng.random()", marks=pytest.mark.soak),
        pytest.param(
            "None", "self.rng = self.rng or np.random.default_rng()", "self.rng.random()", marks=pytest.mark.soak
        ),
        ("np.random.default_rng(0)", "pass", "np.random.rand()"),
    ],
)
def test_healthy_generators_are_refuted(made: str, before: str, draw: str, tmp_path: Path) -> None:
    proof = in_spite(tmp_path, KEPT.format(made=made, before=before, draw=draw))
    assert proof.verdict() == "refuted", proof.judgement


@pytest.mark.soak
def test_healthy_worker_seeds_are_refuted(tmp_path: Path) -> None:
    text = GLOBALS + "\ndef begin(worker_id):\n    np.random.seed(torch.initial_seed() % 2**32)\n"
    row = (HEAD + text).splitlines().index("def begin(worker_id):") + 1
    proof = in_spite(
        tmp_path,
        text,
        arguments="Data(), num_workers=2, worker_init_fn=begin",
        function="begin",
        row=row,
        streams=("python", "numpy", "torch"),
        too_large=False,
    )
    assert proof.verdict() == "refuted", proof.judgement


@pytest.mark.soak
def test_a_generator_of_a_script_is_counted_once(tmp_path: Path) -> None:
    text = "RNG = np.random.default_rng(5)\n" + KEPT.format(made="None", before="pass", draw="RNG.random()")
    proof = found(tmp_path, text, "Data(), num_workers=2", start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "48 of 48 samples got the same numbers as in another worker" in proof.judgement.evidence
