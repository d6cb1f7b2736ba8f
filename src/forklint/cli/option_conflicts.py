"""Options that cannot be combined."""

from __future__ import annotations

from typing import Any

from forklint.cli.errors import Failure
from forklint.report.formats import FORMATS

APART = (
    ("--watch", ("fix", "diff", "add_noqa", "update_baseline", "show_files", "stdin"), "--watch only reports findings"),
    ("--add-noqa", ("fix", "diff", "statistics", "stdin"), "fix first, then add comments for what remains"),
    ("--only-confirmed", ("fix", "diff", "add_noqa", "update_baseline", "stdin"), "--only-confirmed filters a report"),
    ("--update-baseline", ("diff", "add_noqa", "stdin"), "the baseline records findings of the files on disk"),
)
"""An option, the options it cannot be combined with, and why."""


def check_together(options: dict[str, Any], *, from_stdin: bool) -> None:
    """Raise Failure for options that cannot be combined."""
    _check_report(options)
    given = {name for name, value in options.items() if value not in (None, False, ())}
    given |= {"stdin"} if from_stdin else set()
    for name, others, why in APART:
        if name.lstrip("-").replace("-", "_") not in given:
            continue
        for other in others:
            if other in given:
                word = "`-`" if other == "stdin" else f"--{other.replace('_', '-')}"
                raise Failure(f"{name} cannot be used with {word}: {why}")


def _check_report(options: dict[str, Any]) -> None:
    form = options["output_format"]
    if options["statistics"] and FORMATS[form].statistics is None:
        able = ", ".join(other for other, one in FORMATS.items() if one.statistics)
        raise Failure(f"--statistics cannot be used with --output-format {form}: choose one of {able}")
    if options["output_file"]:
        for other in ("diff", "show_settings", "show_files"):
            if options[other]:
                raise Failure(f"--output-file cannot be used with --{other.replace('_', '-')}, which prints no report")
