"""FKL301 on torchvision's LSUN: found in the published wheel, and the fixed class loads an LMDB with workers.

The wheel comes from the package registry by name and version. torchvision as a whole imports compiled operators
that fit one release of torch alone, so a skeleton package is built around the wheel's own `lsun.py`, `vision.py`
and `datasets/utils.py`; what these import besides is stood in for (see `SKELETON`), Pillow too where it is missing.
"""

from __future__ import annotations

import json
import multiprocessing
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch
from proven import findings, prove

from forklint.verify.subjects import Factory

need_torch()
lmdb = pytest.importorskip("lmdb")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="both start methods exist on Linux alone"),
]

WHEEL = "torchvision==0.29.2"
OWN = ("datasets/lsun.py", "datasets/vision.py", "datasets/utils.py")
SKELETON = {
    "torchvision/__init__.py": "",
    "torchvision/datasets/__init__.py": "",
    "torchvision/utils.py": "def _log_api_usage_once(obj):\n    pass\n",
    "torchvision/_internally_replaced_utils.py": (
        "def _download_file_from_remote_location(*args):\n    raise RuntimeError\n\n\n"
        "def _is_remote_location_available():\n    return False\n"
    ),
}
PILLOW = {
    "PIL/__init__.py": "",
    "PIL/Image.py": (
        "class Image:\n"
        "    def __init__(self, data):\n        self.data = data\n\n"
        "    def convert(self, mode):\n        return self\n\n"
        "    def tobytes(self):\n        return self.data\n\n\n"
        "def open(stream):\n    return Image(stream.read()[11:])\n"
    ),
}
IMAGES = 60


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds the skeleton with the wheel's own files in it."""
    folder = tmp_path_factory.mktemp("lsun")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-q", "--retries", "1"]
    command += ["--python-version", "3.12", "--platform", "manylinux_2_28_x86_64", "-d", str(folder), WHEEL]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"NOT TESTED: {WHEEL} did not come within 120 s")
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        pytest.skip(f"NOT TESTED: {WHEEL} cannot be had here: {done.stderr.strip()[-200:]}")
    texts = dict(SKELETON) if find_spec("PIL") else SKELETON | PILLOW
    with zipfile.ZipFile(wheels[0]) as wheel:
        texts |= {f"torchvision/{name}": wheel.read(f"torchvision/{name}").decode() for name in OWN}
    for name, text in texts.items():
        target = folder / "tree" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder / "tree"


def forklint(tree: Path, *options: str) -> str:
    command = [sys.executable, "-m", "forklint", ".", "--isolated", "--select", "FKL301", *options]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def images(path: Path) -> str:
    with lmdb.open(str(path), map_size=1 << 22) as env, env.begin(write=True) as txn:
        for index in range(IMAGES):
            txn.put(b"%06d" % index, b"P6 4 4 255\n" + bytes([index]) * 48)
    return str(path)


def pixels(image: Any) -> list[int]:
    return list(image.tobytes())


def read(dataset: Any, workers: int, method: str | None) -> list[list[int]]:
    import torch

    loader = torch.utils.data.DataLoader(
        dataset, batch_size=None, num_workers=workers, multiprocessing_context=method, timeout=60 if workers else 0
    )
    return [image for image, _ in loader]


def test_lsun_is_found_and_its_fix_loads(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(shutil.copytree(package, tmp_path / "tree"))
    lsun = package / "torchvision" / "datasets" / "lsun.py"
    (finding,) = json.loads(forklint(package, "--output-format", "json"))
    row = finding["location"]["row"]
    assert Path(finding["filename"]).name == "lsun.py"
    assert lsun.read_text().splitlines()[row - 1].strip().startswith("self.env = lmdb.open(")

    forklint(package, "--fix", "--unsafe-fixes")
    assert json.loads(forklint(package, "--output-format", "json")) == []

    monkeypatch.chdir(tmp_path)  # LSUN writes its cache of keys into the working directory
    monkeypatch.syspath_prepend(str(package))
    from torchvision.datasets.lsun import LSUNClass

    root = images(tmp_path / "bedroom_train_lmdb")
    expected = [[index] * 48 for index in range(IMAGES)]
    for method, warm in (("fork", False), ("fork", True), ("spawn", True)):
        dataset = LSUNClass(root, transform=pixels)
        assert len(dataset) == IMAGES
        if warm:
            assert dataset[0][0] == expected[0]
        assert read(dataset, 2, method) == expected, f"{method}, parent {'has read' if warm else 'cold'}"
        assert read(dataset, 0, None) == expected
        del dataset  # lmdb lets a process open an environment once
    assert multiprocessing.active_children() == []


LOADING = """
from torchvision.datasets.lsun import LSUNClass

def pixels(image):
    return list(image.tobytes())

def make_dataset(root):
    return LSUNClass(root, transform=pixels)
"""


def test_lsun_is_proved(package: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(package, tree)
    (tree / "loading.py").write_text(LOADING)
    root = images(tmp_path / "bedroom_train_lmdb")
    (finding,) = findings(tree, "torchvision/datasets/lsun.py")
    factories = (Factory("loading:make_dataset", {"root": root}),)

    before = prove(finding, tree, factories=factories)
    assert before.cells, before.judgement.evidence
    assert before.verdict("fork") == "not reproduced"
    assert "workers that did not open it" in before.evidence("fork")
    assert before.verdict("spawn") == "confirmed"
    assert "cannot pickle 'Environment' object (dataset.env)" in before.evidence("spawn")

    forklint(tree, "--fix", "--unsafe-fixes")
    assert prove(finding, tree, factories=factories).verdict() == "refuted"
