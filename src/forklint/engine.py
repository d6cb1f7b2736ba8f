"""From files to findings: screening, parsing, running the rules, suppressing, and computing fixes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from forklint import skipped
from forklint.model import PLATFORMS, FileReport, Finding, Note, Severity, Span
from forklint.prefilter import Passed, Screen
from forklint.project.answers import Cuts, Rests
from forklint.project.budget import room_for_questions
from forklint.project.changes import UNPARSABLE
from forklint.project.index import Project
from forklint.project.module import Module, linked
from forklint.project.modules import REPORT
from forklint.project.places import with_places
from forklint.records import dataclass
from forklint.rules import registry
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Card
from forklint.rules.syntax_error import SyntaxFault
from forklint.rules.unused_suppression import UnusedSuppression
from forklint.source import document, suppressions
from forklint.source.comments import uncommented
from forklint.source.document import BrokenError, Document, UnreadableError
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root, relative_to, shown

if TYPE_CHECKING:
    from forklint.preset_linting import PresetLinter
    from forklint.source.notebook import Notebook


@dataclass(frozen=True)
class Options:
    """How to lint, apart from the settings."""

    screen: bool = True
    with_fixes: bool = True
    suppress: bool = True
    """Whether comments silence findings."""
    named: frozenset[str] = frozenset()
    """Paths that the user gave, as shown."""
    left_to_others: frozenset[str] = frozenset()
    """Codes of what is found by whoever asks, such as flake8: nothing is looked for on their behalf."""
    confirmed: bool = True
    """Whether LibCST is asked to parse a file as well: before a finding in it is reported, and before it is called
    faulty. That is the larger part of linting a file again; an editor does it when the user pauses."""


class Linter:
    """Lints the files of one project under one set of settings."""

    def __init__(self, project: Project, options: Options) -> None:
        self.project = project
        self.settings = project.settings
        self.options = options
        enabled = self.settings.enabled(registry.codes()) - options.left_to_others
        self._enabled = enabled
        self._cards = tuple(card for card in registry.cards(self.settings) if card.code in enabled)
        self._loaded: dict[str, Rule] = {}
        self._screen = Screen(project.resolver)
        self._screened: dict[str, bool] = {}
        self._passed = Passed()
        project.look_for(word for card in self._cards for word in card.needs.words)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules that are to be asked, by code."""
        return tuple(map(self._rule, self._cards))

    def _rule(self, card: Card) -> Rule:
        if card.code not in self._loaded:
            self._loaded[card.code] = registry.load(card)(self.project)
        return self._loaded[card.code]

    @cached_property
    def presets(self) -> PresetLinter:
        """What lints the files of settings."""
        from forklint.preset_linting import PresetLinter  # noqa: PLC0415 - not needed where none is linted

        options = self.options
        return PresetLinter(
            self.project, self.rules, options.screen, options.with_fixes, options.suppress, options.named
        )

    def lint(self, path: Path) -> FileReport:
        """Lint one file as it is on the disk."""
        return self.watched(path)[0]

    def watched(self, path: Path) -> tuple[FileReport, Rests]:
        """Lint one file as it is on the disk; give what the report rests on, too."""
        return self.project.questions.watched(lambda: self._lint(path))

    def watched_bytes(self, path: Path, data: bytes) -> tuple[FileReport, Rests]:
        """The same for one file as ``data`` has it."""
        return self.project.questions.watched(lambda: self.lint_bytes(path, data))

    def relint(self, path: Path) -> FileReport:
        """The report of a file of the project as it is now, made anew only if something that it rests on changed."""
        project = self.project
        report = project.answer(REPORT, (path, self.options), lambda: self.lint_bytes(path, project.bytes_of(path)))
        return with_places(report, self._module_at)

    def lint_unparsed(self, path: Path, data: bytes) -> FileReport:
        """The report of a text that cannot be parsed; the project goes on with the text that it has."""
        try:
            doc = document.decode(from_root(path), data)
        except UnreadableError as error:
            return skipped.unreadable(path, error)
        try:
            document.parse(doc)
        except UNPARSABLE as error:
            return self._refused(path, doc, error)
        raise ValueError("it can be parsed")

    def _module_at(self, path: str) -> Module | None:
        return self.project.module(Path(path))

    def _lint(self, path: Path) -> FileReport:
        if kind_of(path) is Kind.PRESET and (passed_over := self.presets.passed_over(path)) is not None:
            return passed_over
        try:
            data = document.read(path)
        except UnreadableError as error:
            return FileReport(shown(path), notes=(Note(shown(path), f"cannot be read: {error}", failure=True),))
        if kind_of(path) is Kind.PRESET and self.presets.is_idle(path, data):
            self.project.has_seen(from_root(path), data)  # it need not be kept: there may be thousands with data
            return FileReport(shown(path))
        self.project.has_read(from_root(path), data)
        return self.lint_bytes(path, data)

    def lint_bytes(self, path: Path, data: bytes) -> FileReport:
        """Lint one file as ``data`` has it; the rest of the project sees it that way from now on."""
        if kind_of(path) is Kind.FOREIGN:
            note = Note(shown(path), "skipped: not a Python file, a notebook or a settings file", only_if_named=True)
            return FileReport(shown(path), notes=(note,))
        self._screen, self._screened = Screen(self.project.resolver), {}  # of one file, and the project as it is now
        absolute = from_root(path)
        if self.project.bytes_of(absolute) != data:
            self.project.replace(absolute, data)
        if kind_of(path) is Kind.PRESET:
            self.project.data(absolute)
            return self.presets.lint(path, data)
        report = self._lint_python(path, absolute, data)
        if report.is_silent and kind_of(path) is Kind.PYTHON:
            self.project.note_code(absolute)
        else:
            self.project.data(absolute)
        return report

    def _lint_python(self, path: Path, absolute: Path, data: bytes) -> FileReport:
        """Lint a file of Python or a notebook."""
        if kind_of(path) is Kind.PYTHON and self._is_idle(absolute, data):
            return FileReport(shown(path))
        try:
            module = self.project.load(absolute)
        except BrokenError as error:
            return self._broken(path, data, error)
        except UnreadableError as error:
            return skipped.unreadable(path, error)
        except UNPARSABLE as error:
            return self._refused(path, document.decode(absolute, data), error)
        report = self._lint_notebook(path, module) if module.is_notebook else self.lint_module(path, module)
        self.project.trim()
        return report

    def _lint_notebook(self, path: Path, module: Module) -> FileReport:
        from forklint.project.guest import GuestProject  # noqa: PLC0415 - most projects have no notebook

        guest = GuestProject(self.project, module)
        report, rests = guest.questions.watched(lambda: Linter(guest, self.options).lint_module(path, module))
        self.project.questions.note_all(rests)
        return report

    def _is_idle(self, path: Path, data: bytes) -> bool:
        """Screen: whether nothing can be said of a file of Python, so that no tree of it is needed."""
        if not self.options.screen or self.project.is_loaded(path):
            return False
        if UnusedSuppression.code in self._enabled and self._may_name_rules(data):
            return False
        try:
            is_wanted = any(self._may_hold(card, path, data) for card in self._cards)
        except Exception:  # noqa: BLE001 - it is told of where the rule is asked
            return False
        return not is_wanted and (SyntaxFault.code in self.options.left_to_others or self.project.surely_parses(path))

    def _may_hold(self, card: Card, path: Path, data: bytes) -> bool:
        """What is said of the file at hand by what a rule needs, and by its own screen, asked once."""
        known = self._screened.get(card.code)
        if known is None:
            ask = lambda: self._rule(card).may_hold(path, data)  # noqa: E731 - it is short
            known = self._screen.may_want(card, path, data) and self._passed.holds(
                card.code, path, ask, is_loaded=self.project.is_loaded(path)
            )
            self._screened[card.code] = known
        return known

    def _may_name_rules(self, data: bytes) -> bool:
        """Whether a comment that names a rule of ours may stand in a text: if it silences nothing, that is said."""
        return self.options.suppress and suppressions.may_name(data, registry.spelt_names())

    def lint_module(self, path: Path, module: Module) -> FileReport:
        """Ask every rule about a module of the project."""
        found, notes, ran = self._asked(path, module)
        data = module.source.code
        is_asked = found or module.is_notebook or self._may_name_rules(data)
        comments = self._comments(module.source) if is_asked else []
        rows = suppressions.by_row(comments)
        kept = [item for item in found if not suppressions.silenced(item[2], rows, suppressions.of_file(comments))]
        findings = [finding for _, _, finding in kept]
        if kept and (self.options.with_fixes or self.options.confirmed):
            from forklint.proposing import with_fixes  # noqa: PLC0415 - a file without findings needs no edits

            findings, faults = with_fixes(kept, module, proposes=self.options.with_fixes)
            notes += [Note(shown(path), text, failure=is_fault) for text, is_fault in faults]
        notebook = module.source.notebook
        answers = list(self._faulty_cells(path, notebook, suppressions.of_file(comments))) if notebook else []
        if UnusedSuppression.code in ran:
            idle = UnusedSuppression.findings(module.source.text, comments, ran, registry.names())
            where = relative_to(module.path, self.project.root)
            findings += [replace(one, path=shown(path), project_path=where) for one in idle]
        if notebook is not None:
            findings = [notebook.localized(finding, str(module.path)) for finding in findings]
            findings += [answer for answer in answers if isinstance(answer, Finding)]
            notes += [answer for answer in answers if isinstance(answer, Note)]
            notes += [Note(shown(path), words) for words in notebook.notes]
        findings = sorted(set(findings), key=lambda finding: finding.sort_key)
        return FileReport(shown(path), tuple(findings), tuple(notes), len(found) - len(kept), bool(kept))

    def _asked(self, path: Path, module: Module) -> tuple[list[tuple[Rule, Suspect, Finding]], list[Note], set[str]]:
        """What the rules find in a module, notes on those that were stopped, and the codes of the others."""
        found: list[tuple[Rule, Suspect, Finding]] = []
        notes: list[Note] = []
        too_deep: list[str] = []
        ran = {card.code for card in self._cards if not self.settings.ignored_in(module.path, card.code, card.name)}
        for card in self._cards:
            if card.code not in ran:
                continue
            try:
                if not self.options.screen or self._may_hold(card, module.path, module.source.code):
                    rule = self._rule(card)
                    with room_for_questions():
                        suspected, cuts = self._suspected(rule, path, module)
                    found += suspected
                    notes += rule.stopped(shown(path), cuts)
            except RecursionError:
                ran.discard(card.code)
                too_deep.append(card.code)
            except Exception as error:  # noqa: BLE001 - a fault in one rule is said and costs that rule alone
                ran.discard(card.code)
                what = f"{card.code} failed: {type(error).__name__}: {error}; please report it"
                notes.append(Note(shown(path), what, failure=True))
        notes += skipped.too_deep(path, too_deep)
        ran -= {note.stopped for note in notes}
        return found, notes, ran

    def _suspected(self, rule: Rule, path: Path, module: Module) -> tuple[list[tuple[Rule, Suspect, Finding]], Cuts]:
        """What a rule finds in a module, and what its budgets left unknown."""
        return self.project.questions.with_cuts(
            lambda: [(rule, one, self._finding(path, module, rule, one)) for one in rule.suspects(module)]
        )

    def _finding(self, path: Path, module: Module, rule: Rule, suspect: Suspect) -> Finding:
        statement = module.statement_of(suspect.node)
        span = module.span(suspect.node)
        return Finding(
            code=rule.code,
            name=rule.name,
            severity=self._severity(rule, suspect),
            path=shown(path),
            span=span,
            message=suspect.message,
            subject=suspect.subject,
            cells=suspect.cells,
            chain=tuple(map(linked, suspect.chain)),
            qualname=module.qualname_at(suspect.node),
            text=uncommented(module.document.lines, span.row, lambda: module.document.comments),
            project_path=relative_to(module.path, self.project.root),
            comment_rows=module.header_rows(statement),
            proof=rule.proof(suspect, module),
        )

    def _severity(self, rule: Rule, suspect: Suspect) -> Severity:
        """Info for what bites only on platforms of which the project shows no sign, unless they were named."""
        severity = suspect.severity or rule.severity
        if (
            self.settings.platforms != PLATFORMS
            or not suspect.cells
            or severity is Severity.INFO
            or rule.shows_platform
        ):
            return severity
        from forklint.machines.signs import shows_platform  # noqa: PLC0415 - not without a finding

        return severity if shows_platform(self.project, suspect.cells) else Severity.INFO

    def _refused(self, path: Path, doc: Document, error: Exception) -> FileReport:
        """Answer for a file that ``ast`` refuses: FKL002 only if LibCST refuses it as well, or was not asked."""
        excuse = skipped.excuse(doc.text, error) if self.options.confirmed else ""
        if excuse:
            return FileReport(shown(path), notes=(Note(shown(path), f"skipped: {excuse}"),), parsed=True)
        of_file = suppressions.of_file(self._comments(doc))
        found = (self._syntax_fault(path, doc.lines, error),) if self._is_fault(error, of_file) else ()
        if self.options.confirmed:
            return FileReport(shown(path), found, parsed=bool(found))
        return skipped.unconfirmed(path, found)

    def _is_fault(self, error: Exception, of_file: list[suppressions.Suppression]) -> TypeGuard[SyntaxError]:
        """Whether an error of ``ast`` is to be reported."""
        silent = any(one.silences(SyntaxFault.code, SyntaxFault.name) for one in of_file)
        return isinstance(error, SyntaxError) and SyntaxFault.code in self._enabled and not silent

    def _faulty_cells(
        self, path: Path, notebook: Notebook, of_file: list[suppressions.Suppression]
    ) -> Iterator[Finding | Note]:
        """Give FKL002 for each cell that both parsers refuse, a note for others; the rest is linted all the same."""
        for fault in notebook.faults:
            excuse = skipped.excuse(fault.source, fault.error)
            if excuse:
                yield Note(shown(path), f"cell {fault.number} was skipped: {excuse}")
            elif self._is_fault(fault.error, of_file):
                finding = self._syntax_fault(path, fault.source.split("\n"), fault.error)
                yield replace(finding, notebook_cell=fault.number)

    def _syntax_fault(self, path: Path, lines: list[str], error: SyntaxError) -> Finding:
        row, column = error.lineno or 1, max(error.offset or 1, 1)
        row = min(row, len(lines))
        return self._plain_finding(SyntaxFault, path, Span(row, column, row, column + 1), error.msg, lines[row - 1])

    def _broken(self, path: Path, data: bytes, error: BrokenError) -> FileReport:
        """Answer for a notebook that is not JSON, say one with the marks of a merge in it."""
        if SyntaxFault.code not in self._enabled:
            return FileReport(shown(path))
        span = Span(error.row, error.column, error.row, error.column + 1)
        line = data.decode(errors="replace").split("\n")[error.row - 1].strip()
        return FileReport(shown(path), (self._plain_finding(SyntaxFault, path, span, str(error), line),))

    def _comments(self, doc: Document) -> list[suppressions.Suppression]:
        speaks = self.options.suppress and suppressions.may_be_in(doc.code)
        return suppressions.find(doc.text) if speaks else []

    def _plain_finding(self, rule: type[Rule], path: Path, span: Span, message: str, text: str) -> Finding:
        """Make a finding that speaks of the text, not of a process start: no cells, no chain."""
        return Finding(
            code=rule.code,
            name=rule.name,
            severity=rule.severity,
            path=shown(path),
            span=span,
            message=message,
            text=text,
            project_path=relative_to(from_root(path), self.project.root),
            comment_rows=(span.row, span.row),
        )
