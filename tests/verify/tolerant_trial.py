"""One tolerant trial of a small program, run as verify runs it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forklint.verify.runner import Runner
from forklint.verify.words import Factors, Observation, Subject, Trial


def run(
    folder: Path,
    text: str,
    *command: str,
    name: str = "program.py",
    task: str = "",
    start_method: str | None = None,
    reach: str | None = None,
    **facts: Any,
) -> Observation:
    """Write a program, run it in its tolerant form, and give what was seen.

    With ``reach`` it is not run: the function or class of that name is called.
    """
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    words = ("--reach",) if reach else command or (str(folder / name),)
    subject = Subject("entry", ("-m", "forklint_harness.tolerance", *words), folder)
    spec: dict[str, Any] = {"tolerance": {"roots": [str(folder)], **facts}}
    if reach:
        spec["reach"] = {"file": str(folder / name), "qualname": reach}
    with Runner(Path(sys.executable)) as runner:
        return runner.run(Trial("tolerant", subject, task, spec, Factors(start_method), seconds=60))


def stood_in(seen: Observation) -> dict[str, list[str]]:
    """What was stood in and refused, by kind."""
    found: dict[str, list[str]] = {}
    for record in seen.of("stood-in"):
        found.setdefault(record["of"], []).append(record["what"])
    return found


def raised(seen: Observation) -> Mapping[str, Any] | None:
    """With which error the program ended; None if it came to its end."""
    return next(iter(seen.of("program-raised")), None)
