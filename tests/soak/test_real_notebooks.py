"""Notebooks that nobody here wrote, out of source distributions. Needs the network once.

All findings in them were read: there are none, and each notebook is Python. What is changed in their cells by hand is
written back into these cells, and nothing else.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import warnings
from pathlib import Path

import pytest
from notebook_cases import without_sources

from forklint.source import document
from scripts import corpus

pytestmark = pytest.mark.soak
PACKAGES = ("gpytorch==1.15.2", "botorch==0.18.1", "sbi==0.27.0")
HOME = corpus.home() / "notebooks"
LEAST = 100
"""Notebooks in these distributions, at least."""


def _fetch(package: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", package]
    done = subprocess.run([*command, "--dest", str(HOME)], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip gave nothing"]
        warnings.warn(f"SKIPPED: no notebooks at hand: {package}: {lines[0]}", stacklevel=1)
        pytest.skip(f"{package} cannot be had")


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory) -> Path:
    """A folder with the notebooks and modules of each package."""
    folder = tmp_path_factory.mktemp("notebooks")
    HOME.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        archive = HOME / f"{package.replace('==', '-')}.tar.gz"
        if not archive.exists():
            _fetch(package)
        with tarfile.open(archive) as bundle:
            members = [m for m in bundle.getmembers() if m.isfile() and m.name.endswith((".ipynb", ".py"))]
            for member in members:
                target = folder / member.name
                if folder in target.resolve().parents:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(bundle.extractfile(member).read())  # type: ignore[union-attr]  # it is a file
        (folder / archive.name.removesuffix(".tar.gz") / "forklint.toml").touch()
    return folder


def test_findings_are_those_that_were_read(forklint, notebooks: Path) -> None:
    paths = sorted(notebooks.rglob("*.ipynb"))
    assert len(paths) >= LEAST
    for options in ([], ["--no-screen"]):
        result = forklint(*paths, "--preview", "--output-format", "json", *options, cwd=notebooks, timeout=500)
        assert result.stderr == ""
        assert json.loads(result.stdout) == []


def test_a_change_stays_in_its_cells(notebooks: Path) -> None:
    for path in sorted(notebooks.rglob("*.ipynb")):
        doc = document.decode(path, path.read_bytes())
        assert doc.notebook is not None
        assert doc.encode(doc.text) == doc.data
        assert len(doc.notebook.faults) == 0, path
        changed = re.sub(r"^(?=import|from|\w+ =)", "# a line more\n", doc.text, flags=re.MULTILINE)
        after = doc.encode(changed)
        again = document.decode(path, after)
        assert again.text == changed.replace(doc.notebook.mark, again.notebook.mark if again.notebook else "")
        assert json.loads(again.encode(doc.text)) == json.loads(doc.data)
        assert without_sources(after)[0] == without_sources(doc.data)[0]
