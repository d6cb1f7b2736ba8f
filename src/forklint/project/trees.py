"""Two trees of one file: whether they are the same, and how one takes the place of the other."""

from __future__ import annotations

import ast

from forklint.records import dataclass

POSITIONS = frozenset({"lineno", "col_offset", "end_lineno", "end_col_offset"})


@dataclass(frozen=True)
class Kept:
    """The lines at the beginning and at the end of a text that an edit leaves as they are."""

    top: int
    """How many at the beginning."""
    bottom: int
    """The last line before those at the end."""
    shift: int
    """How many lines further down those are in the edited text."""

    def has(self, before: object, after: object) -> bool:
        """Whether a statement of the text, and one of the edited text, are the same one in these lines."""
        if not isinstance(before, ast.stmt) or not isinstance(after, ast.stmt):
            return False
        start, end = _rows(before)
        shift = self.shift if start > self.bottom else 0
        if start <= self.bottom and end > self.top:
            return False
        columns = before.col_offset, before.end_col_offset
        return (start + shift, end + shift) == _rows(after) and columns == (after.col_offset, after.end_col_offset)

    def has_in_place(self, before: ast.AST, after: ast.AST) -> bool:
        """The same, and whether it stands in the same place."""
        return self.has(before, after) and getattr(before, "lineno", 0) == getattr(after, "lineno", 0)


def _rows(node: ast.stmt) -> tuple[int, int]:
    """The first and the last line of a statement, with its decorators."""
    decorators = getattr(node, "decorator_list", ())
    return min([one.lineno for one in decorators], default=node.lineno), node.end_lineno or node.lineno


def is_same_tree(one: ast.AST | None, other: ast.AST | None, kept: Kept | None = None) -> bool:
    """Whether two trees differ in positions alone; statements in lines that are kept are not looked into."""
    waiting: list[tuple[object, object]] = [(one, other)]
    while waiting:
        first, second = waiting.pop()
        if first is second:  # an operator or a context, which all trees share, with what others may have put on it
            continue
        if first.__class__ is not second.__class__:
            return False
        if kept is not None and kept.has(first, second):
            continue
        if first.__class__ is list:
            if len(first) != len(second):  # type: ignore[arg-type]
                return False
            waiting.extend(zip(first, second, strict=True))  # type: ignore[call-overload]
        elif isinstance(first, ast.AST):
            theirs = second.__dict__
            for key, value in first.__dict__.items():
                if key not in POSITIONS:
                    waiting.append((value, theirs.get(key)))
        elif _leaf(first) != _leaf(second):
            return False
    return True


def shape(tree: ast.AST) -> tuple[object, ...]:
    """The nodes and values of a tree in a row: equal for two trees if and only if they differ in positions alone."""
    found: list[object] = []
    waiting: list[object] = [tree]
    while waiting:
        one = waiting.pop()
        found.append(one.__class__)
        if isinstance(one, list):
            found.append(len(one))
            waiting.extend(one)
        elif isinstance(one, ast.AST):
            waiting.extend(getattr(one, name, None) for name in one._fields)
        else:
            found.append(_leaf(one))
    return tuple(found)


def _leaf(value: object) -> object:
    """What stands for a value that is no node: 0.0 is not -0.0, and an integer may be too long for ``repr``."""
    return value if isinstance(value, (int, str, bytes)) else repr(value)


def move(tree: ast.AST, fresh: ast.AST, kept: Kept | None = None) -> None:
    """Give the nodes of a tree the positions that those of another tree of the same shape have.

    Statements in lines that are kept, and kept where they are, have them already.
    """
    waiting = [(tree, fresh)]
    while waiting:
        mine, its = waiting.pop()
        if mine is its or (kept is not None and kept.has_in_place(mine, its)):
            continue
        for key, value in its.__dict__.items():
            if key in POSITIONS:
                mine.__dict__[key] = value
            elif value.__class__ is list:
                pairs = zip(mine.__dict__[key], value, strict=True)
                waiting.extend(pair for pair in pairs if isinstance(pair[1], ast.AST))
            elif isinstance(value, ast.AST):
                waiting.append((mine.__dict__[key], value))
