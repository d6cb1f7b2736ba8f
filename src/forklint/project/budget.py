"""Budgets: how many steps a question may take before its answer is "unknown".

A budget grows with the code that the question is about, a file, a class or a function, and never with the project
around it: so a run takes time in proportion to the project, however its parts refer to each other. It is counted in
steps, not in seconds, and belongs to one question, not to who asks: so the same files give the same answer on every
machine, in every order and in any number of processes. Whoever remembers an answer gives its question a budget of its
own. What was cut off is said with ``--verbose``.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from forklint.project.nodes import nodes_below
from forklint.project.questions import Questions

FRAMES = 3000
"""Python's frames that the questions of one rule may take: one that asks another takes up to fourteen, and the budgets
let some forty of them nest, each with those that gather its parts. Python's own limit is 1,000."""


@contextmanager
def room_for_questions() -> Iterator[None]:
    """Let questions nest as deeply as their budgets do; raises RecursionError beyond."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class Budget:
    """What is left of the steps that one question may take."""

    __slots__ = ("_budgets", "left", "most", "what")

    def __init__(self, budgets: Budgets, what: str, steps: int) -> None:
        self._budgets = budgets
        self.what = what
        self.most = self.left = steps

    def spend(self, steps: int = 1) -> bool:
        """Take steps; False from the time on when there are too few, and what needs them is unknown."""
        before = self.left
        if before < 0:
            return False
        self._budgets.spent[self.what] += steps
        self.left = before - steps
        if self.left < 0:
            self._budgets.questions.cut(self.what, self.most)
            return False
        return True

    @property
    def has_run_out(self) -> bool:
        """Whether something was asked for that it had no steps for."""
        return self.left < 0


class Budgets:
    """Gives out the budgets of one project."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.spent: Counter[str] = Counter()
        """How many steps all questions have taken, by what they did."""

    def of(self, what: str, steps: int) -> Budget:
        """Give a budget to a question, by what it does: "following calls"."""
        return Budget(self, what, steps)


def size(*nodes: ast.AST) -> int:
    """How many nodes there are in some parts of a tree, these included: what a budget for them grows with."""
    return sum(1 for node in nodes for _ in nodes_below(node))
