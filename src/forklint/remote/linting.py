"""The process behind ``lint_process``: reads a directory to lint from each line, and answers with a line of JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forklint.config import ConfigError, SettingsFinder
from forklint.model import Finding
from forklint.parallel import Job, lint
from forklint.report import all_findings
from forklint.report.json import to_dict
from forklint.source.discovery import Missing, find_files
from forklint.source.paths import relative_to


def findings(folder: Path, cache: Path, overrides: dict[str, Any], *, isolated: bool) -> dict[str, Any]:
    """The findings of a directory as in JSON reports, with paths relative to it; raises ConfigError."""
    os.chdir(folder)
    job = Job(overrides={**overrides, "cache_dir": str(cache)}, config=None, isolated=isolated, keeps=True)
    finder = SettingsFinder(job.overrides, isolated=isolated)
    found = list(find_files([Path()], lambda path: finder.for_file(path).excludes(path), lambda _: False))
    files = [path for path in found if not isinstance(path, Missing)]
    reports = lint(job, files, 1)
    rows = [_row(finding, folder) for finding in all_findings(reports)]
    failures = [f"{note.path}: {note.message}" for report in reports for note in report.notes if note.failure]
    return {"findings": rows, "files": len(files), "failures": failures}


def _row(finding: Finding, folder: Path) -> dict[str, Any]:
    """A finding as in JSON reports; all its paths are relative, as each worker has the directory somewhere else."""
    row = to_dict(finding)
    for place in (row, *row["chain"]):
        place["filename"] = relative_to(Path(place["filename"]), folder)
    return row


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """The reply to one line."""
    words: Sequence[str] = order["options"]
    given = {name: text.split(",") for name, _, text in (word.partition("=") for word in words) if text}
    try:
        return findings(Path(order["folder"]), Path(order["cache"]), given, isolated="isolated" in words)
    except ConfigError as error:
        return {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - the next repository may be in order
        return {"error": f"internal error ({type(error).__name__}: {error})"}


def main() -> None:
    """Answer until standard input ends."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
