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
    """A file is not valid Python, so nothing in it could be judged.

    ## What it does
    Reports a file that both of forklint's parsers refuse: the one of the Python that runs forklint, and
    LibCST's. A file that only the first refuses has newer syntax than that Python; it is passed over with a note.

    In a notebook it reports the cell, and the other cells are judged without it. A notebook that is not JSON, with the
    marks of a merge in it for example, is reported at the place where that shows.

    ## Why is this bad?
    The file cannot be imported, and none of the other rules can look at it.

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
    Text that only the running program could refuse, such as code in strings, is not looked at. What a newer Python than
    the one that runs forklint allows is passed over, even where the project names an older one.
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
