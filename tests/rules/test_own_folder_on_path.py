"""FKL501 where a script puts a folder on ``sys.path`` by its whole path: that of the project, or of another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.linters import Linters

SCRIPT = """import sys

import torch

{adding}
from maps.tiles import read_tiles, write_tiles

write_tiles(torch.stack(read_tiles("a")))
"""


@pytest.mark.parametrize(
    ("folder", "adding", "is_found"),
    [
        ("atlas", 'sys.path.append("/home/author/atlas")\n', True),
        ("atlas", 'sys.path.insert(0, "/home/author/atlas/")\n', True),
        ("author+atlas-main", 'sys.path.append("/home/author/atlas")\n', True),
        ("atlas", 'base = "/data/atlas"\nsys.path.append(base)\n', True),
        ("atlas", 'sys.path.append("/home/author/atlas2")\n', False),
        ("atlas", 'sys.path.append("/home/author/atlas")\nsys.path.append("/home/author/other")\n', False),
        ("atlas", 'base = "/data/atlas"\nbase = "/data/other"\nsys.path.append(base)\n', False),
    ],
)
def test_a_folder_by_its_whole_path(tmp_path: Path, folder: str, adding: str, *, is_found: bool) -> None:
    root = tmp_path / folder
    texts = {
        "pyproject.toml": "",
        "maps/__init__.py": "",
        "maps/tiles.py": "def read_tiles(path):\n    return [path]\n",
        "examples/show.py": SCRIPT.format(adding=adding),
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    path = root / "examples/show.py"
    findings = Linters(SettingsFinder({}), Options()).of(path).lint(path).findings
    assert [one.code for one in findings] == ["FKL501"] * is_found
