"""From a file of settings to its findings: screened by bytes, read once, asked by the rules that know presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forklint.model import FileReport, Finding, Note
from forklint.project.index import Project
from forklint.rules.base import PresetSuspect, Rule
from forklint.source import document, presets, suppressions
from forklint.source.document import UnreadableError
from forklint.source.paths import relative_to, shown
from forklint.source.presets import Preset, PresetError

LARGEST_CHECKED = 100_000
"""Bytes of the largest file that is read for no more than to say whether it can be; YAML takes a second for so many."""
TOO_LARGE = "it is larger than settings that people write"


@dataclass(frozen=True)
class PresetLinter:
    """Lints the files of settings of one project."""

    project: Project
    rules: Sequence[Rule]
    screen: bool = True
    with_fixes: bool = True
    suppress: bool = True
    named: frozenset[str] = frozenset()
    """Paths that the user gave, as shown."""

    def passed_over(self, path: Path) -> FileReport | None:
        """What is said of a file that is not read, since it is too large; None for any other."""
        try:
            size = path.stat().st_size
        except OSError:
            return None
        return _skipped(path, TOO_LARGE) if size > presets.LARGEST[presets.format_of(path)] else None

    def lint(self, path: Path, data: bytes) -> FileReport:
        """Lint one file as ``data`` has it."""
        absolute = path.absolute()
        if len(data) > presets.LARGEST[presets.format_of(path)]:
            return _skipped(path, TOO_LARGE)
        wanted = [rule for rule in self.rules if not self.screen or rule.may_hold_preset(absolute, data)]
        is_checked = shown(path) in self.named and len(data) <= LARGEST_CHECKED
        if not wanted and not is_checked:
            return FileReport(shown(path))
        try:
            preset = presets.read(document.decode(absolute, data))
        except (UnreadableError, PresetError) as error:
            return _skipped(path, str(error))
        return self._ask(path, preset, wanted)

    def _ask(self, path: Path, preset: Preset, wanted: Sequence[Rule]) -> FileReport:
        findings, notes = [], []
        for rule in wanted:
            if self.project.settings.ignored_in(preset.path, rule.code, rule.name):
                continue
            try:
                for suspect in rule.preset_suspects(preset):
                    finding = self._finding(path, preset, rule, suspect)
                    fixes = tuple(rule.preset_fixes(suspect, preset)) if self.with_fixes else ()
                    findings.append(replace(finding, fixes=fixes))
            except Exception as error:  # noqa: BLE001 - a fault in one rule is said and costs that rule alone
                what = f"{rule.code} failed: {type(error).__name__}: {error}; please report it"
                notes.append(Note(shown(path), what, failure=True))
        comments = preset.suppressions() if findings and self.suppress else []
        rows, whole = suppressions.by_row(comments), suppressions.of_file(comments)
        kept = {finding for finding in findings if not suppressions.silenced(finding, rows, whole)}
        ordered = sorted(kept, key=lambda finding: finding.sort_key)
        return FileReport(shown(path), tuple(ordered), tuple(notes), len(findings) - len(kept))

    def _finding(self, path: Path, preset: Preset, rule: Rule, suspect: PresetSuspect) -> Finding:
        return Finding(
            code=rule.code,
            name=rule.name,
            severity=rule.severity,
            path=shown(path),
            span=suspect.span,
            message=suspect.message,
            cells=suspect.cells,
            chain=suspect.chain,
            qualname=suspect.qualname,
            text=preset.line(suspect.span.row),
            project_path=relative_to(preset.path, self.project.root),
            comment_rows=(suspect.span.row, suspect.span.end_row),
        )

    def parses(self, path: Path) -> bool:
        """Whether a file, as the project has it, can be read as settings."""
        try:
            presets.read(document.decode(path, self.project.data(path)))
        except (UnreadableError, PresetError):
            return False
        return True


def _skipped(path: Path, reason: str) -> FileReport:
    """Say why a file is passed over, where it was named outright: in a folder most are not meant for us."""
    return FileReport(shown(path), notes=(Note(shown(path), f"skipped: {reason}", only_if_named=True),))
