"""Edits of a loader's options that leave the layout around them as it is."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import TypeVar

from forklint.edits import cst
from forklint.edits.tree import Tree
from forklint.facts.machines.worker_counts import Count, leaves
from forklint.facts.machines.worker_options import Option, WorkerOptions
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.records import dataclass

TOLD_BY = ("persistent_workers", "prefetch_factor", "multiprocessing_context")
"""Words by which other files with such options are found."""
Item = TypeVar("Item", "cst.Arg", "cst.BaseDictElement")


@dataclass(frozen=True)
class Places:
    """Finds the LibCST nodes of ``ast`` nodes."""

    tree: Tree
    module: Module

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The LibCST expression for one of ``ast``; raises LookupError."""
        for found in self.tree.at(self.module.span(node)):
            if isinstance(found, cst.BaseExpression):
                return found
        raise LookupError(ast.unparse(node))

    def text(self, node: ast.expr) -> str:
        """The source text of an expression."""
        return self.tree.module.code_for_node(self.expression(node))


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
        if options and branch is None and len(list(leaves(count.whole))) > 1:
            return None
        changes: dict[cst.CSTNode, cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]] = {}
        for option, read in plan.guarded:
            text, test = places.text(option.value), f"{places.text(read)} > 0"
            text = test if text == "True" else f"{text} if {test} else {option.neutral}"
            changes[places.expression(option.value)] = cst.parse_expression(text)
        if options and plan.removable and branch is None:
            assert isinstance(count.home, (ast.Call, ast.Dict))  # noqa: S101 - what ``removable`` promises
            home = places.expression(count.home)
            values = {places.expression(option.value) for option in options}
            changes[home] = without(home, values).deep_replace(leaf, cst.Integer("0"))
        else:
            changes[leaf] = cst.Integer("0")
            for option in options:
                changes[places.expression(option.value)] = _neutral(places, option, branch, count)
        return tree.replace_all(changes)
    except (LookupError, RecursionError):  # LibCST's visitors recurse into each elif
        return None


def _branch(module: Module, count: Count) -> ast.IfExp | None:
    """The conditional expression of which the count is one arm, if it is all that is given."""
    above = module.parents[count.value]
    return above if isinstance(above, ast.IfExp) and above is count.whole else None


def _neutral(places: Places, option: Option, branch: ast.IfExp | None, count: Count) -> cst.BaseExpression:
    """The value that an option gets: the neutral one, where the count is one arm only in that arm."""
    if branch is None:
        return cst.parse_expression(option.neutral)
    test, value = places.text(branch.test), places.text(option.value)
    first, second = (option.neutral, value) if count.value is branch.body else (value, option.neutral)
    return cst.parse_expression(f"{first} if {test} else {second}")


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


def plan(project: Project, module: Module, count: Count) -> tuple[Plan | None, bool]:
    """What a count of 0 entails, None if something out of reach would raise; and whether that is all."""
    around = WorkerOptions(project, module)
    options, removable = around.beside(count), around.removable(count)
    unseen = {around.hidden(count)}
    guarded: list[tuple[Option, ast.expr]] = []
    if unseen != {False} or not (removable and isinstance(count.home, ast.Call)):
        unseen.add(around.added(count))
        for reader in around.readers(count, *TOLD_BY):
            unseen.add(None if around.unanswered(reader, count) else False)
            if reader.module is module and isinstance(reader.count, (ast.Name, ast.Attribute, ast.Subscript)):
                guarded += [(option, reader.count) for option in reader.options if option.literal]
    if True in unseen:
        return None, False
    certain = unseen == {False} and all(option.literal for option in options)
    return Plan(count, options, removable, tuple(guarded)), certain
