"""Text from standard input: linted as the content of a file that need not exist, and fixed on its way through."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.cli.ending import Failure
from forklint.model import FileReport
from forklint.records import dataclass
from forklint.source.paths import from_root, shown

if TYPE_CHECKING:
    from forklint.fixing import Fixed
    from forklint.parallel import Job

STDIN = Path("-")


@dataclass(frozen=True)
class Passed:
    """What came in, what became of it, and what goes out."""

    report: FileReport
    data: bytes
    """The text as fixed, in its own encoding and line ends; what came in, if nothing was fixed."""
    fixed: Fixed | None = None
    """What was fixed, if it was to be."""


def named(options: dict[str, Any]) -> Path | None:
    """The name of the text on standard input, if that is what to lint; raises Failure if it cannot be that."""
    paths: Sequence[Path] = options["paths"]
    name: Path | None = options["stdin_filename"]
    if STDIN not in paths and not (name and not paths):
        if name:
            raise Failure(f"--stdin-filename names the text of `-`: pass `-` in place of {paths[0]}")
        return None
    if any(path != STDIN for path in paths):
        raise Failure("`-` is standard input and stands alone: pass no other path beside it (a file `-` is ./-)")
    if name and name.is_dir():
        raise Failure(f"--stdin-filename {name}: it is a folder; name a file, which need not exist")
    return name or STDIN


def read() -> bytes:
    """All of standard input; raises Failure if it is closed."""
    if sys.stdin is None:
        raise Failure("standard input is closed: pass the text to lint, or name files")
    return sys.stdin.buffer.read()


def lint(job: Job, name: Path, data: bytes, *, fix: bool, unsafe: bool) -> Passed:
    """Lint the text as the content of ``name``, and fix it if asked; writes nothing; raises ConfigError."""
    if not fix and job.clears(name, data):
        return Passed(FileReport(shown(name)), data)
    linter = job.linters().of(name)
    if not fix:
        return Passed(linter.lint_bytes(name, data), data)
    from forklint.fixing import fix as fix_file  # noqa: PLC0415

    fixed = fix_file(linter, name, unsafe=unsafe, write=False, data=data)
    return Passed(fixed.report, linter.project.data(from_root(name)) if fixed.changed else data, fixed)
