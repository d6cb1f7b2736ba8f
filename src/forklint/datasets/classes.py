"""Which classes are datasets: worker processes may get their objects."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from forklint.knowledge.datasets import entries, is_base, loading_words
from forklint.loading.datasets import given_to_loaders
from forklint.project.graph import word_test
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.values.classes import choices
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression

LOADER = re.compile(rb"DataLoader")


def is_dataset(project: Project, facts: ClassFacts) -> bool:
    """Whether a worker process may get an object of this class.

    That is so for a subclass of a known dataset class at any depth, for a class whose object is given to a
    DataLoader, and for one with ``__getitem__`` and ``__len__`` in a module that has to do with torch, unless
    the project makes such objects for something else.
    """
    return project.answer("is a dataset", facts, lambda: _is_dataset(project, facts))


def _is_dataset(project: Project, facts: ClassFacts) -> bool:
    ancestry = project.ancestry(facts)
    if inherits_dataset(project, facts):
        return True
    if is_model(project, facts) or any(name.endswith(("Exception", "Sampler")) for name in ancestry.external):
        return False
    methods = {name for owner in ancestry.classes for name in owner.methods}
    if {"__getitem__", "__len__"} <= methods and project.graph.any_reached(facts.module.path, word_test(b"torch")):
        return not _is_used_otherwise(project, facts)
    return bool(methods & set(entries())) and _goes_to_loader(project, facts)


def is_model(project: Project, facts: ClassFacts) -> bool:
    """Whether objects of a class are models, which stay where they are trained."""
    return any(name.endswith("nn.Module") for name in project.ancestry(facts).external)


def inherits_dataset(project: Project, facts: ClassFacts) -> bool:
    """Whether a class is a dataset by what it inherits from, however it is used."""
    return any(is_base(name) for name in project.ancestry(facts).external)


def may_inherit_dataset(project: Project, facts: ClassFacts) -> bool:
    """Whether a class is a dataset by what it inherits from, or may be: by a base that is looked up in a table."""
    if inherits_dataset(project, facts):
        return True
    scope, evaluator = facts.scope.parent or facts.module.scope, Evaluator(project)
    chosen = (choices(evaluator, Expression(facts.module, scope, base)) for base in facts.node.bases)
    return any(inherits_dataset(project, one) for base in chosen for one in base)


def _is_used_otherwise(project: Project, facts: ClassFacts) -> bool:
    """Whether the project makes such objects, or those of a base, and for something else than workers.

    That is so in a project that loads nothing with workers, and where a model makes one: a bank of features, say,
    that ``forward`` looks up.
    """
    uses = [_use_of(project, kind) for kind in project.ancestry(facts).classes]
    if any(use.is_made for use in uses) and not project.shows(loading_words()):
        return True
    return any(use.is_in_model for use in uses)


class _Use(NamedTuple):
    """What the project makes objects of a class for."""

    is_made: bool
    is_in_model: bool


def _use_of(project: Project, kind: ClassFacts) -> _Use:
    return project.answer("use of a class", kind, lambda: _find_use_of(project, kind), compared=True)


def _find_use_of(project: Project, kind: ClassFacts) -> _Use:
    makers = list(_making(project, kind))
    around = ((module, above) for module, node in makers for above in module.above(node))
    classes = {module.class_facts(above): None for module, above in around if isinstance(above, ast.ClassDef)}
    names = (name for one in classes for name in project.ancestry(one).external)
    return _Use(bool(makers), any(name.endswith("nn.Module") for name in names))


def _making(project: Project, kind: ClassFacts) -> Iterator[tuple[Module, ast.Call]]:
    """Give the calls that make objects of a class, by whatever name."""
    names = sorted(project.hierarchy.names_for(kind.name))
    for module in project.mentioning(kind.name):
        for call in module.calls_of(names):
            if project.resolve(module, module.scope_at(call), call.func) == kind:
                yield module, call


def _goes_to_loader(project: Project, facts: ClassFacts) -> bool:
    evaluator = Evaluator(project)
    modules = project.mentioning(facts.name, LOADER)
    return any(facts in given_to_loaders(evaluator, module) for module in modules)
