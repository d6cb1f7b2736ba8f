"""A dataset with two handles: what goes wrong is laid to the one that it points to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from handle_projects import HEAD, PROJECTS, write
from needed import need_torch
from proven import findings, prove

from forklint.verify.runner import HARNESS

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="both start methods exist on Linux alone")

SPEECH = """
import h5py

class Speech(Base):
    def __init__(self, features="volumes.h5", texts="records.bin"):
        self.features = h5py.File(features, "r")
        self.texts = open(texts, "rb")

    def __getitem__(self, index):
        self.texts.seek(index * 400)
        return torch.from_numpy(self.features["volumes"][index]), self.texts.read(400)
"""
NAMED = """
class Scans(Base):
    def __init__(self, path="clicks.db", texts="records.bin"):
        self.connection = sqlite3.connect(path)
        self.texts = open(texts, "rb")

    def __getitem__(self, index):
        text = os.pread(self.texts.fileno(), 400, index * 400)
        if torch.utils.data.get_worker_info() is not None:
            self.connection.execute("SELECT nothing FROM nowhere")
        return text
"""


@pytest.mark.soak
def test_harm_of_one_is_not_laid_to_the_other(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    for name in ("file", "hdf5"):
        write(name, tmp_path)
    (tmp_path / "data.py").write_text(HEAD + SPEECH)
    features, texts = findings(tmp_path)
    assert (features.proof["attributes"], texts.proof["attributes"]) == (("features",), ("texts",))
    proof = prove(features, tmp_path)
    assert proof.verdict("fork") == "inconclusive"
    assert "samples differ" in proof.evidence("fork")
    assert "but `dataset.texts` is also open, and is the more likely cause" in proof.evidence("fork")
    assert proof.cell("fork")["advice"] == "fix `dataset.texts` first, then verify again"
    assert proof.verdict("spawn") == "confirmed"
    assert "(dataset.features)" in proof.evidence("spawn")
    proof = prove(texts, tmp_path, start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "but `" not in proof.judgement.evidence


@pytest.mark.soak
def test_an_error_is_laid_to_the_handle_that_its_line_names(tmp_path: Path) -> None:
    for name in ("file", "sqlite"):
        PROJECTS[name][3](tmp_path)
    (tmp_path / "data.py").write_text(HEAD + NAMED)
    verdicts = {
        finding.proof["attributes"][0]: prove(finding, tmp_path, start_methods=("fork",)).verdict()
        for finding in findings(tmp_path)
    }
    assert verdicts == {"connection": "confirmed", "texts": "not reproduced"}


LOOK = """
import io, json, zipfile
from forklint_harness.holding import Held, rivals_of

class Reader:
    def __init__(self):
        self.pages = zipfile.ZipFile("pages.zip")

    def __getattr__(self, name):
        raise AssertionError(name)

class Corpus:
    def __init__(self):
        self.lines = open("records.bin", "rb")
        self.more = [open("records.bin", "rb"), {"reader": Reader()}]
        self.closed = open("records.bin", "rb")
        self.closed.close()
        self.log = open("log.txt", "a")
        self.memory = io.BytesIO(b"")
        self.index = open("pages.zip", "rb")

    @property
    def fileno(self):
        raise AssertionError("what the program computes is not asked for")

corpus = Corpus()
print(sorted(one.path for one in rivals_of(corpus, [Held("dataset.lines", corpus, "lines")])))
"""


def test_what_counts_as_another_handle(tmp_path: Path) -> None:
    """Not a log that is written, nor a buffer, nor a closed file; and no code of the project runs to tell."""
    for name in ("file", "zip"):
        PROJECTS[name][3](tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(HARNESS)}
    environment.pop("FORKLINT_TRIAL", None)
    done = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "['dataset.index', \"dataset.more[1]['reader'].pages\"]\n", done.stderr
