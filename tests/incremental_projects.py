"""A small project whose findings hang on several files, and hands that change it."""

from __future__ import annotations

import gc
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

from forklint.config import SettingsFinder
from forklint.model import FileReport
from forklint.parallel import Job, lint
from forklint.source import discovery


def notebook(source: str) -> str:
    """A notebook with one cell."""
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
    kernel = {"kernelspec": {"language": "python", "name": "python3", "display_name": "Python 3"}}
    return json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


STORE = """\
import lmdb
from torch.utils.data import Dataset

from words.base import Texts


class Words(Texts):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __len__(self):
        return 100

    def __getitem__(self, index):
        return self.env.stat()
"""
BASE = "from torch.utils.data import Dataset\n\n\nclass Texts(Dataset):\n    pass\n"
LOCAL_BASE = "class Texts:\n    pass\n"
PICKLED = """\
from torch.utils.data import Dataset


class Texts(Dataset):
    def __getstate__(self):
        return {**self.__dict__, "env": None}
"""
TRAIN = """\
import os

from torch.utils.data import DataLoader

from words.options import WORKERS
from words.store import Words

os.environ["OMP_NUM_THREADS"] = "1"
loader = DataLoader(Words("texts"), num_workers=WORKERS, pin_memory=True)
for batch in loader:
    print(batch)
"""
GUARDED = """\
from torch.utils.data import DataLoader

from words.store import Words


def main():
    for batch in DataLoader(Words("texts"), num_workers=2, persistent_workers=True):
        print(batch)


if __name__ == "__main__":
    main()
"""
THREADS = "import torch\n\n\ndef limit():\n    torch.set_num_interop_threads(1)\n"
RUNS_FIRST = "import torch\n\nfrom words import threads\n\ntorch.ones(3).sum()\nthreads.limit()\n"
SHADOW = "def open(path):\n    return path\n"
OPTIONS = "WORKERS = 4\n"
NO_WORKERS = "WORKERS = 0\n"
BROKEN = "def broken(:\n"
IDLE = "import json\n\nprint(json.dumps({}))  # noqa: FKL301\n"
PRESET = "data:\n  loader:\n    num_workers: 8\n    pin_memory: true\ndevice: mps\n"
NO_WORKERS_PRESET = "loader:\n  num_workers: 0\n  prefetch_factor: 2\n  persistent_workers: true\n"
NOTEBOOK = notebook(STORE.replace("words.base import Texts", "words.base import Texts as Kept"))
SETTINGS = (
    "[tool.forklint]\n",
    "[tool.forklint]\npreview = true\n",
    '[tool.forklint]\npreview = true\nignore = ["FKL301"]\n',
    '[tool.forklint]\npreview = true\nplatforms = ["linux"]\ntarget-python = "3.11"\n',
    '[tool.forklint]\npreview = true\nexclude = ["words/base.py"]\n',
    '[tool.forklint]\npreview = true\n\n[tool.forklint.per-file-ignores]\n"train.py" = ["FKL201"]\n',
    '[project]\nname = "words"\nrequires-python = ">=3.14"\n\n[tool.forklint]\npreview = true\n',
)
CONTENTS = {
    "words/__init__.py": ("", "from words.store import Words\n"),
    "words/store.py": (STORE, STORE.replace("lmdb.open(root)", "lmdb.open(path)"), IDLE),
    "words/base.py": (BASE, LOCAL_BASE, PICKLED),
    "words/options.py": (OPTIONS, NO_WORKERS),
    "words/threads.py": (THREADS, IDLE),
    "train.py": (TRAIN, GUARDED, BROKEN),
    "evaluate.py": (RUNS_FIRST, IDLE, GUARDED),
    "explore.ipynb": (NOTEBOOK, "{}", "no notebook"),
    "conf/train.yaml": (PRESET, NO_WORKERS_PRESET),
    "conf/mac.yaml": (PRESET, "name: [\n"),
    "lmdb.py": (SHADOW,),
    "src/words/base.py": (LOCAL_BASE, BASE),
    "tools/mac.py": ('import sys\n\nif sys.platform == "darwin":\n    print("a Mac")\n',),
    ".gitignore": ("words/base.py\n", "conf\n", "*.ipynb\n"),
    "tox.ini": ("[tox]\nenvlist = py314\n",),
}
"""What each file of the project may hold; the first is what it holds when it is new."""
AT_FIRST = ("words/__init__.py", "words/store.py", "words/base.py", "words/options.py", "train.py", "conf/train.yaml")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make(folder: Path) -> Path:
    """Write the project into an empty folder."""
    write(folder / "pyproject.toml", SETTINGS[1])
    for name in AT_FIRST:
        write(folder / name, CONTENTS[name][0])
    return folder


def reports(*paths: Path, keeps: bool, tell: Callable[[str], None] | None = None) -> list[FileReport]:
    """Lint files and folders as a new run would; notes and suppressions are compared as well as findings."""
    discovery.forget_ignore_files()
    finder = SettingsFinder()
    found = discovery.find_files(paths, lambda path: finder.for_file(path).excludes(path))
    try:
        return lint(Job(keeps=keeps), [path for path in found if isinstance(path, Path)], 1, tell)
    finally:
        gc.enable()  # linting leaves it off


class Hands:
    """Changes a project at random, the same each time for one seed."""

    def __init__(self, project: Path, seed: int) -> None:
        self._project = project
        self._random = random.Random(seed)
        self._edits: tuple[Callable[[], str], ...] = (
            *(self.fill,) * 6,
            *(self.remove,) * 2,
            *(self.rename,) * 2,
            self.touch,
            self.set,
            self.swap,
        )

    def change(self) -> str:
        """Make one change; gives it in words."""
        return self._random.choice(self._edits)()

    def _all(self) -> list[Path]:
        return sorted(
            path for path in self._project.rglob("*") if path.is_file() and ".forklint_cache" not in path.parts
        )

    def _one(self) -> Path:
        return self._random.choice([path for path in self._all() if path.name != "pyproject.toml"])

    def choose(self) -> list[Path]:
        """Some of the files that are linted."""
        found = [path for path in self._all() if path.suffix in {".py", ".ipynb"}]
        return sorted(self._random.sample(found, self._random.randint(1, min(3, len(found)))))

    def toss(self) -> int:
        """1 or -1."""
        return self._random.choice((1, -1))

    def fill(self) -> str:
        name = self._random.choice(sorted(CONTENTS))
        write(self._project / name, self._random.choice(CONTENTS[name]))
        return f"filled {name}"

    def remove(self) -> str:
        path = self._one()
        path.unlink()
        return f"removed {path}"

    def rename(self) -> str:
        """Move a file, with its times, over what may be there."""
        path, name = self._one(), self._random.choice(sorted(CONTENTS))
        (self._project / name).parent.mkdir(parents=True, exist_ok=True)
        path.replace(self._project / name)
        return f"renamed {path} {name}"

    def touch(self) -> str:
        path = self._one()
        path.touch()
        return f"touched {path}"

    def set(self) -> str:
        number = self._random.randrange(len(SETTINGS))
        write(self._project / "pyproject.toml", SETTINGS[number])
        return f"settings {number}"

    def swap(self) -> str:
        """Change a file and leave it its size and the time when it was written."""
        path = self._one()
        status, data = path.stat(), path.read_bytes()
        path.write_bytes(data.replace(b"num_workers", b"mum_workers") if b"num_" in data else data.swapcase())
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        return f"swapped {path}"
