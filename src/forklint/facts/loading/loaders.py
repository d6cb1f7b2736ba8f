"""Where loaders are made: by which call, with which options, for which dataset, with how many workers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from forklint.facts.loading import arguments, arithmetic, callers, datasets
from forklint.facts.loading.following import Follower
from forklint.facts.loading.numbers import Number, Workers, verdict
from forklint.facts.loading.values import (
    NOTHING,
    Arguments,
    Constant,
    Expression,
    Found,
    Frame,
    Instance,
    Source,
    told,
)
from forklint.knowledge.starters import Starter, starters
from forklint.model import Link
from forklint.project.index import External, Project
from forklint.project.index import Value as Bound
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Scope

PARTIAL = frozenset({"functools.partial"})


@dataclass(frozen=True)
class WorkerCount:
    """What is known of a loader's number of workers."""

    kind: Workers
    by_default: bool = False
    """Whether the user of the program, or of the library, may give another: it is only the default."""
    links: tuple[Link, ...] = ()
    """Where it is written down, if not in the call itself."""
    number: Number = None
    """The number itself, where it is known."""

    @property
    def surely_some(self) -> bool:
        """Whether it is above zero and not a mere default."""
        return self.kind is Workers.SOME and not self.by_default


@dataclass(frozen=True)
class Loader:
    """One call that makes a loader."""

    call: Expression
    row: Starter
    given: Arguments = field(compare=False, hash=False)
    """What the library's own constructor gets."""
    follow: Follower = field(compare=False, hash=False, repr=False)

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
        found = self.follow.find(source)
        if not isinstance(source, Expression) or any(source.node is node for node in ast.walk(self.call.node)):
            return found
        return told(found, source, name)

    @cached_property
    def workers(self) -> WorkerCount:
        """Its number of workers."""
        threads = self.value(self.row.threads) if self.row.threads else None
        if threads is not None and not _is_off(threads):
            return WorkerCount(Workers.UNKNOWN)
        found = self.value(self.row.workers)
        if found is None:
            return WorkerCount(verdict(self.row.workers_default), number=self.row.workers_default)
        number = arithmetic.number_of(found)
        kind = verdict(number)
        return WorkerCount(kind, found.by_default, found.links, number) if kind is not Workers.UNKNOWN else UNKNOWN

    @cached_property
    def datasets(self) -> tuple[ClassFacts, ...]:
        """The classes of the project of which its dataset may be, those inside of wrappers included."""
        if not self.row.positions:
            return datasets.of_consumer(self.follow, self.call)
        source = self.option("dataset") or self.option(self.row.positions[0])
        return datasets.classes_of(self.follow, source) if source is not None else ()

    @property
    def dataset(self) -> ClassFacts | None:
        """The class of its dataset, where just one is known."""
        return self.datasets[0] if len(self.datasets) == 1 else None


UNKNOWN = WorkerCount(Workers.UNKNOWN)


def _is_off(found: Found) -> bool:
    return isinstance(found.value, Constant) and not arithmetic.is_true(found.value)


def loaders(project: Project) -> tuple[Loader, ...]:
    """Every loader that the code of the project makes."""
    memory = project.memory("all loaders")
    if "all" not in memory:
        memory["all"] = tuple(loader for module in _modules(project) for loader in loaders_of(project, module))
    found: tuple[Loader, ...] = memory["all"]
    return found


def loaders_of(project: Project, module: Module) -> tuple[Loader, ...]:
    """The loaders that one module makes."""
    memory = project.memory("loaders of a module")
    if module not in memory:
        memory[module] = tuple(_find(project, module))
    found: tuple[Loader, ...] = memory[module]
    return found


def loaders_for(project: Project, facts: ClassFacts) -> tuple[Loader, ...]:
    """The loaders that may get an object of a class, or of one that inherits from it."""
    family = {facts, *project.subclasses(facts)}
    return tuple(loader for loader in loaders(project) if family & set(loader.datasets))


def loader_at(project: Project, call: Expression) -> Loader | None:
    """The loader that a call makes; None if it makes none."""
    follow = Follower(project)
    made = _made(follow, call, call.node.func if isinstance(call.node, ast.Call) else call.node)
    if made is None:
        return None
    row, given = made
    return Loader(call, row, given, follow)


def loader_row(project: Project, module: Module, scope: Scope, call: ast.Call) -> Starter | None:
    """The row of starters.toml for a call that makes a loader; None if it makes none."""
    found = loader_at(project, Expression(module, scope, call))
    return found.row if found is not None else None


# Finding


def _words(project: Project) -> frozenset[str]:
    """The last names of what makes a loader: those of the table, subclasses and partials of the project."""
    memory = project.memory("names of loaders")
    if "all" not in memory:
        rows = starters(project.settings.starters).items()
        words = {name.rpartition(".")[2] for name, row in rows if row.how == "iterated"}
        memory["all"] = frozenset(words)  # what follows asks for them again
        memory["all"] = frozenset(words | set(_project_words(project, words)))
    found: frozenset[str] = memory["all"]
    return found


def _project_words(project: Project, words: set[str]) -> Iterator[str]:
    seen: set[Module] = set()
    waiting = list(words)
    known = set(words)
    while waiting:
        for module in project.mentioning(waiting.pop()):
            if module in seen:
                continue
            seen.add(module)
            for name in _defined(project, module):
                if name not in known:
                    known.add(name)
                    waiting.append(name)
                    yield name


def _defined(project: Project, module: Module) -> Iterator[str]:
    """Give names of a module that stand for loaders: subclasses, partials, other names for the same."""
    rows = starters(project.settings.starters)
    for facts in module.classes:
        if any(name in rows and rows[name].how == "iterated" for name in project.ancestry(facts).external):
            yield facts.name
    for name, bindings in module.scope.bindings.items():
        for binding in bindings:
            if binding.attribute and binding.name != binding.attribute:
                symbol = project.imported(module, binding)
                if isinstance(symbol, External) and symbol.name in rows:
                    yield name
            elif isinstance(binding.value, ast.Call) and "partial" in ast.unparse(binding.value.func):
                yield name


def _modules(project: Project) -> Iterator[Module]:
    pattern = re.compile("|".join(sorted(map(re.escape, _words(project)))).encode())
    for path in project.files:
        if pattern.search(project.data(path)):
            module = project.module(path)
            if module is not None:
                yield module


def _find(project: Project, module: Module) -> Iterator[Loader]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and not _is_named_partial(module, node):
            loader = loader_at(project, Expression(module, module.scope_at(node), node))
            if loader is not None:
                yield loader


def _is_named_partial(module: Module, call: ast.Call) -> bool:
    """Whether a call makes a partial that has a name: the calls of that name make the loaders."""
    above = module.parents.get(call)
    is_partial = getattr(call.func, "attr", getattr(call.func, "id", "")) == "partial"
    return is_partial and isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name)


def _made(follow: Follower, call: Expression, function: ast.expr) -> tuple[Starter, Arguments] | None:
    """The row and the arguments of a loader that a call makes, or that a partial will make."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(function, (ast.Name, ast.Attribute)):
        return None
    project = follow.project
    rows = starters(project.settings.starters)
    symbol = project.resolve(call.module, call.scope, function)
    if isinstance(symbol, External):
        row = rows.get(symbol.name)
        if symbol.name in PARTIAL and node.args:
            inner = _made(follow, call, node.args[0])
            return (inner[0], arguments.without_first(inner[1])) if inner is not None else None
        if row is not None and row.how == "iterated":
            return row, arguments.of_call(follow, call)
    elif isinstance(symbol, ClassFacts):
        return _of_subclass(follow, call, symbol)
    elif isinstance(symbol, Bound) and isinstance(symbol.binding.value, ast.Call):
        value = symbol.binding.value
        place = Expression(symbol.module, symbol.scope, value)
        if project.qualified(symbol.module, symbol.scope, value.func) in PARTIAL:
            inner = _made(follow, place, value.func)
            if inner is not None:
                return inner[0], arguments.joined(inner[1], arguments.of_call(follow, call))
    return None


def _of_subclass(follow: Follower, call: Expression, facts: ClassFacts) -> tuple[Starter, Arguments] | None:
    """The same for a project class that inherits from a loader: what its own ``__init__`` hands on counts."""
    project = follow.project
    rows = starters(project.settings.starters)
    names = project.ancestry(facts).external
    row = next((rows[name] for name in names if name in rows and rows[name].how == "iterated"), None)
    if row is None:
        return None
    given = arguments.of_call(follow, call)
    found = project.method(facts, "__init__")
    while found is not None:
        owner, method = found
        scope = owner.module.scope_of[method]
        frame = Frame(FunctionFacts(owner.module, method), given, Instance(facts, given))
        above = [n for n in ast.walk(method) if isinstance(n, ast.Call) and callers.is_super_call(n)]
        if len(above) != 1:
            return row, Arguments(open=True)
        given = callers.handed_up(follow, Expression(owner.module, scope, above[0], frame))
        classes = project.ancestry(facts).classes
        later = classes[classes.index(owner) + 1 :]
        found = next(((one, one.methods["__init__"]) for one in later if "__init__" in one.methods), None)
    return row, given
