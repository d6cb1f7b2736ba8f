"""Exit statuses and names of signals, as shells, Python, Windows and people write them."""

from __future__ import annotations

import re

NUMBERS = {
    2: "SIGINT",
    4: "SIGILL",
    5: "SIGTRAP",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    10: "SIGBUS",
    11: "SIGSEGV",
    13: "SIGPIPE",
    15: "SIGTERM",
    31: "SIGSYS",
}
"""Signals that end a crashed process, by their numbers on Linux; 10 is macOS's SIGBUS (signal(3) there)."""
WINDOWS = {
    0xC0000005: "SIGSEGV",
    0xC000001D: "SIGILL",
    0xC0000094: "SIGFPE",
    0xC00000FD: "SIGSEGV",
    0xC0000374: "SIGABRT",
    0xC0000409: "SIGABRT",
    0xC000013A: "SIGINT",
}
"""What Windows calls an access violation, an illegal instruction and so on (ntstatus.h), as the signal like it."""
WORDS = {
    "segmentation fault": "SIGSEGV",
    "bus error": "SIGBUS",
    "killed": "SIGKILL",
    "aborted": "SIGABRT",
    "abort": "SIGABRT",
    "abort trap": "SIGABRT",
    "floating point exception": "SIGFPE",
    "illegal instruction": "SIGILL",
    "illegal hardware instruction": "SIGILL",
    "terminated": "SIGTERM",
    "interrupt": "SIGINT",
    "broken pipe": "SIGPIPE",
    "bad system call": "SIGSYS",
    "trace/breakpoint trap": "SIGTRAP",
}
"""What strsignal(3) and shells call signals, in lower case."""
DESCRIPTIONS = {name: words for words, name in reversed(WORDS.items())}
"""The other way round, by the first of its names."""
SHELL = 128
"""A shell adds this to the number of the signal that ended a command."""
_STATUS = re.compile(r"-?\d{1,10}|0[xX][0-9a-fA-F]{8}")


def is_status(text: str) -> bool:
    """Whether a word is an exit status."""
    return _STATUS.fullmatch(text) is not None


def signal_of(status: int) -> str:
    """The signal that an exit status tells of; empty if it is a program's own exit code, or none that is known."""
    if status & 0xFFFFFFFF in WINDOWS:
        return WINDOWS[status & 0xFFFFFFFF]
    number = abs(status)
    if number > SHELL:
        return NUMBERS.get(number - SHELL, "")
    return NUMBERS.get(number, "") if status < 0 else ""


def signal_in(text: str) -> str:
    """The signal that a word names: a status, ``SIGSEGV``, ``segv`` or ``Segmentation fault``; else empty."""
    if is_status(text):
        return signal_of(int(text, 0 if text[:2].lower() == "0x" else 10))
    name = text.upper() if text.upper().startswith("SIG") else f"SIG{text.upper()}"
    return name if name in NUMBERS.values() else WORDS.get(text.lower(), "")


def described(signal: str) -> str:
    """``SIGSEGV (segmentation fault)``."""
    return f"{signal} ({DESCRIPTIONS[signal]})" if signal in DESCRIPTIONS else signal
