"""However a package is linted, its findings are the same: with a store and without, by one process and by two.

Over all packages that the judged findings come from. One that is not at hand is fetched; needs the network then.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from scripts import corpus

pytestmark = pytest.mark.soak
PACKAGES = [*corpus.packages(), *corpus.packages(corpus.PROJECTS)]


def lint(folder: Path, *options: str) -> str:
    """What the command prints for a whole package, as JSON."""
    command = [sys.executable, "-m", "forklint", ".", "--isolated", "--preview", "--output-format", "json", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_store_and_a_second_process_change_no_finding(package: corpus.Package, tmp_path: Path) -> None:
    try:
        folder = corpus.fetch(package, corpus.home())
    except (corpus.FetchError, OSError) as error:
        warnings.warn(f"SKIPPED: {package.name} cannot be had: {error}", stacklevel=1)
        pytest.skip(f"{package.name} cannot be had: {error}")
    expected = lint(folder, "--no-cache", "-j1")
    store = ("--cache-dir", str(tmp_path / "store"))
    assert lint(folder, *store, "-j2") == expected, "two processes, into a store"
    assert lint(folder, *store, "-j1") == expected, "what is stored"
