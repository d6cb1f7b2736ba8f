"""A script that never comes to the loader in question trains no more than it must, and overwrites no model."""

from __future__ import annotations

from pathlib import Path

import pytest
from handle_projects import write
from needed import need_torch
from proven import findings, prove

need_torch()
pytestmark = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="the treatment is fork")

TRAIN = """
import torch
from torch.utils.data import DataLoader
from data import Records

torch.save(torch.ones(2), "../prepared.pt")  # before any loader: no model
train, val = DataLoader(list(range(100)), batch_size=10), DataLoader(list(range(40)), batch_size=10)

def evaluate(loader):
    return sum(int(batch.sum()) for batch in loader)

def main():
    records = DataLoader(Records(), num_workers=2)
    for epoch in range(3):
        print(evaluate(val))
        for number, batch in enumerate(train):
            open(f"../step-{{epoch}}-{{number}}", "w").close()
        {after}
    evaluate(records)

if __name__ == "__main__":
    main()
"""


def left(folder: Path) -> list[str]:
    """The files that a script has written beside its project: what it writes within is thrown away."""
    return sorted(path.name for path in folder.parent.iterdir() if path.suffix == ".pt" or path.name.startswith("step"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    write("file", folder)
    return folder


@pytest.mark.soak
def test_a_model_is_not_overwritten(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.format(after='torch.save({"epoch": epoch}, "../best.pt")'))
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py",), start_methods=("fork",))
    assert left(folder) == ["prepared.pt", "step-0-0"]
    assert proof.verdict() == "inconclusive"
    assert f"was about to save a model at {folder}/train.py:18 before a loader" in proof.judgement.evidence
    assert f"(one is created at {folder}/train.py:13)" in proof.judgement.evidence
    assert "--until-loader" in proof.judgement.advice
    assert len(proof.observations) == 1, "and no worker is tried"


@pytest.mark.soak
def test_no_second_round_is_trained(folder: Path) -> None:
    """Nor is the second loader that one line iterates a second round of the first."""
    (folder / "train.py").write_text(TRAIN.format(after="pass"))
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py",), start_methods=("fork",))
    assert left(folder) == ["prepared.pt", "step-0-0"]
    assert proof.verdict() == "inconclusive"
    assert f"started a second epoch over a loader of builtins.list at {folder}/train.py:10" in proof.judgement.evidence


@pytest.mark.soak
def test_a_script_that_fails_after_one_batch_may_have_wanted_them_all(folder: Path) -> None:
    text = TRAIN.format(after="pass").replace("print(evaluate(val))", "assert len(list(val)) == 4, 'too few'")
    (folder / "train.py").write_text(text)
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py",), start_methods=("fork",))
    assert proof.verdict() == "inconclusive"
    assert "ended with AssertionError: too few before a loader of its dataset" in proof.judgement.evidence
    assert "gave it one batch alone, let that give all" in proof.judgement.advice
    assert prove(finding, folder, entry=("train.py",), start_methods=("spawn",), others="all").verdict() == "confirmed"


@pytest.mark.soak
def test_until_the_loader_it_trains_and_saves(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.format(after='torch.save({"epoch": epoch}, "../best.pt")'))
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py",), start_methods=("spawn",), others="all")
    assert proof.verdict() == "confirmed"
    assert left(folder)[:2] == ["best.pt", "prepared.pt"]
    assert len(left(folder)) == 2 + 3 * 10, "three rounds in full"


@pytest.mark.parametrize("rule", [pytest.param("FKL101", marks=pytest.mark.soak), "FKL201"])
def test_nor_is_more_trained_for_another_rule(command, folder: Path, rule: str) -> None:
    """Whose line is not reached, or which starts no process with these arguments."""
    late = "import os, sys\nimport torch\nif len(sys.argv) > 2:\n    os.environ['OMP_NUM_THREADS'] = '2'\n"
    text = TRAIN.format(after='torch.save({"epoch": epoch}, "../best.pt")')
    text = text.replace('if __name__ == "__main__":\n    main()', "main()")
    text = text.replace("for epoch", "if len(sys.argv) > 2:\n        evaluate(records)\n    for epoch")
    (folder / "train.py").write_text(late + text)
    (folder / "forklint.toml").touch()
    words = ("verify", "train.py", "-q", "--select", rule, "--start-method", "spawn", "--", "once")
    done = command(*words, cwd=folder)
    told = " ".join(done.stdout.split())
    assert done.returncode == 3
    if rule == "FKL101":  # what sets a variable stands before the first loader, in life
        assert left(folder) == ["prepared.pt"], told
        assert "line 4 was never reached before a loader was" in told
    else:
        assert left(folder) == ["prepared.pt", "step-0-0"], told
        assert "train.py was about to save a model at train.py:" in told


def test_the_plan_says_what_becomes_of_the_rest_of_a_script(command, folder: Path) -> None:
    (folder / "forklint.toml").touch()
    (folder / "train.py").write_text(TRAIN.format(after="pass"))
    told = " ".join(command("verify", "train.py", "--plan", "--", cwd=folder).stdout.split())
    assert "python train.py, with a limit of 60 s" in told
    assert "yield one batch each; the script is stopped when it starts a second epoch of one of them" in told
    told = " ".join(command("verify", "train.py", "--plan", "--until-loader", "--", cwd=folder).stdout.split())
    assert "are read to the end, and models are saved" in told
    told = command("verify", "data.py", "--plan", cwd=folder).stdout
    assert "would save a model" not in told, "no script is run"
    assert "the class, with generated arguments and data, with a limit of 60 s" in told
