"""What following a program may cost, and what a program that imports a file lets happen by that."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from forklint.facts.forking.sites import names_of_sites
from forklint.facts.forking.trace import Trace
from forklint.facts.forking.walk import Walk
from forklint.project.budget import Budget, size
from forklint.project.index import Project

STEPS_PER_FILE = 8_000
"""Statements, calls and objects that are looked at in the programs of one file together, whatever is in it, ..."""
STEPS_PER_NODE = 10
"""... and besides for each node of the file."""
SETTER = "set_num_interop_threads"


def budget_for(project: Project, body: Sequence[ast.AST], number: int) -> Budget:
    """The budget of one of the ``number`` of programs that a file is: what all may take is shared out evenly."""
    return project.budgets.of("following calls", STEPS_PER_FILE // number + STEPS_PER_NODE * size(*body))


def asked(project: Project) -> frozenset[str]:
    """Last names of the calls that rules want to be told of: what may fork, and the setter of inter-op threads."""
    return names_of_sites(project) | {SETTER}


def trace_of(project: Project, path: Path) -> Trace:
    """What importing a file does."""

    def find() -> Trace:
        module = project.module(path)
        if module is None:
            return ()
        budget = budget_for(project, [module.tree], 1)
        walk = Walk(project, budget, asked(project), is_program=True, imported=True)
        walk.top(module)
        return walk.trace

    return project.answer("what an import does", path, find)
