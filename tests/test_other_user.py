"""What the tests of other places need: an interpreter that another user can reach; see scripts/anywhere.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.anywhere import closed, opening

APART = ["unshare", "--mount", "--propagation", "private"]
AS_OTHER = ["setpriv", "--reuid=65534", "--clear-groups"]


def can(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder that is closed to others, with a tool and something private in it."""
    folder = tmp_path / "a home"
    (folder / "tool").mkdir(parents=True)
    (folder / "tool" / "name").write_text("here")
    (folder / "private").write_text("secret")
    folder.chmod(0o700)
    return folder


def test_the_uppermost_closed_folder(home: Path) -> None:
    found = closed(home / "tool")
    assert found is not None
    assert home == found or found in home.parents
    assert closed(Path("/usr/bin")) is None


@pytest.mark.skipif(not can([*APART, *AS_OTHER, "true"]), reason="only root can mount folders and become another user")
def test_others_reach_what_is_needed_and_no_more(home: Path) -> None:
    tool = home / "tool"
    assert not can([*AS_OTHER, "cat", str(tool / "name")])
    read = [*APART, "sh", "-c", opening([tool]), "sh", *AS_OTHER, "cat"]
    assert subprocess.run([*read, str(tool / "name")], capture_output=True, text=True, check=True).stdout == "here"
    assert not can([*read, str(home / "private")])
    assert not can([*AS_OTHER, "cat", str(tool / "name")]), "outside, all is as it was"
    assert (home / "private").read_text() == "secret"
