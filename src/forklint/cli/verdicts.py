"""Verdicts saved by ``forklint verify --save-verdicts``: shown by lint, and used by ``--only-confirmed``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.cli.errors import Failure
from forklint.config import SettingsFinder
from forklint.model import FileReport
from forklint.report import count
from forklint.source.paths import from_root
from forklint.source.roots import Roots

if TYPE_CHECKING:
    from forklint.model import Finding
    from forklint.saved_verdicts import Matcher, Shown

NAME = "forklint-verdicts.json"
"""As in saved_verdicts, which most runs need not import."""


def file_for(path: Path, finder: SettingsFinder, roots: Roots) -> Path:
    """Where verdicts on a file are saved: next to the baseline if there is one above it, else in the project's root."""
    baseline = finder.for_file(path).baseline_file
    is_above = baseline is not None and from_root(path).is_relative_to(baseline.parent)
    return (baseline.parent if baseline and is_above else roots.of(from_root(path)).root) / NAME


class SavedVerdicts:
    """The saved verdicts on the findings of a run."""

    def __init__(self, finder: SettingsFinder) -> None:
        self._finder = finder
        self._roots = Roots()
        self._matchers: dict[Path, Matcher | None] = {}

    def of(self, reports: Sequence[FileReport]) -> dict[Finding, Shown]:
        """The verdict on each finding that has one; raises Failure for an invalid file."""
        found: dict[Finding, Shown] = {}
        for report in reports:
            if report.findings:
                path = Path(report.path)
                file = file_for(path, self._finder, self._roots)
                matcher = self._matcher(file)
                if matcher is not None:
                    found |= matcher.match(_relative(path, file.parent), report.findings)
        return found

    def _matcher(self, file: Path) -> Matcher | None:
        if file not in self._matchers:
            self._matchers[file] = _read(file) if file.exists() else None
        return self._matchers[file]


def _relative(path: Path, folder: Path) -> str:
    try:
        return from_root(path).resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return ""


def _read(file: Path) -> Matcher:
    from forklint import saved_verdicts  # noqa: PLC0415 - most runs have none

    try:
        return saved_verdicts.Matcher(file.parent, saved_verdicts.read(file))
    except saved_verdicts.VerdictsError as error:
        raise Failure(str(error)) from None


def only_confirmed(reports: Sequence[FileReport], verdicts: dict[Finding, Shown]) -> tuple[list[FileReport], str]:
    """The reports with only the findings that have an up-to-date verdict ``confirmed``, and a line about the others."""
    left, missing, stale, others = [], 0, 0, 0
    for report in reports:
        kept = []
        for finding in report.findings:
            shown = verdicts.get(finding)
            if shown is not None and shown.is_confirmed:
                kept.append(finding)
            missing += shown is None
            stale += shown is not None and bool(shown.stale)
            others += shown is not None and not shown.stale and not shown.is_confirmed
        left.append(replace(report, findings=tuple(kept)))
    parts = [(missing, "without a verdict"), (stale, "with an outdated verdict"), (others, "not confirmed")]
    words = ", ".join(f"{count(number, 'finding')} {what}" for number, what in parts if number)
    advice = ". Run `forklint verify --save-verdicts` to get verdicts" if missing or stale else ""
    return left, f"Not shown: {words}{advice}." if words else ""
