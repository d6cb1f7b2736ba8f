"""``--add-noqa``: comments for all findings there are, so that only new ones are reported from then on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from forklint.cli.output import print_findings, print_notes
from forklint.model import FileReport
from forklint.parallel import Job
from forklint.report import count
from forklint.suppressing import suppress


def add_noqa(
    job: Job, files: Sequence[Path], reports: Sequence[FileReport], options: dict[str, Any]
) -> list[FileReport]:
    """Write a comment for each finding of these files, and print how many and what is left; gives what is left."""
    linters, reason = job.linters(), " ".join(options["add_noqa"].split())
    done = [
        suppress(linters.of(path), path, report, reason) if report.findings else None
        for path, report in zip(files, reports, strict=True)
    ]
    left = [one.report if one else report for one, report in zip(done, reports, strict=True)]
    print_notes(left, verbose=True)
    print_findings(left, options)
    if not options["quiet"] and options["output_format"] != "json":
        silenced = sum(one.silenced for one in done if one)
        mended = sum(one.mended for one in done if one)
        tail = f", {count(mended, 'idle comment')} mended" if mended else ""
        click.echo(f"{count(silenced, 'finding')} silenced by comments{tail}")
    return left
