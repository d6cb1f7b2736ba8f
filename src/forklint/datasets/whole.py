"""Iterable datasets of which every worker gives all samples, and the loaders that give them workers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from forklint.datasets.awareness import asks_for_workers, code_lines, is_aware
from forklint.datasets.giving import Giving, givings
from forklint.datasets.sources import Sources
from forklint.datasets.workers import attributes_read, worker_methods
from forklint.knowledge.streams import stream_words
from forklint.loading.certainty import has_none_by_default
from forklint.loading.datasets import class_of, classes_of
from forklint.loading.loaders import Loader, loaders_of
from forklint.loading.screening import may_make_loader
from forklint.project.certainty import has_certain_bases
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function
from forklint.project.spelling import all_arguments, argument, is_name, last_name
from forklint.records import dataclass
from forklint.summaries.terms import WORD
from forklint.values.calls import is_plain
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance
from forklint.values.numbers import Workers

HARMLESS = frozenset({"len", "print"})
"""What a dataset may be given to without a hint that it is told apart."""


@dataclass(frozen=True)
class Loaded:
    """A loader that is given an object of the class."""

    module: Module
    call: ast.Call
    surely: bool
    """Whether it surely has two workers or more."""
    by_option: bool
    """Whether it has workers only if the user asks for some."""


@dataclass(frozen=True)
class Whole:
    """An iterable dataset that every worker reads whole."""

    facts: ClassFacts
    """The class that defines ``__iter__``."""
    dataset: ClassFacts
    """The class whose object a loader gets."""
    function: Function
    giving: Giving
    source: ast.expr
    """What is iterated."""
    loaded: Loaded
    alone: bool
    """Whether it is the one statement that gives samples."""


def wholes(project: Project, module: Module) -> Iterator[Whole]:
    """Give the iterable datasets whose ``__iter__`` stands in a module, and of which each worker gives all samples."""
    told: set[ClassFacts] = set()
    for facts, function, dataset in _streams(project, module):
        given = givings(function) if facts not in told else []
        if not given:
            continue
        statement, source = given[0]
        loaded = _loaded(project, dataset, partial(_are_finite, project, facts, function, given))
        if loaded is not None and not _shared_out(project, dataset, loaded):
            told.add(facts)
            yield Whole(facts, dataset, function, statement, source, loaded, alone=len(given) == 1)


def endless_or_unknown(project: Project, module: Module) -> Iterator[tuple[FunctionFacts, Loaded]]:
    """Give the ``__iter__`` of each iterable dataset with workers of which it knows nothing, but for what ends."""
    told = {one.facts for one in wholes(project, module)}
    for facts, function, dataset in _streams(project, module):
        if facts in told or asks_for_workers(project, dataset):
            continue
        loaded = _loaded(project, dataset, lambda _: True)
        if loaded is not None and not _shared_out(project, dataset, loaded):
            told.add(facts)
            yield FunctionFacts(module, function), loaded


def _streams(project: Project, module: Module) -> Iterator[tuple[ClassFacts, Function, ClassFacts]]:
    """Give the ``__iter__`` of each class of a module, with each class of which that is a stream without a share."""
    for facts in module.classes:
        function = facts.methods.get("__iter__")
        if function is None or isinstance(function, ast.AsyncFunctionDef) or "__next__" in facts.methods:
            continue
        if not is_plain(Evaluator(project), FunctionFacts(module, function)):
            continue  # a decorator may share out what it gives
        for dataset in (facts, *project.subclasses(facts)):
            if _is_iterable(project, dataset) and project.method(dataset, "__iter__") == (facts, function):
                yield facts, function, dataset


def _are_finite(
    project: Project, facts: ClassFacts, function: Function, given: list[tuple[Giving, ast.expr]], made: Instance
) -> bool:
    return Sources(project, made).are_finite(facts, function, given)


def _is_iterable(project: Project, facts: ClassFacts) -> bool:
    """Whether a class is an IterableDataset with known bases, and nothing in it knows of workers."""
    words, ancestry = stream_words(), project.ancestry(facts)
    if not ancestry.complete or not set(ancestry.external) & words.iterable or not has_certain_bases(project, facts):
        return False
    if set(ancestry.external) - words.iterable - words.plain:
        return False
    for owner in ancestry.classes:
        if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in owner.node.body):
            return False
        if is_aware(project, owner):
            return False
        is_by_process = any(word in line for line in code_lines(owner) for word in words.by_process)
        if is_by_process and asks_for_workers(project, owner):
            return False
    return True


def _loaded(project: Project, facts: ClassFacts, ends: Callable[[Instance], bool]) -> Loaded | None:
    """A loader that gives objects of a class that end to several workers; best is one whose number is known.

    What a constructor is passed may end where nothing in its class does.
    """
    unsure, evaluator = None, Evaluator(project)
    always_ends = ends(Instance(facts))
    paths = (path for path in project.where(WORD, facts.name) if may_make_loader(project, path))
    for module in project.modules(paths):
        for loader in loaders_of(project, module):
            call = loader.call.node
            given = argument(call, "dataset", 0) if isinstance(call, ast.Call) else None
            dataset = Expression(module, loader.call.scope, given) if given is not None else None
            several = _several(loader)
            if dataset is None or not _is_of(evaluator, dataset, facts, perhaps=several is True):
                continue
            made = None if always_ends else evaluator.find(dataset).value
            if not always_ends and not (isinstance(made, Instance) and made.made is not None and ends(made)):
                continue
            if several:
                return Loaded(module, call, surely=True, by_option=False)  # type: ignore[arg-type]
            if several is None:
                by_option = has_none_by_default(loader)
                unsure = unsure or Loaded(module, call, surely=False, by_option=by_option)  # type: ignore[arg-type]
    return unsure


def _is_of(evaluator: Evaluator, dataset: Expression, facts: ClassFacts, *, perhaps: bool) -> bool:
    """Whether a loader gets objects of a class; with ``perhaps``, also one of several that a name may hold.

    A name that anything else is given may have led to another loader before, for streams.
    """
    if class_of(evaluator, dataset) == facts:
        return True
    if not perhaps or not isinstance(dataset.node, ast.Name) or facts not in classes_of(evaluator, dataset):
        return False
    calls = (node for node in nodes_below(dataset.scope.node) if isinstance(node, ast.Call))
    taking = [one for one in calls if any(is_name(given, dataset.node.id) for given in all_arguments(one))]
    return sum(last_name(one.func) not in HARMLESS for one in taking) == 1


def _several(loader: Loader) -> bool | None:
    """Whether a loader has two workers or more; None if the text gives their number and it is not known."""
    if loader.workers.number == 1:
        return False
    if loader.workers.kind is Workers.SOME:
        return True
    is_given = loader.open or loader.option(loader.row.workers) is not None
    return None if is_given and loader.workers.kind is not Workers.NONE else False


def _shared_out(project: Project, dataset: ClassFacts, loaded: Loaded) -> bool:
    """Whether something else gives each worker its share: a ``worker_init_fn``, accelerate, a library of streams."""
    if any(word in loaded.module.document.text for word in stream_words().shared_out):
        return True
    names = {name for function in worker_methods(project, dataset) for name in attributes_read(function)}
    names |= {
        name for owner in project.ancestry(dataset).classes for name in owner.methods if not name.startswith("__")
    }
    for module in project.mentioning("get_worker_info"):
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and node.attr in names and not _is_own(node):
                above = module.parents[node]
                if isinstance(node.ctx, ast.Store) or isinstance(above, (ast.Call, ast.Attribute)):
                    return True
    return False


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
