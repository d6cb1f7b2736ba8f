"""What must hold on packages that nobody here wrote. Needs the network once; see scripts/corpus.py."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from scripts import corpus

pytestmark = pytest.mark.soak
REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def at_hand() -> tuple[Path, list[Path]]:
    try:
        return corpus.ready()
    except corpus.FetchError as error:
        warnings.warn(f"SKIPPED: the corpus is not at hand: {error}", stacklevel=1)
        pytest.skip(f"the corpus is not at hand: {error}")


@pytest.fixture(scope="session")
def findings(at_hand: tuple[Path, list[Path]]) -> list[dict[str, Any]]:
    """Findings of every rule in every package; a crash fails here."""
    return corpus.lint(at_hand[1])


def _key(finding: dict[str, Any]) -> tuple[str, int, int, str, str]:
    location = finding["location"]
    return finding["filename"], location["row"], location["column"], finding["code"], finding["message"]


def test_nothing_crashes(findings: list[dict[str, Any]]) -> None:
    assert findings
    assert not [finding for finding in findings if finding["code"] == "FKL002"]


def test_lsun_of_torchvision_is_found(findings: list[dict[str, Any]]) -> None:
    """It keeps an lmdb environment from its constructor."""
    places = {Path(finding["filename"]).name for finding in findings if finding["code"] == "FKL301"}
    assert "lsun.py" in places


def test_every_finding_was_judged(at_hand: tuple[Path, list[Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    """And every judgement speaks of one that is still there: the tables of docs/corpus.md are what is found."""
    monkeypatch.syspath_prepend(str(REPOSITORY / "scripts"))
    judgements = importlib.import_module("judgements")
    assert judgements.compared(*at_hand) == ([], [])


def test_screens_only_skip(at_hand: tuple[Path, list[Path]], findings: list[dict[str, Any]]) -> None:
    whole = corpus.lint(at_hand[1], "--no-screen")
    assert sorted(map(_key, whole)) == sorted(map(_key, findings))


def _fix(folder: Path) -> str:
    command = [sys.executable, "-m", "forklint", str(folder), "--isolated", "--fix", "--unsafe-fixes"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr[-4000:]
    assert "Traceback" not in done.stderr, done.stderr[-4000:]
    return done.stdout


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*.py"))}


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.parametrize("package", corpus.packages(), ids=lambda package: package.name)
def test_fixes_leave_the_files_sound_and_stable(at_hand: tuple[Path, list[Path]], package: Any, tmp_path: Path) -> None:
    into, _ = at_hand
    copy = tmp_path / package.folder
    shutil.copytree(into / package.folder, copy, ignore=shutil.ignore_patterns("*.so", "*.dist-info"))
    (copy / ".git").mkdir(exist_ok=True)
    before = _contents(copy)
    _fix(copy)
    after = _contents(copy)
    assert before.keys() == after.keys()
    changed = [path for path in after if after[path] != before[path]]
    assert not [path for path in changed if _parses(before[path]) and not _parses(after[path])]
    _fix(copy)
    assert _contents(copy) == after
    if os.environ.get("FORKLINT_SHOW"):
        print(package.name, len(changed), "files changed")
