"""What a trial runs: an entry, a factory, a script that needs nothing, a class; and what is said where nothing can."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest
from handle_projects import HEAD, write
from needed import need_torch
from proven import findings, prove

from forklint.verify.subjects import Factory

need_torch()
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


@pytest.mark.soak
def test_entry_that_lacks_its_arguments(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.format(options=", required=True"))
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py",), **FORKED)
    assert proof.verdict() == "inconclusive"
    assert "the following arguments are required: --path" in proof.judgement.evidence
    assert proof.judgement.advice == "pass them: forklint verify SCRIPT -- ARGS"


@pytest.mark.soak
def test_script_that_needs_no_arguments_is_found(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.format(options=', default="records.bin"'))
    (finding,) = findings(folder)
    proof = prove(finding, folder, scripts=(folder / "data.py", folder / "train.py"), start_methods=("spawn",))
    assert proof.verdict() == "confirmed"
    assert {seen.trial.subject.kind for seen in proof.observations} == {"entry"}


FACTORY = """
from torch.utils.data import DataLoader
from data import Records

def make_loaders(path):
    plain = DataLoader([1, 2, 3])
    return {"plain": plain, "train": DataLoader(Records(path, 240), batch_size=8, num_workers=2)}
"""


@pytest.mark.soak
def test_factory(folder: Path) -> None:
    (folder / "loading.py").write_text(FACTORY)
    (finding,) = findings(folder)
    factory = Factory("loading:make_loaders", {"path": "records.bin"})
    proof = prove(finding, folder, factories=(factory,), start_methods=("spawn",))
    assert proof.verdict() == "confirmed"
    assert "(dataset.file)" in proof.evidence("spawn")


@pytest.mark.soak
def test_a_package_below_src_is_imported_by_a_factory_and_asked_for_by_an_entry(folder: Path) -> None:
    package = folder / "src" / "corpus"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (folder / "data.py").rename(package / "data.py")
    (package / "loading.py").write_text(FACTORY.replace("from data", "from corpus.data"))
    (folder / "train.py").write_text(TRAIN.format(options="").replace("from data", "from corpus.data"))
    (finding,) = findings(folder, "src/corpus/data.py")
    factory = Factory("corpus.loading:make_loaders", {"path": "records.bin"})
    proof = prove(finding, folder, factories=(factory,), start_methods=("spawn",))
    assert proof.verdict() == "confirmed", proof.judgement
    proof = prove(finding, folder, entry=("train.py", "--path", "records.bin"), start_methods=("spawn",))
    assert proof.verdict() == "inconclusive"
    assert proof.judgement.advice.startswith("corpus belongs to the project: set PYTHONPATH=src, or pass")


@pytest.mark.soak
def test_a_factory_that_fails_is_named_in_one_line_and_leaves_the_others_alone(folder: Path) -> None:
    broken = "\n\ndef make_broken():\n    raise RuntimeError('no such operator\\n#1 frame of C++\\n#2 another')\n"
    (folder / "loading.py").write_text(FACTORY + broken)
    (finding,) = findings(folder)
    factories = (Factory("loading:make_broken"), Factory("loading:make_loaders", {"path": "records.bin"}))
    proof = prove(finding, folder, factories=factories, start_methods=("spawn",))
    assert proof.verdict() == "confirmed", proof.judgement
    proof = prove(finding, folder, factories=factories[:1], start_methods=("spawn",))
    assert proof.verdict() == "inconclusive"
    words = "the factory loading:make_broken cannot be created: RuntimeError: no such operator ("
    assert proof.judgement.evidence.startswith(words)
    assert "#1" not in proof.judgement.evidence


@pytest.mark.soak
def test_no_way_to_build_but_with_made_up_arguments(folder: Path) -> None:
    (finding,) = findings(folder)
    proof = prove(finding, folder, start_methods=("spawn",))
    assert proof.verdict() == "confirmed", proof.judgement.evidence
    assert "generated: a file, `path`, `rows`" in proof.judgement.evidence
    assert {seen.trial.subject.kind for seen in proof.observations} == {"made"}


@pytest.mark.soak
def test_without_data_a_file_is_made(folder: Path) -> None:
    (folder / "records.bin").unlink()
    (finding,) = findings(folder)
    proof = prove(finding, folder, **FORKED)
    assert proof.verdict() == "confirmed", proof.judgement.evidence
    assert "generated: a file, `path`, `rows`" in proof.judgement.evidence


@pytest.mark.soak
def test_a_file_that_is_made_and_closed_before_workers_start_shows_nothing(folder: Path) -> None:
    (folder / "records.bin").unlink()
    (finding,) = findings(folder)
    text = (folder / "data.py").read_text()
    (folder / "data.py").write_text(text.replace("        self.rows", "        self.file.close()\n        self.rows"))
    proof = prove(finding, folder, **FORKED)
    assert proof.verdict() == "inconclusive"
    assert "with generated data, it is closed when workers start" in proof.judgement.evidence
    assert "statements that fail on it are skipped: data.py:17" in proof.judgement.evidence


@pytest.mark.soak
def test_without_data_an_environment_is_made(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    write("lmdb", tmp_path)
    shutil.rmtree(tmp_path / "images.lmdb")
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, **FORKED)
    assert proof.verdict() in ("not reproduced", "confirmed"), proof.judgement.evidence
    assert "generated: an LMDB environment" in proof.judgement.evidence
    assert {seen.trial.subject.kind for seen in proof.observations} == {"class", "made"}


PAGES = """
import glob
import numpy as np
from pathlib import Path

class Pages(Dataset):
    def __init__(self, root, split="train"):
        if not os.path.isdir(root):
            raise RuntimeError(f"no data at {{root}}: download it first")
        self.names = sorted(os.listdir(os.path.join(root, "pages")))
        self.masks = sorted(glob.glob(root + "/masks/*.png"))
        self.boxes = np.asarray(np.load(root + "/boxes.npy")[split])
        self.mean = torch.from_numpy(np.load(root + "/mean.npy")).float()
        self.classes = json.loads(Path(root, "classes.json").read_text())["classes"]
        with open(Path(root) / "train.lst") as lines:
            self.lines = [line.split()[0] for line in lines]
        {cover}
        assert len(self.masks) and len(self.names)
        self.archive = zipfile.ZipFile(os.path.join(root, "pages.zip"))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.archive.read(self.names[index])
"""


@pytest.mark.soak
def test_data_of_many_kinds_is_made(tmp_path: Path) -> None:
    """Whatever asks for it, opens it or lists it."""
    pytest.importorskip("numpy")
    cover = "self.cover = Image.open(root + '/cover.png').convert('RGB')"
    has_images = importlib.util.find_spec("PIL") is not None
    text = PAGES.format(cover=f"from PIL import Image; {cover}" if has_images else "")
    (tmp_path / "data.py").write_text(HEAD + text)
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, **FORKED)
    assert proof.verdict() in ("confirmed", "not reproduced"), proof.judgement.evidence
    assert "workers that did not open it" in proof.judgement.evidence


@pytest.mark.soak
def test_a_script_found_by_itself_that_fails_gives_way_to_the_class(tmp_path: Path) -> None:
    write("file", tmp_path)
    (tmp_path / "train.py").write_text(
        "from torch.utils.data import DataLoader\nfrom data import Records\n\n"
        "for batch in DataLoader(Records('none'), num_workers=2):\n    print(batch)\n"
    )
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, scripts=(tmp_path / "train.py",), start_methods=("spawn",))
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
        ("open('images.lst')", "No such file or directory: 'images.lst'", "provide the data"),
        ("raise SystemExit(0)", "ended with exit code 0 and never iterated", "a script that iterates it"),
    ],
)
def test_entry_that_never_gets_there(folder: Path, before: str, evidence: str, advice: str) -> None:
    (folder / "train.py").write_text(f"{before}\n" + TRAIN.format(options=""))
    (finding,) = findings(folder)
    proof = prove(finding, folder, entry=("train.py", "--path", "records.bin"), **FORKED)
    assert proof.verdict() == "inconclusive"
    assert evidence in proof.judgement.evidence
    assert advice in proof.judgement.advice


@pytest.mark.soak
def test_class_whose_data_is_not_there(tmp_path: Path) -> None:
    write("file", tmp_path)
    (tmp_path / "records.bin").unlink()
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, **FORKED)
    assert proof.verdict() == "confirmed"
    assert "generated: a file" in proof.judgement.evidence


def test_control_that_fails_as_well(tmp_path: Path) -> None:
    write("file", tmp_path)
    text = (tmp_path / "data.py").read_text().replace("return self.file", "assert index != 3\n        return self.file")
    (tmp_path / "data.py").write_text(text)
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, factories=(Factory("data:Records"),), **FORKED)
    assert proof.verdict() == "inconclusive"
    assert "reading fails without workers, too: AssertionError" in proof.judgement.evidence
    assert all(seen.trial.is_control for seen in proof.observations), "then no worker is started"
    assert "in __getitem__" in proof.judgement.evidence
