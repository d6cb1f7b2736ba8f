"""A git repository in which the real ``pre-commit`` runs the hooks, from an environment of its own or from here."""

from __future__ import annotations

import copy
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = ("src", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
"""What of the tree an installation needs."""

BASE = """\
from torch.utils.data import Dataset


class Indexed(Dataset):
    def __len__(self):
        return 100
"""
WORDS = """\
import lmdb

from base import Indexed


class Words(Indexed):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        with self.env.begin() as transaction:
            return transaction.get(b"%d" % index)
"""
"""A dataset only for one who reads base.py as well; a safe fix mends it."""


def environment(**more: str) -> dict[str, str]:
    """What git and pre-commit see: a user of their own, no settings of this machine, nothing to ask."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT", "PYTEST"))}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what[0]}": what[1]
            for who in ("AUTHOR", "COMMITTER")
            for what in (("NAME", "A"), ("EMAIL", "a@b"))
        },
        "PRE_COMMIT_COLOR": "never",
        "NO_COLOR": "1",
        **more,
    }


class Repository:
    """A git repository with a pre-commit configuration and the hook installed."""

    def __init__(self, folder: Path, config: str, **variables: str) -> None:
        self.folder = folder
        self.environment = environment(**variables)
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.write(".pre-commit-config.yaml", config)
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "begin")
        assert self.pre_commit("install").returncode == 0

    def copied(self, folder: Path) -> Repository:
        """A copy in another folder, with what pre-commit keeps beside it."""
        shutil.copytree(self.folder.parent, folder, dirs_exist_ok=True)
        again = copy.copy(self)
        again.folder = folder / self.folder.name
        again.environment = {**self.environment, "PRE_COMMIT_HOME": str(folder / "pre-commit")}
        return again

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def git(self, *arguments: str) -> str:
        return self.run("git", *arguments, check=True).stdout

    def pre_commit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "pre_commit", *arguments)

    def commit(self, *paths: str) -> subprocess.CompletedProcess[str]:
        """Add the paths (else everything) and commit; the hooks' output is in ``stdout``."""
        self.git("add", *(paths or (".",)))
        return self.run("git", "commit", "--message", "more", stderr=subprocess.STDOUT, stdout=subprocess.PIPE)

    def run(self, *command: str, check: bool = False, **streams) -> subprocess.CompletedProcess[str]:
        streams = streams or {"capture_output": True}
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, text=True, timeout=240, check=False, **streams
        )
        assert not (check and done.returncode), done
        return done


def remote(url: str, rev: str, *hooks: str) -> str:
    """The configuration that takes the hooks from a repository."""
    return f"repos:\n  - repo: {url}\n    rev: {rev}\n    hooks:\n" + "".join(f"      - id: {hook}\n" for hook in hooks)


def local(*hooks: str, pre: str = "") -> str:
    """The same hooks, as .pre-commit-hooks.yaml has them, run by this Python: nothing is installed."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    here = f"{shlex.quote(sys.executable)} -m forklint"
    text = text.replace("language: python", "language: system")
    text = re.sub(r"(?m)^  entry: forklint\b(.*)$", lambda found: f"  entry: {here}{found[1]}", text)
    entries = [entry for entry in re.split(r"(?m)^(?=- id: )", text) if entry]
    chosen = [entry for hook in hooks for entry in entries if entry.startswith(f"- id: {hook}\n")]
    assert len(chosen) == len(hooks)
    indented = re.sub(r"(?m)^(?=.)", "      ", "".join(chosen))
    return f"{pre}repos:\n  - repo: local\n    hooks:\n{indented}"


def published(folder: Path, tag: str) -> Path:
    """The tree as it is now, committed and tagged in a repository of its own, as hooks are published."""
    folder.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / part, folder / part)
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"], ["tag", tag]):
        subprocess.run(["git", *command], cwd=folder, env=environment(), check=True, capture_output=True)
    return folder
