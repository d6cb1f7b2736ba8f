"""Trials made of a few lines of Python, and a way to see what is left of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from forklint.verify.words import Subject, Trial

MEMORY = Path("/dev/shm")

HARNESS = """
import faulthandler, json, os, signal, sys, time
order = json.load(open(os.environ["FORKLINT_TRIAL"]))
journal = order["journal"]
def answers_for_stacks():
    file = open(f"{journal}/{os.getpid()}.stack", "w")
    faulthandler.register(signal.SIGRTMIN + 5, file=file, all_threads=True, chain=False)
def record(kind, **facts):
    with open(f"{journal}/{os.getpid()}-1.jsonl", "a") as file:
        file.write(json.dumps({"kind": kind, "pid": os.getpid(), "role": "main", "time": time.time(), **facts}) + "\\n")
def daemon(seconds=60):
    ready, is_ready = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            record("daemon")
            os.close(is_ready)
            time.sleep(seconds)
        os._exit(0)
    os.close(is_ready)
    os.read(ready, 1)
    os.wait()
def begun():
    record("begun")
    print("begun", flush=True)
"""
"""What stands before the code of a trial that ``make`` makes: the smallest harness there can be."""


def make(code: str, folder: Path, *, seconds: float = 30, name: str = "trial") -> Trial:
    """A trial that runs this code in this folder, after HARNESS."""
    return Trial(name, Subject("stand-in", ("-c", HARNESS + code), folder), "", seconds=seconds)


def alive(workplace: Path) -> list[int]:
    """Processes of trials whose folders were made in this workplace, zombies left out."""
    mark = f"FORKLINT_TRIAL={workplace}/".encode()
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                if mark in (place / "environ").read_bytes():
                    found.append(int(place.name))
            except OSError:
                continue
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true within so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def supervisors() -> list[int]:
    """Supervisors that this process has started and that still run."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == os.getpid() and b"supervision" in (place / "cmdline").read_bytes():
                    found.append(int(place.name))
            except OSError:
                continue
    return found
