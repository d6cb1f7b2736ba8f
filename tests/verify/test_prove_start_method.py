"""FKL202 proved: the second call raises, an import decides for others, the fork server keeps its environment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from needed import need_torch

need_torch()

FIXTURES = Path(__file__).parent.parent / "fixtures" / "FKL202_start_method_misuse"


@pytest.fixture
def verdicts(command, tmp_path: Path):
    def run(*arguments: str) -> list[dict]:
        (tmp_path / "forklint.toml").touch()
        words = ("verify", *arguments, "--select", "FKL202", "--output-format", "json", "--timeout", "50")
        return json.loads(command(*words, cwd=tmp_path).stdout)["experiments"]

    return run


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("bad_set_twice.py", "at bad_set_twice.py:18: RuntimeError: context has already been set"),
        pytest.param(
            "bad_queue_first.py",
            "at bad_queue_first.py:13: RuntimeError: context has already been set",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            "bad_executor_first.py",
            "at bad_executor_first.py:18: RuntimeError: context has already been set",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            "bad_counter_shared.py",
            "at bad_counter_shared.py:20: RuntimeError: context has already been set",
            marks=pytest.mark.soak,
        ),
        ("bad_variable_after_server.py", "1 of 1 later workers have OMP_NUM_THREADS = None, not '1'"),
    ],
)
def test_a_fixture_is_confirmed(verdicts, tmp_path: Path, name: str, evidence: str) -> None:
    shutil.copy(FIXTURES / name, tmp_path)
    (found,) = verdicts(name)
    assert (found["verdict"], found["evidence"]) == ("confirmed", evidence)


@pytest.mark.soak
def test_a_package_that_sets_the_method_decides_for_others_or_raises(verdicts, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "bad_package", tmp_path, dirs_exist_ok=True)
    found = verdicts("speech")
    assert [one["verdict"] for one in found] == ["confirmed", "confirmed"]
    assert all("context has already been set" in one["evidence"] for one in found)  # the package imports features


def test_forced_it_changes_the_method_of_the_program(verdicts, tmp_path: Path) -> None:
    (tmp_path / "audio.py").write_text("import multiprocessing\n\nmultiprocessing.set_start_method('spawn', True)\n")
    (tmp_path / "train.py").write_text("import audio\n")
    (found,) = verdicts("audio.py")
    assert found["evidence"] == "a program that has set forkserver has spawn after the import"


def test_fork_needs_a_mac(verdicts, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "bad_fork_for_speed.py", tmp_path)
    (found,) = verdicts("bad_fork_for_speed.py")
    assert found["verdict"] == "unsupported here"


def test_a_call_that_another_module_makes_harmless_is_refuted(verdicts, tmp_path: Path) -> None:
    """The rule cannot see it: the module takes back what was settled."""
    text = (FIXTURES / "bad_queue_first.py").read_text()
    undo = "__import__('undo')"
    (tmp_path / "train.py").write_text(
        text.replace("    multiprocessing.set_start", f"    {undo}\n    multiprocessing.set_start")
    )
    reset = "import multiprocessing.context as c\nc._default_context._actual_context = None\n"
    (tmp_path / "undo.py").write_text(reset)
    (found,) = verdicts("train.py")
    assert (found["verdict"], found["evidence"]) == ("refuted", "at train.py:14 the call raises no error")


def test_a_script_that_ends_before_it_is_no_answer(verdicts, tmp_path: Path) -> None:
    text = (FIXTURES / "bad_queue_first.py").read_text()
    (tmp_path / "train.py").write_text(text.replace("def main():", "def main():\n    open('no such file')"))
    (found,) = verdicts("train.py")
    assert found["verdict"] == "inconclusive"
    assert "no such file" in found["evidence"]
