"""``forklint verify`` for one finding, as a process of its own, when the user asks for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import dataclass
from pathlib import Path

from forklint.server.diagnostics import Verified

PATIENCE = 15.0
"""Seconds for what runs to end by itself and clear away what it made."""
LONGEST = 300
"""Characters of a line that the user is shown."""


class VerifyError(Exception):
    """A finding that could not be verified; the message is one line for the user."""


@dataclass(frozen=True)
class Target:
    """The finding to verify."""

    path: Path
    line: int
    code: str
    fingerprint: str


def command(target: Target, interpreter: str, configuration: Path | None) -> list[str]:
    """The command that verifies a finding."""
    words = [sys.executable, "-m", "forklint", "verify", str(target.path), "--output-format", "json", "--quiet"]
    words += ["--suspect", f"{target.path}:{target.line}:{target.code}"]
    words += ["--python", interpreter] if interpreter else []
    return [*words, "--config", str(configuration)] if configuration else words


async def verify(target: Target, interpreter: str, configuration: Path | None, folder: Path) -> Verified:
    """Run the command in a folder; raises VerifyError. If it is cancelled, what runs is ended first."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command(target, interpreter, configuration), cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
    except OSError as error:
        raise VerifyError(f"forklint verify cannot be started: {error.strerror or error}") from None
    try:
        output, errors = await process.communicate()
    except asyncio.CancelledError:
        await _end(process)
        raise
    return read(target, output, errors)


async def _end(process: Process) -> None:
    """Interrupt a process, as Ctrl-C does, and end it if it takes too long."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        try:
            await asyncio.wait_for(process.communicate(), PATIENCE)
        except (TimeoutError, asyncio.TimeoutError):
            process.kill()
            await process.wait()


def read(target: Target, output: bytes, errors: bytes) -> Verified:
    """What the command said; raises VerifyError."""
    try:
        data = json.loads(output)
        experiments = data["experiments"]
        same = [one for one in experiments if one["finding"]["fingerprint"] == target.fingerprint]
        chosen = (same or [one for one in experiments if one["finding"]["code"] == target.code])[0]
        evidence = " ".join(part for part in (chosen["evidence"], chosen.get("advice")) if part)
        return Verified(str(chosen["verdict"]), evidence)
    except (ValueError, LookupError, TypeError):
        lines = errors.decode(errors="replace").strip().splitlines() or ["forklint verify said nothing"]
        raise VerifyError(lines[-1].removeprefix("Error: ")[:LONGEST]) from None
