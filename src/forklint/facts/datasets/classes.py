"""Which classes are datasets: worker processes may get their objects."""

from __future__ import annotations

import ast

from forklint.facts.loading.datasets import given_to_loaders
from forklint.facts.loading.following import Follower
from forklint.knowledge.datasets import bases, entries, homes, loading_words, packages
from forklint.project.index import Project
from forklint.project.module import ClassFacts


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
    package, home, last = name.partition(".")[0], name.rpartition(".")[0], name.rpartition(".")[2]
    if name in bases() or (package in packages() and last.endswith("Dataset")):
        return True
    return home in homes() and last[:1].isupper()


def _is_used_otherwise(project: Project, facts: ClassFacts) -> bool:
    """Whether the project makes such objects, or those of a base, and for something else than workers.

    That is so in a project that loads nothing with workers, and where a model makes one: a bank of features, say,
    that ``forward`` looks up.
    """
    makers = [
        (module, node)
        for kind in project.ancestry(facts).classes
        for module in project.mentioning(kind.name)
        for node in module.nodes
        if isinstance(node, ast.Call) and project.resolve(module, module.scope_at(node), node.func) is kind
    ]
    if makers and not project.shows(loading_words()):
        return True
    around = ((module, above) for module, node in makers for above in module.above(node))
    classes = (module.class_facts(above) for module, above in around if isinstance(above, ast.ClassDef))
    return any(name.endswith("nn.Module") for one in classes for name in project.ancestry(one).external)


def _goes_to_loader(project: Project, facts: ClassFacts) -> bool:
    follow = Follower(project)
    modules = project.mentioning(facts.name, lambda data: b"DataLoader" in data)
    return any(facts in given_to_loaders(follow, module) for module in modules)
