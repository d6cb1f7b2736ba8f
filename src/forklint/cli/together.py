"""Which options go together."""

from __future__ import annotations

from typing import Any

from forklint.cli.ending import Failure
from forklint.report.formats import FORMATS

APART = (
    ("--watch", ("fix", "diff", "add_noqa", "update_baseline", "show_files", "stdin"), "a watch changes nothing"),
    ("--add-noqa", ("fix", "diff", "statistics", "stdin"), "it writes comments for what is left after fixing"),
    ("--only-confirmed", ("fix", "diff", "add_noqa", "update_baseline", "stdin"), "it leaves findings out of a report"),
    ("--update-baseline", ("diff", "add_noqa", "stdin"), "it keeps what is found in files as they are"),
)
"""Options that others make no sense beside: name, the others, and why."""


def check_together(options: dict[str, Any], *, from_stdin: bool) -> None:
    """Raise Failure for options that do not go together."""
    _check_report(options)
    given = {name for name, value in options.items() if value not in (None, False, ())}
    given |= {"stdin"} if from_stdin else set()
    for name, others, why in APART:
        if name.lstrip("-").replace("-", "_") not in given:
            continue
        for other in others:
            if other in given:
                word = "`-`" if other == "stdin" else f"--{other.replace('_', '-')}"
                raise Failure(f"{name} and {word} do not go together: {why}")


def _check_report(options: dict[str, Any]) -> None:
    form = options["output_format"]
    if options["statistics"] and FORMATS[form].statistics is None:
        able = ", ".join(other for other, one in FORMATS.items() if one.statistics)
        raise Failure(f"--statistics cannot be told as {form}: choose one of {able}")
    if options["output_file"]:
        for other in ("diff", "show_settings", "show_files"):
            if options[other]:
                raise Failure(f"--output-file takes a report, and --{other.replace('_', '-')} prints none: drop one")
