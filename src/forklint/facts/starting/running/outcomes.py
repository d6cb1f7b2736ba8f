"""Calls that leave nothing behind but their result, remembered for all runs that make them.

A run that meets such a call again is in every way as if it had made it: it has taken as many steps, and entered the
same functions as often. So its end does not depend on what other runs came to before it.
"""

from __future__ import annotations

import ast
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from forklint.facts.starting.running.values import Arguments, Bound, Spot, Value, is_plain
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution


@dataclass(frozen=True)
class Outcome:
    """What came of a call, and what it took."""

    result: Value
    steps: int
    entered: tuple[ast.AST, ...]
    """The functions that ran, each as often as it did."""
    depth: int
    """How many calls deep."""


class LeavesMoreError(Exception):
    """The call does more than give a result, or less than it would elsewhere: nothing of it can be remembered."""

    def __init__(self, result: Value) -> None:
        super().__init__()
        self.result = result


def outcome(run: Execution, spot: Spot, function: Bound, given: Arguments) -> Value:
    """What a call gives: from what is remembered of it, if that may be, or by running it."""
    key = _key(run, function, given)
    if key is None:
        return run.call(spot, function, given)
    here: list[Outcome] = []

    def find() -> Outcome:
        here.append(_made(run, spot, function, given))
        return here[0]

    try:
        known = run.project.answer("calls that start nothing", key, find)
    except LeavesMoreError as error:
        return error.result
    if here or _is_taken_over(run, known):
        return known.result
    return run.call(spot, function, given)


def _key(run: Execution, function: Bound, given: Arguments) -> tuple[object, ...] | None:
    """What identifies a call of another module's function, if nothing of this run decides what it does."""
    facts = function.function.facts
    if run.hides_starts or facts.module is run.module or facts.node in run.running:
        return None
    if function.receiver is not None or facts.owner is not None or not all(map(is_plain, given.all)):
        return None
    keywords = tuple(sorted(given.keywords.items(), key=itemgetter(0)))
    return (facts.node, given.positional, keywords, given.open, run.method)


def _made(run: Execution, spot: Spot, function: Bound, given: Arguments) -> Outcome:
    """Make a call; raises LeavesMoreError, and what ``run.call`` raises."""
    state, refused, entered, left = run.state, run.refused, len(run.entered), run.budget.left
    outer, run.deepest = run.deepest, len(run.running)
    try:
        result = run.call(spot, function, given)
        depth = run.deepest - len(run.running)
    finally:
        run.deepest = max(outer, run.deepest)
    if not is_plain(result) or run.refused != refused or run.state != state:
        raise LeavesMoreError(result)
    return Outcome(result, left - run.budget.left, tuple(run.entered[entered:]), depth)


def _is_taken_over(run: Execution, known: Outcome) -> bool:
    """Let a run be as if it had made a call; False if it would not have come to the same."""
    if not run.may_enter(Counter(known.entered), known.depth):
        return False
    run.step(known.steps)
    run.entered += known.entered
    run.deepest = max(run.deepest, len(run.running) + known.depth)
    return True
