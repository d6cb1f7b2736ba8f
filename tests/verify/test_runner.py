"""Many trials, several at a time, and whatever happens to the one who runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from trial_making import MEMORY, alive, is_alive, make, within

from forklint.verify.limits import Limits, available_memory
from forklint.verify.runner import Runner, records_in
from forklint.verify.supervisor import CannotRunError, Supervisor
from forklint.verify.words import Subject, Trial

PYTHON = Path(sys.executable)

HANG = """
daemon(); record("seen")
open("/dev/shm/" + order["prefix"] + "left", "w").close()
if os.fork() == 0: time.sleep(60)
open({ready!r}, "a").write(order["prefix"] + " ")
time.sleep(60)
"""

FORKLINT = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # it is ignored where these tests run under nohup
from pathlib import Path
sys.path.insert(0, {tests!r})
from trial_making import make
from forklint.verify.runner import Runner
from forklint.verify.words import Trial
if __name__ == "__main__":
    trials = [make({code!r}, Path({folder!r}), name=str(number)) for number in range(3)]
    with Runner(Path(sys.executable), workplace=Path({workplace!r})) as runner:
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", len(list(Path({workplace!r}).iterdir())), flush=True)
"""
ONE, TWO_BESIDE = "runner.run(trials[0])", "runner.run_all(trials, side_by_side=2)"


@pytest.fixture
def in_mid_trial(workplace, tmp_path):
    """Start a program that runs hanging trials; gives it when so many of them are in full swing."""
    started = []

    def start(call: str, count: int) -> subprocess.Popen[str]:
        ready = tmp_path / "ready"
        ready.touch()
        program = FORKLINT.format(
            tests=str(Path(__file__).parent),
            code=HANG.format(ready=str(ready)),
            folder=str(tmp_path),
            workplace=str(workplace),
            call=call,
        )
        (tmp_path / "program.py").write_text(program)
        process = subprocess.Popen([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert within(20, lambda: len(ready.read_text().split()) == count)
        assert len(alive(workplace)) == 3 * count
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def is_clean(workplace: Path, prefixes: list[str]) -> bool:
    segments = [path.name for path in MEMORY.iterdir() if path.name.startswith(tuple(prefixes))]
    return not alive(workplace) and not list(workplace.iterdir()) and not segments


@pytest.mark.parametrize(("call", "count"), [(ONE, 1), (TWO_BESIDE, 2)], ids=["one", "two beside"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP"])
def test_forklint_ended_in_mid_trial_leaves_nothing(in_mid_trial, workplace, tmp_path, name, call, count):
    process = in_mid_trial(call, count)
    process.send_signal(getattr(signal, name))
    output, _ = process.communicate(timeout=10)
    if name == "SIGINT":
        assert output == "interrupted 0\n", "it waits until all is cleaned away"
    prefixes = (tmp_path / "ready").read_text().split()
    assert within(5, lambda: is_clean(workplace, prefixes))


@pytest.mark.soak
def test_forklint_stopped_for_longer_than_its_trial_leaves_nothing(in_mid_trial, workplace, tmp_path):
    soon = "trials[0].__class__(**{**vars(trials[0]), 'seconds': 1})"
    call = f"import forklint.verify.runner as r; r.PATIENCE = 1; print(runner.run({soon}).ending.stopped_for)"
    process = in_mid_trial(call, 1)
    process.send_signal(signal.SIGSTOP)
    time.sleep(4)
    process.send_signal(signal.SIGCONT)
    assert process.communicate(timeout=20)[0] == "time\n"
    assert within(5, lambda: is_clean(workplace, (tmp_path / "ready").read_text().split()))


def test_what_a_supervisor_leaves_that_was_killed_after_its_report_is_removed(workplace, tmp_path, monkeypatch):
    ask = Supervisor.ask

    def killed(self, order):
        report = ask(self, order)
        self._process.kill()
        Path("/dev/shm", f"{order.prefix}left").touch()
        return report

    monkeypatch.setattr(Supervisor, "ask", killed)
    with Runner(PYTHON, workplace=workplace) as runner:
        seen = runner.run(make("record('fact')", tmp_path))
    assert seen.of("fact")
    assert len(seen.leaked) == 1
    assert seen.leaked[0].endswith("left")
    assert list(workplace.iterdir()) == []


def test_ctrl_c_reaches_forklint_alone(in_mid_trial, workplace):
    process = in_mid_trial(ONE, 1)
    groups = {os.getpgid(pid) for pid in alive(workplace)}
    assert os.getpgid(process.pid) not in groups
    process.send_signal(signal.SIGINT)
    process.wait(10)


def test_trials_are_unharmed_by_their_neighbours(workplace, tmp_path):
    codes = {
        "hang": "time.sleep(60)",
        "fine": "time.sleep(0.5); print('fine'); sys.exit(4)",
        "dies": "os.kill(os.getpid(), signal.SIGSEGV)",
        "bomb": "for _ in range(9): os.fork()\ntime.sleep(60)",
        "kills": "time.sleep(0.1); os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)",
        "deletes": "import shutil; shutil.rmtree(os.path.dirname(journal)); sys.exit(5)",
        "last": "record('last')",
    }
    trials = [make(code, tmp_path, name=name, seconds=1 if name == "hang" else 20) for name, code in codes.items()]
    begun, ended = [], []
    with Runner(PYTHON, Limits(processes=50), workplace) as runner:
        seen = runner.run_all(trials, 3, on_start=begun.append, on_end=ended.append)
    assert [observation.trial for observation in seen] == trials
    assert [(o.ending.exit_code, o.ending.signal, o.ending.stopped_for) for o in seen] == [
        (None, "", "time"),
        (4, "", ""),
        (None, "SIGSEGV", ""),
        (None, "", "processes"),
        (None, "", "supervisor"),
        (5, "", ""),
        (0, "", ""),
    ]
    assert seen[1].output == "fine\n"
    assert seen[-1].of("last")
    assert begun == trials
    assert sorted(o.trial.name for o in ended) == sorted(codes)


def test_two_runners_do_not_disturb_each_other(workplace, tmp_path):
    code = "daemon(); open('/dev/shm/' + order['prefix'] + 'left', 'w').close()"
    quiet = make(f"{code}; time.sleep(1.5); print(os.path.exists('/dev/shm/' + order['prefix'] + 'left'))", tmp_path)
    loud = [make(f"{code}; os._exit({number})", tmp_path) for number in range(4)]
    found = []
    with Runner(PYTHON, workplace=workplace) as first, Runner(PYTHON, workplace=workplace) as second:
        thread = threading.Thread(target=lambda: found.append(first.run(quiet)))
        thread.start()
        exits = [o.ending.exit_code for o in second.run_all(loud, side_by_side=4)]
        thread.join()
    assert exits == [0, 1, 2, 3]
    assert (found[0].ending.exit_code, found[0].output) == (0, "True\n")
    assert len(found[0].leaked) == 2


def test_cancelling_ends_what_runs_and_starts_nothing_more(workplace, tmp_path):
    with Runner(PYTHON, workplace=workplace) as runner:
        threading.Timer(0.5, runner.cancel).start()
        seen = runner.run_all([make("record('begun'); time.sleep(60)", tmp_path) for _ in range(3)])
    assert [o.ending.stopped_for for o in seen] == ["interrupt"] * 3
    assert sum(o.wall_seconds for o in seen) < 3


def test_what_cannot_be_run_is_said_in_one_line(workplace, tmp_path):
    with pytest.raises(CannotRunError, match="not a working Python interpreter"):
        Runner(tmp_path / "python", workplace=workplace)
    not_python = tmp_path / "broken"
    not_python.write_text("\0")
    not_python.chmod(0o755)
    trial = make("", tmp_path)
    with Runner(not_python, workplace=workplace) as runner, pytest.raises(CannotRunError, match="could not be started"):
        runner.run_all([trial, trial])
    with Runner(PYTHON, workplace=workplace) as runner, pytest.raises(CannotRunError, match="no such directory"):
        runner.run(make("", tmp_path / "nowhere"))


def test_the_environment_of_a_trial(workplace, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"/of/the/user{os.pathsep}src")
    monkeypatch.setenv("WANDB_MODE", "online")
    code = "import json, os; print(json.dumps([dict(os.environ), os.getcwd()]))"
    subject = Subject("module", ("-c", code), tmp_path, (Path("/of/the/subject"),), {"OMP_NUM_THREADS": "3"})
    with Runner(PYTHON, workplace=workplace) as runner:
        environment, folder = json.loads(runner.run(Trial("t", subject, "")).output)
    assert folder == str(tmp_path)
    harness, *others = environment["PYTHONPATH"].split(os.pathsep)
    assert Path(harness).parts[-3:] == ("forklint", "verify", "harness")
    assert others == ["/of/the/subject", "/of/the/user", str(Path("src").absolute())]
    assert environment["OMP_NUM_THREADS"] == "3"
    assert environment["WANDB_MODE"] == "offline"
    assert environment["TMPDIR"].startswith(str(workplace))


def test_half_a_line_in_the_journal_is_left_out(observe):
    seen = observe("record('whole'); open(journal + '/1-1.jsonl', 'w').write('{\"kind\": \"ha')")
    assert [record["kind"] for record in seen.records if record["kind"] != "process"] == ["whole"]


def test_a_journal_that_holds_anything(observe):
    seen = observe(
        """
with open(journal + "/1-1.jsonl", "w") as file:
    file.write('{"kind": "late", "time": "x"}\\n[1]\\n{"kind": 7}\\n\\x00\\n' + "[" * 100_000 + "\\n")
os.mkfifo(journal + "/2-1.jsonl"); os.mkfifo(journal + "/2.stack"); os.mkdir(journal + "/3-1.jsonl")
record("fine")
"""
    )
    assert [record["kind"] for record in seen.records if record["kind"] != "process"] == ["late", "fine"]


@pytest.mark.parametrize("name", ["listdir", "scandir"])
def test_a_journal_removed_while_it_is_listed(tmp_path, monkeypatch, name):
    journal = tmp_path / "journal"
    journal.mkdir()
    list_names = getattr(os, name)

    def removed(path=".", *rest):
        if Path(path) == journal and journal.exists():
            journal.rmdir()
        return list_names(path, *rest)

    monkeypatch.setattr(os, name, removed)
    assert records_in(journal) == []


def test_a_supervisor_that_does_not_answer_is_killed_in_the_end(observe, monkeypatch):
    monkeypatch.setattr("forklint.verify.runner.PATIENCE", 1.0)
    seen = observe("daemon(); os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)", seconds=1)
    assert seen.ending.stopped_for == "supervisor"
    assert len(seen.leaked) >= 1


def test_forklint_killed_while_a_process_forked_from_it_lives_on(in_mid_trial, workplace, tmp_path):
    fork = "__import__('os').fork() or __import__('time').sleep(6)"
    call = f"__import__('threading').Timer(0.4, lambda: {fork}).start(); {ONE}"
    process = in_mid_trial(call, 1)
    time.sleep(0.6)
    process.kill()
    process.wait()
    assert within(3, lambda: is_clean(workplace, (tmp_path / "ready").read_text().split()))


def test_limits_follow_what_is_there(tmp_path):
    assert Limits(memory=5).memory_of_one(3) == 5
    assert Limits(memory_share=0.5).memory_of_one(2) <= available_memory() * 0.3
    assert Limits(scratch=10).scratch_of_one(tmp_path, 1) == 10
    assert Limits(scratch=1 << 80).scratch_of_one(tmp_path, 1) < 1 << 80


def descriptors_and_memory() -> tuple[int, int]:
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return len(os.listdir("/proc/self/fd")), resident


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.soak)])
def test_many_trials_leave_the_runner_as_it_was(workplace, tmp_path, count):
    # every fourth prints a lot, every fifth is stopped, every seventh leaves a daemon, every ninth kills its supervisor
    def code(number: int) -> str:
        lines = ["record('fact', text='x' * 10_000)"]
        lines += ["print('x' * 300_000)"] if number % 4 == 0 else []
        lines += ["time.sleep(20)"] if number % 5 == 0 else []
        lines += ["daemon(20)"] if number % 7 == 0 else []
        lines += ["os.kill(os.getppid(), signal.SIGKILL); time.sleep(20)"] if number % 9 == 0 else []
        return "\n".join(lines)

    trials = [make(code(number), tmp_path, seconds=1, name=str(number)) for number in range(count)]
    threads = threading.active_count()  # other tests of this process may have left some
    with Runner(PYTHON, workplace=workplace) as runner:
        runner.run_all([*trials[:2], *trials[5:6]], side_by_side=2)
        before = descriptors_and_memory()
        for start in range(0, count, 10):
            runner.run_all(trials[start : start + 10], side_by_side=2)
        after = descriptors_and_memory()
    assert after[0] == before[0]
    assert after[1] - before[1] < 8 * 1024 * 1024
    assert threading.active_count() <= threads
    assert not [pid for pid in alive(workplace) if is_alive(pid)]


@pytest.mark.soak
@pytest.mark.parametrize("delay", [number / 20 for number in range(20)])
def test_a_kill_at_any_moment_leaves_nothing(workplace, tmp_path, delay):
    program = FORKLINT.format(
        tests=str(Path(__file__).parent),
        code=HANG.format(ready=str(tmp_path / "ready")),
        folder=str(tmp_path),
        workplace=str(workplace),
        call=TWO_BESIDE,
    )
    (tmp_path / "program.py").write_text(program)
    process = subprocess.Popen([sys.executable, tmp_path / "program.py"])
    time.sleep(delay)
    process.kill()
    process.wait()
    prefixes = (tmp_path / "ready").read_text().split() if (tmp_path / "ready").exists() else ["fkl"]
    time.sleep(0.3)
    assert within(5, lambda: is_clean(workplace, prefixes))
