"""The pages of docs/hazards: forklint prints what they show, and their programs do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_snippets import ROOT, snippet
from needed import need_torch

FOLDER = ROOT / "docs" / "hazards"
FOUND = [
    ("hazards/bootstrapping-phase.md", "FKL201"),
    ("hazards/cannot-pickle.md", "FKL204"),
    ("hazards/cuda-in-forked-subprocess.md", "FKL304"),
    ("hazards/env-var-has-no-effect.md", "FKL101"),
    ("hazards/repeated-samples.md", "FKL303"),
    ("hazards/same-random-numbers.md", "FKL302"),
    ("hazards/set-epoch-has-no-effect.md", "FKL306"),
    ("hazards/training-hangs.md", "FKL203"),
    ("hazards/worker-segmentation-fault.md", "FKL301"),
    ("hazards/wrong-samples.md", "FKL301"),
]
SEEN = [
    pytest.param("hazards/bootstrapping-phase.md", marks=pytest.mark.soak),
    pytest.param("hazards/cannot-pickle.md", marks=pytest.mark.soak),
    pytest.param("hazards/repeated-samples.md", marks=pytest.mark.soak),
    "hazards/same-random-numbers.md",
    pytest.param("hazards/set-epoch-has-no-effect.md", marks=pytest.mark.soak),
]
SAFELY_FIXED = ["hazards/env-var-has-no-effect.md", "hazards/worker-segmentation-fault.md", "hazards/wrong-samples.md"]


@pytest.fixture(scope="module")
def hazard_pages():
    sys.path.insert(0, str(ROOT / "scripts"))
    import hazard_pages

    yield hazard_pages
    sys.path.remove(str(ROOT / "scripts"))
    sys.modules.pop("hazard_pages", None)


def saved(page: str, folder: Path) -> Path:
    """The page's program, under the name that the page gives it if it shows what forklint prints."""
    named = re.search(r"\$ forklint (\S+)", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    path = folder / (named[1] if named else "program.py")
    path.write_text(snippet(page, "program"), encoding="utf-8")
    (folder / "forklint.toml").touch()
    return path


def run(path: Path, timeout: float = 100) -> str:
    """What a program prints, on both streams."""
    command = [sys.executable, "-W", "ignore", path.name]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    need_torch(path)
    done = subprocess.run(
        command, cwd=path.parent, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(("page", "code"), FOUND)
def test_forklint_prints_what_is_shown(hazard_pages, page: str, code: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert hazard_pages.rendered(ROOT / "docs" / page) == text, "run `make docs`"
    assert f" {code} " in snippet(page, "finds")


def test_each_page_is_tried() -> None:
    shown = {path.name for path in FOLDER.glob("*.md") if "<!-- test: finds -->" in path.read_text(encoding="utf-8")}
    assert {f"hazards/{name}" for name in shown} == {page for page, _ in FOUND}


@pytest.mark.parametrize("page", SEEN)
def test_the_program_shows_it(page: str, tmp_path: Path) -> None:
    """Dots in what is shown stand for what differs between versions."""
    wanted = r"\s+".join(map(re.escape, snippet(page, "sees").split())).replace(r"\.\.\.", ".*")
    assert re.search(wanted, run(saved(page, tmp_path)))


@pytest.mark.parametrize("page", SAFELY_FIXED)
def test_the_fix_is_safe_as_the_page_says(forklint, page: str, tmp_path: Path) -> None:
    path = saved(page, tmp_path)
    assert forklint("--fix", cwd=tmp_path).returncode == 0
    assert path.read_text(encoding="utf-8") != snippet(page, "program")


@pytest.mark.soak
def test_open_files_run_out(tmp_path: Path) -> None:
    printed = run(saved("hazards/too-many-open-files.md", tmp_path))
    assert "Too many open files" in printed or "received 0 items of ancdata" in printed
    fixed = snippet("hazards/too-many-open-files.md", "program").replace(
        "kept.append(batch)", "kept.append(batch.clone())"
    )
    (tmp_path / "fixed.py").write_text(fixed, encoding="utf-8")
    assert run(tmp_path / "fixed.py") == ""


def test_the_variable_has_an_effect_after_the_fix(forklint, tmp_path: Path) -> None:
    path = saved("hazards/env-var-has-no-effect.md", tmp_path)
    forklint("--fix", cwd=tmp_path)
    assert run(path) == "1 threads\n"


@pytest.mark.soak
def test_samples_are_right_after_the_fix(forklint, tmp_path: Path) -> None:
    path = saved("hazards/wrong-samples.md", tmp_path)
    forklint("--fix", cwd=tmp_path)
    assert run(path) == "0 workers: 0 wrong samples\n4 workers: 0 wrong samples\n"


@pytest.mark.soak
@pytest.mark.parametrize("page", [page for page, _ in FOUND if "cuda" not in page])
def test_it_is_proved_as_the_page_says(forklint, page: str, tmp_path: Path) -> None:
    path = saved(page, tmp_path)
    assert f"forklint verify {path.name}" in (ROOT / "docs" / page).read_text(encoding="utf-8")
    done = forklint("verify", path.name, "--quiet", cwd=tmp_path, timeout=600)
    assert done.returncode == 1, done.stdout + done.stderr
    assert ": confirmed" in done.stdout


@pytest.mark.soak
def test_it_hangs(tmp_path: Path) -> None:
    path = saved("hazards/training-hangs.md", tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("pool.map(score, range(4))", "pool.map_async(score, range(4)).get(timeout=20)"))
    assert "multiprocessing.context.TimeoutError" in run(path)
    path.write_text(text.replace('get_context("fork")', 'get_context("spawn")'))
    assert "workers: [" in run(path)
