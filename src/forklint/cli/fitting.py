"""The findings of a project, for the commands that ask which of them fit a crash."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forklint.cli.files import find
from forklint.cli.output import print_notes
from forklint.cli.parameters import overrides
from forklint.model import Finding


def project_findings(paths: Sequence[Path], options: dict[str, Any]) -> tuple[list[Finding], bool]:
    """Lint the paths, the working directory by default; the findings, and whether all could be read.

    Raises ConfigError.
    """
    from forklint.parallel import Job, lint  # noqa: PLC0415 - `--help` needs none of it
    from forklint.report import all_findings  # noqa: PLC0415
    from forklint.source.paths import shown  # noqa: PLC0415

    paths = paths or (Path(),)
    job = Job(
        overrides=overrides(options),
        config=options["config_file"],
        isolated=options["isolated"],
        named=frozenset(map(shown, paths)),
        keeps=not options["no_cache"],
    )
    files, missing = find(job.finder, paths)
    reports = lint(job, files)
    print_notes(reports, job.named, verbose=False)
    failed = bool(missing) or any(note.failure for report in reports for note in report.notes)
    return all_findings(reports), not failed
