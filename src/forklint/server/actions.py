"""Code actions: fixes, "ignore here", all safe fixes at once, and "verify this finding"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lsprotocol import types

from forklint.model import Applicability, Edit, Finding
from forklint.server.diagnostics import Result, can_be_silenced
from forklint.server.positions import holds, range_of
from forklint.server.texts import Snapshot
from forklint.source.document import Document
from forklint.source.lines import edits_between
from forklint.suppressing import NoPlaceError, with_comments

FIX_ALL = "source.fixAll.forklint"
VERIFY = "forklint.verify"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


def is_asked_for(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a client asks for actions of a kind; ``source.fixAll`` asks for ``source.fixAll.forklint`` as well."""
    return not only or any(kind == one or kind.startswith(f"{one}.") for one in only if one)


def workspace_edit(snapshot: Snapshot, edits: Iterable[Edit], encoding: str, *, versioned: bool) -> types.WorkspaceEdit:
    """Edits of a document, or of the cells that they name; raises LookupError for a cell that is not there."""
    by_uri: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        uri, lines = snapshot.place(edit.notebook_cell)
        by_uri.setdefault(uri, []).append(types.TextEdit(range_of(lines, edit.span, encoding), edit.content))
    if not versioned:
        return types.WorkspaceEdit(changes=dict(by_uri))
    version = snapshot.version if snapshot.notebook is None else None
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), list(some))
            for uri, some in by_uri.items()
        ]
    )


class Actions:
    """The actions for one version of a document."""

    def __init__(self, result: Result, encoding: str, *, versioned: bool) -> None:
        """``versioned``: whether the client takes edits of documents at a version."""
        self._result = result
        self._encoding = encoding
        self._versioned = versioned

    def at(
        self, uri: str, where: types.Range, document: Document | None, *, can_verify: bool
    ) -> Iterator[types.CodeAction]:
        """Give the actions for the findings in a range."""
        here = [(one, place) for one, of, place in self._result.ranges(self._encoding) if of == uri]
        for finding, place in here:
            if holds(place, where):
                diagnostic = types.Diagnostic(place, finding.message, code=finding.code, source="forklint")
                yield from self._fixes(finding, diagnostic)
                if document is not None and can_be_silenced(finding):
                    yield from self._ignore(finding, document, diagnostic)
                if can_verify and can_be_verified(finding):
                    title = f"Verify this finding by running it ({finding.code})"
                    command = verify_command(self._result.snapshot, finding)
                    yield types.CodeAction(title, types.CodeActionKind.QuickFix, command=command)

    def _fixes(self, finding: Finding, diagnostic: types.Diagnostic) -> Iterator[types.CodeAction]:
        for fix in finding.fixes:
            if not fix.edits or fix.applicability is Applicability.DISPLAY:
                continue
            is_safe = fix.applicability is Applicability.SAFE
            yield types.CodeAction(
                f"{finding.code}: {fix.message}{'' if is_safe else ' (unsafe fix)'}",
                types.CodeActionKind.QuickFix,
                [diagnostic],
                is_preferred=is_safe and fix is finding.fix,
                edit=self._edit(fix.edits),
            )

    def _ignore(self, finding: Finding, document: Document, diagnostic: types.Diagnostic) -> Iterator[types.CodeAction]:
        try:
            edit = self.change(document, with_comments(document, [finding], ""))
        except NoPlaceError:
            return
        title = f"{finding.code}: ignore here"
        yield types.CodeAction(title, types.CodeActionKind.QuickFix, [diagnostic], edit=edit)

    def fixed(self, document: Document, after: Document) -> types.WorkspaceEdit | None:
        """What makes of a document what it is after fixes."""
        if document.notebook is None or after.notebook is None:
            return self.change(document, after.text)
        pairs = zip(document.notebook.raws.values(), after.notebook.raws.values(), strict=False)
        edits = [
            replace(edit, notebook_cell=old.number)
            for old, new in pairs
            for edit in edits_between(old.source, new.source)
        ]
        return self._edit(edits)

    def change(self, document: Document, text: str) -> types.WorkspaceEdit | None:
        """What makes another text, or program of a notebook, of a document; None if the cells cannot take it."""
        if document.notebook is None:
            return self._edit(edits_between(document.text, text))
        edits = document.notebook.edits_to(text)
        return self._edit(edits) if edits is not None else None

    def _edit(self, edits: Sequence[Edit]) -> types.WorkspaceEdit:
        return workspace_edit(self._result.snapshot, edits, self._encoding, versioned=self._versioned)


def is_safe(finding: Finding) -> bool:
    """Whether a finding has a safe fix."""
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE


def can_be_verified(finding: Finding) -> bool:
    """Whether there is an experiment for a finding; a finding in a notebook has none."""
    from forklint.verify.experiments.registry import experimenters  # noqa: PLC0415 - imports all experiments

    return finding.notebook_cell is None and finding.code in experimenters()


def verify_command(snapshot: Snapshot, finding: Finding) -> types.Command:
    """The command that verifies a finding."""
    place = {"uri": snapshot.uri, "code": finding.code, "fingerprint": finding.fingerprint, "line": finding.span.row}
    return types.Command("Verify this finding", VERIFY, arguments=[place])
