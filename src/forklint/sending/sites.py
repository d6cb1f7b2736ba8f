"""The calls of a module that send something to worker processes: what, to whom, and in which cells it is pickled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from forklint.knowledge.starters import Starter, starters
from forklint.knowledge.unpicklable import senders
from forklint.loading.datasets import given_to_trainers
from forklint.loading.loaders import Loader, loader_at, loader_held, loaders_of
from forklint.loading.rows import loader_row, own_class
from forklint.loading.screening import loader_names
from forklint.model import Cell
from forklint.project.index import External
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import parameters
from forklint.project.spelling import all_arguments, argument, last_name
from forklint.records import dataclass
from forklint.runs.calls import Running, callee, runs
from forklint.sending.screening import launching, names_of_senders, names_of_what_loads
from forklint.sending.written import all_written, is_refused, may_be_dataset, may_be_refused, written
from forklint.starting.methods import asked_by, asked_of, cells_for, forked, set_for
from forklint.summaries.terms import CALL
from forklint.values import arguments, files
from forklint.values.callers import is_super_call
from forklint.values.evaluator import Evaluator
from forklint.values.model import Arguments, Constant, Expression, Frame, Instance, Made
from forklint.values.numbers import Workers
from forklint.values.parameters import source_in

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.project.scopes import Scope

MAX_CALLS = 3
"""Through so many calls of functions an argument is followed to a loader."""
ENTERED = frozenset({Running.AT_ONCE, Running.BY_OTHERS, Running.DRAWN})
"""How functions run that calls enter; a generator is called to be drawn from."""


SET_LATER = frozenset({"collate_fn", "worker_init_fn"})
"""What torch lets a program change of a loader that is made."""


@dataclass(frozen=True)
class Sent:
    """One thing that a call sends."""

    module: Module
    scope: Scope
    call: ast.Call
    part: str
    """The parameter that takes it: ``collate_fn``, ``dataset``, ``target``."""
    value: ast.expr
    """Where a finding may stand: what is sent, or the call if that stands in another module."""
    to: str
    """Who gets it, by the name people know: ``DataLoader``, ``Process``."""
    where: Callable[[], tuple[Cell, ...]] = field(compare=False, repr=False)
    """Works out ``cells``: late, since what is refused is told sooner than how many workers there are."""
    piped: bool = False
    """Whether it is pickled wherever it runs, after a fork, too."""
    by_method: bool = True
    """Whether the call itself starts the processes, and says how."""
    source: Expression | None = None
    """Where what is sent is written down, if that is not ``value`` in the place of the call."""
    loader: Loader | None = None
    """The loader whose workers get it, if they do."""
    handed: bool = False
    """Whether it is made elsewhere, of arguments of the call: only they are told of here."""

    @property
    def given(self) -> Expression:
        """What is sent, and where it is written down."""
        return self.source or Expression(self.module, self.scope, self.value)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Where it is pickled; nowhere if there are no workers."""
        return self.where()

    @property
    def asked(self) -> bool:
        """Whether the start method is named, so that every platform does the same."""
        return self.by_method and _is_asked(self.cells)


class Sites:
    """Finds them, for the whole project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._evaluator = Evaluator(project)

    def in_module(self, module: Module) -> Iterator[Sent]:
        """Give what the calls of a module send."""
        names, loading = self._names(), names_of_what_loads(self.project)
        for node in module.nodes:
            if isinstance(node, ast.Assign):
                yield from self._set_later(module, node)
            if not isinstance(node, ast.Call):
                continue
            own = own_class(module, module.scope_at(node), node.func)
            name = own.name if own is not None else last_name(node.func)
            sent = [*self.of_call(module, module.scope_at(node), node)] if name in names else []
            may_be = may_be_dataset if name in loading else may_be_refused
            if not sent and any(may_be(module, one) for one in all_arguments(node)):
                sent = [*self.through(module, node)]
            yield from sent

    def _set_later(self, module: Module, store: ast.Assign) -> Iterator[Sent]:
        """What a loader is given after it was made: ``loader.collate_fn = function``."""
        target = store.targets[0]
        if not isinstance(target, ast.Attribute) or target.attr not in SET_LATER:
            return
        place = Expression(module, module.scope_at(target), target.value)
        for one in self._evaluator.find(place).possible:
            loader = loader_held(self.project, one.value)
            made = loader.call.node if loader is not None else None
            if loader is not None and isinstance(made, ast.Call):
                home, where, to = loader.call, partial(self._where, loader), loader.row.name
                given = place.part(store.value)
                yield Sent(
                    home.module, home.scope, made, target.attr, store.value, to, where, source=given, loader=loader
                )

    def of_loader_classes(self, module: Module) -> Iterator[Sent]:
        """Give what the loader classes of a module add by themselves, where their defaults have workers.

        Only of those that no call in the project is seen to make: a name from a file of settings may choose them.
        """
        for facts in module.classes:
            init = facts.methods.get("__init__") if facts.name in loader_names(self.project) else None
            calls = (node for node in nodes_below(init) if isinstance(node, ast.Call)) if init is not None else ()
            setup = next((node for node in calls if is_super_call(node)), None)
            if setup is None or self._is_called(facts):
                continue
            made = (
                loader_at(self.project, Expression(module, module.scope, call)) for call in self._made(facts, setup)
            )
            loader = next((one for one in made if one is not None and one.workers.kind is Workers.SOME), None)
            if loader is not None:
                sent = self._handed_on(loader, setup, partial(self._where, loader))
                yield from (one for one in sent if one.source is not None and one.source.module is module)

    def _made(self, facts: ClassFacts, setup: ast.Call) -> Iterator[ast.Call]:
        """Give calls that would make an object of a class: with its defaults, and as files of settings ask for it."""
        yield _call(facts.name, {}, setup)
        for given in files.targets(self._evaluator, frozenset({facts.name})):
            values = {name: self._evaluator.find(source).value for name, source in given.keywords.items()}
            known = {name: one.value for name, one in values.items() if isinstance(one, Constant)}
            yield _call(facts.name, known, setup)

    def _is_called(self, facts: ClassFacts) -> bool:
        for other in self.project.modules(self.project.where(CALL, facts.name)):
            calls = ((read, other.parents.get(read)) for read in other.reads(facts.name))
            made = (one for one, call in calls if isinstance(call, ast.Call) and call.func is one)
            if any(self.project.resolve(other, other.scope_at(one), one) == facts for one in made):
                return True
        return False

    def _names(self) -> frozenset[str]:
        """Last parts of the names of what sends something."""
        return senders().pool_methods | names_of_senders(self.project)

    def of_call(self, module: Module, scope: Scope, call: ast.Call) -> Iterator[Sent]:
        """Give what a call sends; nothing if it sends nothing that is pickled anywhere."""
        if isinstance(call.func, ast.Attribute) and call.func.attr in senders().pool_methods:
            yield from self._through_pipe(module, scope, call, call.func)
            return
        name, method = self._starter(module, scope, call)
        if not name:
            row = loader_row(self.project, module, scope, call)
            if row is not None:
                yield from self._to_loader(module, scope, call, row)
            return
        launcher = senders().processes.get(name) or senders().pools.get(name) or senders().launchers.get(name)
        if launcher is not None:
            to = name.rpartition(".")[2]
            where = self._everywhere if launcher.piped else partial(cells_for, self.project)
            for part, value in _given(call, launcher.positions):
                yield Sent(module, scope, call, part, value, to, partial(where, module, method), launcher.piped)

    def _starter(self, module: Module, scope: Scope, made: ast.expr) -> tuple[str, str]:
        """The qualified name of what an expression makes that starts processes, and the start method asked for."""
        value = self._evaluator.find(Expression(module, scope, made)).value
        name = value.name if isinstance(value, Made) else ""
        row = starters(self.project.settings.starters).get(name)
        if row is None or not isinstance(value, Made) or all(name not in known for known in launching()):
            return "", ""
        return name, asked_of(self._evaluator, row, value.call).method

    def loaders(
        self, module: Module, wanted: Callable[[ast.Call], bool] | None = None
    ) -> Iterator[tuple[Scope, ast.Call, Starter, str]]:
        """Give the calls of a module that make loaders with workers, each with its scope, row and start method.

        Left out are those whose workers are surely none, those of which nothing says that they have any, and, before
        it is asked, those that are not ``wanted``.
        """
        for node in module.calls_of(self._names()):
            if wanted is None or wanted(node):
                scope = module.scope_at(node)
                row = loader_row(self.project, module, scope, node)
                found = self._with_workers(module, scope, node, row) if row is not None else None
                if row is not None and found is not None:
                    yield scope, node, row, found

    def _with_workers(self, module: Module, scope: Scope, call: ast.Call, row: Starter) -> str | None:
        """The start method that a loader asks for; None if it has no workers, or nothing says that it has."""
        loader = loader_at(self.project, Expression(module, scope, call))
        return self._method_of(loader) if loader else None

    def _method_of(self, loader: Loader) -> str | None:
        """The same for a loader as it is made by one call."""
        workers = Workers.UNKNOWN if loader.workers.by_default else loader.workers.kind
        if workers is Workers.NONE or (workers is Workers.UNKNOWN and loader.option(loader.row.workers) is None):
            return None
        return asked_by(self._evaluator, loader.option(loader.row.context) if loader.row.context else None).method

    def _to_loader(self, module: Module, scope: Scope, call: ast.Call, row: Starter) -> Iterator[Sent]:
        loader = loader_at(self.project, Expression(module, scope, call))
        where = partial(self._where, loader)
        if loader is not None and not row.positions:
            yield from self._to_trainers(loader, where)
            return
        own = dict(self.given(module, scope, call))
        for part, value in own.items():
            yield Sent(module, scope, call, part, value, row.name, where, loader=loader)
        is_own = not isinstance(self.project.resolve(module, scope, call.func), External)
        if loader is not None and (is_own or any(one.arg is None for one in call.keywords)):
            yield from (one for one in self._handed_on(loader, call, where) if one.part not in own)

    def _to_trainers(self, settings: Loader, where: Callable[[], tuple[Cell, ...]]) -> Iterator[Sent]:
        """What the workers get of trainers that are made beside the settings for their loaders."""
        module, frame = settings.call.module, settings.call.frame
        for scope, made, keyword in given_to_trainers(self._evaluator, module):
            name, to = keyword.arg or "", settings.row.name
            source = written(Expression(module, scope, keyword.value, frame)) if frame is not None else None
            yield Sent(module, scope, made, name, keyword.value, to, where, source=source, loader=settings)

    def _where(self, loader: Loader | None) -> tuple[Cell, ...]:
        method = self._method_of(loader) if loader is not None else None
        return cells_for(self.project, loader.call.module, method) if loader is not None and method is not None else ()

    def _handed_on(self, loader: Loader, call: ast.Call, where: Callable[[], tuple[Cell, ...]]) -> Iterator[Sent]:
        """What a loader gets that its own class adds, or that the function around it was given."""
        for part in senders().loader:
            for source in all_written(loader.option(part)):
                module, value = loader.call.module, source.node if source.module is loader.call.module else call
                scope, to = loader.call.scope, loader.row.name
                yield Sent(module, scope, call, part, value, to, where, source=source, loader=loader)

    def through(self, module: Module, call: ast.Call) -> Iterator[Sent]:
        """Give what functions of the project, given something that may be refused, hand on to a loader in them."""
        scope = module.scope_at(call)
        for one in self._entered(Expression(module, scope, call), MAX_CALLS):
            if one.source is not None and one.source.module is module and one.source.scope is scope:
                yield replace(one, module=module, scope=scope, call=call, value=one.source.node)
            elif one.source is not None:
                yield replace(one, module=module, scope=scope, call=call, value=call, handed=True)

    def _entered(self, call: Expression, depth: int) -> Iterator[Sent]:
        """Give what the loaders of a function get that a call enters, and of those that it calls with its arguments."""
        node, evaluator = call.node, self._evaluator
        assert isinstance(node, ast.Call)  # noqa: S101 - the caller says so
        called = self.project.resolve(call.module, call.scope, node.func)
        if isinstance(called, ClassFacts) and loader_row(self.project, call.module, call.scope, node) is None:
            yield from self._made_by(called, call)
            return
        entered = callee(evaluator, call.part(node.func), called)
        if entered is None or runs(evaluator, entered[0]) not in ENTERED:
            return
        function, receiver = entered
        frame = Frame(function, arguments.of_call(evaluator, call), receiver)
        yield from self._in_frame(frame, node)
        refused = {one.arg for one in parameters(function.node) if is_refused(source_in(frame, one.arg))}
        inner_calls = (one for one in nodes_below(function.node) if isinstance(one, ast.Call))
        for inner in inner_calls if depth and refused else ():
            if any(getattr(value, "id", "") in refused for value in all_arguments(inner)):
                yield from self._entered(Expression(function.module, function.scope, inner, frame), depth - 1)

    def _made_by(self, facts: ClassFacts, call: Expression) -> Iterator[Sent]:
        """Give what the loaders get that methods of an object make, of what the object was made with."""
        assert isinstance(call.node, ast.Call)  # noqa: S101 - the caller says so
        if not loaders_of(self.project, facts.module):
            return
        given = arguments.of_call(self._evaluator, call)
        for name, method in facts.methods.items():
            own = given if name == "__init__" else Arguments()
            frame = Frame(FunctionFacts(facts.module, method), own, Instance(facts, given, call))
            yield from self._in_frame(frame, call.node)

    def _in_frame(self, frame: Frame, call: ast.Call) -> Iterator[Sent]:
        for loader in loaders_of(self.project, frame.function.module):
            if loader.call.scope is frame.function.scope and isinstance(loader.call.node, ast.Call):
                here = replace(loader, call=replace(loader.call, frame=frame))
                where = partial(self._where, here)
                given = self._handed_on(here, call, where) if here.row.positions else self._to_trainers(here, where)
                yield from (one for one in given if one.scope is frame.function.scope)

    def given(self, module: Module, scope: Scope, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        """Give what the workers of a loader get: its dataset and its functions, by name."""
        placed = self.project.qualified(module, scope, call.func) in senders().placed_loaders
        for part, position in senders().loader.items():
            value = argument(call, part, position if placed or part == "dataset" else None)
            if value is not None:
                yield part, value

    def _through_pipe(self, module: Module, scope: Scope, call: ast.Call, function: ast.Attribute) -> Iterator[Sent]:
        """What a method of a pool is given, the function first: it goes through a pipe."""
        if not call.args and not call.keywords:
            return
        name, method = self._starter(module, scope, function.value)
        if name not in senders().pools:
            return
        where = partial(self._everywhere, module, method)
        first = argument(call, "fn" if name.endswith("Executor") else "func", 0)
        values = [first] if first is not None else []
        if function.attr in senders().calling_methods:
            values += [one for one in call.args[1:] if not isinstance(one, ast.Starred)]
            values += [one.value for one in call.keywords if one.arg not in {None, "fn"}]
        for value in values:
            to = name.rpartition(".")[2]
            yield Sent(module, scope, call, function.attr, value, to, where, piped=True, by_method=False)

    def _everywhere(self, module: Module, method: str) -> tuple[Cell, ...]:
        """All cells, or those of the method that is asked for."""
        found = cells_for(self.project, module, method)
        settings = self.project.settings
        if method == "fork" or set_for(self.project, module) == {"fork"}:
            return forked(settings)
        return found if _is_asked(found) else settings.cells


def _is_asked(cells: tuple[Cell, ...]) -> bool:
    """Whether Linux spawns, or a Mac starts a fork server, which each does only when it is asked to."""
    return any(cell.start_method == ("spawn" if cell.platform == "linux" else "forkserver") for cell in cells)


def _given(call: ast.Call, positions: Mapping[str, int]) -> Iterator[tuple[str, ast.expr]]:
    for name, position in positions.items():
        value = argument(call, name, position)
        if value is not None:
            yield name, value


def _call(name: str, given: Mapping[str, Any], place: ast.expr) -> ast.Call:
    """A call that stands nowhere in the code, at a place of it."""
    keywords = [ast.keyword(key, ast.Constant(value)) for key, value in given.items()]
    call = ast.Call(ast.Name(name, ast.Load()), [], keywords)
    for node in ast.walk(call):
        ast.copy_location(node, place)
    return call
