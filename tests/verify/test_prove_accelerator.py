"""FKL304 proved: unsupported without the accelerator; with one, by what workers meet at the line.

Where no CUDA is at hand the trials are run with the CPU in its place, and a dataset that refuses it as CUDA does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from needed import need_torch
from proven import Proof, environment, prove

from forklint.model import Finding, Severity, Span
from forklint.verify.experiments.accelerator_in_worker import AcceleratorInWorker

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="all start methods exist on Linux alone")

SCRIPT = """
import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset


def to_device(value):
    is_child = multiprocessing.parent_process() is not None
    if is_child and {refuses}:
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")
    return torch.tensor(value)


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index < {most}:
            return to_device(index)
        return index


def main():
    loader = DataLoader(Numbers(), num_workers=2)
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main()
"""


def row(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def proved(folder: Path, monkeypatch: pytest.MonkeyPatch, refuses: str, most: int, **options: object) -> Proof:
    """Prove a forged finding, with the CPU as the accelerator."""
    text = SCRIPT.format(refuses=refuses, most=most)
    path = folder / "train.py"
    path.write_text(text)
    (folder / "forklint.toml").touch()
    monkeypatch.setattr(AcceleratorInWorker, "has", lambda *_: True)
    places = {"call": row(text, "loader = "), "line": row(text, "to_device(index)")}
    proof = {name: {"file": str(path), "first": at, "last": at} for name, at in places.items()}
    finding = Finding(
        code="FKL304",
        name="accelerator-in-worker",
        severity=Severity.WARNING,
        path=str(path),
        span=Span(1, 1, 1, 1),
        message="forged",
        proof={**proof, "dataset": None, "kept": "", "kind": "cpu", "notebook": False},
    )
    return prove(finding, folder, scripts=(path,), **options)


@pytest.mark.parametrize("methods", [("fork",), pytest.param(("fork", "spawn"), marks=pytest.mark.soak)])
def test_an_error_at_the_line_in_workers_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, methods: tuple[str, ...]
) -> None:
    proof = proved(tmp_path, monkeypatch, "True", 8, start_methods=methods)
    assert proof.verdict() == "confirmed"
    assert "RuntimeError: Cannot re-initialize CUDA in forked subprocess" in proof.judgement.evidence
    cells = proof.judgement.details["cells"]
    assert cells == {f"{method}, 2 workers, cpu": "confirmed" for method in methods}


@pytest.mark.soak
def test_no_error_is_not_called_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof = proved(tmp_path, monkeypatch, "False", 8, start_methods=("fork",))
    assert proof.verdict() == "not reproduced"
    assert proof.judgement.evidence == "fork, 2 workers, cpu: workers used it without an error"


@pytest.mark.soak
def test_a_line_that_no_worker_comes_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof = proved(tmp_path, monkeypatch, "True", 0, start_methods=("fork",))
    assert proof.verdict() == "refuted"
    assert "without reaching that line" in proof.judgement.evidence


CUDA = SCRIPT.format(refuses="False", most=8).replace("torch.tensor(value)", "torch.tensor(value).cuda()")


def test_without_cuda_it_is_unsupported(command, tmp_path: Path) -> None:
    if environment().torch.get("gpus"):
        pytest.skip("CUDA is here")
    (tmp_path / "train.py").write_text(CUDA)
    options = ("--select", "FKL304", "--output-format", "json", "--allow-inconclusive")
    done = command("verify", "train.py", *options, cwd=tmp_path)
    (found,) = json.loads(done.stdout)["experiments"]
    assert (found["verdict"], found["evidence"]) == ("unsupported here", "needs CUDA")


def test_with_cuda_a_forked_worker_fails(command, tmp_path: Path) -> None:
    if not environment().torch.get("gpus"):
        pytest.skip("it needs CUDA")
    (tmp_path / "train.py").write_text(CUDA)
    done = command("verify", "train.py", "--select", "FKL304", "--output-format", "json", cwd=tmp_path)
    (found,) = json.loads(done.stdout)["experiments"]
    assert found["verdict"] == "confirmed"
    assert "Cannot re-initialize CUDA in forked subprocess" in found["evidence"]
    assert found["details"]["cells"]["fork, 2 workers, pin_memory=True, cuda"] == "confirmed"
