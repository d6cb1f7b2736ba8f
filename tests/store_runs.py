"""Stores as several runs have them: each a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from forklint.store.database import Store

TABLES = ("summaries", "words")
BEGIN = """
import os, signal, sys, time
from pathlib import Path
from forklint.store.database import Store, StoreError
file, told = Path(sys.argv[1]), []
store = Store.open(file, ("summaries", "words"), told.append)
"""


def nobody(line: str) -> None:
    """To be told nothing."""
    raise AssertionError(line)


def opened(file: Path | None, tell: Callable[[str], None] = nobody, **options: object) -> Store:
    """A store with the tables of these tests, of which nothing bad is to be told."""
    return Store.open(file, TABLES, tell, **options)  # type: ignore[arg-type]


def filled(file: Path) -> dict[str, bytes]:
    """Make a store with rows of many lengths; give those of the table ``summaries``."""
    rows = {f"key {number}": bytes([number]) * number**2 for number in range(100)}
    with opened(file) as store, store.transaction() as transaction:
        transaction.put_many("summaries", rows)
        transaction.put_many("words", {f"word {number}": b"%d" % number for number in range(400)})
    return rows


def started(
    file: Path, code: str, *arguments: object, before: tuple[str, ...] = (), **options: object
) -> subprocess.Popen[str]:
    """Another run that has opened the store of ``file``; ``before``: a command that runs it."""
    command = [*before, sys.executable, "-c", BEGIN + code, str(file), *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen(command, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, **pipes)  # type: ignore[call-overload]


def ran(file: Path, code: str, *arguments: object, **options: object) -> str:
    """What another run prints, which must not fail."""
    process = started(file, code, *arguments, **options)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, ""), errors
    return output
