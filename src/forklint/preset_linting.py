"""From a settings file to its findings: screening, parsing, and running the rules that check settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from forklint.model import FileReport, Finding, Note
from forklint.project.answers import Cuts
from forklint.project.index import Project
from forklint.project.module import linked
from forklint.records import dataclass
from forklint.rules import registry
from forklint.rules.base import PresetSuspect, Rule
from forklint.rules.unused_suppression import UnusedSuppression
from forklint.source import document, presets, suppressions
from forklint.source.comments import uncommented
from forklint.source.document import UnreadableError
from forklint.source.paths import from_root, relative_to, shown
from forklint.source.presets import Preset, PresetError

LARGEST_CHECKED = 100_000
"""Bytes of the largest file that is read for no more than to say whether it can be; YAML takes a second for so many."""
MOST_MENDED = 50
"""Findings of a file for which fixes are made; each costs a reading of the file, and people do not write as many."""
TOO_LARGE = "it is too large for a settings file"


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
        size = self.project.size(from_root(path))
        return _skipped(path, TOO_LARGE) if size > presets.LARGEST[presets.format_of(path)] else None

    def lint(self, path: Path, data: bytes) -> FileReport:
        """Lint one file as ``data`` has it."""
        absolute = from_root(path)
        if len(data) > presets.LARGEST[presets.format_of(path)]:
            return _skipped(path, TOO_LARGE)
        if self.is_idle(path, data):
            return FileReport(shown(path))
        try:
            preset = presets.read(document.decode(absolute, data))
        except (UnreadableError, PresetError) as error:
            return _skipped(path, str(error))
        return self._ask(path, preset, self._wanted(path, data))

    def is_idle(self, path: Path, data: bytes) -> bool:
        """Screen: whether nothing can be said of a file, so that it need not be read as settings."""
        is_checked = shown(path) in self.named and len(data) <= LARGEST_CHECKED
        return not is_checked and not self._wanted(path, data) and not self._may_hold_comment(path, data)

    def _wanted(self, path: Path, data: bytes) -> list[Rule]:
        """The rules that may find something in a file."""
        return [rule for rule in self.rules if not self.screen or rule.may_hold_preset(from_root(path), data)]

    def _may_hold_comment(self, path: Path, data: bytes) -> bool:
        """Whether a comment for us may stand in a file, which then silences nothing."""
        is_asked = self.suppress and any(rule.code == UnusedSuppression.code for rule in self.rules)
        return is_asked and presets.format_of(path) != "json" and suppressions.may_be_in(data)

    def _ask(self, path: Path, preset: Preset, wanted: Sequence[Rule]) -> FileReport:
        found: list[tuple[Rule, PresetSuspect, Finding]] = []
        notes: list[Note] = []
        settings = self.project.settings
        ran = {rule.code for rule in self.rules if not settings.ignored_in(preset.path, rule.code, rule.name)}
        for rule in wanted:
            if rule.code not in ran:
                continue
            try:
                suspected, cuts = self._suspected(rule, path, preset)
                found += suspected
                notes += rule.stopped(shown(path), cuts)
            except Exception as error:  # noqa: BLE001 - a fault in one rule is said and costs that rule alone
                ran.discard(rule.code)
                notes.append(_fault(shown(path), rule, error))
        ran -= {note.stopped for note in notes}
        comments = preset.suppressions() if self.suppress else []
        rows, whole = suppressions.by_row(comments), suppressions.of_file(comments)
        kept = [item for item in found if not suppressions.silenced(item[2], rows, whole)]
        is_mended = self.with_fixes and len(kept) <= MOST_MENDED
        if self.with_fixes and not is_mended:
            notes.append(Note(shown(path), f"cannot be fixed: it has more than {MOST_MENDED} findings"))
        findings = {_fixed(item, preset, notes) if is_mended else item[2] for item in kept}
        if UnusedSuppression.code in ran:
            idle = UnusedSuppression.findings(preset.text, comments, ran, registry.names())
            where = relative_to(preset.path, self.project.root)
            findings |= {replace(one, path=shown(path), project_path=where) for one in idle}
        ordered = sorted(findings, key=lambda finding: finding.sort_key)
        return FileReport(shown(path), tuple(ordered), tuple(notes), len(found) - len(kept))

    def _suspected(
        self, rule: Rule, path: Path, preset: Preset
    ) -> tuple[list[tuple[Rule, PresetSuspect, Finding]], Cuts]:
        """What a rule finds in a file of settings, and what its budgets left unknown."""
        return self.project.questions.with_cuts(
            lambda: [(rule, one, self._finding(path, preset, rule, one)) for one in rule.preset_suspects(preset)]
        )

    def _finding(self, path: Path, preset: Preset, rule: Rule, suspect: PresetSuspect) -> Finding:
        return Finding(
            code=rule.code,
            name=rule.name,
            severity=rule.severity,
            path=shown(path),
            span=suspect.span,
            message=suspect.message,
            subject=suspect.subject,
            cells=suspect.cells,
            chain=tuple(map(linked, suspect.chain)),
            qualname=suspect.qualname,
            text=uncommented(preset.document.lines, suspect.span.row, lambda: preset.comments),
            project_path=relative_to(preset.path, self.project.root),
            comment_rows=(suspect.span.row, suspect.span.end_row),
            proof=suspect.proof,
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


def _fixed(item: tuple[Rule, PresetSuspect, Finding], preset: Preset, notes: list[Note]) -> Finding:
    """A finding with its fixes; without them, and with a note, if the rule fails."""
    rule, suspect, finding = item
    try:
        return replace(finding, fixes=tuple(rule.preset_fixes(suspect, preset)))
    except Exception as error:  # noqa: BLE001 - as where it was found
        notes.append(_fault(finding.path, rule, error))
        return finding


def _fault(path: str, rule: Rule, error: Exception) -> Note:
    return Note(path, f"{rule.code} failed: {type(error).__name__}: {error}; please report it", failure=True)
