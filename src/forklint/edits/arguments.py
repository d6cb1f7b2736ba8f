"""Takes arguments out of a call, or entries out of a mapping; the layout around them stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from forklint.edits import cst

Item = TypeVar("Item", "cst.Arg", "cst.BaseDictElement")


def without(home: cst.BaseExpression, values: Collection[cst.BaseExpression]) -> cst.BaseExpression:
    """A call or dictionary without the entries that hold these values."""
    if isinstance(home, cst.Call):
        args = drop(home.args, {arg for arg in home.args if arg.value in values})
        if home.args[-1].value in values and isinstance(args[-1].comma, cst.MaybeSentinel):
            before = _space_after(args[-1], home.args)
            args[-1] = args[-1].with_changes(whitespace_after_arg=_closing(before, home.args[-1].whitespace_after_arg))
        return home.with_changes(args=args)
    if isinstance(home, cst.Dict):
        elements = drop(home.elements, {element for element in home.elements if element.value in values})
        brace = home.rbrace
        if home.elements[-1].value in values:  # a dictionary keeps what follows its last comma with its brace
            before = _space_after(elements[-1], home.elements)
            brace = brace.with_changes(whitespace_before=_closing(before, brace.whitespace_before))
            if isinstance(elements[-1].comma, cst.Comma):
                elements[-1] = elements[-1].with_changes(comma=cst.Comma())
        return home.with_changes(elements=elements, rbrace=brace)
    raise LookupError(type(home).__name__)


def drop(items: Sequence[Item], gone: Collection[Item]) -> list[Item]:
    """Leave items out of a call's arguments or a dictionary's entries.

    What remains keeps its own lines and comments; a comment beside or above what is left out goes with it. The
    new last item has a comma if the old one had.
    """
    kept: list[Item] = []
    for item in items:
        if item not in gone:
            kept.append(item)
        elif kept and not isinstance(item.comma, cst.Comma):
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        elif kept and isinstance(kept[-1].comma, cst.Comma) and isinstance(item.comma, cst.Comma):
            join = _closing if item is items[-1] else _between
            space = join(kept[-1].comma.whitespace_after, item.comma.whitespace_after)
            kept[-1] = kept[-1].with_changes(comma=cst.Comma(whitespace_after=space))
    return kept


def _space_after(item: Item, items: Sequence[Item]) -> cst.BaseParenthesizableWhitespace:
    """The space that followed an item's comma before anything was left out."""
    found = next(old.comma for old in items if old.value is item.value)
    return found.whitespace_after if isinstance(found, cst.Comma) else cst.SimpleWhitespace("")


def _between(
    before: cst.BaseParenthesizableWhitespace, after: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """Space between two items with others left out between them: the first's line end, then the second's lead."""
    if isinstance(before, cst.ParenthesizedWhitespace):
        is_line_end = isinstance(after, cst.ParenthesizedWhitespace)
        return after.with_changes(first_line=before.first_line) if is_line_end else before
    return after


def _closing(
    before: cst.BaseParenthesizableWhitespace, after: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """Space between the new last item and the bracket: on the same line if it was, save after a comment."""
    if isinstance(before, cst.ParenthesizedWhitespace) and isinstance(after, cst.SimpleWhitespace):
        return before if before.first_line.comment is not None else after
    if isinstance(after, cst.ParenthesizedWhitespace) and isinstance(before, cst.SimpleWhitespace):
        return after.with_changes(first_line=cst.TrailingWhitespace(newline=after.first_line.newline))
    return _between(before, after)
