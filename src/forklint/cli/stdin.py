"""Standard input: linted as the content of a file that need not exist, and printed with its fixes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.cli.errors import Failure
from forklint.model import FileReport
from forklint.records import dataclass
from forklint.source.paths import from_root, shown

if TYPE_CHECKING:
    from forklint.fixing import Fixed
    from forklint.parallel import Job

STDIN = Path("-")


@dataclass(frozen=True)
class Passed:
    """The report on standard input, and the text to print."""

    report: FileReport
    data: bytes
    """The fixed text, in its own encoding and with its own line endings; unchanged if nothing was fixed."""
    fixed: Fixed | None = None
    """What was fixed, with ``--fix`` or ``--diff``."""


def named(options: dict[str, Any]) -> Path | None:
    """The file name for standard input; None if files are linted; raises Failure for options that contradict."""
    paths: Sequence[Path] = options["paths"]
    name: Path | None = options["stdin_filename"]
    if STDIN not in paths and not (name and not paths):
        if name:
            raise Failure(f"--stdin-filename cannot be used with files: pass `-` instead of {paths[0]}")
        return None
    if any(path != STDIN for path in paths):
        raise Failure("`-` (standard input) cannot be combined with other paths; for a file named `-`, write ./-")
    if name and name.is_dir():
        raise Failure(f"--stdin-filename {name}: this is a directory; name a file, which need not exist")
    return name or STDIN


def read() -> bytes:
    """All of standard input; raises Failure if it is closed."""
    if sys.stdin is None:
        raise Failure("standard input is closed: pipe code into forklint, or name files")
    return sys.stdin.buffer.read()


def lint(job: Job, name: Path, data: bytes, *, fix: bool, unsafe: bool) -> Passed:
    """Lint the text as the content of ``name``, and fix it with ``fix``; writes no file; raises ConfigError."""
    if not fix and job.clears(name, data):
        return Passed(FileReport(shown(name)), data)
    linter = job.linters().of(name)
    if not fix:
        return Passed(linter.lint_bytes(name, data), data)
    from forklint.fixing import fix as fix_file  # noqa: PLC0415

    fixed = fix_file(linter, name, unsafe=unsafe, write=False, data=data)
    return Passed(fixed.report, linter.project.data(from_root(name)) if fixed.changed else data, fixed)
