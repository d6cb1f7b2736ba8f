"""FKL001 unused-suppression."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from forklint.model import Applicability, Finding, Fix, Severity, Span
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import NEVER

if TYPE_CHECKING:
    from forklint.project.module import Module
    from forklint.source.suppressions import Suppression

UNKNOWN = re.compile(r"FKL\d*")


class UnusedSuppression(Rule):
    """A comment suppresses a rule that reports nothing there.

    ## What it does
    Reports each FKL code in `# noqa: ...` or `# forklint: ignore[...]` without a finding on that line, and in `#
    flake8: noqa: ...` or `# forklint: ignore-file[...]` without a finding in the whole file. It checks only codes whose
    rules are enabled and codes of no rule (other than prefixes such as FKL3), never a blanket `# noqa`, and never codes
    of other tools. A comment that names FKL001 itself is not reported.

    ## Why is this bad?
    The hazard is gone, or was never there. A comment that stays hides the next one.

    ## Example
    ```python
    dataset = list(range(10))  # noqa: FKL301
    ```

    ## Use instead
    ```python
    dataset = list(range(10))
    ```

    ## Fix safety
    Safe: only a comment changes. Unused codes are removed, and the comment if no code is left; codes of other tools and
    the reason stay. Whether a code is unused depends on the platforms, Python versions and rules of the run.

    ## Known limits
    A comment is checked in one run, which does not consider runs with other platforms, Python versions or rules. The
    rule is disabled in flake8, which handles `# noqa` itself.
    """

    code = "FKL001"
    name = "unused-suppression"
    severity = Severity.WARNING
    needs = NEVER
    """Nothing that could stand in a file."""

    def may_hold(self, path: object, data: bytes) -> bool:
        """Never: the engine asks this rule after all others have answered."""
        return False

    def suspects(self, module: Module) -> Iterable[Suspect]:
        """Nothing: it is only known once the other rules have answered; see ``unused``."""
        return ()

    @classmethod
    def unused(
        cls, comments: list[Suppression], ran: Collection[str], names: dict[str, str]
    ) -> Iterator[tuple[Suppression, list[str]]]:
        """Give each comment with the words in it that silenced nothing, though their rules ran.

        ``names`` maps each rule's code to its name. A code of ours that no rule answers to silences nothing.
        """
        by_word = {word for code in ran for word in (code, names[code])}
        known = {*names, *names.values()}
        files = [comment for comment in comments if comment.whole_file and comment.silences(cls.code, cls.name)]
        for comment in comments if not files else ():
            words = [word for word in comment.codes if word not in comment.used]
            unknown = [word for word in words if UNKNOWN.fullmatch(word.upper()) and word.upper() not in known]
            idle = [word for word in words if word.upper() in by_word or word.lower() in by_word or word in unknown]
            own = [word for word in idle if cls.code == word.upper() or cls.name == word.lower()]
            if idle and (not own or own == idle):
                yield comment, idle

    @classmethod
    def findings(
        cls, text: str, comments: list[Suppression], ran: Collection[str], names: dict[str, str]
    ) -> Iterator[Finding]:
        """Give a finding, still of no path, for each comment with words that silenced nothing; see ``unused``."""
        from forklint.edits.comments import without
        from forklint.edits.text import split_lines

        lines = split_lines(text) if comments else []
        for comment, codes in cls.unused(comments, ran, names):
            words = ", ".join(codes)
            yield Finding(
                code=cls.code,
                name=cls.name,
                severity=cls.severity,
                path="",
                span=Span(comment.row, comment.column, comment.row, comment.end_column),
                message=f"unused suppression: no finding of {words} {'in this file' if comment.whole_file else 'here'}",
                subject=words,
                fixes=(Fix(f"remove {words}", Applicability.SAFE, (without(lines, comment, codes),)),),
                text=comment.text,
                comment_rows=(comment.row, comment.row),
            )
