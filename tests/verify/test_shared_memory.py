"""Shared memory and semaphores of a trial go, those of others stay."""

from __future__ import annotations

import ctypes
import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from needed import need_torch
from trial_making import MEMORY, within

pytestmark = pytest.mark.skipif(not MEMORY.is_dir(), reason="elsewhere shared memory cannot be listed")

SEGMENT = """
import _posixshmem, mmap
def segment(name):
    fd = _posixshmem.shm_open(name, os.O_CREAT | os.O_RDWR, mode=0o600)
    os.ftruncate(fd, 100); mmap.mmap(fd, 100); os.close(fd)
    return mmapped(name)
def mmapped(name):
    fd = _posixshmem.shm_open(name, os.O_RDWR, mode=0o600); kept = mmap.mmap(fd, 100); os.close(fd)
    return kept
def semaphore(name):
    import _multiprocessing
    return _multiprocessing.SemLock(1, 1, 1, name, False)
"""


@pytest.fixture
def name() -> Iterator[str]:
    """A name that says nothing of whose it is."""
    name = f"vt{secrets.token_hex(6)}"
    yield name
    for path in MEMORY.glob(f"*{name}*"):
        path.unlink()


def left(name: str) -> list[str]:
    return [path.name for path in MEMORY.glob(f"*{name}*")]


@pytest.mark.parametrize("end", ["time.sleep(60)", "os.kill(os.getpid(), signal.SIGKILL)"], ids=["hang", "death"])
def test_what_a_process_had_mapped_is_removed_and_named(observe, name, end):
    seen = observe(
        f"{SEGMENT}\na, b = segment('/{name}'), semaphore('/{name}'); begun(); time.sleep(0.3); {end}", seconds=1
    )
    assert seen.of("begun")
    assert left(name) == []
    if seen.ending.stopped_for:
        assert seen.leaked == (), "it had no time to tidy up"
    else:
        assert f"shared memory {name}" in seen.leaked
        assert f"semaphore {name}" in seen.leaked


def test_names_with_the_prefix_of_the_trial_are_removed_however_short_their_maker_lived(observe):
    code = "\nsegment('/' + order['prefix'] + 'aa'); semaphore('/' + order['prefix'] + '-bb'); os._exit(0)"
    seen = observe(SEGMENT + code)
    assert [line.rpartition(" ")[0] for line in seen.leaked] == ["shared memory", "semaphore"]
    assert [path for path in MEMORY.iterdir() if seen.leaked[0].rpartition(" ")[2] in path.name] == []


def test_torchs_names_are_removed_if_their_process_is_the_trials(observe, name):
    seen = observe(f"{SEGMENT}\nsegment(f'/torch_{{os.getpid()}}_{name}'); record('made'); os._exit(0)")
    assert left(name) == []
    assert seen.leaked == (f"shared memory torch_{seen.of('made')[0]['pid']}_{name}",)


def test_what_another_program_makes_meanwhile_stays(observe, name):
    other = MEMORY / f"torch_{os.getpid()}_{name}"
    shared = MEMORY / f"x{name}"

    def make() -> None:
        other.write_bytes(bytes(100))
        shared.write_bytes(bytes(100))

    timer = threading.Timer(0.3, make)
    timer.start()
    code = f"""
while not os.path.exists({str(shared)!r}): time.sleep(0.01)
kept = segment('/mine{name}'); time.sleep(0.2)
"""
    seen = observe(SEGMENT + code)
    timer.join()
    assert seen.leaked == (f"shared memory mine{name}",)
    assert sorted(left(name)) == sorted([other.name, shared.name])


def test_what_another_program_shares_with_the_trial_stays(observe, name):
    path = MEMORY / name
    holder = []

    def make() -> None:
        whole = path.with_name(f"of-{name}")
        file = whole.open("w+b")
        file.write(bytes(100))
        file.flush()
        whole.rename(path)  # a file that is there and empty cannot be mapped
        holder.append(file)

    threading.Timer(0.3, make).start()
    code = f"while not os.path.exists({str(path)!r}): time.sleep(0.01)\nkept = mmapped('/{name}'); time.sleep(0.4)"
    seen = observe(SEGMENT + code)
    assert seen.ending.exit_code == 0
    assert within(1, lambda: bool(holder))
    assert left(name) == [name]
    holder[0].close()


def test_what_was_there_before_stays_though_the_trial_uses_it(observe, name):
    path = MEMORY / name
    path.write_bytes(bytes(100))
    seen = observe(f"{SEGMENT}\nkept = mmapped('/{name}'); time.sleep(0.3)")
    assert (seen.ending.exit_code, seen.leaked) == (0, ())
    assert left(name) == [name]


def test_what_is_left_after_a_killed_supervisor_is_removed(observe, name):
    seen = observe(
        f"""{SEGMENT}
if os.fork() == 0: os.setsid(); kept = segment('/{name}'); begun(); time.sleep(60)
time.sleep(0.5); segment('/' + order['prefix'] + 'aa'); os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)
"""
    )
    assert seen.ending.stopped_for == "supervisor"
    assert left(name) == []
    assert len([line for line in seen.leaked if line.startswith("shared memory")]) == 2


def test_system_v_segments_are_removed(observe):
    code = """
import ctypes
number = ctypes.CDLL(None).shmget(0, 100, 0o1600)
record("made", number=number)
"""
    other = ctypes.CDLL(None).shmget(0, 100, 0o1600)
    try:
        seen = observe(code)
        number = seen.of("made")[0]["number"]
        assert number >= 0
        assert seen.leaked == (f"System V shared memory {number}",)
        left = [line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()]
        assert str(number) not in left
        assert str(other) in left
    finally:
        ctypes.CDLL(None).shmctl(other, 0, None)


TORCH = """
import torch
torch.multiprocessing.set_sharing_strategy("{strategy}")
kept = [torch.zeros(1000).share_memory_() for _ in range(3)]
child = torch.multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,), daemon=True)
child.start()
record("names", names=[name for name in os.listdir("/dev/shm") if name.startswith(f"torch_{{os.getpid()}}_")])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.soak
@pytest.mark.parametrize("strategy", ["file_system", "file_descriptor"])
def test_tensors_shared_by_torch(observe, strategy):
    need_torch()
    seen = observe(TORCH.format(strategy=strategy))
    assert seen.ending.signal == "SIGKILL"
    (record,) = seen.of("names")
    assert len(record["names"]) == (3 if strategy == "file_system" else 0)
    assert [name for name in record["names"] if Path(MEMORY, name).exists()] == []
