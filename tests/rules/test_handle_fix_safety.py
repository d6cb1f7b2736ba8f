"""When the fix of FKL301 is safe: only if nothing that works can tell the second handle from the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.linters import Linters
from forklint.model import Applicability

SOURCE = """
import csv, h5py, lmdb, os, shutil, sqlite3, tarfile, zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from torch.utils.data import Dataset

FOLDER = Path("data")
CURRENT = "first"


def switch(name):
    global CURRENT
    CURRENT = name


class Samples(Dataset):
    def __init__(self, p):
        {body}

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return self.x.seek(index), self.x[index]
"""
SAFE = [
    "self.x = open(p, 'rb')",
    "self.x = open(FOLDER / 'a', 'rb')\nself.n = len(self.x.read())",
    "self.x = h5py.File(p)\nself.n = len(self.x['images'])",
    "self.x = h5py.File(p)\nself.n = self.x['images'].shape[0]\nself.labels = self.x['labels'][:]",
    "self.x = h5py.File(p)\nself.names = sorted(self.x.keys())\nself.rate = self.x.attrs['rate']",
    "self.x = lmdb.open(p)\nwith self.x.begin(write=False) as txn:\n    self.n = txn.stat()['entries']",
    "self.x = lmdb.open(p)\nself.n = self.x.stat()['entries']",
    "self.x = zipfile.ZipFile(p)\nself.names = [n for n in self.x.namelist() if n.endswith('.png')]",
    "self.x = tarfile.open(p)\nself.names = self.x.getnames()",
    "self.x = sqlite3.connect(p)\nself.n = self.x.execute('SELECT COUNT(*) FROM t').fetchone()[0]",
]
NOT_SAFE = [
    "self.x = sqlite3.connect(p)\nself.x.row_factory = sqlite3.Row",
    "self.x = sqlite3.connect(p)\nself.x.create_function('f', 1, len)",
    "self.x = sqlite3.connect(p)\nself.x.execute('CREATE TEMP TABLE t (a)')",
    "self.x = sqlite3.connect(p)\ncursor = self.x.execute('SELECT a FROM t')",
    "self.x = lmdb.open(p, max_dbs=2)\nself.db = self.x.open_db(None)",
    "self.x = h5py.File(p)\nself.groups = list(self.x.values())",
    "self.x = h5py.File(p)\nself.samples = map(int, self.x['x'])",
    "self.x = h5py.File(p)\nimages = self.x['images']\nself.image = images",
    "self.x = h5py.File(p)\nself.names = (name for name in self.x.keys())",
    "self.x = open(p)\nself.reader = csv.reader(self.x)",
    "self.x = open(p)\nreader = csv.reader(self.x)\nself.reader = reader",
    "with TemporaryDirectory() as folder:\n    self.x = open(folder + '/a')",
    "self.x = open(p, 'rb')\nshutil.rmtree(p)",
    "self.x = open(p, 'rb')\nos.unlink(p)",
    "os.chdir(p)\nself.x = open('a', 'rb')",
    "try:\n    self.x = open(p, 'rb')\nexcept OSError:\n    p = None",
    "self.x = open(CURRENT, 'rb')",
    "self.x = zipfile.ZipFile(p)\nself.x.setpassword(b'a')",
]
NOT_MENDED = [
    "self.x = open(p)\nself.reader = csv.reader(self.x)",
    "self.x = lmdb.open(p, max_dbs=2)\nself.db = self.x.open_db(None)",
    "self.x = h5py.File(p)\nself.groups = list(self.x.values())",
]


def applicability(body: str, folder: Path) -> set[Applicability]:
    (folder / "forklint.toml").touch()
    path = folder / "samples.py"
    path.write_text(SOURCE.replace("{body}", body.replace("\n", "\n        ")), encoding="utf-8")
    findings = Linters(SettingsFinder(), Options()).of(path).lint(path).findings
    assert findings
    return {fix.applicability for finding in findings for fix in finding.fixes}


@pytest.mark.parametrize("body", SAFE)
def test_a_handle_that_is_only_read_is_opened_again_safely(body: str, tmp_path: Path) -> None:
    assert applicability(body, tmp_path) == {Applicability.SAFE}


@pytest.mark.parametrize("body", NOT_SAFE)
def test_a_handle_that_cannot_be_had_twice_is_not_mended_unasked(body: str, tmp_path: Path) -> None:
    assert Applicability.SAFE not in applicability(body, tmp_path)


@pytest.mark.parametrize("body", NOT_MENDED)
def test_what_is_made_of_the_handle_and_kept_leaves_it_to_a_person(body: str, tmp_path: Path) -> None:
    assert applicability(body, tmp_path) == {Applicability.DISPLAY}
