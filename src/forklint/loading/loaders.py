"""Where loaders are made: by which call, with which options, for which dataset, with how many workers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import TypeVar

from forklint.knowledge.starters import Starter, starters
from forklint.loading import datasets
from forklint.loading.rows import PARTIAL, loader_row, partial_of, row_above, rows_above
from forklint.loading.screening import OWN, loader_names, may_make_loader
from forklint.loading.settings_by_keys import completed, read_there
from forklint.model import Link
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, CodeLink, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, Scope
from forklint.project.spelling import last_name
from forklint.project.trials import is_test_file
from forklint.records import dataclass
from forklint.summaries.terms import CALL
from forklint.values import arguments, arithmetic, callers, names
from forklint.values.evaluator import Evaluator
from forklint.values.model import (
    NOT_KNOWN,
    NOTHING,
    Absent,
    Arguments,
    Constant,
    Expression,
    Found,
    Frame,
    Instance,
    Made,
    Setting,
    Source,
    Value,
    told,
)
from forklint.values.numbers import Number, Workers, verdict
from forklint.values.worlds import EVERYWHERE, NOWHERE, Worlds

T = TypeVar("T")
PARTIALS = "partial"
MOST_ASKED = 60
"""Of so many loaders it is asked which dataset they get."""


@dataclass(frozen=True)
class WorkerCount:
    """What is known of a loader's number of workers."""

    kind: Workers
    by_default: bool = False
    """Whether the user of the program, or of the library, may give another: it is only the default."""
    links: tuple[Link | CodeLink, ...] = ()
    """Where it is written down, if not in the call itself."""
    number: Number = None
    """The number itself, where it is known."""
    some_in: Worlds = NOWHERE
    """Where it is not known in general: the kinds of machine on which it is above zero."""

    @property
    def surely_some(self) -> bool:
        """Whether it is above zero and not a mere default."""
        return self.kind is Workers.SOME and not self.by_default


@dataclass(frozen=True)
class Loader:
    """One call that makes a loader."""

    call: Expression
    row: Starter
    evaluator: Evaluator = field(compare=False, hash=False, repr=False)
    plain: bool = field(default=False, compare=False)
    """Whether the options are what the call itself gives, whatever it calls."""
    facts: ClassFacts | None = None
    """The class of the project of which it is an object, where the call itself does not say so."""

    @property
    def given(self) -> Arguments:
        """What the library's own constructor gets."""
        if self.plain:
            return arguments.of_call(self.evaluator, self.call)
        return self._answer("arguments of a loader", self._find_given)

    def _find_given(self) -> Arguments:
        if self.facts is not None:
            return _handed_up(self.evaluator, self.facts, arguments.of_call(self.evaluator, self.call))
        return _given(self.evaluator, self.call, self.row)

    def _answer(self, name: str, find: Callable[[], T]) -> T:
        return self.evaluator.project.answer(name, (self.call.node, self.call.frame, self.plain, self.facts), find)

    @property
    def open(self) -> bool:
        """Whether it may be given more options of which nothing is known."""
        return self.given.open

    def option(self, name: str) -> Source | None:
        """Where an option is written down, by the library's name for it; None if it is not given, as far as is seen."""
        return self.given.get(name, self.row.position(name))

    def value(self, name: str) -> Found | None:
        """What an option holds; None if it is surely not given, NOTHING if nothing is known."""
        source = self.option(name)
        if source is None:
            return NOTHING if self.open else None
        found = self.evaluator.find(source)
        if isinstance(source, Setting) and names.is_set_elsewhere(self.evaluator, self.call.module, name):
            return NOTHING
        if not isinstance(source, Expression) or any(source.node is node for node in nodes_below(self.call.node)):
            return found
        return told(found, source, name)

    @property
    def workers(self) -> WorkerCount:
        """Its number of workers."""
        return self._answer("workers of a loader", self._find_workers)

    def _find_workers(self) -> WorkerCount:
        threads = self.value(self.row.threads) if self.row.threads else None
        if threads is not None and not _is_off(threads):
            return WorkerCount(Workers.UNKNOWN)
        found = self.value(self.row.workers)
        if found is None:
            return WorkerCount(verdict(self.row.workers_default), number=self.row.workers_default)
        if not any(isinstance(one.value, (Constant, Absent)) or self._number_of(one) for one in found.possible):
            found = self._by_settings() or found
        number = arithmetic.number_of(found)
        kind = verdict(number)
        if kind is Workers.UNKNOWN and found.in_turn:
            found = next((one for one in found.options if verdict(arithmetic.number_of(one)) is Workers.SOME), found)
            kind = verdict(arithmetic.number_of(found))
        elif kind is Workers.UNKNOWN and found.is_all and self._is_none_in_each(found):
            return WorkerCount(Workers.NONE, found.by_default, found.links, 0)
        elif kind is Workers.UNKNOWN:
            return self._by_world(found) if found.is_all else UNKNOWN
        return WorkerCount(kind, found.by_default, found.links, number)

    def _by_settings(self) -> Found | None:
        """The number that files of settings have for it, where nothing else says it."""
        source = self.option(self.row.workers)
        read = read_there(self.evaluator, source) if isinstance(source, Expression) else None
        return self.evaluator.find(read) if read is not None else None

    def _number_of(self, option: Found) -> Number:
        """The number that one of several options means, that of the library where it is not given."""
        return self.row.workers_default if isinstance(option.value, Absent) else arithmetic.number_of(option)

    def _is_none_in_each(self, found: Found) -> bool:
        return all(verdict(self._number_of(one)) is Workers.NONE for one in found.options)

    def _by_world(self, found: Found) -> WorkerCount:
        """The number of which it is known for which kinds of machine alone it is above zero, if that is known."""
        some = [one for one in found.options if verdict(self._number_of(one)) is Workers.SOME]
        worlds = NOWHERE
        for one in some:
            worlds |= one.worlds
        if worlds == EVERYWHERE:
            return UNKNOWN
        return WorkerCount(Workers.UNKNOWN, any(one.by_default for one in some), some_in=worlds)

    @property
    def datasets(self) -> tuple[ClassFacts, ...]:
        """The classes of the project of which its dataset may be, those inside of wrappers included."""
        return self._answer("datasets of a loader", self._find_datasets)

    def _find_datasets(self) -> tuple[ClassFacts, ...]:
        if not self.row.positions:
            return datasets.of_consumer(self.evaluator, self.call)
        source = self.option("dataset") or self.option(self.row.positions[0])
        return datasets.classes_of(self.evaluator, source) if source is not None else ()

    @property
    def dataset(self) -> ClassFacts | None:
        """The class of its dataset, where just one is known."""
        return self.datasets[0] if len(self.datasets) == 1 else None


UNKNOWN = WorkerCount(Workers.UNKNOWN)


def _is_off(found: Found) -> bool:
    return isinstance(found.value, Constant) and not arithmetic.is_true(found.value)


def loaders(project: Project) -> tuple[Loader, ...]:
    """Every loader that the code of the project makes."""
    return project.answer(
        "all loaders", None, lambda: tuple(one for module in _modules(project) for one in loaders_of(project, module))
    )


def loaders_of(project: Project, module: Module) -> tuple[Loader, ...]:
    """The loaders that one module makes."""
    return project.answer("loaders of a module", module, lambda: tuple(_find(project, module)))


def loaders_for(project: Project, facts: ClassFacts) -> tuple[Loader, ...]:
    """The loaders that may get an object of a class, or of one that inherits from it.

    A module whose imports do not lead to the class is not asked; nor are more than MOST_ASKED loaders.
    """
    return project.answer("loaders for a class", facts, lambda: _find_for(project, facts))


def _find_for(project: Project, facts: ClassFacts) -> tuple[Loader, ...]:
    family = {facts, *project.subclasses(facts)}
    homes = frozenset(one.module.path for one in family)
    modules = project.modules(_leading_to(project, homes))
    asked = [loader for module in modules for loader in loaders_of(project, module)][:MOST_ASKED]
    return tuple(loader for loader in asked if family & set(loader.datasets))


def _leading_to(project: Project, homes: frozenset[Path]) -> tuple[Path, ...]:
    """The files that may make loaders and whose imports lead to one of some files."""

    def find() -> tuple[Path, ...]:
        reaches = project.graph.reaches
        return tuple(path for path in files_with_loaders(project) if any(reaches(path, home) for home in homes))

    return project.answer("makers of loaders that lead to a file", homes, find, compared=True)


def never_has_workers(project: Project, facts: ClassFacts) -> bool:
    """Whether loaders of the project get objects of a class, and each of them surely has no workers.

    Loaders in tests do not count where the project makes others.
    """
    return project.answer("never has workers", facts, lambda: _has_none(project, facts), compared=True)


def _has_none(project: Project, facts: ClassFacts) -> bool:
    found = loaders_for(project, facts)
    if any(not is_test_file(path) for path in files_with_loaders(project)):
        found = tuple(loader for loader in found if not is_test_file(loader.call.module.path))
    counts = [loader.workers for loader in found]
    return bool(counts) and all(one.kind is Workers.NONE and not one.by_default for one in counts)


def loader_at(project: Project, call: Expression) -> Loader | None:
    """The loader that a call makes; None if it makes none."""
    return project.answer("loader of a call", call.node, lambda: _find_at(project, call))


def _find_at(project: Project, call: Expression) -> Loader | None:
    row = loader_row(project, call.module, call.scope, call.node) if isinstance(call.node, ast.Call) else None
    return Loader(call, row, Evaluator(project)) if row is not None else None


def loader_held(project: Project, value: Value) -> Loader | None:
    """The loader that a value is; None for another one."""
    if isinstance(value, Made):
        row = starters(project.settings.starters).get(value.name)
        return Loader(value.call, row, Evaluator(project)) if row is not None and row.is_loader else None
    if not isinstance(value, Instance) or value.call is None:
        return None
    row = row_above(project, value.facts)
    return Loader(value.call, row, Evaluator(project), facts=value.facts) if row is not None else None


def workers_of(project: Project, module: Module, scope: Scope, call: ast.Call) -> Workers | None:
    """How many workers a loader starts when it is iterated, a mere default left out; None if the call makes none."""
    loader = loader_at(project, Expression(module, scope, call))
    if loader is None:
        return None
    return Workers.UNKNOWN if loader.workers.by_default else loader.workers.kind


# Finding


def _modules(project: Project) -> Iterator[Module]:
    """Give the modules that may make a loader, or a partial that will."""
    return project.modules(files_with_loaders(project))


def files_with_loaders(project: Project) -> tuple[Path, ...]:
    """The files that may make a loader, or a partial that will."""

    def find() -> tuple[Path, ...]:
        calling = {path for name in (*loader_names(project), PARTIALS, OWN) for path in project.where(CALL, name)}
        return tuple(path for path in project.in_order(calling) if may_make_loader(project, path))

    return project.answer("files that may make loaders", None, find, compared=True)


def _find(project: Project, module: Module) -> Iterator[Loader]:
    words = loader_names(project) | {PARTIALS, OWN}
    for node in module.calls_of(words):
        if not _is_named_partial(module, node):
            loader = loader_at(project, Expression(module, module.scope_at(node), node))
            if loader is not None:
                yield loader


def _is_named_partial(module: Module, call: ast.Call) -> bool:
    """Whether a call makes a partial that has a name: the calls of that name make the loaders."""
    above = module.parents.get(call)
    is_partial = last_name(call.func) == PARTIALS
    return is_partial and isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name)


def _given(evaluator: Evaluator, call: Expression, row: Starter) -> Arguments:
    """What the library's own constructor gets by a call that makes a loader."""
    given = completed(evaluator, call, row, arguments.of_call(evaluator, call))
    assert isinstance(call.node, ast.Call)  # noqa: S101 - it makes a loader
    if callers.is_super_call(call.node):
        return callers.handed_up(evaluator, call)
    symbol = evaluator.project.resolve(call.module, call.scope, call.node.func)
    if isinstance(symbol, External) and symbol.name in PARTIAL:
        return given.without_first
    if isinstance(symbol, ClassFacts):
        return _handed_up(evaluator, symbol, given)
    place = partial_of(evaluator.project, symbol)
    return arguments.of_call(evaluator, place).without_first.then(given) if place else given


def _handed_up(evaluator: Evaluator, facts: ClassFacts, given: Arguments) -> Arguments:
    """What a project class that inherits from a loader hands on to it, when it gets certain arguments."""
    project = evaluator.project
    found = project.method(facts, "__init__")
    while found is not None:
        owner, method = found
        scope = owner.module.scope_of[method]
        frame = Frame(FunctionFacts(owner.module, method), given, Instance(facts, given))
        above = [n for n in nodes_below(method) if isinstance(n, ast.Call) and callers.is_super_call(n)]
        if len(above) != 1 or _sets_workers(project, facts, method):
            return NOT_KNOWN
        given = callers.handed_up(evaluator, Expression(owner.module, scope, above[0], frame))
        classes = project.ancestry(facts).classes
        later = classes[classes.index(owner) + 1 :]
        found = next(((one, one.methods["__init__"]) for one in later if "__init__" in one.methods), None)
    return given


def _sets_workers(project: Project, facts: ClassFacts, method: Function) -> bool:
    """Whether a constructor gives the loader another number of workers than it handed on."""
    names = {row.workers for row in rows_above(project, facts)}
    return any(
        isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in names
        for node in nodes_below(method)
    )
