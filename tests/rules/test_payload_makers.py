"""Which files count as making something that pickle refuses: only their senders are looked at for FKL204."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.rules.unpicklable_payload.beside import may_make

MAKES = [
    "def make():\n    return lambda row: row\n",
    "collate = sorted(rows, key=lambda row: row[0]) and (lambda batch: batch)\n",
    "def make_fn():\n    def collate_fn(batch):\n        return batch\n    return collate_fn\n",
    "def make_transform():\n    class Step:\n        pass\n    return Step()\n",
    "def make_fn(app):\n    @app.kept\n    def run(batch):\n        return batch\n",
    "class Masks:\n    @staticmethod\n    def fn():\n        def draw_fn(): ...\n        return draw_fn\n",
    "class Masks:\n    def draw_fn(size):\n        return size\n    draw = draw_fn\n",
    "import threading\nlock = threading.Lock()\n",
    "from threading import Lock as L, Lock\nlock = Lock()\n",
    "import threading as t\nlock = t.Lock()\n",
    "from cv2 import ORB\nmake_transform = ORB.create()\n",
    "import torch\ndef load_transform(path):\n    return torch.jit.load(path)\n",
    "import numpy as np\nclass Words:\n    transform = None\n    random = np.random\n",
]
MAKES_NOT = [
    "rows = sorted(rows, key=lambda row: row[0])\nrows.sort(key=lambda row: row.size)\n",
    "def outer_fn(sizes):\n    def half(size):\n        return size // 2\n    return [half(size) for size in sizes]\n",
    "import torch\ndef load_transform(path):\n    return torch.load(path)\n",
    "class Masks:\n    @staticmethod\n    def draw_fn(size):\n        return size\ndraw = Masks.draw_fn\n",
    "import store\ntransform = store.create()\n",
    "def transform(batch):\n    return batch\n",
]


def makes(folder: Path, text: str) -> bool:
    path = folder / "made.py"
    path.write_text(text)
    return may_make(Project(folder, Settings()), path)


@pytest.mark.parametrize("text", MAKES)
def test_makes_something(tmp_path: Path, text: str) -> None:
    assert makes(tmp_path, text)


def test_an_edit_that_keeps_the_function_counts(tmp_path: Path) -> None:
    path, text = tmp_path / "made.py", "def make_fn(size):\n    def half():\n        return size // 2\n    return half"
    path.write_text(f"{text}()\n")
    project = Project(tmp_path, Settings())
    assert not may_make(project, path)
    project.replace(path, f"{text}\n".encode())
    assert may_make(project, path)
    project.replace(path, f"{text.replace('half', 'third')}\n".encode())
    assert may_make(project, path)


@pytest.mark.parametrize("text", MAKES_NOT)
def test_makes_nothing_that_is_kept(tmp_path: Path, text: str) -> None:
    assert not makes(tmp_path, text)
