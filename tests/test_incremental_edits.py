"""Whatever is changed in a project, a run that knows of earlier ones says what one says that does not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from incremental_projects import PICKLED, PRESET, STORE, Hands, make, notebook, reports, write

from forklint.parallel import FEW
from forklint.store import stamps

GRAIN = 30_000_000
"""Nanoseconds: as fine as the clock of a file system surely is here."""


PAYLOAD = """\
from torch.utils.data import DataLoader

from words.store import Words

loader = DataLoader(Words("texts"), num_workers=2, collate_fn=lambda batch: batch)
"""
USES = "from tools.loading import loader\n\nfor batch in loader:\n    print(batch)\n"
READS = """\
import yaml
from torch.utils.data import DataLoader

from words.store import Words

settings = yaml.safe_load(open("read.yaml"))
for batch in DataLoader(Words("texts"), num_workers=settings["workers"]):
    print(batch)
"""
WORKERS, NO_WORKERS = "workers: 4\n", "workers: 0\n"
OPENS = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
"""
DROPS = "    def __getstate__(self):\n        return {}\n"
Files = dict[str, str | None]
"""What becomes of some files; None: they are removed."""
LACKING: Files = {
    "nets/__init__.py": "",
    "nets/heads.py": "from torch import nn\n\nfrom .blocks import block\n\nHEAD = nn.Linear(block(1), 2)\n",
}
"""A module of a package is missing."""
STORIES: dict[str, tuple[Files, Files]] = {
    "the text of a file that is imported": ({}, {"words/options.py": "WORKERS = 0\n"}),
    "a file that is imported goes": ({}, {"words/options.py": None}),
    "a module that shadows another, and is not linted": (
        {"data.py": OPENS, ".gitignore": "lmdb.py\n"},
        {"lmdb.py": "def open(path):\n    return path\n"},
    ),
    "a module that was missing, and is not linted": (
        {"tools/names.py": "", "evaluate.py": USES, ".gitignore": "loading.py\n"},
        {"tools/loading.py": "from torch.utils.data import DataLoader\n\nloader = DataLoader([1], num_workers=2)\n"},
    ),
    "a module that was missing": (LACKING, {"nets/blocks.py": "def block(width):\n    return width\n"}),
    "a folder in place of a module that was missing": (LACKING, {"nets/blocks/one.py": "NAME = 1\n"}),
    "native code in place of a module that was missing": (LACKING, {"nets/blocks.pyx": "def block(w): pass\n"}),
    "a sample of a module that was missing goes": (
        LACKING | {"nets/blocks_sample.py": ""},
        {"nets/blocks_sample.py": None},
    ),
    "a build that makes a module that was missing": (LACKING, {"setup.py": "MODULES = ['nets.blocks']\n"}),
    "a folder that shadows a library, and is not linted": (
        {"data.py": OPENS, ".gitignore": "lmdb\n"},
        {"lmdb/__init__.py": "def open(path):\n    return path\n"},
    ),
    "a file that nobody imports uses a class": (
        {"words/texts.py": OPENS.replace("Dataset", "object"), "words/base.py": ""},
        {
            "use/it.py": "from torch.utils.data import DataLoader\n\nfrom words.texts import Words\n\n"
            "loader = DataLoader(Words('x'), num_workers=2)\n"
        },
    ),
    "a file of settings of the same name": (
        {"read.py": READS, "conf/read.yaml": WORKERS},
        {"words/read.yaml": NO_WORKERS},
    ),
    "a file of settings that was too large": (
        {"read.py": READS, "read.yaml": WORKERS + "#\n" * 200_000},
        {"read.yaml": WORKERS},
    ),
    "a file of settings with nothing in it": ({"conf/mac.yaml": "name: mac\n"}, {"conf/mac.yaml": PRESET}),
    "what is ignored": ({}, {".gitignore": "words/store.py\n"}),
    "what is ignored by hand": ({}, {".ignore": "train.py\n"}),
    "a Python that the project is tested with": (
        {"words/base.py": "", "words/threads.py": PAYLOAD},
        {"tox.ini": "[tox]\nenvlist = py314\n"},
    ),
    "a sign of another platform, for a notebook": (
        {"explore.ipynb": notebook(PAYLOAD)},
        {"tools/mac.py": 'import sys\n\nprint(sys.platform == "darwin")\n'},
    ),
    "what a notebook imports": ({"explore.ipynb": notebook(STORE)}, {"words/base.py": PICKLED}),
    "a sign of another platform": (
        {"words/threads.py": PAYLOAD},
        {"tools/mac.py": 'import sys\n\nprint(sys.platform == "darwin")\n'},
    ),
}


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize(
    "trusts", [pytest.param(False, id="at once", marks=pytest.mark.soak), pytest.param(True, id="after a while")]
)
def test_what_one_change_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, story: str, trusts: bool) -> None:
    monkeypatch.setattr(stamps, "GRAIN", GRAIN if trusts else stamps.GRAIN)
    project = make(tmp_path / "project")
    first, then = STORIES[story]
    change(project, first)
    time.sleep(2 * GRAIN / 1e9)
    before = reports(project, keeps=True)
    assert before == reports(project, keeps=False)
    change(project, then)
    after = reports(project, keeps=False)
    assert {one.path: one.findings for one in after if one.findings} != {
        one.path: one.findings for one in before if one.findings
    }, "else this shows nothing"
    assert reports(project, keeps=True) == after


@pytest.mark.parametrize("others", [0, FEW])
def test_a_file_that_stood_alone_may_come_to_reach_another(tmp_path: Path, others: int) -> None:
    """Few files are cleared each time; of many it is kept that nothing is found, until what they import is there."""
    write(tmp_path / "forklint.toml", "")
    for number in range(others):
        write(tmp_path / f"other{number}.py", "LOW = 1\n")
    write(
        tmp_path / "words.py",
        "from given import Base, start\n\n\nclass Words(Base):\n    def __init__(self, root):\n"
        "        self.env = start(root)\n",
    )
    write(
        tmp_path / "train.py",
        "from torch.utils.data import DataLoader\nfrom words import Words\n\n"
        "loader = DataLoader(Words('x'), num_workers=2)\n",
    )
    assert not any(one.findings for one in reports(tmp_path, keeps=True))
    write(
        tmp_path / "given.py",
        "import lmdb\nfrom torch.utils.data import Dataset as Base\n\n\ndef start(root):\n    return lmdb.open(root)\n",
    )
    after = reports(tmp_path, keeps=True)
    assert after == reports(tmp_path, keeps=False)
    assert "FKL301" in {finding.code for one in after for finding in one.findings}


def change(project: Path, files: Files) -> None:
    for name, text in files.items():
        (project / name).unlink() if text is None else write(project / name, text)


@pytest.mark.parametrize("trusts", [False, True], ids=["edits at once", "edits after a while"])
@pytest.mark.parametrize(
    ("seed", "edits"), [(0, 10), *(pytest.param(seed, 30, marks=pytest.mark.soak) for seed in range(6))]
)
def test_random_edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, edits: int, trusts: bool) -> None:
    """With edits at once every file must be read again; after a while those whose stamps are old are not."""
    project = make(tmp_path / "project")
    hands = Hands(project, seed)
    if trusts:
        monkeypatch.setattr(stamps, "GRAIN", GRAIN)
    done, findings = [], 0
    for _ in range(edits):
        if trusts:
            time.sleep(2 * GRAIN / 1e9)
        for paths in (hands.choose(), [project])[:: hands.toss()]:
            fresh = reports(*paths, keeps=False)
            assert reports(*paths, keeps=True) == fresh, f"{paths} after {done}"
            assert reports(*paths, keeps=True) == fresh, f"{paths} the second time, after {done}"
        findings += sum(len(report.findings) for report in fresh)
        done.append(hands.change())
    assert findings > edits
