"""Where a text hands an opener on without calling it: imports, annotations and sentences do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.handles.screening import HandleScreen
from forklint.knowledge.handles import openers
from forklint.project.index import Project
from forklint.project.meanings import Definition

HANDED_ON = [
    "import h5py\nfiles = list(map(h5py.File, paths))\n",
    "import h5py\nREADERS = {'h5': h5py.File}\n",
    "import h5py\nREADERS = {\n    KIND.H5: h5py.File,\n}\n",
    "import h5py\nreader = h5py.File\n",
    "from zipfile import ZipFile\nreader = ZipFile if packed else None\n",
    "def opener(path):\n    return open\n",
    "import gzip\nimport lmdb\nreader = lmdb.open if packed else open\n",
    "from multiprocessing.pool import ThreadPool\nfiles = ThreadPool(4).map(\n    open,\n    paths,\n)\n",
]
NOT_HANDED_ON = [
    "from zipfile import ZipFile\nnames = ZipFile(path).namelist()\n",
    "import tarfile\ndef members(tar: tarfile.TarFile, first: int) -> tarfile.TarFile:\n    return tar\n",
    "import h5py\nindex = -1  # no file is open\n",
    '"""Nothing is open, and nothing is left open"""\n',
    "value = settings.open\n",
]


def hands_on(folder: Path, text: str) -> bool:
    (folder / "reading.py").write_text(text + "def other():\n    return 1\n")
    project = Project(folder, Settings())
    screen = HandleScreen(project, openers(project.settings.handles))
    number = len(project.summary(folder / "reading.py").scopes) - 1
    return screen.retains(Definition(folder / "reading.py", number))


@pytest.mark.parametrize("text", HANDED_ON)
def test_what_is_handed_on_may_be_opened_by_any_function(tmp_path: Path, text: str) -> None:
    assert hands_on(tmp_path, text)


@pytest.mark.parametrize("text", NOT_HANDED_ON)
def test_what_is_no_value_leaves_other_functions_alone(tmp_path: Path, text: str) -> None:
    assert not hands_on(tmp_path, text)
