"""A client that tries to run functions of its own, by all that Dask offers, gets nowhere; the worker goes on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import Processes, workers_of

ATTACKER = Path(__file__).parent / "attacker.py"
TWICE = 2 * "import multiprocessing; multiprocessing.set_start_method('spawn')\n"


@pytest.mark.soak
def test_no_function_of_a_client_runs(processes: Processes, verify, tmp_path: Path) -> None:
    address = processes.scheduler()
    processes.worker(address, "alpha")
    mark = tmp_path / "mark"
    mark.mkdir()
    done = subprocess.run(
        [sys.executable, str(ATTACKER), address, str(mark), *workers_of(address)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert lines[-1] == "done", done.stdout + done.stderr
    assert len(lines) == 24, "every attempt was made"
    assert list(mark.iterdir()) == [], done.stdout
    assert "refused to unpickle posix.system" in done.stdout
    (tmp_path / "train.py").write_text(TWICE)
    proved = verify("train.py", "--on", address, "--label", "linux", "-q", cwd=tmp_path)
    assert "confirmed on alpha" in proved.stdout, proved.stdout + proved.stderr


@pytest.mark.soak
def test_a_worker_refuses_functions_of_dasks_scheduler_too(processes: Processes, tmp_path: Path) -> None:
    address = dask_scheduler(processes)
    processes.worker(address, "alpha")
    mark = tmp_path / "mark"
    mark.mkdir()
    code = (
        "import os, sys; from distributed import Client\n"
        "with Client(sys.argv[1], set_as_default=False) as client:\n"
        "    future = client.submit(os.system, 'touch ' + sys.argv[2], pure=False)\n"
        "    try: print(future.result(timeout=5))\n"
        "    except BaseException as error: print('refused', type(error).__name__)\n"
    )
    command = [sys.executable, "-c", code, address, str(mark / "submit")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "refused" in done.stdout, done.stdout + done.stderr
    assert list(mark.iterdir()) == []
    processes.wait_for("alpha", "is connected to", times=2)


def dask_scheduler(processes: Processes) -> str:
    """The address of a scheduler as Dask has it."""
    options = ("--port", "0", "--no-dashboard", "--host", "127.0.0.1")
    processes.start("dask", "-m", "distributed.cli.dask_scheduler", *options)
    return re.findall(r"tcp://\S+", processes.wait_for("dask", r"Scheduler at:\s+tcp://"))[0]


@pytest.mark.soak
def test_the_attacks_work_where_nothing_is_refused(processes: Processes, tmp_path: Path) -> None:
    """Else the test above would pass with attacks that do nothing."""
    address = dask_scheduler(processes)
    folder = ("--local-directory", str(processes.folder))
    processes.start("plain", "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard", *folder)
    processes.wait_for("plain", "Registered to")
    mark = tmp_path / "mark"
    mark.mkdir()
    subprocess.run(
        [sys.executable, str(ATTACKER), address, str(mark), *workers_of(address)],
        capture_output=True,
        timeout=300,
        check=False,
    )
    made = {path.name for path in mark.iterdir()}
    assert {"submit", "run", "scheduler", "worker-plugin", "upload", "ping", "stream"} <= made


def test_no_function_of_a_worker_runs_on_its_client(processes: Processes, verify, tmp_path: Path) -> None:
    address = processes.scheduler()
    mark = tmp_path / "mark"
    mark.mkdir()
    given = (address, str(processes.folder / "store"), str(processes.python), str(mark))
    processes.start("rogue", str(ATTACKER.with_name("rogue_worker.py")), *given)
    processes.wait_for("rogue", "is connected to")
    (tmp_path / "train.py").write_text(TWICE)
    done = verify("train.py", "--on", address, "--label", "linux", "-q", cwd=tmp_path)
    assert list(mark.iterdir()) == []
    assert "its trials were lost 3 times" in done.stdout, done.stdout + done.stderr
    assert processes.log("rogue").count("was asked for a trial") == 3
