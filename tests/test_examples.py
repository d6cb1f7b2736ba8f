"""The example in examples/: it holds all five hazards, and trains once they are mended."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needed import need_torch

EXAMPLES = Path(__file__).parent.parent / "examples"
ALL = ["FKL101", "FKL201", "FKL301", "FKL401", "FKL501"]
SAFE = ["FKL101", "FKL301", "FKL401"]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the examples that may be changed."""
    target = tmp_path / "examples"
    shutil.copytree(EXAMPLES, target, ignore=shutil.ignore_patterns(".data", "__pycache__"))
    return target


def train(example: Path, start_method: str) -> subprocess.CompletedProcess[str]:
    """Run one epoch as on a platform whose default this start method is."""
    platform = example / "platform"
    platform.mkdir()
    (platform / "sitecustomize.py").write_text(
        f"import multiprocessing\nmultiprocessing.set_start_method({start_method!r}, force=True)\n"
    )
    command = [sys.executable, "train.py", "--epochs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(platform)}
    return subprocess.run(
        command, cwd=example / "ocr", env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def codes(output: str) -> list[str]:
    return sorted(finding["code"] for finding in json.loads(output))


@pytest.mark.soak
def test_all_five_are_found_where_they_lie(forklint) -> None:
    result = forklint("examples/", "--output-format", "json", cwd=EXAMPLES.parent)
    assert codes(result.stdout) == ALL
    assert result.returncode == 1


@pytest.mark.soak
@pytest.mark.parametrize("methods", [("spawn",), ("fork", "spawn")])
def test_what_is_found_is_proved_by_running_it(example: Path, forklint, methods: tuple[str, ...]) -> None:
    need_torch()
    (example / "forklint.toml").touch()
    quick = [word for method in methods for word in ("--start-method", method)]
    result = forklint("verify", "ocr", *quick, "--workers", "2", "--output-format", "json", cwd=example, timeout=400)
    assert result.returncode == 1, result.stderr
    verdicts = {one["finding"]["code"]: one["verdict"] for one in json.loads(result.stdout)["experiments"]}
    on_linux = dict.fromkeys(ALL, "confirmed") | {"FKL401": "unsupported here"}
    assert verdicts == (on_linux if sys.platform == "linux" else dict.fromkeys(ALL, "confirmed"))


def test_a_plain_fix_mends_what_is_safe(example: Path, forklint) -> None:
    result = forklint(".", "--fix", cwd=example)
    assert result.stdout.splitlines()[-1] == "3 fixed, 2 remaining (2 fixable with --unsafe-fixes)"
    left = forklint(".", "--output-format", "json", cwd=example)
    assert codes(left.stdout) == sorted(set(ALL) - set(SAFE))


def test_all_fixes_leave_none(example: Path, forklint) -> None:
    assert forklint(".", "--fix", "--unsafe-fixes", cwd=example).returncode == 0
    left = forklint(".", "--output-format", "json", cwd=example)
    assert (left.returncode, codes(left.stdout)) == (0, [])
    assert "Found" not in forklint(".", "--fix", "--unsafe-fixes", cwd=example).stdout


@pytest.mark.soak
def test_before_the_fixes_it_does_not_get_through(example: Path) -> None:
    need_torch()
    result = train(example, "spawn")
    assert result.returncode != 0
    assert "cannot pickle" in result.stderr or "bootstrapping" in result.stderr


@pytest.mark.soak
@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_after_the_fixes_it_trains(example: Path, forklint, start_method: str) -> None:
    need_torch()
    if start_method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start_method} on this platform")
    assert forklint(".", "--fix", "--unsafe-fixes", cwd=example).returncode == 0
    result = train(example, start_method)
    assert result.returncode == 0, result.stderr
    assert "epoch 1: " in result.stdout
    assert "100.0% of glyphs read rightly" in result.stdout, "no glyph is read from the wrong place"
    assert (example / "ocr" / ".data" / "reader.pt").exists()


def test_the_demo_shows_a_commit_refused_mended_and_passing(
    example: Path, forklint, tmp_path: Path, monkeypatch, capfd
) -> None:
    assert forklint(".", "--fix", "--unsafe-fixes", cwd=example).returncode == 0
    monkeypatch.syspath_prepend(str(EXAMPLES.parent / "scripts"))
    import demo

    demo.commit(tmp_path, example)
    steps = capfd.readouterr().out.split("\n$ git ")
    refused = next(step for step in steps if step.startswith("commit"))
    assert "files were modified by this hook" in refused
    assert "fixed ocr/data.py:44: FKL301" in refused
    assert "ocr/data.py | " in steps[2]
    assert "Failed" not in steps[-1]
    assert steps[-1].count("Passed") == 2
    assert "1 file changed" in steps[-1]


def test_the_demo_goes_from_a_crash_to_a_fixed_file(tmp_path: Path, monkeypatch, capfd) -> None:
    need_torch()
    monkeypatch.syspath_prepend(str(EXAMPLES.parent / "scripts"))
    import demo

    demo.from_a_crash(tmp_path, EXAMPLES)
    steps = capfd.readouterr().out.split("\n$ forklint ")
    assert "TypeError: cannot pickle '_io.BufferedReader' object" in steps[1]
    assert "ocr/data.py:44:9: FKL301" in steps[1]
    assert "No finding of this project fits." in steps[3]


def test_the_readme_shows_what_the_command_prints(example: Path, forklint) -> None:
    """In a folder with the settings and one package of this one, which is all that matters for what is printed."""
    for name in ("bench", "pyproject.toml"):
        copy = shutil.copy if name.endswith(".toml") else shutil.copytree
        copy(EXAMPLES.parent / name, example.parent / name)
    shown = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    printed = forklint("examples/ocr/data.py", cwd=example.parent).stdout.partition("\nFound")[0]
    assert "FKL301" in printed
    assert printed.strip() in shown
