"""Whether the workers that get a dataset are surely never forked, since every program that loads it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.loading.certainty import is_in_library
from forklint.loading.loaders import Loader, loaders_for
from forklint.runs.scripts import is_program, leading_to
from forklint.starting.methods import DEFAULT_METHOD, asked_of, set_in
from forklint.values.evaluator import Evaluator
from forklint.values.numbers import Workers

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module

SPAWNING = frozenset({"spawn", "forkserver"})


def are_never_forked(project: Project, dataset: ClassFacts) -> bool:
    """Whether each loader with workers that gets objects of a class spawns them, by what it or its programs say."""
    return project.answer("never forked", dataset, lambda: _find(project, dataset), compared=True)


def _find(project: Project, dataset: ClassFacts) -> bool:
    if is_in_library(project, dataset.module.path):
        return False  # who else loads it is not known
    found = [one for one in loaders_for(project, dataset) if one.workers.kind is not Workers.NONE]
    return bool(found) and all(_is_spawned(project, one) for one in found)


def _is_spawned(project: Project, loader: Loader) -> bool:
    asked = asked_of(Evaluator(project), loader.row, loader.call)
    if asked.method != DEFAULT_METHOD:
        return asked.method in SPAWNING
    programs = [path for path in leading_to(project, loader.call.module.path) if is_program(project, path)]
    return bool(programs) and all(_sets_spawn(module) for module in project.modules(programs))


def _sets_spawn(module: Module) -> bool:
    """Whether all that a program sets is such a start method, and it sets one."""
    methods = set_in(module)
    return bool(methods) and methods <= SPAWNING
