"""With which other classes a class is put together by a class whose bases tables of classes choose."""

from __future__ import annotations

import ast

from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.summaries.terms import WORD
from forklint.values import classes
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression

MOST_FILES = 50
"""A class that is named in more files stands in no table of choices."""


def mixed_with(project: Project, facts: ClassFacts) -> tuple[ClassFacts, ...]:
    """The classes that one object may have beside a class: ``class Dataset(SOURCES[name], TASKS[task])``."""
    return project.answer("mixed with", facts, lambda: _find(project, facts), ())


def _find(project: Project, facts: ClassFacts) -> tuple[ClassFacts, ...]:
    found: dict[ClassFacts, None] = {}
    paths = project.where(WORD, facts.name)
    for module in project.modules(paths if len(paths) <= MOST_FILES else ()):
        for read in module.reads(facts.name):
            name = _table_of(module.parents.get(read), module.parents)
            for path, heir in project.hierarchy.with_base(name) if name else ():
                other = project.module(path)
                for mixed in other.classes if other is not None else ():
                    if mixed.name == heir:
                        found |= dict.fromkeys(_beside(project, mixed, facts))
    return tuple(found)


def _table_of(above: ast.AST | None, parents: dict[ast.AST, ast.AST]) -> str:
    """The name of the table that a class stands in; empty if it stands in none."""
    home = parents.get(above) if isinstance(above, ast.Dict) else None
    targets = home.targets if isinstance(home, ast.Assign) else [home.target] if isinstance(home, ast.AnnAssign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _beside(project: Project, mixed: ClassFacts, facts: ClassFacts) -> list[ClassFacts]:
    """The classes that the other bases of a class may be, if one base may be the class at hand."""
    evaluator, scope = Evaluator(project), mixed.scope.parent or mixed.module.scope
    bases = [classes.choices(evaluator, Expression(mixed.module, scope, base)) for base in mixed.node.bases]
    own = next((index for index, chosen in enumerate(bases) if facts in chosen), None)
    return [one for index, chosen in enumerate(bases) if index != own for one in chosen] if own is not None else []
