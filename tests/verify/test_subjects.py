"""What a trial runs: an entry, a factory, a script that needs nothing, a class; and what is said where nothing can."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from handle_projects import HEAD, write
from proven import findings, prove

from forklint.verify.subjects import Factory

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="the treatment is fork")

CLASS = (
    HEAD
    + """
class Records(Base):
    def __init__(self, path, rows):
        self.file = open(path, "rb")
        self.rows = rows

    def __getitem__(self, index):
        self.file.seek(index * 400)
        return self.file.read(400)
"""
)
TRAIN = """
import argparse
from torch.utils.data import ConcatDataset, DataLoader, Subset, random_split
from data import Records

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--path"{options})
    path = parser.parse_args().path
    first = DataLoader(list(range(100)), batch_size=10)
    assert len(list(first)) == 1, "only one batch of the others"
    records = ConcatDataset([Subset(Records(path, 240), range(200)), Subset(Records(path, 240), range(200, 240))])
    records, _ = random_split(records, [220, 20])
    for batch in DataLoader(records, batch_size=20, shuffle=True, num_workers=2):
        open("trained", "w").close()

if __name__ == "__main__":
    main()
"""
FORKED = {"start_methods": ("fork",)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write("file", tmp_path)
    (tmp_path / "data.py").write_text(CLASS)
    return tmp_path


def test_entry_with_arguments(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.format(options=", required=True"))
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py", "--path", "records.bin"), **FORKED)
    assert proof.verdict() == "confirmed"
    assert not (folder / "trained").exists()
    assert {seen.trial.subject.kind for seen in proof.observations} == {"entry"}
    assert "BufferedReader opened in process" in proof.judgement.evidence
    assert "data.py:" in proof.judgement.evidence
    assert "samples differ from the control" in proof.judgement.evidence, "the split is the same in each trial"


def test_entry_that_lacks_its_arguments(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.format(options=", required=True"))
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py",), **FORKED)
    assert proof.verdict() == "inconclusive"
    assert "the following arguments are required: --path" in proof.judgement.evidence
    assert proof.judgement.advice == "pass them: forklint verify SCRIPT -- ARGS"


def test_script_that_needs_no_arguments_is_found(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.format(options=', default="records.bin"'))
    (finding,) = findings(folder)
    proof = prove(finding, folder, scripts=(folder / "data.py", folder / "train.py"), **FORKED)
    assert proof.verdict() == "confirmed"


FACTORY = """
from torch.utils.data import DataLoader
from data import Records

def make_loaders(path):
    plain = DataLoader([1, 2, 3])
    return {"plain": plain, "train": DataLoader(Records(path, 240), batch_size=8)}
"""


def test_factory(folder: Path) -> None:
    (folder / "loading.py").write_text(FACTORY)
    (finding,) = findings(folder)
    factory = Factory("loading:make_loaders", {"path": "records.bin"})
    proof = prove(finding, folder, factories=(factory,), start_methods=("fork", "spawn"))
    assert proof.verdict("fork") == "confirmed"
    assert "(dataset.file)" in proof.evidence("spawn")


def test_no_way_to_build(folder: Path) -> None:
    (finding,) = findings(folder)
    proof = prove(finding, folder, start_methods=("spawn",))
    assert proof.verdict() == "inconclusive"
    assert proof.judgement.evidence == "no way to build Records(path, rows)"
    assert "name a factory" in proof.judgement.advice
    assert proof.observations == ()


def test_without_data_a_stand_in_shows_the_mechanism_and_confirms_nothing(folder: Path) -> None:
    (folder / "records.bin").unlink()
    (finding,) = findings(folder)
    proof = prove(finding, folder, **FORKED)
    assert proof.verdict() == "inconclusive"
    words = proof.judgement.evidence
    assert words.startswith("no way to build Records(path, rows); a stand-in for the handle is opened in process ")
    assert "data.py:" in words
    assert "used under fork in 2 workers that did not open it: the mechanism, without harm" in words
    assert "name a factory" in proof.judgement.advice
    text = (folder / "data.py").read_text()
    (folder / "data.py").write_text(text.replace("        self.rows", "        self.file.close()\n        self.rows"))
    proof = prove(finding, folder, **FORKED)
    assert proof.verdict() == "inconclusive"
    assert "with stand-ins for its data the handle is closed when workers start" in proof.judgement.evidence


def test_without_data_lmdb_has_a_stand_in(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    write("lmdb", tmp_path)
    shutil.rmtree(tmp_path / "images.lmdb")
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, **FORKED)
    assert proof.verdict() == "inconclusive"
    assert "No such file or directory" in proof.judgement.evidence
    assert "a stand-in for the handle is opened" in proof.judgement.evidence
    assert [seen.trial.task for seen in proof.observations] == ["samples", "stand_in"]


def test_a_script_found_by_itself_that_fails_gives_way_to_the_class(tmp_path: Path) -> None:
    write("file", tmp_path)
    (tmp_path / "train.py").write_text(
        "from torch.utils.data import DataLoader\nfrom data import Records\n\n"
        "for batch in DataLoader(Records('none')):\n    print(batch)\n"
    )
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, scripts=(tmp_path / "train.py",), **FORKED)
    assert proof.verdict() == "confirmed"
    kinds = [(seen.trial.subject.kind, seen.trial.is_control) for seen in proof.observations]
    assert kinds[:2] == [("entry", True), ("class", True)]  # no treatment of the script
    assert {kind for kind, _ in kinds[2:]} == {"class"}
    proof = prove(finding, tmp_path, entry=("train.py",), **FORKED)
    assert proof.verdict() == "inconclusive"
    assert [seen.trial.is_control for seen in proof.observations] == [True]


@pytest.mark.parametrize(
    ("before", "evidence", "advice"),
    [
        ("import nowhere_to_be_found", "No module named 'nowhere_to_be_found'", "install nowhere_to_be_found"),
        ("open('images.lst')", "No such file or directory: 'images.lst'", "put the data there"),
        ("raise SystemExit(0)", "ended with exit code 0 and never iterated", "an entry that iterates it"),
    ],
)
def test_entry_that_never_gets_there(folder: Path, before: str, evidence: str, advice: str) -> None:
    (folder / "train.py").write_text(f"{before}\n" + TRAIN.format(options=""))
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py", "--path", "records.bin"), **FORKED)
    assert proof.verdict() == "inconclusive"
    assert evidence in proof.judgement.evidence
    assert advice in proof.judgement.advice


def test_class_whose_data_is_not_there(tmp_path: Path) -> None:
    write("file", tmp_path)
    (tmp_path / "records.bin").unlink()
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, **FORKED)
    assert proof.verdict() == "inconclusive"
    assert "records.bin" in proof.judgement.evidence
    assert "put the data there" in proof.judgement.advice


def test_control_that_fails_as_well(tmp_path: Path) -> None:
    write("file", tmp_path)
    text = (tmp_path / "data.py").read_text().replace("return self.file", "assert index != 3\n        return self.file")
    (tmp_path / "data.py").write_text(text)
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, **FORKED)
    assert proof.verdict() == "inconclusive"
    assert "reading fails without workers, too: AssertionError" in proof.judgement.evidence
    assert len(proof.observations) == 1, "then no worker is started"
    assert "in __getitem__" in proof.judgement.evidence
