"""What the fix of FKL401 makes of a loader's options, by the letter."""

# ruff: noqa: E501 - a line that a fix makes may be long

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.fixing import fix
from forklint.linters import Linters

HEAD = "import sys\n\nimport torch\nfrom torch.utils.data import DataLoader\n\n"
SAFE = [
    (
        """if sys.platform == "darwin":
    loader = DataLoader(data, num_workers=2, persistent_workers=True)
""",
        """if sys.platform == "darwin":
    loader = DataLoader(data, num_workers=0)
""",
    ),
    (
        """if sys.platform == "darwin":
    loader = DataLoader(
        data,
        num_workers=2,  # two are enough
        timeout=60
    )
""",
        """if sys.platform == "darwin":
    loader = DataLoader(
        data,
        num_workers=0  # two are enough
    )
""",
    ),
    (
        """if sys.platform == "darwin":
    loader = DataLoader(data, num_workers=2,  # two are enough
                        prefetch_factor=2)
""",
        """if sys.platform == "darwin":
    loader = DataLoader(data, num_workers=0  # two are enough
                        )
""",
    ),
    (
        """if sys.platform == "darwin":
    loader = DataLoader(data, persistent_workers=True, num_workers=2, shuffle=True)
""",
        """if sys.platform == "darwin":
    loader = DataLoader(data, num_workers=0, shuffle=True)
""",
    ),
    (
        """if sys.platform == "darwin":
    loader = DataLoader(
        data,
        # keep them
        persistent_workers=True,
        # and fetch ahead
        prefetch_factor=4,
        num_workers=2,
    )
""",
        """if sys.platform == "darwin":
    loader = DataLoader(
        data,
        num_workers=0,
    )
""",
    ),
    (
        """loader = DataLoader(data, num_workers=2 if sys.platform == "darwin" else 8, persistent_workers=True, prefetch_factor=4)
""",
        """loader = DataLoader(data, num_workers=0 if sys.platform == "darwin" else 8, persistent_workers=False if sys.platform == "darwin" else True, prefetch_factor=None if sys.platform == "darwin" else 4)
""",
    ),
    (
        """MAC = {"num_workers": 2, "persistent_workers": True}
loader = DataLoader(data, **MAC)
""",
        """MAC = {"num_workers": 0}
loader = DataLoader(data, **MAC)
""",
    ),
    (
        """MAC = dict(
    num_workers=2, persistent_workers=True
)
loader = DataLoader(data, **MAC)
""",
        """MAC = dict(
    num_workers=0
)
loader = DataLoader(data, **MAC)
""",
    ),
    (
        """MAC = {
    "num_workers": 2,
    "persistent_workers": True,  # stay
    "prefetch_factor": 4  # ahead
}
loader = DataLoader(data, **MAC)
""",
        """MAC = {
    "num_workers": 0
}
loader = DataLoader(data, **MAC)
""",
    ),
    (
        """MAC = {
    "num_workers": 2,
    "persistent_workers": True,  # stay
    "prefetch_factor": 4  # ahead
}
loader = DataLoader(data, num_workers=MAC["num_workers"], persistent_workers=MAC["persistent_workers"])
""",
        """MAC = {
    "num_workers": 0,
    "persistent_workers": False,  # stay
    "prefetch_factor": None  # ahead
}
loader = DataLoader(data, num_workers=MAC["num_workers"], persistent_workers=MAC["persistent_workers"])
""",
    ),
    (
        """def make_mac_loader(data, num_workers=4, persistent_workers=True):
    return DataLoader(data, num_workers=num_workers, persistent_workers=persistent_workers)
""",
        """def make_mac_loader(data, num_workers=0, persistent_workers=False):
    return DataLoader(data, num_workers=num_workers, persistent_workers=persistent_workers)
""",
    ),
    (
        """class MacConfig:
    num_workers = (2)
    persistent_workers = True; prefetch_factor = 2
""",
        """class MacConfig:
    num_workers = 0
    persistent_workers = False; prefetch_factor = None
""",
    ),
    (
        """if sys.platform == "darwin": num_workers = 2; persistent_workers = True
""",
        """if sys.platform == "darwin": num_workers = 0; persistent_workers = False
""",
    ),
    (
        """kw = {}
if sys.platform == "darwin":
    kw["num_workers"] = 2
    kw["persistent_workers"] = True
    kw.setdefault("num_workers", 3)
loader = DataLoader(data, **kw)
""",
        """kw = {}
if sys.platform == "darwin":
    kw["num_workers"] = 0
    kw["persistent_workers"] = False
    kw.setdefault("num_workers", 0)
loader = DataLoader(data, **kw)
""",
    ),
    (
        """if sys.platform == "darwin":
    kw = {"é": "ü", "num_workers": 2, "prefetch_factor": 3}
    loader = DataLoader(data, **kw)
""",
        """if sys.platform == "darwin":
    kw = {"é": "ü", "num_workers": 0}
    loader = DataLoader(data, **kw)
""",
    ),
    (
        """if sys.platform == "darwin":
    loader = DataLoader(data, num_workers=2, persistent_workers=True, multiprocessing_context=None)
""",
        """if sys.platform == "darwin":
    loader = DataLoader(data, num_workers=0, multiprocessing_context=None)
""",
    ),
    (
        """device = torch.device("mps")
num_workers = 4
persistent_workers = num_workers > 0
train = DataLoader(data, num_workers=num_workers, persistent_workers=persistent_workers)
""",
        """device = torch.device("mps")
num_workers = 0
persistent_workers = num_workers > 0
train = DataLoader(data, num_workers=num_workers, persistent_workers=persistent_workers)
""",
    ),
    (
        """def load(data, n=None):
    kw = {"shuffle": True}
    if sys.platform == "darwin":
        kw["num_workers"] = 2
    if kw["num_workers"] > 0:
        kw["persistent_workers"] = True
    return DataLoader(data, **kw)
""",
        """def load(data, n=None):
    kw = {"shuffle": True}
    if sys.platform == "darwin":
        kw["num_workers"] = 0
    if kw["num_workers"] > 0:
        kw["persistent_workers"] = True
    return DataLoader(data, **kw)
""",
    ),
    (
        """def load(data, n=None):
    kw = {"shuffle": True}
    if sys.platform == "darwin":
        kw["num_workers"] = 2
    else:
        kw.update(num_workers=8, persistent_workers=True)
        kw["prefetch_factor"] = 2
    return DataLoader(data, **kw)
""",
        """def load(data, n=None):
    kw = {"shuffle": True}
    if sys.platform == "darwin":
        kw["num_workers"] = 0
    else:
        kw.update(num_workers=8, persistent_workers=True)
        kw["prefetch_factor"] = 2
    return DataLoader(data, **kw)
""",
    ),
    (
        """def load(data):
    extra = {"pin_memory": True}
    num_workers = 2 if sys.platform == "darwin" else 4
    return DataLoader(data, num_workers=num_workers, **extra)
""",
        """def load(data):
    extra = {"pin_memory": True}
    num_workers = 0 if sys.platform == "darwin" else 4
    return DataLoader(data, num_workers=num_workers, **extra)
""",
    ),
]
UNSAFE = [
    (
        """def load(data, keep, **more):
    if sys.platform == "darwin":
        return DataLoader(data, num_workers=2, persistent_workers=keep, **more)
""",
        """def load(data, keep, **more):
    if sys.platform == "darwin":
        return DataLoader(data, num_workers=0, **more)
""",
    ),
    (
        """def load(data, **more):
    if sys.platform == "darwin":
        return DataLoader(data, num_workers=2, **more)
""",
        """def load(data, **more):
    if sys.platform == "darwin":
        return DataLoader(data, num_workers=0, **more)
""",
    ),
    (
        """device = torch.device("mps")
num_workers = 4
train = DataLoader(data, num_workers=num_workers, persistent_workers=True if num_workers else False, prefetch_factor=2)
""",
        """device = torch.device("mps")
num_workers = 0
train = DataLoader(data, num_workers=num_workers, persistent_workers=True if num_workers else False, prefetch_factor=2 if num_workers > 0 else None)
""",
    ),
    (
        """def load(data, **kwargs):
    num_workers = 2 if sys.platform == "darwin" else 4
    return DataLoader(data, num_workers=num_workers, **kwargs)
""",
        """def load(data, **kwargs):
    num_workers = 0 if sys.platform == "darwin" else 4
    return DataLoader(data, num_workers=num_workers, **kwargs)
""",
    ),
]
REFUSED = [
    """loader = DataLoader(data, num_workers=8 if torch.cuda.is_available() else (2 if sys.platform == "darwin" else 1), persistent_workers=True)
""",
    """COMMON = {"shuffle": True, "persistent_workers": True}
def load(data):
    if sys.platform == "darwin":
        return DataLoader(data, num_workers=2, **COMMON)
""",
    """def load(data):
    kw = {"shuffle": True}
    if sys.platform == "darwin":
        kw["num_workers"] = 2
    kw["persistent_workers"] = True
    return DataLoader(data, **kw)
""",
]


def fixed(text: str, folder: Path, *, unsafe: bool) -> str:
    (folder / "forklint.toml").touch()
    file = folder / "train.py"
    file.write_bytes((HEAD + text).encode())
    result = fix(Linters(SettingsFinder({"select": ("FKL401",)}), Options()).of(file), file, unsafe=unsafe, write=True)
    assert result.report.findings or result.after
    return file.read_bytes().decode().removeprefix(HEAD)


@pytest.mark.parametrize(("before", "after"), SAFE)
def test_is_safe(before: str, after: str, tmp_path: Path) -> None:
    assert fixed(before, tmp_path, unsafe=False) == after


@pytest.mark.parametrize(("before", "after"), UNSAFE)
def test_is_unsafe(before: str, after: str, tmp_path: Path) -> None:
    assert fixed(before, tmp_path, unsafe=False) == before
    assert fixed(before, tmp_path, unsafe=True) == after


@pytest.mark.parametrize("text", REFUSED)
def test_is_refused(text: str, tmp_path: Path) -> None:
    """Something out of reach would raise, so there is only the advice."""
    assert fixed(text, tmp_path, unsafe=True) == text


@pytest.mark.parametrize(("before", "after"), SAFE[:6])
def test_line_ends_are_kept(before: str, after: str, tmp_path: Path) -> None:
    text = before.replace("\n", "\r\n")
    assert fixed(text, tmp_path, unsafe=False) == after.replace("\n", "\r\n")
