"""FKL002 syntax-error."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.model import Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import NEVER

if TYPE_CHECKING:
    from forklint.project.module import Module


class SyntaxFault(Rule):
    """A file is not valid Python, so it cannot be checked.

    ## What it does
    Reports a file that both of forklint's parsers reject: that of the Python that runs forklint, and LibCST. A file
    that only the first rejects uses newer syntax than that Python; it is skipped with a note.

    In a notebook it reports the cell, and checks the other cells. A notebook that is not valid JSON, for example
    because of merge conflict markers, is reported at the position of the error.

    ## Why is this bad?
    The file cannot be imported, and no other rule can check it.

    ## Example
    ```python
    def collate(batch:
        return batch
    ```

    ## Use instead
    ```python
    def collate(batch):
        return batch
    ```

    ## Known limits
    Code that only fails at run time, such as code in strings, is not checked. Syntax that is too new for the Python
    that runs forklint is skipped, even if the project targets an older one.
    """

    code = "FKL002"
    name = "syntax-error"
    severity = Severity.ERROR
    needs = NEVER
    """Nothing that could stand in a file."""

    def may_hold(self, path: Path, data: bytes) -> bool:
        """Never: what it finds shows where a file is parsed, or checked instead."""
        return False

    def suspects(self, module: Module) -> Iterable[Suspect]:
        """Nothing: a file that could be parsed has no such fault."""
        return ()
