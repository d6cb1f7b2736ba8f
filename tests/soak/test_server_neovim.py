"""The server in Neovim itself: a headless one opens a file, waits for the finding and applies its fix."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

DATA = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
"""


@pytest.fixture
def neovim() -> str:
    found = shutil.which("nvim")
    if found is None:
        warnings.warn("SKIPPED: there is no nvim on the PATH", stacklevel=1)
        pytest.skip("there is no nvim on the PATH")
    return found


@pytest.mark.soak
def test_neovim_shows_a_finding_and_applies_its_fix(neovim: str, tmp_path: Path, forklint) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.forklint]\n")
    (tmp_path / "data.py").write_text(DATA)
    forklint("data.py", "--fix", cwd=tmp_path)
    fixed = (tmp_path / "data.py").read_text()
    (tmp_path / "data.py").write_text(DATA)
    seen = tmp_path / "seen.json"
    server = [sys.executable, "-m", "forklint", "server"]
    script = Path(__file__).with_name("neovim.lua")
    command = [neovim, "--headless", "--clean", "-c", f"luafile {script}"]
    environment = {**os.environ, "SERVER": json.dumps(server), "SEEN": str(seen), "XDG_STATE_HOME": str(tmp_path)}
    subprocess.run(command, cwd=tmp_path, env=environment, timeout=200, check=True, capture_output=True)
    told = json.loads(seen.read_text())
    assert "error" not in told
    assert (told["code"], told["source"], told["row"], told["column"]) == ("FKL301", "forklint", 6, 8)
    assert "Why is this bad?" in told["hover"]
    assert any("ignore here" in title for title in told["titles"])
    assert (tmp_path / "data.py").read_text() == fixed != DATA
