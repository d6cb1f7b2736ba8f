"""What runs in the workers of a project's loaders, and where it uses an accelerator."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.datasets.workers import Code, attributes_read, reached_from, with_called, worker_methods
from forklint.loading.datasets import classes_of
from forklint.loading.loaders import files_with_loaders, loader_at
from forklint.project.bindings import is_shadowed
from forklint.project.index import External, Value
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, Kind, Scope, statements
from forklint.project.spelling import all_arguments, first_parameter, is_name, last_name
from forklint.records import dataclass
from forklint.rules.accelerator_in_worker.by_default import SETTERS, Defaults
from forklint.rules.accelerator_in_worker.devices import itself, may_use, used_by
from forklint.rules.accelerator_in_worker.held import held
from forklint.runs.calls import by_anyone, callees, method
from forklint.sending.sites import Sites
from forklint.values import arguments, objects
from forklint.values.arithmetic import is_true, question_in
from forklint.values.evaluator import Evaluator
from forklint.values.model import (
    NO_ARGUMENTS,
    Arguments,
    Constant,
    Expression,
    Frame,
    Instance,
    Lambda,
    Made,
    Row,
    Source,
)
from forklint.values.numbers import Workers

if TYPE_CHECKING:
    from forklint.project.index import Project

ENTRIES = ("__getitem__", "__getitems__", "__iter__", "__next__")
CHAIN = ".transforms.Compose"
PICTURES = "torchvision.datasets."
TRANSFORMS = ("transform", "target_transform", "transforms")
MOST_OBJECTS = 8
"""So many objects are looked at whose method workers run."""
MOST_STEPS = 2
"""So many chains of transforms are followed within each other."""
ASKS = ("get_worker_info", "worker_info", "num_workers", "in_worker")
"""Words of code that looks whether it runs in a worker."""
OPTIONS = re.compile(r"(?i)cuda|gpu|device|accel|mps")


@dataclass(frozen=True)
class Loading:
    """A loader with workers, and what of it runs a function there."""

    module: Module
    call: ast.Call
    part: str
    """``dataset``, ``collate_fn`` or ``worker_init_fn``."""
    method: str
    """The start method that it asks for."""
    dataset: ClassFacts | None = None
    stored: frozenset[str] = frozenset()
    """For ``__init__`` of a dataset, which runs in the parent: the attributes that workers read."""
    frame: Frame | None = None
    """What a partial gives to the function."""
    receiver: Instance | None = None
    """The object whose methods run, as it was made."""


@dataclass(frozen=True)
class WorkerUse:
    """One call that puts something on an accelerator in a worker, or keeps something there that a worker uses."""

    function: FunctionFacts | None
    """None for a lambda."""
    node: ast.Call | ast.Name
    """The call; the name, for what the module put there."""
    kind: str
    loading: Loading
    attribute: str = ""
    """The attribute of the dataset that keeps it, if the parent puts it there."""
    given: bool = False
    """Whether the loader is given it, or a dataset of tensors, by the parent that puts it there."""
    by_default: bool = False
    """Whether it has all tensors made there that ask for no other place."""


Running = dict[Module, dict[Code, list[Loading]]]
"""Functions that workers run, by their modules, each with a loader, and with those that have other objects."""
Entry = tuple[Module, Code, Arguments, Instance | None]
"""What a worker enters, with what a partial gives to it, or the object whose method it is."""


class WorkerUses:
    """Answers for the whole project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._sites = Sites(project)
        self._defaults = Defaults(project)
        self._evaluator = Evaluator(project)

    def in_module(self, module: Module) -> Iterator[WorkerUse]:
        """Give the uses in functions of a module that workers run, and the defaults by which they make tensors."""
        calls = (node for node in module.nodes if isinstance(node, ast.Call))
        if not any(self._may_use(module, node) or last_name(node.func) in SETTERS for node in calls):
            return
        run = (use for function, loading in self._run_of(module) for use in self._of(module, function, loading))
        seen: set[ast.AST] = set()
        for use in chain(run, self._given_tensors(module), self._made_by_default(module)):
            if use.node not in seen:
                seen.add(use.node)
                yield use

    def _given_tensors(self, module: Module) -> Iterator[WorkerUse]:
        """Give what a module puts on an accelerator and gives to its loaders, where workers read it."""
        for scope, call, _, asked in self._sites.loaders(module):
            loader = loader_at(self.project, Expression(module, scope, call))
            given = loader.option("dataset") if loader is not None and loader.workers.kind is Workers.SOME else None
            sources = [given, *self._kept_by(given)] if isinstance(given, Expression) else []
            for place, kind in (one for source in sources for one in held(self._evaluator, source, self._kind_of)):
                node, function = place.node, place.scope.node
                is_here = place.module is module and isinstance(node, ast.Call)
                if isinstance(node, ast.Call) and is_here and not self._is_chosen(module, node, function):
                    yield WorkerUse(None, node, kind, Loading(module, call, "dataset", asked), given=True)

    def _made_by_default(self, module: Module) -> Iterator[WorkerUse]:
        """Give the calls by which a module has the tensors of workers made on an accelerator."""
        for one in self._defaults.in_module(module):
            if not self._is_chosen(module, one.call, module.scope_at(one.call).node):
                loading = Loading(one.module, one.loader, "default_collate", one.method)
                yield WorkerUse(None, one.call, one.kind, loading, by_default=True)

    def _kept_by(self, given: Expression) -> Iterator[Expression]:
        """Give what datasets of the project that an expression may hold keep in attributes that workers read."""
        for facts, made in self._made(given).items():
            functions = reached_from(self.project, facts, ENTRIES)
            names = sorted(frozenset(name for function in functions for name in attributes_read(function)))
            stored = (objects.stores(self._evaluator, one, name) for one in made if one is not None for name in names)
            yield from (place for places in stored for place in places or () if place is not None)

    def _kind_of(self, call: Expression) -> str:
        return self._uses(call.module, call.node, call.frame)

    def may_stand_in(self, path: Path) -> bool:
        """Whether workers run functions of a file."""
        return bool(self._files_running(str(path)))

    def _may_use(self, module: Module, node: ast.Call) -> bool:
        """Whether a call uses an accelerator, or does if a function, or an object, is given one."""
        named = all_arguments(node) if may_use(node) else ()
        if any(isinstance(one, ast.Attribute) for one in named):
            return True
        scope = module.scope_at(node)
        given = (scope.bound(one.id) for one in named if isinstance(one, ast.Name))
        return any(one.kind is Kind.PARAMETER for found in given for one in found) or bool(self._uses(module, node))

    def _uses(self, module: Module, node: ast.AST, frame: Frame | None = None) -> str:
        if not isinstance(node, ast.Call) or not may_use(node):
            return ""
        call = Expression(module, module.scope_at(node), node, frame)
        return self.project.answer("accelerator that is used", (node, frame), lambda: used_by(self.project, call))

    def _of(self, module: Module, runs: Function | ast.Lambda, loading: Loading) -> Iterator[WorkerUse]:
        facts = FunctionFacts(module, runs) if not isinstance(runs, ast.Lambda) else None
        if loading.stored and facts is not None:
            yield from self._kept(facts, loading)
            return
        if _asks(runs):
            return
        frame = self._frame_of(loading, facts) if facts is not None else None
        for node in nodes_below(runs):
            if not isinstance(node, (ast.Call, ast.Name)):
                continue
            kind = self._uses(module, node, frame) if isinstance(node, ast.Call) else self._kind_of_global(module, node)
            if kind and not (isinstance(node, ast.Call) and self._is_chosen(module, node, runs)):
                yield WorkerUse(facts, node, kind, loading)

    def _frame_of(self, loading: Loading, function: FunctionFacts) -> Frame | None:
        """How workers call a function, as far as that is seen: what they give to it, or whose method it is."""
        frame, receiver = loading.frame, loading.receiver
        if frame is not None and frame.function.node is function.node:
            return frame
        found = self.project.method(receiver.facts, function.node.name) if receiver is not None else None
        return by_anyone(function, receiver) if found is not None and found[1] is function.node else None

    def _is_chosen(self, module: Module, node: ast.AST, function: ast.AST) -> bool:
        """Whether a condition around a use asks for an option, such as ``if self.use_cuda``, that may be off."""
        below = node
        for above in module.above(node):
            if above is function:
                return False
            if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
                test = ast.unparse(above.test)
                is_option = OPTIONS.search(test) and "is_available" not in test
                orelse = above.orelse if isinstance(above, ast.If) else [above.orelse]
                if is_option and not self._holds(module, above.test, negated=below in orelse):
                    return True
            below = above
        return False

    def _holds(self, module: Module, test: ast.expr, *, negated: bool) -> bool:
        """Whether an option is on, or by default on wherever there is an accelerator."""
        value = self._evaluator.find(Expression(module, module.scope_at(test), test)).value
        if isinstance(value, Constant):
            return is_true(value) is not negated
        return question_in(value) is not None and not negated

    def _kind_of_global(self, module: Module, node: ast.Name) -> str:
        """The kind of accelerator on which a name of the module has what its top level put there."""
        bindings = module.scope.bound(node.id)
        if len(bindings) != 1 or not isinstance(node.ctx, ast.Load) or not isinstance(bindings[0].value, ast.Call):
            return ""
        symbol = self.project.lookup(module, module.scope_at(node), node.id)
        is_it = isinstance(symbol, Value) and symbol.binding is bindings[0] and not is_shadowed(module, node)
        return self._uses(module, itself(bindings[0].value)) if is_it else ""

    def _kept(self, init: FunctionFacts, loading: Loading) -> Iterator[WorkerUse]:
        """What ``__init__`` puts on an accelerator and stores, and workers read."""
        for statement in statements(init.node.body):
            if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
                continue
            value = itself(statement.value)
            kind = self._uses(init.module, value)
            targets = [part for one in statement.targets for part in getattr(one, "elts", [one])]
            names = {one.attr for one in targets if isinstance(one, ast.Attribute)} & loading.stored
            if kind and names:
                yield WorkerUse(init, value, kind, loading, min(names))

    def _run_of(self, module: Module) -> Iterator[tuple[Code, Loading]]:
        """Give the functions of a module that workers run, each with a loader whose workers do, for each object."""
        seen: set[tuple[ast.AST, Frame | None, Instance | None]] = set()
        for path in self._files_running(str(module.path)):
            loading_module = self.project.module(path)
            run = self._run_by(loading_module) if loading_module is not None else {}
            for function, loadings in run.get(module, {}).items():
                for loading in loadings:
                    key = function, loading.frame, loading.receiver
                    if key not in seen:
                        seen.add(key)
                        yield function, loading

    def _files_running(self, path: str) -> tuple[Path, ...]:
        """The files whose loaders have workers that run functions of a file."""

        def find() -> tuple[Path, ...]:
            return tuple(one for one in files_with_loaders(self.project) if path in self._files_run_by(one))

        return self.project.answer("files whose workers run a file", path, find, compared=True)

    def _files_run_by(self, path: Path) -> frozenset[str]:
        """The files of which the workers of a file's loaders run functions."""

        def find() -> frozenset[str]:
            module = self.project.module(path)
            return frozenset(str(home.path) for home in self._run_by(module)) if module is not None else frozenset()

        return self.project.questions.answer_apart("files run by workers", path, find)

    def _run_by(self, module: Module) -> Running:
        """Every function that the workers of a module's loaders run, with the loader."""
        return self.project.answer("run by workers", module, lambda: self._find_run_by(module))

    def _find_run_by(self, module: Module) -> Running:
        running: Running = {}
        seen: set[tuple[ClassFacts, bool, Instance | None]] = set()
        for scope, call, _, asked in self._sites.loaders(module):
            parts = dict(self._sites.given(module, scope, call))
            collates = self._may_collate(module, scope, call, parts)
            for part, value in parts.items():
                given, loading = Expression(module, scope, value), Loading(module, call, part, asked)
                if part != "dataset":
                    self._enter(running, given, loading)
                    continue
                for transform in self._given_transforms(given):
                    self._enter(running, transform, loading)
                made = self._made(given)
                for facts in classes_of(self._evaluator, given):
                    for one in made.get(facts, [None]):
                        if (facts, collates, one) not in seen:
                            seen.add((facts, collates, one))
                            self._run_dataset(running, facts, replace(loading, receiver=one), collates=collates)
        return running

    def _made(self, given: Expression) -> dict[ClassFacts, list[Instance | None]]:
        """The objects of the project's classes that an expression may hold."""
        found: dict[ClassFacts, list[Instance | None]] = {}
        for one in self._evaluator.find(given).possible:
            if isinstance(one.value, Instance) and one.value.call is not None:
                found.setdefault(one.value.facts, []).append(one.value)
        return found

    def _may_collate(self, module: Module, scope: Scope, call: ast.Call, parts: Mapping[str, ast.expr]) -> bool:
        """Whether a loader may be given the method of a dataset that makes batches, here or by its own class."""
        is_open = any(keyword.arg is None for keyword in call.keywords)
        is_own = not isinstance(self.project.resolve(module, scope, call.func), External)
        return "collate_fn" in parts or is_open or is_own

    def _follow(self, running: Running, module: Module, function: Code, loading: Loading) -> None:
        """Take in a function that workers run, and those that it calls, unless it asks where it runs."""
        run = with_called(self.project, [(module, function)], lambda one: not _asks(one[1]))
        for home, code in run:
            known = running.setdefault(home, {}).setdefault(code, [])
            if not known or ((loading.frame or loading.receiver) is not None and len(known) < MOST_OBJECTS):
                known.append(loading)

    def _enter(self, running: Running, given: Source, loading: Loading, steps: int = MOST_STEPS) -> None:
        """Take in what workers run when they call what an expression holds, and what the objects there hold in turn."""
        for home, function, kept, receiver in self._functions(given, MOST_STEPS):
            own = replace(loading, receiver=receiver)
            if kept.keywords and not isinstance(function, ast.Lambda):
                own = replace(own, frame=Frame(FunctionFacts(home, function), kept, receiver))
            self._follow(running, home, function, own)
            if receiver is None or isinstance(function, ast.Lambda):
                continue
            for part, owner in reached_from(self.project, receiver.facts, (function.name,)).items():
                self._follow(running, owner.module, part, own)
                for inner in self._transforms(receiver.facts, owner.module, part) if steps else ():
                    self._enter(running, inner, loading, steps - 1)

    def _run_dataset(self, running: Running, facts: ClassFacts, loading: Loading, *, collates: bool) -> None:
        """Take in what workers run of a dataset, and what its constructor puts into the attributes they read."""
        own = replace(loading, part="dataset", dataset=facts)
        methods = self._entered(facts, collates=collates)
        for function, owner in methods.items():
            self._follow(running, owner.module, function, own)
            for transform in self._transforms(facts, owner.module, function):
                self._enter(running, transform, own)
        read = frozenset(name for function in methods for name in attributes_read(function))
        init = self.project.method(facts, "__init__")
        if init is not None and read:
            running.setdefault(init[0].module, {}).setdefault(init[1], [replace(own, stored=read)])

    def _entered(self, facts: ClassFacts, *, collates: bool) -> dict[Function, ClassFacts]:
        """The methods of a dataset that workers run; of PyG's, which have no ``__getitem__`` of their own, ``get``."""
        if any(self.project.method(facts, name) for name in ENTRIES):
            return worker_methods(self.project, facts) if collates else reached_from(self.project, facts, ENTRIES)
        is_graphs = any(name.startswith("torch_geometric.") for name in self.project.ancestry(facts).external)
        return reached_from(self.project, facts, ("get",)) if is_graphs else {}

    def _transforms(self, facts: ClassFacts, module: Module, function: Function) -> Iterator[Expression]:
        """Give what a method of a dataset calls that the object keeps: ``self.transform(image)``."""
        own = first_parameter(function)
        for node in nodes_below(function):
            called = node.func if isinstance(node, ast.Call) else None
            if not isinstance(called, ast.Attribute) or not is_name(called.value, own):
                continue
            if self.project.method(facts, called.attr) is None:
                yield Expression(module, module.scope_at(node), called)

    def _given_transforms(self, given: Expression) -> Iterator[Source]:
        """Give the transforms of a library's dataset."""
        for one in self._evaluator.find(given).possible:
            if isinstance(one.value, Made) and one.value.name.startswith(PICTURES):
                known = arguments.of_call(self._evaluator, one.value.call).keywords
                yield from (known[name] for name in TRANSFORMS if name in known)

    def _functions(self, given: Source, steps: int) -> Iterator[Entry]:
        """What is entered by calling a value, with what a partial gives: through objects, names and chains of them."""
        for one in self._evaluator.find(given).possible:
            if isinstance(one.value, Lambda) and isinstance(one.value.place.node, ast.Lambda):
                yield one.value.place.module, one.value.place.node, NO_ARGUMENTS, None
            elif isinstance(one.value, Instance):
                found = method(self.project, one.value, "forward")
                yield from [(found[0].module, found[0].node, NO_ARGUMENTS, found[1])] if found is not None else ()
            elif isinstance(one.value, Made) and one.value.name.endswith(CHAIN) and steps:
                first = arguments.of_call(self._evaluator, one.value.call).get("transforms", 0)
                row = self._evaluator.find(first).value if first is not None else None
                for item in row.items if isinstance(row, Row) else ():
                    yield from self._functions(item, steps - 1)
        if isinstance(given, Expression):
            symbol = self.project.resolve(given.module, given.scope, given.node)
            for (function, receiver), kept in callees(self._evaluator, given, symbol):
                if function.node.name != "__init__":
                    is_made = receiver is not None and receiver.call is not None
                    yield function.module, function.node, kept, receiver if is_made else None


def _asks(code: Code) -> bool:
    """Whether code looks whether it runs in a worker."""
    text = ast.unparse(code)
    return any(word in text for word in ASKS)
