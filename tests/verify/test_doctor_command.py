"""``forklint doctor -- COMMAND``, on programs that really crash, hang or read wrong data."""

from __future__ import annotations

import _ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from needed import need_torch
from trial_making import MEMORY, within

STORIES = Path(__file__).parents[1] / "fixtures" / "crashes"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


class Told(NamedTuple):
    """What the command printed and how it ended."""

    first: str
    report: str
    code: int
    output: str


def told(done: subprocess.CompletedProcess[str]) -> Told:
    _, mark, report = done.stderr.partition("\nforklint doctor: ")
    assert mark, done.stderr
    first = re.sub(r"(?i)process \d+", "process N", report.splitlines()[0])
    return Told(first, report, done.returncode, done.stdout)


@pytest.fixture
def replay(forklint, tmp_path: Path) -> Callable[..., Told]:
    """Run a story's program in a copy of it: ``replay("lmdb_worker", "python", "train.py")``.

    ``edit`` is a text of the script and what stands in its place in the copy.
    """

    def run(story: str, *command: str, options: tuple[str, ...] = (), edit: tuple[str, str] = ("", "")) -> Told:
        folder = tmp_path / story
        shutil.copytree(STORIES / story, folder)
        script = folder / command[-1]
        script.write_text(script.read_text().replace(*edit, 1))
        (folder / "forklint.toml").write_text("preview = true\n")
        done = forklint("doctor", *options, "--", *command, cwd=folder, env={"PATH": PATH, "TMPDIR": str(tmp_path)})
        assert not list(tmp_path.glob("forklint-*")), "its own folder is gone"
        return told(done)

    return run


@pytest.mark.soak
def test_a_training_that_dies_in_a_process_of_its_own(replay) -> None:
    """The dashboard hides what the training prints; its stack is there all the same."""
    seen = replay("mac_training", "python", "dashboard.py")
    assert seen.first == "process N was killed by SIGSEGV (segmentation fault) at train_gan.py:11, in step."
    assert seen.code == 1
    assert seen.output == "training ended with return code -11\n"
    assert 'train_gan.py", line 11 in step' in seen.report
    assert "train_gan.py:6:1: FKL101" in seen.report
    assert "Prove it: forklint verify train_gan.py --select FKL101" in seen.report


@pytest.mark.soak
def test_a_worker_that_reads_a_closed_database(replay) -> None:
    need_torch()
    seen = replay("lmdb_worker", "python", "train.py")
    died = r"DataLoader worker 1 \(process N\) was killed by SIGSEGV \(segmentation fault\)"
    assert re.fullmatch(rf"{died} at train.py:21, in __getitem__\.", seen.first)
    assert seen.code == 1
    assert "The command ended with exit code 1." in seen.report
    assert "A DataLoader worker was killed by a segmentation fault" in seen.report
    assert seen.report.index("FKL301 handle-in-init") < seen.report.index("FKL203 poisoned-fork")
    assert "train.py:7:9: FKL301 `self.env` holds an open LMDB environment" in seen.report
    assert "Prove it: forklint verify train.py --select FKL301" in seen.report


WAITS = """
begin = DataLoader.__iter__
DataLoader.__iter__ = lambda self: (begin(self), __import__("time").sleep(9))[0]

def main():"""
"""The worker dies while the main process waits for no batch: only the handler of SIGCHLD tells of it."""


@pytest.mark.parametrize(
    "edit", [("", ""), ("def main():", WAITS)], ids=["while a batch is awaited", "at another time"]
)
def test_a_worker_that_was_killed(replay, edit: tuple[str, str]) -> None:
    need_torch()
    seen = replay("mac_preset", "python", "train.py", edit=edit)
    assert re.fullmatch(r"DataLoader worker \d \(process N\) was killed by SIGKILL \(killed\).", seen.first)
    assert "FKL603 `torch.ByteStorage` is deprecated" in seen.report
    assert "FKL401 `num_workers` is 2 with the device `mps`" in seen.report


def test_a_crash_that_leaks_semaphores(replay) -> None:
    seen = replay("tokenizers_fork", "sh", "run.sh")
    assert seen.first == "The command was killed by SIGSEGV (segmentation fault) at encode.py:22, in main."
    assert seen.code == 139
    warned = "segmentation-fault, "  # beside the fork, of which Python warns by itself from 3.12 on
    assert re.search(rf"Also seen: ({warned})?leaked-semaphores\.", seen.report)
    assert re.search(r"encoder\.py:\d+:\d+: FKL602", seen.report)


@pytest.mark.soak
def test_a_bus_error_of_threads_that_write_one_mapped_file(replay) -> None:
    seen = replay("memmap_threads", "python", "features.py")
    assert seen.first == "The command was killed by SIGBUS (bus error) at features.py:19, in write."
    assert seen.code == 128 + signal.SIGBUS
    assert seen.report.index("FKL305 threads-share-memmap") < seen.report.index("FKL301 handle-in-init")
    assert "FKL305 the tasks of this pool write to the mapped file" in seen.report


def test_a_hang_shows_where_each_process_stands(replay) -> None:
    seen = replay("tokenizers_hang", "python", "encode.py", options=("--timeout", "2"))
    assert re.fullmatch(r"The command did not end within 2 seconds; it had printed nothing for [012]\.", seen.first)
    assert seen.code == 124
    assert re.search(r"Process \d+ was at encode.py:14, in encode\.", seen.report)
    assert seen.report.index("FKL203 poisoned-fork") < seen.report.index("FKL301 handle-in-init")
    assert "FKL205 TOKENIZERS_PARALLELISM is true" in seen.report


@pytest.mark.soak
def test_wrong_samples_without_a_crash(replay) -> None:
    need_torch()
    seen = replay("shared_offset", "python", "train.py")
    assert seen.first == "The command ended with exit code 0: nothing crashed."
    assert seen.code == 0
    assert "samples are wrong" in seen.output
    assert "train.py:9:9: FKL301 `self.records` holds an open file" in seen.report
    assert "Prove it: forklint verify train.py --select FKL301" in seen.report


def doctor(folder: Path, *words: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "forklint", "doctor", "--isolated", *words],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_output_comes_live_and_ctrl_c_shows_the_stacks(tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text("import time\ndef stand():\n    print('begun')\n    time.sleep(99)\nstand()\n")
    running = doctor(tmp_path, "--", sys.executable, "wait.py")
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n", "while the command runs"
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "forklint doctor: The command was interrupted after" in errors
    assert re.search(r"Process \d+ was at wait.py:4, in stand\.", errors)


def test_what_runs_ends_with_doctor_itself(tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(99)\n")
    running = doctor(tmp_path, "--", sys.executable, "wait.py")
    assert running.stdout is not None
    pid = int(running.stdout.readline())
    running.kill()
    running.communicate()
    assert within(20, lambda: not Path(f"/proc/{pid}").exists())
    assert within(20, lambda: not list(tmp_path.glob("forklint-*")))


@pytest.mark.parametrize(("code", "status"), [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 15)", 143)])
def test_the_status_is_that_of_the_command(forklint, tmp_path: Path, code: str, status: int) -> None:
    done = forklint("doctor", "--isolated", "--", "env", sys.executable, "-c", code, cwd=tmp_path)
    assert done.returncode == status


def test_the_streams_stay_apart_and_the_flags_are_named(forklint, tmp_path: Path) -> None:
    code = "import os, sys; print(sys.stdin.read(), os.environ['PYTHONFAULTHANDLER']); print('no', file=sys.stderr)"
    free = {"PYTHONFAULTHANDLER": "1", "NCCL_DEBUG": "INFO"}
    done = forklint("doctor", "--isolated", "--", "env", sys.executable, "-c", code, cwd=tmp_path, input="in", env=free)
    assert (done.returncode, done.stdout) == (0, "in 1\n")
    assert "\nno\n" in done.stderr
    assert "TORCH_SHOW_CPP_STACKTRACES=1  (the C++ stack of an error of torch)" in done.stderr
    assert "NCCL_DEBUG" not in done.stderr, "what the user has set stays as it is"


def test_json_stands_alone_on_standard_output(forklint, tmp_path: Path) -> None:
    words = ("--isolated", "--output-format", "json")
    code = "print('noise'); import ctypes; ctypes.string_at(0)"
    done = forklint("doctor", *words, "--", "env", sys.executable, "-c", code, cwd=tmp_path)
    found = json.loads(done.stdout)
    assert "noise\n" in done.stderr
    assert (found["status"], done.returncode) == (139, 139)
    assert found["deaths"][0]["signal"] == "SIGSEGV"
    assert found["hypotheses"][0]["code"] == "FKL301"
    assert "string_at" in found["stacks"]


def test_the_report_may_go_to_a_file(forklint, tmp_path: Path) -> None:
    done = forklint("doctor", "--isolated", "--output-file", "report.txt", "--", "true", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "report.txt").read_text().startswith("forklint doctor: The command ended with exit code 0")
    assert "nothing crashed" not in done.stderr


def test_what_is_left_behind_is_named_and_removed(forklint, tmp_path: Path) -> None:
    code = (
        "from multiprocessing import shared_memory, resource_tracker\n"
        "resource_tracker.register = lambda *_: None\n"
        "memory = shared_memory.SharedMemory(create=True, size=64)\n"
        "import os; os._exit(0)\n"
    )
    done = forklint("doctor", "--isolated", "--", "env", sys.executable, "-c", code, cwd=tmp_path)
    left = re.search(r"nothing crashed\. It left behind: shared memory (fkl\w+)\.", done.stderr)
    assert left
    assert not (MEMORY / left[1]).exists()


def test_two_openmp_runtimes_are_noticed(forklint, tmp_path: Path) -> None:
    names = ("libgomp.so.1", "libiomp5.so")
    for name in names:
        shutil.copy(_ctypes.__file__, tmp_path / name)
    code = f"import ctypes, time; kept = [ctypes.CDLL('./' + name) for name in {names}]; time.sleep(2)"
    done = forklint("doctor", "--isolated", "--", "env", sys.executable, "-c", code, cwd=tmp_path)
    assert re.search(r"Process \d+ has 2 OpenMP runtimes: libgomp.so.1, libiomp5.so\.", done.stderr), done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--", "no-such-program"), 127, "cannot start the command"),
        (("--",), 2, "name a command behind --"),
        (("train.py",), 2, "are for a command"),
        (("--timeout", "3"), 2, "are for a command"),
    ],
)
def test_what_cannot_be_done_is_one_line(forklint, tmp_path: Path, words, code: int, message: str) -> None:
    done = forklint("doctor", *words, cwd=tmp_path)
    assert done.returncode == code
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
