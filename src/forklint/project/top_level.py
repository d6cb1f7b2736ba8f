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
SILENCING = "silencing"
"""The comments of a file that may silence findings."""
SCREENED = "screened"
"""Which of the words that are looked for in files stand in a file, be it in comments."""
BINDING = "binding"
"""By a name: the statements of the top level that bind it."""
STARS = "stars"
"""Which ``import *`` there are at the top level."""
USES = "uses"
"""By a name: the statements of the top level in which it is read, set as an attribute or key, or given to a class."""
FLOW = "flow"
"""The statements of the top level after which a run may not go on: not definitions, imports and assignments."""
RUNS = "runs"
"""The statements of the top level that do something when the file is imported: not plain functions."""
STRAIGHT = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
    *(ast.Assign, ast.AnnAssign, ast.AugAssign),
)


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

    @property
    def flow(self) -> list[ast.stmt]:
        """Those after which a run may not go on."""
        self._note(FLOW)
        return [one for one in self._tree.body if is_of_flow(one)]

    @property
    def running(self) -> list[ast.stmt]:
        """Those that do something when the file is imported."""
        self._note(RUNS)
        return [one for one in self._tree.body if does_run(one)]


def is_of_flow(statement: ast.stmt) -> bool:
    """Whether a run may end at a statement, or a branch of it."""
    return not isinstance(statement, STRAIGHT)


def does_run(statement: ast.stmt) -> bool:
    """Whether a statement may do more than define a function.

    Annotations are left out: no run follows those of parameters, and what is returned is named there, not called.
    """
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) or statement.decorator_list:
        return True
    defaults = (*statement.args.defaults, *statement.args.kw_defaults)
    return not all(one is None or isinstance(one, ast.Constant) for one in defaults)


def used_name(node: ast.AST) -> str:
    """The name that a node uses, as ``USES`` means it; empty for none."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Load) else ""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.ClassDef):
        return node.name
    key: ast.AST | None = None
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        key = node.slice
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr" and len(node.args) > 1:
        key = node.args[1]
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
