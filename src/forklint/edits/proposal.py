"""What a fix proposes: the file as it would be, and how safe that is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.model import Applicability
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.edits.tree import Tree


@dataclass(frozen=True)
class Proposal:
    """One way to mend a suspect: the whole file as it would be, or, with no tree, words to show."""

    message: str
    applicability: Applicability
    tree: Tree | None = None
    elsewhere: tuple[ast.AST, ...] = ()
    """What it edits in other statements than those of the finding's place and chain."""
