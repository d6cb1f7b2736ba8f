"""Edits of a loader's options that leave the layout around them as it is."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from forklint.model import Span
from forklint.project.module import Module
from forklint.project.worker_counts import Count
from forklint.project.worker_options import Option
from forklint.rules import cst
from forklint.rules.tree import Tree

Item = TypeVar("Item", "cst.Arg", "cst.BaseDictElement")


class Places:
    """The nodes of a tree by where they stand."""

    def __init__(self, tree: Tree, module: Module) -> None:
        from libcst.metadata import MetadataWrapper, PositionProvider  # noqa: PLC0415 - see forklint.rules.cst

        self._module = module
        self._nodes: dict[Span, list[cst.CSTNode]] = {}
        wrapper = MetadataWrapper(tree.module, unsafe_skip_copy=True)
        for node, place in wrapper.resolve(PositionProvider).items():
            span = Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)
            self._nodes.setdefault(span, []).append(node)

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The LibCST expression for one of ``ast``; raises LookupError."""
        for found in self._nodes.get(self._module.span(node), ()):
            if isinstance(found, cst.BaseExpression):
                return found
        raise LookupError(ast.unparse(node))


@dataclass(frozen=True)
class Plan:
    """What setting a count to 0 entails."""

    count: Count
    options: tuple[Option, ...]
    """Options beside the count that would raise."""
    removable: bool
    """Whether they can be left out; else they get the value that does not raise."""
    guarded: tuple[tuple[Option, ast.expr], ...]
    """Options of loaders that read the count elsewhere, each with the count as read there: they then follow it."""


def without_workers(tree: Tree, module: Module, plan: Plan) -> Tree | None:
    """Give the tree with 0 for a count; None if its options cannot be made to agree."""
    count, options = plan.count, plan.options
    try:
        places = Places(tree, module)
        leaf = places.expression(count.value)
        branch = _branch(module, count)
        if options and branch is None and not _is_whole(count):
            return None
        changes: dict[cst.CSTNode, cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]] = {}
        for option, read in plan.guarded:
            test = f"{ast.unparse(read)} > 0"
            plain = ast.unparse(option.value) == "True"
            text = test if plain else f"{ast.unparse(option.value)} if {test} else {option.neutral}"
            changes[places.expression(option.value)] = cst.parse_expression(text)
        if options and plan.removable and branch is None:
            assert isinstance(count.home, (ast.Call, ast.Dict))  # noqa: S101 - what ``removable`` promises
            home = places.expression(count.home)
            values = {places.expression(option.value) for option in options}
            changes[home] = _without(home, values).deep_replace(leaf, cst.Integer("0"))
        else:
            changes[leaf] = cst.Integer("0")
            for option in options:
                changes[places.expression(option.value)] = _neutral(option, branch, count)
    except LookupError:
        return None
    return tree.replace_all(changes)


def _is_whole(count: Count) -> bool:
    return count.value is (count.entry.value if isinstance(count.entry, ast.keyword) else count.entry)


def _branch(module: Module, count: Count) -> ast.IfExp | None:
    """The conditional expression of which the count is one arm, if it is all that is given."""
    above = module.parents[count.value]
    given = count.entry.value if isinstance(count.entry, ast.keyword) else count.entry
    return above if isinstance(above, ast.IfExp) and above is given else None


def _neutral(option: Option, branch: ast.IfExp | None, count: Count) -> cst.BaseExpression:
    """The value that an option gets: the neutral one, where the count is one arm only in that arm."""
    if branch is None:
        return cst.parse_expression(option.neutral)
    test, value = ast.unparse(branch.test), ast.unparse(option.value)
    first, second = (option.neutral, value) if count.value is branch.body else (value, option.neutral)
    return cst.parse_expression(f"{first} if {test} else {second}")


def _without(home: cst.BaseExpression, values: Collection[cst.BaseExpression]) -> cst.BaseExpression:
    """A call or dictionary without the entries that hold these values."""
    if isinstance(home, cst.Call):
        return home.with_changes(args=drop(home.args, {arg for arg in home.args if arg.value in values}))
    if isinstance(home, cst.Dict):
        return _without_rows(home, {element for element in home.elements if element.value in values})
    raise LookupError(type(home).__name__)


def _without_rows(home: cst.Dict, gone: Collection[cst.BaseDictElement]) -> cst.Dict:
    kept = drop(home.elements, gone)
    changed = home.with_changes(elements=kept)
    if not kept or home.elements[-1] not in gone:
        return changed
    last = next(element for element in reversed(home.elements) if element not in gone)
    if not isinstance(last.comma, cst.Comma) or not isinstance(kept[-1].comma, cst.Comma):
        return changed
    # A dictionary keeps what follows its last comma with the closing brace.
    space = _joined(last.comma.whitespace_after, home.rbrace.whitespace_before)
    closing = home.rbrace.with_changes(whitespace_before=space)
    bare = kept[-1].with_changes(comma=cst.Comma())
    return changed.with_changes(elements=[*kept[:-1], bare], rbrace=closing)


def drop(items: Sequence[Item], gone: Collection[Item]) -> list[Item]:
    """Leave items out of a call's arguments or a dictionary's entries.

    What remains keeps its lines and comments; the new last item ends as the old last one did.
    """
    kept = [item for item in items if item not in gone]
    if not kept or items[-1] not in gone:
        return kept
    kept[-1] = _as_last(kept[-1], items[-1])
    return kept


def _as_last(item: Item, last: Item) -> Item:
    """An item with the comma and the space that the old last one had."""
    before = item.comma.whitespace_after if isinstance(item.comma, cst.Comma) else cst.SimpleWhitespace("")
    if isinstance(last.comma, cst.Comma):
        after = _joined(before, last.comma.whitespace_after)
        return item.with_changes(comma=cst.Comma(whitespace_after=after))
    space = getattr(last, "whitespace_after_arg", cst.SimpleWhitespace(""))
    if isinstance(before, cst.ParenthesizedWhitespace) and before.first_line.comment is not None:
        return item.with_changes(comma=cst.Comma(whitespace_after=_joined(before, space)))
    changed = item.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return changed.with_changes(whitespace_after_arg=space) if isinstance(changed, cst.Arg) else changed


def _joined(
    before: cst.BaseParenthesizableWhitespace, after: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """The line end of the first, with its comment, and what follows it in the second."""
    if isinstance(before, cst.ParenthesizedWhitespace) and isinstance(after, cst.ParenthesizedWhitespace):
        return after.with_changes(first_line=before.first_line)
    if isinstance(before, cst.ParenthesizedWhitespace) and before.first_line.comment is not None:
        return before
    return after
