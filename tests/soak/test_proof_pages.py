"""The pages that show whole proofs: a stranger's repository, and the table of hypotheses of a rebuilt project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from doc_snippets import ROOT, snippet

pytestmark = [pytest.mark.soak, pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")]
SEEDS = ROOT / "tests" / "fixtures" / "seeds"
TIME = ("--timeout", "600")
"""Of a trial: where others use the processors, those of 15 s took more than 200."""
VARYING = (
    (r"; replaced: .*", ""),  # what is missing here
    (r" in process \d+", " in process N"),
    (r"used over \d+ passes? in \d+ workers", "used over N passes in N workers"),
    (r"(spawn|forkserver), 1 worker\b", r"\1, N workers"),
)
"""What differs from machine to machine, and what the page has in its place."""


def run(*words: str, cwd: Path) -> str:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


def forklint(*words: str, cwd: Path) -> str:
    return run(sys.executable, "-m", "forklint", *words, cwd=cwd)


def told(text: str) -> list[str]:
    """The paragraphs of an outcome, without the grid of trials, each in one line."""
    lines = [line for line in text.splitlines() if not re.search(r"^ {4}.*(exit code \d|unsupported here$)|^\$ ", line)]
    found = []
    for part in re.split(r"\n(?=FKL\d|\d+ of \d)", "\n".join(lines)):
        one = " ".join(part.split())
        for pattern, words in VARYING:
            one = re.sub(pattern, words, one)
        found.append(one)
    return [one for one in found if re.match(r"FKL\d|\d+ of \d", one)]


def commands(name: str) -> list[list[str]]:
    lines = snippet("strangers-repository.md", name).splitlines()
    return [line[2:].split() for line in lines if line.startswith("$ ")]


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the page, unpacked."""
    folder = tmp_path_factory.mktemp("stranger")
    (_, *download), (_, _, archive), (_, name) = commands("get")
    done = subprocess.run(
        [sys.executable, "-m", "pip", *download], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        pytest.skip(f"NOT TESTED, for {archive} cannot be downloaded: {done.stderr[-300:]}")
    with tarfile.open(folder / archive) as packed:
        packed.extractall(folder)
    return folder / name


def test_a_strangers_repository_is_linted_proved_and_fixed(stranger: Path) -> None:
    ((_, place),) = commands("lint")
    shown = snippet("strangers-repository.md", "lint").partition("\n")[2]
    assert forklint(place, "--no-cache", cwd=stranger) == shown
    assert told(forklint("verify", place, *TIME, cwd=stranger)) == told(snippet("strangers-repository.md", "prove"))
    outcome = told(forklint("verify", place, "--apply", *TIME, cwd=stranger))
    assert outcome[1:] == told(snippet("strangers-repository.md", "fix")), outcome
    assert forklint(place, "--no-cache", cwd=stranger) == "All checks passed.\n"


def seed(name: str, folder: Path) -> Path:
    shutil.copytree(SEEDS / name, folder / name)
    (folder / name / "forklint.toml").touch()
    return folder / name


def test_the_table_of_the_page_is_what_is_printed(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    outcome = told(forklint("verify", ".", *TIME, cwd=seed("lmdb_recognition", tmp_path)))
    assert outcome == told(snippet("hypotheses.md", "recognition"))


@pytest.mark.parametrize("name", ["mps_finetuning", "daft_embeddings", "wake_word"])
def test_the_other_projects_are_told_what_the_page_says(name: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "hypotheses.md").read_text(encoding="utf-8")
    rows = page.partition(f"| [{name}]")[2].partition("\n| [")[0]
    wanted = set()
    for line in rows.splitlines():
        finding, verdict = [cell.strip() for cell in line.strip("|").split("|")][-2:]
        code, _, places = finding.partition(" ")
        wanted |= {f"{code} {place}: {verdict.partition(':')[0]}" for place in places.split(" and ")}
    outcome = told(forklint("verify", ".", *TIME, cwd=seed(name, tmp_path)))
    assert {one.partition(" claim:")[0] for one in outcome if one.startswith("FKL")} == wanted
