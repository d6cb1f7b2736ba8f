"""Whatever a trial does, it ends, it is said how, and nothing of it is left (see ``workplace`` in conftest)."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest
from trial_making import is_alive

from forklint.verify import supervisor

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="elsewhere this is not promised")

MIB = 1024 * 1024


def daemon_of(seen) -> int:
    return seen.of("daemon")[0]["pid"]


def test_a_trial_that_ends_says_how_and_what_it_wrote(observe):
    seen = observe("record('fact', number=1); record('fact', number=2); print('hello'); sys.exit(3)")
    assert (seen.ending.exit_code, seen.ending.signal, seen.ending.stopped_for) == (3, "", "")
    assert [record["number"] for record in seen.of("fact")] == [1, 2]
    assert seen.output == "hello\n"
    assert seen.leaked == ()


def test_a_hang_is_stopped_with_the_stacks_of_every_process(observe):
    seen = observe(
        """
def stuck_in_parent(): answers_for_stacks(); os.waitpid(child, 0)
def stuck_in_child(): answers_for_stacks(); time.sleep(100)
child = os.fork()
if child: os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "97"); stuck_in_parent()
else: stuck_in_child()
""",
        seconds=1,
    )
    assert seen.ending.stopped_for == "time"
    assert seen.ending.exit_code is None
    assert "in stuck_in_parent" in seen.stacks
    assert "in stuck_in_child" in seen.stacks
    assert re.search(r"process \d+ \(sleeping in \w+\): sleep 97", seen.stacks), "one without a handler is named"
    assert seen.leaked == ()
    assert 1 <= seen.wall_seconds < 2


def test_a_trial_that_stops_itself_is_stopped_for_time_and_still_gives_its_stack(observe):
    seen = observe("answers_for_stacks()\ndef here(): os.kill(os.getpid(), signal.SIGSTOP)\nhere()", seconds=1)
    assert seen.ending.stopped_for == "time"
    assert "(stopped" in seen.stacks
    assert "in here" in seen.stacks


def test_a_trial_that_ignores_every_request_to_end(observe):
    seen = observe(
        """
for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(number, signal.SIG_IGN)
begun()
while True: time.sleep(1)
""",
        seconds=1,
    )
    assert seen.ending.stopped_for == "time"
    assert seen.output == "begun\n"


@pytest.mark.parametrize("group", ["", "os.setsid()"], ids=["one session", "a session each"])
def test_a_fork_bomb(observe, group):
    # the bomb gives up by itself at 512 processes, should nobody stop it
    seen = observe(
        f"for depth in range(9):\n  if os.fork() == 0:\n    {group or 'pass'}\ntime.sleep(60)", processes=50, seconds=20
    )
    assert seen.ending.stopped_for == "processes"
    assert seen.wall_seconds < 10


@pytest.mark.parametrize("group", ["", "os.setsid()"], ids=["one session", "a session each"])
def test_a_process_that_hops_from_pid_to_pid(observe, group):
    # each process starts the next and ends at once: gone before anybody who has found it can kill it
    seen = observe(
        f"""
end = time.monotonic() + 20
while time.monotonic() < end:
    if os.fork(): os._exit(0)
    {group or "pass"}
"""
    )
    assert seen.ending.exit_code == 0
    assert seen.wall_seconds < 3
    assert len(seen.leaked) >= 1


def test_a_daemon_that_outlives_the_trial(observe):
    seen = observe("daemon(); print('done')")
    assert seen.ending.exit_code == 0
    assert not is_alive(daemon_of(seen))
    assert [line.startswith(f"process {daemon_of(seen)}: ") for line in seen.leaked] == [True]


def test_processes_that_end_shortly_after_the_first_are_not_called_left_behind(observe):
    seen = observe("daemon(0.3)")
    assert seen.leaked == ()
    assert seen.ending.exit_code == 0


def test_output_without_end(observe):
    seen = observe(
        """
def size(field): return int(open(f"/proc/{os.getppid()}/status").read().split(field)[1].split()[0])
before = size("VmHWM:")
print("the beginning")
for _ in range(4000):
    os.write(1, b"x" * 999_999 + b"\\n")
    record("supervisor", grown=size("VmHWM:") - before)
""",
        output=200 * MIB,
    )
    assert seen.ending.stopped_for == "output"
    assert seen.output.startswith("the beginning\nxxx")
    assert len(seen.output) < 140_000
    assert "bytes left out]" in seen.output
    assert len(seen.of("supervisor")) > 150
    assert max(record["grown"] for record in seen.of("supervisor")) < 8 * 1024, "kilobytes"


def test_much_output_below_the_limit_is_read_to_its_end(observe):
    seen = observe("for _ in range(50): print('x' * 999_999)\nprint('the end')", output=200 * MIB)
    assert seen.ending.exit_code == 0
    assert seen.output.endswith("\nthe end\n")


@pytest.mark.parametrize(
    "opened", ["open(f'{folder}/{n}', 'wb')", "tempfile.TemporaryFile()"], ids=["named", "nameless"]
)
def test_a_trial_that_fills_its_folder_for_temporary_files(observe, opened):
    seen = observe(
        f"""
import tempfile
folder = tempfile.mkdtemp()
files = []
for n in range(300):
    files.append({opened})
    files[-1].write(bytes(1 << 20)); files[-1].flush(); time.sleep(0.01)
""",
        scratch=20 * MIB,
    )
    assert seen.ending.stopped_for == "scratch"


def test_a_trial_that_closes_all_descriptors(observe):
    seen = observe("begun(); os.closerange(0, 4096); time.sleep(60)", seconds=1)
    assert seen.ending.stopped_for == "time"
    assert seen.output == "begun\n"
    assert observe("os.closerange(0, 4096); os._exit(3)").ending.exit_code == 3


def test_a_trial_that_deletes_its_working_files(observe, tmp_path, workplace):
    folder = tmp_path / "cwd"
    folder.mkdir()
    seen = observe(
        f"""
import shutil
shutil.rmtree(os.environ["TMPDIR"]); shutil.rmtree({str(workplace)!r}, ignore_errors=True); shutil.rmtree(os.getcwd())
os.mkdir({str(workplace)!r}) if not os.path.exists({str(workplace)!r}) else None
daemon_started = os.fork()
if not daemon_started: os.setsid(); time.sleep(60)
print("deleted")
""",
        folder=folder,
    )
    assert seen.ending.exit_code == 0
    assert seen.output == "deleted\n"
    assert len(seen.leaked) == 1


def test_a_folder_that_nobody_may_enter_is_removed_too(observe):
    seen = observe("p = os.environ['TMPDIR'] + '/a/b'; os.makedirs(p); open(p + '/c', 'w'); os.chmod(p, 0)")
    assert seen.ending.exit_code == 0


def test_memory_without_end(observe):
    seen = observe("kept = []\nfor _ in range(100): kept.append(b'x' * (20 << 20)); time.sleep(0.02)", memory=300 * MIB)
    assert seen.ending.stopped_for == "memory"
    assert 300 * MIB < seen.peak_bytes < 1000 * MIB


def test_memory_that_processes_share_counts_once(observe):
    seen = observe(
        """
kept = b"x" * (150 << 20)
for _ in range(3):
    if os.fork() == 0: time.sleep(1.2); os._exit(0)
time.sleep(1.5)
""",
        memory=350 * MIB,
    )
    assert seen.ending.exit_code == 0
    assert 150 * MIB < seen.peak_bytes < 250 * MIB


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGBUS", "SIGABRT", "SIGKILL", "SIGFPE"])
def test_the_signal_that_ended_it_is_named(observe, name):
    seen = observe(f"def here(): os.kill(os.getpid(), signal.{name}); time.sleep(5)\nhere()")
    assert seen.ending.signal == name
    assert seen.ending.exit_code is None
    if name != "SIGKILL":
        assert "Fatal Python error" in seen.output
        assert "in here" in seen.stacks


@pytest.mark.parametrize("hangs", [False, True], ids=["and the program ends", "and the program hangs"])
def test_a_crash_that_a_worker_wrote_down_in_its_own_file_is_in_the_stacks(observe, hangs):
    seen = observe(
        """
def in_worker():
    faulthandler.enable(file=open(f"{journal}/{os.getpid()}.stack", "w")); os.kill(os.getpid(), signal.SIGBUS)
if os.fork() == 0: in_worker()
os.wait(); print("waited", flush=True)
while HANGS: time.sleep(1)
sys.exit(1)
""".replace("HANGS", str(hangs)),
        seconds=1 if hangs else 20,
    )
    assert seen.ending.exit_code == (None if hangs else 1)
    assert "Bus error" in seen.stacks
    assert "in in_worker" in seen.stacks


def test_the_exit_code_of_a_hard_exit(observe):
    assert observe("os._exit(7)").ending.exit_code == 7


def test_no_core_is_dumped_and_the_kernel_is_told_whom_to_kill(observe):
    seen = observe("import resource; print(resource.getrlimit(4)[0], open('/proc/self/oom_score_adj').read())")
    core, adjustment = seen.output.split()
    assert int(core) in {0, 1}
    assert int(adjustment) >= 500


def test_signals_and_descriptors_are_as_a_shell_gives_them(observe):
    seen = observe(
        """
print([signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP)] == [signal.SIG_DFL] * 2)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.pthread_sigmask(signal.SIG_BLOCK, []))
places = {n: os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")}
print(sorted(n for n, place in places.items() if os.path.exists(place) and not place.startswith(journal)))
print([n for n in ("0", "1", "2") if n in places], os.getpid() == os.getsid(0))
"""
    )
    assert seen.output.splitlines() == ["True", "True set()", "['0']", "['0', '1', '2'] True"]


def test_a_supervisor_that_the_trial_kills(observe):
    before = time.monotonic()
    seen = observe("daemon(); os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)")
    assert seen.ending.stopped_for == "supervisor"
    assert not is_alive(daemon_of(seen))
    assert any(line.startswith(f"process {daemon_of(seen)}: ") for line in seen.leaked)
    assert time.monotonic() - before < 5


def test_a_process_without_the_trials_environment_is_found_after_its_supervisor_was_killed(observe):
    seen = observe(
        """
import subprocess
child = subprocess.Popen(["sleep", "61"], env={}, start_new_session=True)
record("daemon", child=child.pid); time.sleep(0.5)
os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)
"""
    )
    child = seen.of("daemon")[0]["child"]
    assert seen.ending.stopped_for == "supervisor"
    assert f"process {child}: sleep 61" in seen.leaked
    assert not is_alive(child)


def test_an_error_of_the_supervisor_itself_is_told_and_harms_nobody(observe):
    seen = observe("daemon(); begun(); time.sleep(60)", processes="many")
    assert seen.ending.stopped_for == "supervisor"
    assert "TypeError" in seen.output


WITHOUT_PROC = """
import sys
sys.path.append({verify!r})
from supervision import session, tree
tree.HAS_PROC, session._LIBRARY = False, None
session.main()
"""


@pytest.fixture
def without_proc(monkeypatch):
    """As on a system that has neither /proc nor prctl."""
    verify = Path(supervisor.__file__).parent
    monkeypatch.setattr(supervisor, "SUPERVISOR", [sys.executable, "-c", WITHOUT_PROC.format(verify=str(verify))])


def test_without_proc_a_trials_group_is_still_ended_with_its_stacks(observe, without_proc):
    seen = observe(
        """
def in_parent(): answers_for_stacks(); os.waitpid(child, 0)
def in_child(): answers_for_stacks(); time.sleep(100)
child = os.fork()
if child: in_parent()
else: in_child()
""",
        seconds=1,
    )
    assert seen.ending.stopped_for == "time"
    assert "in in_parent" in seen.stacks
    assert "in in_child" in seen.stacks


def test_without_proc_output_scratch_and_signals_are_still_watched(observe, without_proc):
    assert observe("os.kill(os.getpid(), signal.SIGSEGV)").ending.signal == "SIGSEGV"
    assert observe("while True: os.write(1, bytes(10000))", output=MIB).ending.stopped_for == "output"
    code = "open(os.environ['TMPDIR'] + '/x', 'wb').write(bytes(3 << 20)); time.sleep(60)"
    assert observe(code, scratch=MIB).ending.stopped_for == "scratch"
