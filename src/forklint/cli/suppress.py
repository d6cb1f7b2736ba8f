"""``--add-noqa``: comments for all current findings, so that only new ones are reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import FileReport
from forklint.parallel import Job
from forklint.report import count
from forklint.suppressing import suppress


def add_noqa(
    job: Job, files: Sequence[Path], reports: Sequence[FileReport], reason: str
) -> tuple[list[FileReport], str]:
    """Add a comment for each finding; returns the reports with the remaining findings, and a summary line."""
    linters, words = job.linters(), " ".join(reason.split())
    done = [
        suppress(linters.of(path), path, report, words) if report.findings else None
        for path, report in zip(files, reports, strict=True)
    ]
    left = [one.report if one else report for one, report in zip(done, reports, strict=True)]
    silenced = sum(one.silenced for one in done if one)
    mended = sum(one.mended for one in done if one)
    tail = f", {count(mended, 'unused comment')} corrected" if mended else ""
    return left, f"Added comments for {count(silenced, 'finding')}{tail}."
