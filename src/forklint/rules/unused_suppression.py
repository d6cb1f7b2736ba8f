"""FKL001 unused-suppression."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from forklint.model import Severity
from forklint.project.module import Module
from forklint.rules.base import Rule, Suspect
from forklint.source.suppressions import Suppression


class UnusedSuppression(Rule):
    """A comment silences a forklint code that has nothing to report there.

    ## What it does
    Reports each FKL code in `# noqa: ...` or `# forklint: ignore[...]` under which no finding falls.
    It speaks only of codes whose rules ran, never of a blanket `# noqa`, and never of other tools' codes.

    ## Why is this bad?
    The hazard is gone, or was never there. A comment left behind hides the next one.

    ## Example
    ```python
    dataset = list(range(10))  # noqa: FKL301
    ```

    ## Use instead
    ```python
    dataset = list(range(10))
    ```
    """

    code = "FKL001"
    name = "unused-suppression"
    severity = Severity.WARNING

    def may_hold(self, path: object, data: bytes) -> bool:
        """Never: the engine asks this rule after all others have answered."""
        return False

    def suspects(self, module: Module) -> Iterable[Suspect]:
        """Nothing: it is only known once the other rules have answered; see ``unused``."""
        return ()

    @staticmethod
    def unused(
        comments: list[Suppression], ran: Collection[str], names: dict[str, str]
    ) -> Iterator[tuple[Suppression, str]]:
        """Give each comment with the codes in it that silenced nothing, though their rules ran.

        ``names`` maps each rule's code to its name.
        """
        by_word = {**{code: code for code in ran}, **{names[code]: code for code in ran}}
        for comment in comments:
            words = [word for word in comment.codes if word not in comment.used]
            idle = [word for word in words if word.upper() in by_word or word.lower() in by_word]
            if idle:
                yield comment, ", ".join(idle)
