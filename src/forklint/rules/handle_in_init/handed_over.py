"""Handles that the code which makes a dataset hands to it: as an argument, in a mapping, or set on it afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from forklint.datasets.carriers import parameter_at
from forklint.datasets.classes import is_dataset
from forklint.handles.carried import Handles, checks_process, leaves_out, pickling_methods
from forklint.handles.held import Opened
from forklint.handles.openers import Openers
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Scope, statements
from forklint.project.spelling import all_arguments, dotted, is_class_name, is_name, last_name, part_read
from forklint.rules.handle_in_init.shared import SharedHandle, closes, reads
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance, Ref, Table
from forklint.values.objects import kept_as
from forklint.values.origins import behind, origins

LAST = frozenset({"__del__", "__exit__", "close", "shutdown", "teardown"})
"""Methods that run when the workers are done."""
MAX_CALLS = 3
"""Through so many calls of functions a handle is followed to the dataset that gets it."""

Entry = tuple[ClassFacts | None, FunctionFacts]
"""The function that a call enters, with the dataset if that is its constructor."""


class _Handed(NamedTuple):
    """A handle that is an argument of a call."""

    opened: Opened
    place: Expression
    """The call that opens it, or that of a function which returns it."""
    key: str = ""
    """For an entry of a mapping that is the argument: under which key."""


class HandedOver:
    """Finds such handles in one module after the other."""

    def __init__(self, project: Project, handles: Handles) -> None:
        self._project = project
        self._handles = handles
        self._evaluator = Evaluator(project)
        self._openers = Openers(project, None, handles.openers)

    def in_module(self, module: Module) -> Iterator[SharedHandle]:
        """Give the handles that code of a module hands to datasets."""
        if self._handles.open_in(module) or self._handles.screen.receives(module.path):
            yield from self._given(module)
            yield from self._set_on(module)

    def _given(self, module: Module) -> Iterator[SharedHandle]:
        """Give the handles that are arguments of a call that makes a dataset, or parts of them."""
        seen: set[ast.AST] = set()
        for scope, call in self._calls_beside_openers(module):
            called = Expression(module, scope, call)
            entry = self._entry(called)
            if entry is None:
                continue
            for argument in all_arguments(call):
                for handed in self._handles_in(called, argument, entry):
                    place = handed.place
                    if place.node in seen or _is_told_there(module, handed, entry) or _is_let_go(called, handed):
                        continue
                    found = next(self._taken(called, argument, handed, MAX_CALLS), None)
                    if found is not None:
                        seen.add(place.node)
                        is_here = place.module is module
                        yield found if is_here else replace(found, statement=module.statement_of(call))

    def _taken(self, called: Expression, argument: ast.expr, handed: _Handed, depth: int) -> Iterator[SharedHandle]:
        """Give what keeps a handle that is an argument of a call: a dataset, or one that the called function makes."""
        call, entry = called.node, self._entry(called)
        if entry is None:
            return
        assert isinstance(call, ast.Call)  # noqa: S101 - the callers say so
        dataset, entered = entry
        name = _parameter(entered, call, argument)
        if dataset is not None:
            found = self._received(dataset, handed, name)
            if found is not None:
                yield found
        elif depth and len(entered.scope.bound(name)) == 1:
            for inner in (one for one in nodes_below(entered.node) if isinstance(one, ast.Call)):
                for given in all_arguments(inner):
                    if is_name(given, name):
                        within = Expression(entered.module, entered.module.scope_at(inner), inner)
                        yield from self._taken(within, given, handed, depth - 1)

    def _entry(self, called: Expression) -> Entry | None:
        """The function that a call enters, with the dataset if that is its constructor; None for any other call."""
        module, scope, call = called.module, called.scope, called.node
        assert isinstance(call, ast.Call)  # noqa: S101 - the callers say so
        callee = self._project.resolve(module, scope, call.func)
        if callee is None and isinstance(call.func, ast.Name) and scope.find(call.func.id) is not None:
            named = self._evaluator.find(called.part(call.func)).value
            callee = named.symbol if isinstance(named, Ref) else None
        if isinstance(callee, FunctionFacts):
            return (None, callee) if callee.owner is None else None
        if not isinstance(callee, ClassFacts) or not is_dataset(self._project, callee):
            return None
        init = self._project.method(callee, "__init__")
        return (callee, FunctionFacts(init[0].module, init[1])) if init is not None else None

    def _calls_beside_openers(self, module: Module) -> Iterator[tuple[Scope, ast.Call]]:
        """Give the calls in functions that open something, or whose class does, and at module level; few have any.

        Of other functions those that make a dataset, in a module that opens something for others.
        """
        hands_on = self._handles.screen.openings(module.path).retained
        for scope in module.all_scopes:
            nodes: list[ast.stmt] = []
            opens = isinstance(scope.node, FUNCTIONS) and self._opens(FunctionFacts(module, scope.node))
            if isinstance(scope.node, FUNCTIONS) and (opens or hands_on):
                nodes = scope.node.body
            elif isinstance(scope.node, ast.Module):
                nodes = [one for one in scope.node.body if not isinstance(one, (*FUNCTIONS, ast.ClassDef))]
                opens = True
            for call in (one for statement in nodes for one in nodes_below(statement) if isinstance(one, ast.Call)):
                if (call.args or call.keywords) and (opens or self._makes_dataset(module, scope, call)):
                    yield scope, call

    def _makes_dataset(self, module: Module, scope: Scope, call: ast.Call) -> bool:
        if not is_class_name(last_name(call.func)):
            return False
        entry = self._entry(Expression(module, scope, call))
        return entry is not None and entry[0] is not None

    def _opens(self, function: FunctionFacts) -> bool:
        owner = function.owner
        return self._handles.opens(function) or (owner is not None and self._handles.opens(owner))

    def _handles_in(self, called: Expression, argument: ast.expr, entry: Entry) -> Iterator[_Handed]:
        """Give the handle that an argument is, or those that are entries of the mapping that it is."""
        handed = self._argument(called.module, called.scope, argument)
        if handed is not None:
            yield handed
        elif isinstance(called.node, ast.Call) and _takes_parts(called.node, argument, entry):
            held = self._evaluator.find(called.part(argument)).value
            for key, part in held.entries.items() if isinstance(held, Table) else ():
                for place in origins(self._evaluator, part) if isinstance(part, Expression) else ():
                    opened = self._opened(place)
                    if opened is not None:
                        yield _Handed(opened, place, key)

    def _argument(self, module: Module, scope: Scope, argument: ast.expr) -> _Handed | None:
        """The handle that an argument plainly is: an opener's call, a part of it by name, or what stands for these."""
        if isinstance(argument, ast.Subscript) and not isinstance(argument.slice, (ast.Slice, ast.Tuple)):
            whole = self._argument(module, scope, argument.value)
            return whole if whole is not None and "[]" in whole.opened.row.derived else None
        source = Expression(module, scope, argument)
        if isinstance(argument, ast.Attribute) and self._is_closed(source, argument):
            return None
        nearer = behind(self._evaluator, source) if isinstance(argument, (ast.Name, ast.Attribute)) else ()
        parts = [one for one in nearer or (source,) if not isinstance(one.node, ast.Constant)]
        place = parts[0] if len(parts) == 1 else source
        if isinstance(place.node, ast.Subscript) and place is not source:
            return self._argument(place.module, place.scope, place.node)
        opened = self._opened(place) or self._returned(place)
        return _Handed(opened, place) if opened is not None else None

    def _opened(self, place: Expression) -> Opened | None:
        row = self._openers.row(place.module, place.scope, place.node) if isinstance(place.node, ast.Call) else None
        return Opened(place.module, place.node, row) if row is not None else None  # type: ignore[arg-type]

    def _returned(self, place: Expression) -> Opened | None:
        """The handle that a function of the project opens and returns, where a call of it stands."""
        node = place.node
        symbol = self._project.resolve(place.module, place.scope, node.func) if isinstance(node, ast.Call) else None
        if not isinstance(symbol, FunctionFacts) or not self._handles.opens(symbol):
            return None
        found = [self._opened(one) for one in origins(self._evaluator, place)]
        return found[0] if len(found) == 1 else None

    def _is_closed(self, source: Expression, argument: ast.Attribute) -> bool:
        """Whether a method of the class that is not one of the last closes the attribute."""
        node = source.scope.node
        facts = FunctionFacts(source.module, node).owner if isinstance(node, FUNCTIONS) else None
        methods = facts.methods.items() if facts is not None else ()
        return any(closes(it.body, f"self.{argument.attr}") for name, it in methods if name not in LAST)

    def _set_on(self, module: Module) -> Iterator[SharedHandle]:
        """Give the handles that code sets on a dataset once it is made: ``dataset.source = File(path)``."""
        for scope in module.all_scopes:
            for statement in statements(scope.node.body):
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                    continue
                assert isinstance(statement, ast.Assign)  # noqa: S101 - it has targets
                dataset = self._made_here(module, scope, target.value)
                handed = self._argument(module, scope, statement.value) if dataset is not None else None
                if dataset is not None and handed is not None and not closes(scope.node.body, dotted(target)):
                    found = self._kept(dataset, handed, target.attr, statement)
                    yield from [found] if found is not None else []

    def _made_here(self, module: Module, scope: Scope, name: ast.Name) -> ClassFacts | None:
        """The class of a dataset that the code of a scope makes and gives a name; None for any other name."""
        made = [one.value for one in scope.bound(name.id)]
        if len(made) != 1 or not isinstance(made[0], ast.Call):
            return None
        held = self._evaluator.find(Expression(module, scope, name)).value
        return held.facts if isinstance(held, Instance) and is_dataset(self._project, held.facts) else None

    def _received(self, dataset: ClassFacts, handed: _Handed, name: str) -> SharedHandle | None:
        """What a dataset does with a handle that its constructor gets: only ``self.x = parameter`` is followed."""
        attribute, statement = next(kept_as(self._project, dataset, name, handed.key), ("", None))
        place = handed.place
        told = place.module.statement_of(place.node)
        return self._kept(dataset, handed, attribute, told, keeps=statement) if statement is not None else None

    def _kept(
        self, dataset: ClassFacts, handed: _Handed, name: str, told: ast.stmt, keeps: ast.stmt | None = None
    ) -> SharedHandle | None:
        """What a dataset does with a handle in an attribute; None if it looks at the process."""
        owners = self._project.ancestry(dataset).classes
        if any(checks_process(owner) for owner in owners):
            return None
        return SharedHandle(
            opened=handed.opened,
            statement=told,
            name=f"{dataset.name}.{name}",
            dataset=dataset,
            used=reads(self._project, dataset, name),
            pickled=not any(leaves_out(method, {name}) for method in pickling_methods(owners)),
            keeps=keeps,
        )


def _parameter(entered: FunctionFacts, call: ast.Call, argument: ast.expr) -> str:
    """The parameter of a function that an argument of a call of it is for."""
    keyword = next((one.arg for one in call.keywords if one.value is argument), None)
    return keyword or parameter_at(entered, call, argument)


def _takes_parts(call: ast.Call, argument: ast.expr, entry: Entry) -> bool:
    """Whether the constructor of a dataset reads parts of an argument, or a function hands it to a constructor."""
    dataset, entered = entry
    name, nodes = _parameter(entered, call, argument), nodes_below(entered.node)
    if dataset is not None:
        parts = (part_read(one) for one in nodes if isinstance(one, (ast.Subscript, ast.Attribute, ast.Call)))
        return any(one is not None and is_name(one[0], name) for one in parts)
    makes = (one for one in nodes if isinstance(one, ast.Call) and is_class_name(last_name(one.func)))
    return any(is_name(given, name) for one in makes for given in all_arguments(one))


def _is_told_there(module: Module, handed: _Handed, entry: Entry) -> bool:
    """Whether a handle in a mapping is told of by the module that opens it: the called function is there, too."""
    dataset, entered = entry
    home = handed.place.module
    return bool(handed.key) and dataset is None and module is not home is entered.module


def _is_let_go(called: Expression, handed: _Handed) -> bool:
    """Whether ``with`` closes the handle once an object was made of it, before anything is done with that."""
    module, parents = called.module, called.module.parents
    item, above = parents.get(handed.place.node), parents.get(called.node)
    closing = parents.get(item) if isinstance(item, ast.withitem) else None
    target = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
    if not isinstance(closing, (ast.With, ast.AsyncWith)) or not isinstance(target, ast.Name):
        return False
    return all(closing not in module.above(one) for one in module.reads(target.id))
