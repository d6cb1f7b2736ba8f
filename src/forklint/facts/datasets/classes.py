"""Which classes are datasets: worker processes may get their objects."""

from __future__ import annotations

import ast
from functools import cache

from forklint import knowledge
from forklint.facts.loading.datasets import given_to_loaders
from forklint.facts.loading.following import Follower
from forklint.project.index import Project
from forklint.project.module import ClassFacts


@cache
def _table() -> dict[str, frozenset[str]]:
    rows = knowledge.table("datasets.toml")
    return {key: frozenset(rows[key]) for key in ("base", "package")}


@cache
def entries() -> tuple[str, ...]:
    """The methods that a worker calls on a dataset."""
    return tuple(knowledge.table("datasets.toml")["entry"])


@cache
def _loading_words() -> tuple[bytes, ...]:
    return tuple(word.encode() for word in knowledge.table("datasets.toml")["loads"])


def is_dataset(project: Project, facts: ClassFacts) -> bool:
    """Whether a worker process may get an object of this class.

    That is so for a subclass of a known dataset class at any depth, for a class whose object is given to a
    DataLoader, and for one with ``__getitem__`` and ``__len__`` in a module that has to do with torch, unless
    the project makes such objects for something else.
    """
    memory = project.memory("is_dataset")
    if facts not in memory:
        memory[facts] = _is_dataset(project, facts)
    return bool(memory[facts])


def _is_dataset(project: Project, facts: ClassFacts) -> bool:
    ancestry = project.ancestry(facts)
    if inherits_dataset(project, facts):
        return True
    if any(name.endswith(("nn.Module", "Exception", "Sampler")) for name in ancestry.external):
        return False
    methods = {name for owner in ancestry.classes for name in owner.methods}
    if {"__getitem__", "__len__"} <= methods and project.graph.any_reached(
        facts.module.path, lambda data: b"torch" in data, "torch"
    ):
        return not _is_used_otherwise(project, facts)
    return bool(methods & set(entries())) and _goes_to_loader(project, facts)


def inherits_dataset(project: Project, facts: ClassFacts) -> bool:
    """Whether a class is a dataset by what it inherits from, however it is used."""
    return any(_is_base(name) for name in project.ancestry(facts).external)


def _is_base(name: str) -> bool:
    package, _, last = name.partition(".")[0], "", name.rpartition(".")[2]
    return name in _table()["base"] or (package in _table()["package"] and last.endswith("Dataset"))


def _is_used_otherwise(project: Project, facts: ClassFacts) -> bool:
    """Whether the project makes such objects, or those of a base, and for something else than workers.

    That is so in a project that loads nothing with workers, and where a model makes one: a bank of features, say,
    that ``forward`` looks up.
    """
    makers = [
        (module, node)
        for kind in project.ancestry(facts).classes
        for module in project.mentioning(kind.name)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and project.resolve(module, module.scope_at(node), node.func) is kind
    ]
    if makers and not project.shows(_loading_words()):
        return True
    around = ((module, above) for module, node in makers for above in module.above(node))
    classes = (module.class_facts(above) for module, above in around if isinstance(above, ast.ClassDef))
    return any(name.endswith("nn.Module") for one in classes for name in project.ancestry(one).external)


def _goes_to_loader(project: Project, facts: ClassFacts) -> bool:
    follow = Follower(project)
    modules = (module for module in project.mentioning(facts.name) if b"DataLoader" in module.document.code)
    return any(facts in given_to_loaders(follow, module) for module in modules)
