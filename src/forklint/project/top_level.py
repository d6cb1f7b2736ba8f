"""What of the top level of a module is read, so that an edit elsewhere in the file leaves alone what was concluded.

A statement of the top level, a definition above all, is come to from outside by a name that it binds, by a name that
is read in it, or by reading the whole tree. Whoever looks one name up rests on the statements that bind it; whoever
reads more rests on the tree. What stands inside of a statement can then be read freely: an edit makes new nodes of the
statements that it changes, and keeps those of the others.
"""

from __future__ import annotations

import ast
from typing import Protocol

MODULE = "module"
"""The fact whether a file can be parsed, and so whether there is a module for it."""
TREE = "tree"
"""The fact of all code of a file."""
BINDING = "binding"
"""By a name: the statements of the top level that bind it."""
STARS = "stars"
"""Which ``import *`` there are at the top level."""
USES = "uses"
"""By a name: the statements of the top level in which it is read, alone or behind a dot."""


class Note(Protocol):
    """Is told what of a module is read: the kind of a fact, and a name if it is about one."""

    def __call__(self, kind: str, /, *name: str) -> None:
        """Take note of it."""


def untold(_kind: str, /, *_name: str) -> None:
    """Take no note."""


class Root(ast.Module):
    """The root of a tree: whoever reads its statements rests on all of them."""

    def __init__(self, tree: ast.Module, note: Note) -> None:
        self.type_ignores = tree.type_ignores
        self._tree = tree
        self._note = note

    @property
    def body(self) -> list[ast.stmt]:  # type: ignore[override]
        """The statements of the top level."""
        self._note(TREE)
        return self._tree.body
