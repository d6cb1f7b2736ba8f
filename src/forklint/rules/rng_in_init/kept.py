"""Generators that are made before workers start and drawn from in them: on an object, a class, or a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from forklint.datasets.carriers import carried_by
from forklint.datasets.classes import is_dataset
from forklint.datasets.workers import attributes_read, init_path, with_called, worker_methods
from forklint.handles.carried import leaves_out, pickling_methods
from forklint.knowledge.random_streams import worker_words
from forklint.loading.loaders import never_has_workers
from forklint.project.constructors import CONSTRUCTORS, constructor_in
from forklint.project.entries import stored
from forklint.project.guard import may_be_guarded
from forklint.project.index import Project, Value
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Binding, Function, Kind, Scope, statements
from forklint.project.spelling import is_name
from forklint.records import dataclass
from forklint.rules.rng_in_init.as_transform import Carrier, carrier_of
from forklint.rules.rng_in_init.beginning import begins_with
from forklint.rules.rng_in_init.defaults import defaults_drawn_from
from forklint.rules.rng_in_init.drawing import IsIt, StreamUse, is_attribute, uses
from forklint.rules.rng_in_init.endless import is_endless
from forklint.rules.rng_in_init.handed_in import handed_in
from forklint.rules.rng_in_init.made import Made, made_by, made_by_field
from forklint.rules.rng_in_init.mixing import mixed_with
from forklint.rules.rng_in_init.restarts import Restarts
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance

Worked = dict[Function, Module]


@dataclass(frozen=True)
class KeptGenerator:
    """A generator that each worker has a copy of."""

    made: Made
    statement: ast.stmt
    """Where it is kept."""
    name: str
    """As a message shows it: ``self.rng``, ``RNG``."""
    keeper: ClassFacts | None
    """The class whose object or body keeps it; None for a module."""
    dataset: ClassFacts | None
    """What workers get; the keeper, or None for a module, if a library's dataset carries it."""
    drawn: tuple[Module, ast.AST]
    """Where a worker draws from it."""
    on_object: bool
    pickled: bool
    """Whether a worker that is spawned gets the same stream."""
    every_epoch: bool
    """Whether nothing starts it anew from one epoch to the next."""


@dataclass(frozen=True)
class _Kept:
    """A generator under the name of an attribute, not yet known to come to workers."""

    attribute: str
    made: Made
    statement: ast.stmt
    on_object: bool = True
    carrier: ClassFacts | None = None
    """The dataset that has the object, where that is known already."""
    by_name: bool = False
    """Whether the parent has a name for it, and may draw from it between epochs."""


class KeptGenerators:
    """Finds them in one module after the other."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._restarts = Restarts(project)

    def in_module(self, module: Module) -> Iterator[KeptGenerator]:
        """Give the generators that statements of a module keep."""
        for facts in module.classes:
            yield from self._on_object(facts)
            yield from self._by_heirs(facts)
            yield from self._on_class(facts)
        yield from self._on_module(module)
        yield from self._handed_in(module)
        yield from self._by_default(module)

    # Kept on an object

    def _on_object(self, facts: ClassFacts) -> Iterator[KeptGenerator]:
        for bindings in facts.scope.bindings.values() if "default_factory" in facts.module.screened.text else ():
            made = made_by_field(self._project, facts, bindings[0].name, bindings[0].value)
            if made is not None and len(bindings) == 1:
                statement = facts.module.statement_of(bindings[0].node)
                yield from self._judged(facts, _Kept(bindings[0].name, made, statement))
        init = constructor_in(facts.methods)
        if init is None:
            return
        stored = {method: self._stored(facts, method) for method in (init, *_called_by(facts, init))}
        if not any(made for found in stored.values() for _, _, made in found):
            return
        candidates: dict[str, list[tuple[ast.stmt, Made | None]]] = {}
        for method, kept in stored.items():
            for attribute, statement, made in kept if method is init or self._is_builder(method, init) else ():
                candidates.setdefault(attribute, []).append((statement, made))
        told: set[ast.stmt] = set()
        for attribute, found in candidates.items():
            made = next((one for _, one in found if one is not None), None)
            if made is not None and all(one is not None or _is_none(statement) for statement, one in found):
                statement = next(statement for statement, one in found if one is made)
                judged = () if statement in told else self._judged(facts, _Kept(attribute, made, statement))
                for one in judged:
                    told |= {statement} if _each_of(statement) is not None else set()
                    yield one

    def _by_heirs(self, facts: ClassFacts) -> Iterator[KeptGenerator]:
        """What a method of a class keeps that the constructor of a class which inherits from it surely calls."""
        heirs = list(self._project.subclasses(facts))
        for method in facts.methods.values() if heirs else ():
            if method.name in CONSTRUCTORS or method.decorator_list:
                continue
            found = [(*one, made) for *one, made in self._stored(facts, method) if made is not None]
            users = [one for one in heirs if begins_with(self._project, one, facts, method)] if found else []
            for attribute, statement, made in found:
                yield from self._judged(facts, _Kept(attribute, made, statement), users)  # type: ignore[arg-type]

    def _stored(self, facts: ClassFacts, method: Function) -> list[tuple[str, ast.stmt, Made | None]]:
        """The attributes that a method stores, each with its statement and the generator that it is."""
        scope = facts.module.scope_of[method]
        return [
            (attribute, statement, made_by(self._project, facts.module, scope, value or _each_of(statement)))
            for statement in statements(method.body)
            for attribute, value in stored(statement, "self")
        ]

    def _is_builder(self, method: Function, init: Function) -> bool:
        """Whether ``__init__`` calls a method, and nothing else in the project does."""
        call = f".{method.name}("
        calls = sum(module.document.text.count(call) for module in self._project.mentioning(call))
        return calls == ast.unparse(init).count(f"self{call}")

    def _on_class(self, facts: ClassFacts) -> Iterator[KeptGenerator]:
        for binding, made in self._bound(facts.module, facts.scope):
            statement = facts.module.statement_of(binding.node)
            yield from self._judged(facts, _Kept(binding.name, made, statement, on_object=False))

    def _judged(
        self, facts: ClassFacts, kept: _Kept, users: Sequence[ClassFacts] | None = None
    ) -> Iterator[KeptGenerator]:
        attribute, made, statement, on_object = kept.attribute, kept.made, kept.statement, kept.on_object
        project = self._project
        is_it = is_attribute(attribute, "self", "cls", facts.name)
        for user in (facts, *project.subclasses(facts)) if users is None else users:
            dataset = user if is_dataset(project, user) else kept.carrier or carried_by(project, user)
            if dataset is None or _is_aware(project, user) or never_has_workers(project, dataset):
                continue
            orders = project.method(dataset, "__getitem__") is None and project.method(dataset, "__iter__") is not None
            spared = StreamUse.ORDERS if orders else None
            drawn = self._drawn(self._worked(user, dataset), is_it, made, spared)
            for other in mixed_with(project, user) if drawn is None and on_object else ():
                drawn = drawn or self._drawn(self._worked(other, other), is_it, made, spared)
            if drawn is None and on_object and dataset != user:
                drawn = self._drawn(self._worked(dataset, dataset), self._is_of(user, attribute, dataset), made, spared)
            if drawn is None:
                continue
            elsewhere = self._restarts.elsewhere(user, attribute, made.row, statement)
            if elsewhere.in_workers:
                return
            owners = project.ancestry(user).classes
            home = "self" if on_object and not kept.by_name else facts.name
            yield KeptGenerator(
                made=made,
                statement=statement,
                name=f"{home}.{attribute}",
                keeper=facts,
                dataset=dataset,
                drawn=drawn,
                on_object=on_object,
                pickled=made.row.spawn == "bites"
                and not any(leaves_out(m, {attribute}) for m in pickling_methods(owners))
                if on_object
                else made.seeded,
                every_epoch=not kept.by_name and not elsewhere.between_epochs and not is_endless(project, dataset),
            )
            return

    def _is_of(self, helper: ClassFacts, attribute: str, dataset: ClassFacts) -> IsIt:
        """Tell ``self.helper.name``: the attribute of an object that a dataset keeps."""
        owners = {owner.node: owner.module for owner in self._project.ancestry(dataset).classes}

        def is_it(node: ast.AST) -> bool:
            if not (
                isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.value, ast.Attribute)
            ):
                return False
            module = next(
                (one for home, one in owners.items() if node in one.parents and home in one.above(node)), None
            )
            if module is None:
                return False
            held = Evaluator(self._project).find(Expression(module, module.scope_at(node), node.value)).value
            return isinstance(held, Instance) and helper in self._project.ancestry(held.facts).classes

        return is_it

    def _worked(self, facts: ClassFacts, dataset: ClassFacts) -> Worked:
        """The methods that workers run; of an object that a dataset keeps, those that its workers come to by name."""
        found = worker_methods(self._project, facts)
        if not any(
            self._project.method(facts, name) for name in ("__getitem__", "__iter__", "__call__", "__getitems__")
        ):
            building = {one.node for one in init_path(self._project, facts)}
            found = {function: owner for function, owner in found.items() if function not in building}
            if dataset != facts:
                called = self._called_by_name(dataset, facts)
                found = {function: owner for function, owner in found.items() if function.name in called}
        return {function: owner.module for function, owner in found.items()}

    def _called_by_name(self, dataset: ClassFacts, helper: ClassFacts) -> frozenset[str]:
        """The names of methods that workers of a dataset may call, in it, in a helper and in what may stand between."""
        find = lambda: self._find_called_by_name(dataset, helper)  # noqa: E731 - it is short
        return self._project.answer("methods called in workers", (dataset, helper), find)

    def _find_called_by_name(self, dataset: ClassFacts, helper: ClassFacts) -> frozenset[str]:
        family = (dataset, *self._project.subclasses(dataset))
        worked = {
            function: owner.module for one in family for function, owner in worker_methods(self._project, one).items()
        }
        waiting: list[ast.AST] = list(worked)
        homes = {owner.module for one in (dataset, helper) for owner in self._project.ancestry(one).classes}
        methods: dict[str, list[ast.AST]] = {}
        for facts in (facts for home in homes for facts in home.functions):
            methods.setdefault(facts.node.name, []).append(facts.node)
        called: set[str] = set()
        in_workers = ((module, function) for function, module in worked.items())
        if _is_module(self._project, helper) and any(self._calls_object(helper, *one) for one in in_workers):
            waiting += methods.get("forward", ())
            called.add("forward")
        for function in waiting:
            new = {node.attr for node in nodes_below(function) if isinstance(node, ast.Attribute)}
            new |= {node.id for node in nodes_below(function) if isinstance(node, ast.Name)}
            waiting += [method for name in new - called for method in methods.get(name, ())]
            called |= new
        return frozenset(called)

    def _calls_object(self, helper: ClassFacts, module: Module, function: ast.AST) -> bool:
        """Whether a function calls what is, or may be, an object of a class: ``self.encode(x)``."""
        for node in nodes_below(function):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and is_name(called.value, "self"):
                held = Evaluator(self._project).find(Expression(module, module.scope_at(node), called)).possible
                objects = [one.value.facts for one in held if isinstance(one.value, Instance)]
                if not held or any(helper in self._project.ancestry(one).classes for one in objects):
                    return True
        return False

    def _drawn(
        self, worked: Worked, is_it: IsIt, made: Made, spared: StreamUse | None
    ) -> tuple[Module, ast.AST] | None:
        """Where these functions draw from the generator; None if they do not, or if one of them starts it anew."""
        drawn = None
        for function, module in worked.items():
            for use, node in uses(module, function, is_it, made.row):
                if use is StreamUse.RESTARTS:
                    return None
                drawn = drawn or ((module, node) if use is not spared else None)
        return drawn

    # Handed to an object

    def _handed_in(self, module: Module) -> Iterator[KeptGenerator]:
        told: set[ast.AST] = set()
        for one in handed_in(self._project, module):
            if one.made.node in told or self._is_declared(one.keeper, one.attribute):
                continue
            statement = module.statement_of(one.made.node)
            kept = _Kept(one.attribute, one.made, statement, carrier=one.carrier, by_name=one.by_name)
            for found in self._judged(one.keeper, kept):
                told.add(one.made.node)
                yield found

    def _is_declared(self, keeper: ClassFacts, attribute: str) -> bool:
        """Whether the class itself says that it keeps a generator there, and is told of where it does."""
        return any(kept.name == f"self.{attribute}" for kept in self._on_object(keeper))

    # Kept by a module

    def _bound(self, module: Module, scope: Scope) -> Iterator[tuple[Binding, Made]]:
        for bindings in scope.bindings.values():
            if len(bindings) == 1 and bindings[0].kind is Kind.VALUE:
                made = made_by(self._project, module, scope, bindings[0].value)
                if made is not None:
                    yield bindings[0], made

    def _on_module(self, module: Module) -> Iterator[KeptGenerator]:
        for binding, made in self._bound(module, module.scope):
            if may_be_guarded(module, binding.node):
                continue
            found = self._global_drawn(module, binding, made)
            if found is not None:
                carrier, drawn = found
                statement, dataset = module.statement_of(binding.node), carrier.dataset
                yield KeptGenerator(made, statement, binding.name, None, dataset, drawn, False, made.seeded, True)  # noqa: FBT003

    def _by_default(self, module: Module) -> Iterator[KeptGenerator]:
        """What is the default of a parameter of a function that workers run."""
        for one in defaults_drawn_from(self._project, module):
            carrier = self._runs_in_workers(one.function)
            if carrier is not None:
                made, drawn, node = one.made, (module, one.drawn), one.function.node
                yield KeptGenerator(made, node, one.name, None, carrier.dataset, drawn, False, made.seeded, True)  # noqa: FBT003

    def _global_drawn(
        self, home: Module, binding: Binding, made: Made
    ) -> tuple[Carrier, tuple[Module, ast.AST]] | None:
        drawn = None
        for user in self._project.mentioning(binding.name):
            for function in user.functions:
                is_it = self._is_global(user, function.scope, home, binding)
                for use, node in uses(user, function.node, is_it, made.row):
                    if use is StreamUse.RESTARTS:
                        return None
                    carrier = self._runs_in_workers(function) if drawn is None else None
                    if carrier is not None:
                        drawn = carrier, (user, node)
        return drawn

    def _is_global(self, user: Module, scope: Scope, home: Module, binding: Binding) -> IsIt:
        def is_it(node: ast.AST) -> bool:
            if not isinstance(node, (ast.Name, ast.Attribute)) or getattr(node, "id", "") not in {binding.name, ""}:
                return False
            if isinstance(node, ast.Attribute) and node.attr != binding.name:
                return False
            symbol = self._project.resolve(user, scope, node)
            return isinstance(symbol, Value) and symbol.module is home and symbol.binding is binding

        return is_it

    def _runs_in_workers(self, function: FunctionFacts) -> Carrier | None:
        """What has workers that run a function, itself or within calls; None if nothing is known to."""
        owner = function.owner
        if owner is not None and not is_dataset(self._project, owner):
            carrier = carried_by(self._project, owner)
            is_run = carrier is not None and function.node in self._worked(owner, carrier)
            return Carrier(carrier) if is_run and not _is_aware(self._project, owner) else None
        for module in self._project.mentioning(function.node.name):
            for dataset in module.classes:
                if is_dataset(self._project, dataset) and function.node in self._within(dataset):
                    return Carrier(dataset) if self._is_loaded(dataset) else None
        found = carrier_of(self._project, function) if owner is None else None
        return found if found is not None and (found.dataset is None or self._is_loaded(found.dataset)) else None

    def _is_loaded(self, dataset: ClassFacts) -> bool:
        """Whether workers may get a dataset, which looks at no process itself."""
        return not _is_aware(self._project, dataset) and not never_has_workers(self._project, dataset)

    def _within(self, dataset: ClassFacts) -> frozenset[ast.AST]:
        """The functions that workers run for a dataset, those that its methods call included."""
        return self._project.answer("functions that draw in workers", dataset, lambda: self._find_within(dataset))

    def _find_within(self, dataset: ClassFacts) -> frozenset[ast.AST]:
        worked = [(module, function) for function, module in self._worked(dataset, dataset).items()]
        return frozenset(function for _, function in with_called(self._project, worked, lambda _: True))


def _is_module(project: Project, facts: ClassFacts) -> bool:
    """Whether a class is a module of torch: to call an object of it is to call its ``forward``."""
    return any(name.endswith(("nn.Module", "LightningModule")) for name in project.ancestry(facts).external)


def _called_by(facts: ClassFacts, init: Function) -> list[Function]:
    """The methods of a class that its ``__init__`` speaks of."""
    methods = (facts.methods.get(name) for name in attributes_read(init))
    return [method for method in methods if method is not None and not method.decorator_list]


def _each_of(statement: ast.stmt) -> ast.expr | None:
    """What a statement unpacks that makes several alike: ``self.a, self.b = [make(seed) for seed in seeds]``."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return value if isinstance(value, (ast.ListComp, ast.GeneratorExp)) else None


def _is_none(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Constant) and value.value is None


def _is_aware(project: Project, facts: ClassFacts) -> bool:
    """Whether a class, or a base of it, looks at the process that it finds itself in."""
    words = worker_words().aware
    for owner in project.ancestry(facts).classes:
        lines = owner.module.document.lines[owner.node.lineno - 1 : owner.node.end_lineno]
        if any(word in line for line in lines for word in words):
            return True
    return False
