"""Edits of a loader's options that leave the layout around them as it is."""

from __future__ import annotations

import ast

from forklint.edits import cst
from forklint.edits.arguments import without
from forklint.edits.places import Places
from forklint.edits.tree import Tree
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.records import dataclass
from forklint.rules.workers_on_darwin.worker_counts import Count, leaves
from forklint.rules.workers_on_darwin.worker_options import Option, WorkerOptions

TOLD_BY = ("persistent_workers", "prefetch_factor", "multiprocessing_context")
"""Words by which other files with such options are found."""


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
