"""Workers that are killed, stopped or cut off, a scheduler that is restarted; the same verdicts, and the speed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import Processes

pytestmark = pytest.mark.soak
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SLOW = """
import sys
import time
from torch.utils.data import DataLoader

WORKERS = 1 if sys.platform == "darwin" else 0
time.sleep(8)

if __name__ == "__main__":
    for batch in DataLoader(range(40), batch_size=4, num_workers=WORKERS):
        print(batch)
"""
MAC = {"system": "darwin", "platform": "macOS-25.1.0-arm64"}


@pytest.fixture(scope="session")
def trial_python() -> Path:
    """These trials use torch."""
    return Path(sys.executable)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "forklint.toml").write_text("")
    (folder / "train.py").write_text(SLOW)
    return folder


class Verify:
    """``forklint verify --on`` in the background."""

    def __init__(self, address: str, project: Path) -> None:
        command = [sys.executable, "-m", "forklint", "verify", "train.py", "--on", address, "--output-format", "json"]
        self._process = subprocess.Popen(
            command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
        )

    def result(self, seconds: float = 600) -> tuple[dict[str, object], str]:
        """The only experiment, and what was printed beside it."""
        try:
            told, said = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            raise
        (one,) = json.loads(told)["experiments"]
        return one, said


def wait_for_trial(processes: Processes, *names: str, seconds: float = 180) -> str:
    """The worker whose trial runs."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            for name in names:
                if "train.py" in line and f"{processes.folder}/store-{name}/" in line:
                    return name
        time.sleep(0.2)
    raise AssertionError("no trial began")


def test_a_worker_killed_in_mid_trial_loses_nothing(processes: Processes, project: Path) -> None:
    address = processes.scheduler()
    for name in ("mac1", "mac2"):
        processes.pretended(address, name, **MAC)
    verify = Verify(address, project)
    lost = wait_for_trial(processes, "mac1", "mac2")
    processes.started[lost].send_signal(signal.SIGKILL)
    processes.started[lost].wait()
    one, _ = verify.result()
    other = {"mac1": "mac2", "mac2": "mac1"}[lost]
    assert one["verdict"] in {"confirmed", "not reproduced"}, one
    assert one["machine"].startswith(f"{other} (darwin")
    assert one["reruns"] == [f"{lost}: its worker is gone"]
    assert len(one["trials"]) >= 2


def test_a_worker_that_hangs_is_replaced(processes: Processes, project: Path) -> None:
    address = processes.scheduler()
    for name in ("mac1", "mac2"):
        processes.pretended(address, name, **MAC)
    verify = Verify(address, project)
    lost = wait_for_trial(processes, "mac1", "mac2")
    processes.started[lost].send_signal(signal.SIGSTOP)
    one, _ = verify.result()
    assert one["verdict"] in {"confirmed", "not reproduced"}, one
    assert not one["machine"].startswith(lost)
    assert one["reruns"] == [f"{lost}: its worker has been silent for 20 s"]


def test_where_nobody_is_left_it_says_what_is_missing(processes: Processes, project: Path) -> None:
    address = processes.scheduler()
    worker = processes.pretended(address, "mac1", **MAC)
    verify = Verify(address, project)
    wait_for_trial(processes, "mac1")
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    one, said = verify.result()
    assert one["verdict"] == "inconclusive"
    assert one["evidence"].startswith("its trials were lost 1 time: mac1: its worker is gone")
    assert "missing: FKL401 train.py:" in said


class Proxy:
    """A TCP connection that can be cut, and then works again."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._open: list[socket.socket] = []
        self.is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            if self.is_cut:
                near.close()
                continue
            far = socket.create_connection(self._target)
            self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        self.is_cut = True
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        self.cut()
        self._server.close()


@pytest.fixture
def proxy(processes: Processes) -> Iterator[tuple[str, Proxy]]:
    """The address of a scheduler, and the proxy that leads to it."""
    address = processes.scheduler()
    host, _, port = address.removeprefix("tcp://").partition(":")
    made = Proxy((host, int(port)))
    yield address, made
    made.close()


def test_the_network_of_a_worker_is_cut(processes: Processes, project: Path, proxy: tuple[str, Proxy]) -> None:
    address, line = proxy
    processes.pretended(f"tcp://127.0.0.1:{line.port}", "mac1", **MAC)
    verify = Verify(address, project)
    wait_for_trial(processes, "mac1")
    line.cut()
    time.sleep(3)
    line.is_cut = False
    one, _ = verify.result()
    assert one["verdict"] in {"confirmed", "not reproduced"}, one
    assert one["machine"].startswith("mac1 (darwin")
    assert one["reruns"] == ["mac1: its worker is gone"]


def test_the_network_of_the_client_is_cut(processes: Processes, project: Path, proxy: tuple[str, Proxy]) -> None:
    address, line = proxy
    processes.pretended(address, "mac1", **MAC)
    verify = Verify(f"tcp://127.0.0.1:{line.port}", project)
    wait_for_trial(processes, "mac1")
    line.cut()
    time.sleep(3)
    line.is_cut = False
    one, _ = verify.result()
    assert one["verdict"] in {"confirmed", "not reproduced"}, one
    assert one["reruns"][0] == "mac1: the scheduler was lost"
    assert len(one["reruns"]) <= 2, "each loss is said, and there are at most two"


def test_the_scheduler_is_restarted(processes: Processes, project: Path) -> None:
    address = processes.scheduler()
    processes.pretended(address, "mac1", **MAC)
    verify = Verify(address, project)
    wait_for_trial(processes, "mac1")
    processes.started["scheduler"].send_signal(signal.SIGKILL)
    processes.started["scheduler"].wait()
    time.sleep(2)
    port = int(address.rpartition(":")[2])
    assert processes.scheduler(port=port, name="again") == address
    one, _ = verify.result()
    assert one["verdict"] in {"confirmed", "not reproduced"}, one
    assert one["machine"].startswith("mac1 (darwin")
    assert one["reruns"] == ["mac1: the scheduler was lost"]


def test_an_interrupted_client_leaves_no_trial(processes: Processes, project: Path) -> None:
    (project / "train.py").write_text(SLOW.replace("sleep(8)", "sleep(100)"))
    address = processes.scheduler()
    processes.pretended(address, "mac1", **MAC)
    verify = Verify(address, project)
    wait_for_trial(processes, "mac1")
    verify._process.kill()
    verify._process.communicate()
    deadline = time.monotonic() + 60
    while any("train.py" in line for line in lines_of(processes)):
        assert time.monotonic() < deadline, "the trial goes on, and nobody waits for it"
        time.sleep(0.5)


def lines_of(processes: Processes) -> list[str]:
    from processes import processes_below

    return processes_below(processes.folder)


FIXTURES = (
    "FKL101_late_env_var",
    "FKL202_start_method_misuse",
    "FKL301_handle_in_init",
    "FKL302_rng_in_init",
    "FKL303_unsharded_iterable",
    "FKL402_conflicting_loader_options",
    "FKL501_unknown_method",
    "FKL502_misspelt_hook",
    "FKL601_mask_dtype_mismatch",
    "FKL603_legacy_byte_tensor",
)


def test_the_verdicts_are_the_same_as_without_dask(processes: Processes, run, tmp_path: Path) -> None:
    """The example, and two fixtures of ten rules each: everything on a worker, and everything here."""
    example = tmp_path / "example"
    shutil.copytree(ROOT / "examples" / "ocr", example, ignore=shutil.ignore_patterns(".data", "__pycache__"))
    fixtures = tmp_path / "fixtures"
    fixtures.mkdir()
    (fixtures / "forklint.toml").write_text("")
    for name in FIXTURES:
        folder = ROOT / "tests" / "fixtures" / name
        files = [path for path in sorted(folder.glob("bad_*.py")) if not path.name.endswith(".fixed.py")]
        for path in files[:2]:
            shutil.copy(path, fixtures / f"{name[:6].lower()}_{path.name}")
    address = processes.scheduler()
    processes.worker(address, "alpha")
    for folder in (example, fixtures):
        given = ("verify", ".", "--select", "ALL", "--budget", "1", "--output-format", "json", "--allow-inconclusive")
        told = [run(*given, *more, cwd=folder, seconds=3000) for more in ((), ("--on", address, "--label", "linux"))]
        here, there = (json.loads(done.stdout)["experiments"] for done in told)
        assert any(one["machine"].startswith("alpha") for one in there)
        different = [
            (one["finding"]["code"], one["finding"]["filename"], one["verdict"], other["verdict"], other["evidence"])
            for one, other in zip(here, there, strict=True)
            if one["verdict"] != other["verdict"]
        ]
        assert different == []


def test_a_trial_costs_little_more_there(processes: Processes, tmp_path: Path) -> None:
    """What is added to the time of the trial itself: its median there, less its median here."""
    address = processes.scheduler()
    processes.worker(address, "alpha")
    command = [sys.executable, str(HERE / "overhead_client.py"), address, str(tmp_path), "15"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    seconds = json.loads(done.stdout)
    here, there = (statistics.median(seconds[name]) for name in ("here", "there"))
    print(f"overhead of a trial: {there - here:.3f} s ({here:.3f} s here, {there:.3f} s there)")
    assert there - here < 0.3


def test_two_workers_lint_faster_than_one(processes: Processes, run, tmp_path: Path) -> None:
    """200 repositories of about ten files that have something to look into; needs two idle cores."""
    address = processes.scheduler()
    sources = sorted((ROOT / "tests" / "fixtures").glob("FKL*/*.py"))
    names = []
    for number in range(200):
        folder = tmp_path / f"repository{number}"
        folder.mkdir()
        for step in range(10):
            path = sources[(number * 10 + step) % len(sources)]
            text = path.read_text(encoding="utf-8") + f"\n# {number}\n"
            (folder / f"part{step}_{path.name}").write_text(text, encoding="utf-8")
        names.append(str(folder))
    (tmp_path / "list.txt").write_text("\n".join(names))

    def seconds(output: str) -> float:
        began = time.monotonic()
        given = ("--on", address, "--output-file", output, "--exit-zero", "--isolated")
        done = run("lint-many", "list.txt", *given, seconds=1800)
        assert "200 of 200 repositories linted" in done.stderr, done.stderr
        return time.monotonic() - began

    processes.worker(address, "one")
    alone = seconds("alone.jsonl")
    processes.started["one"].terminate()
    processes.started["one"].wait()
    for name in ("two", "three"):
        processes.worker(address, name)
    both = seconds("both.jsonl")
    found = [sorted((tmp_path / name).read_text().splitlines()) for name in ("alone.jsonl", "both.jsonl")]
    assert found[0] == found[1]
    assert re.search("FKL", found[0][0])
    print(f"200 repositories: {alone:.1f} s with one worker, {both:.1f} s with two ({both / alone:.2f})")
    assert both / alone <= 0.6
