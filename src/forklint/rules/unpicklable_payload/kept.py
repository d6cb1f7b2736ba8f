"""What objects of a project's classes hold when they are sent: what ``__init__`` stores and pickling takes along."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint.datasets.classes import inherits_dataset
from forklint.handles.carried import leaves_out, pickling_methods
from forklint.handles.shapes import CONTAINER_METHODS
from forklint.knowledge.unpicklable import keeper, refused
from forklint.project.bindings import block_of
from forklint.project.constructors import AFTER_FIELDS
from forklint.project.entries import stored
from forklint.project.index import External
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import is_before, start_of
from forklint.project.scopes import Function, statements
from forklint.project.spelling import dotted, first_parameter, is_name
from forklint.rules.unpicklable_payload.handed_over import module_given
from forklint.rules.unpicklable_payload.values import Culprit, Why
from forklint.runs.calls import callee, method
from forklint.values import arguments, objects
from forklint.values.branches import is_passed_over
from forklint.values.callers import handed_up, is_super_call
from forklint.values.model import NO_ARGUMENTS, NOT_KNOWN, Arguments, Expression, Frame, Instance
from forklint.values.taken import mapping_set_by

if TYPE_CHECKING:
    from forklint.rules.unpicklable_payload.unpicklable import Unpicklable

REDUCING = {"__reduce__", "__reduce_ex__"}
CHOOSING = {*REDUCING, "__getstate__", "__getattr__", "__setattr__", "__new__"}
"""Methods by which a class says itself what it holds, or what is pickled of it."""
WHOLE = "dataset"
"""The attribute of a ``Subset`` that is the dataset it is a part of."""
TAKE_APART = frozenset({"extend", "update"})
"""Methods of containers that keep the parts of what they get; only of a display it is plain which those are."""
DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp)


class Objects:
    """Answers for objects of the project's classes, for one payload."""

    def __init__(self, unpicklable: Unpicklable) -> None:
        self._unpicklable = unpicklable
        self._project = unpicklable.project
        self._asked: set[ClassFacts] = set()

    @property
    def is_asking(self) -> bool:
        """Whether some object is being looked into, so that one of its class found in it is passed over."""
        return bool(self._asked)

    def reduces(self, facts: ClassFacts) -> bool:
        """Whether a class says itself how its objects are made again."""
        return any(REDUCING & set(owner.methods) for owner in self._project.ancestry(facts).classes)

    def chooses(self, facts: ClassFacts) -> bool:
        """Whether a class says itself what of an object is pickled, or meddles with attributes."""
        return any(CHOOSING & set(owner.methods) for owner in self._project.ancestry(facts).classes)

    def kept(self, owner: Instance, given: Expression, depth: int) -> Culprit | None:
        """What is refused in an object that is made where an expression stands, or is known there."""
        return self._inherited(owner.facts, given) or next(iter(self.all_kept(owner, given, depth)), None)

    def _inherited(self, facts: ClassFacts, given: Expression) -> Culprit | None:
        """An object as a whole, if its class inherits from one whose objects pickle refuses."""
        if self.chooses(facts) or not isinstance(given.node, ast.expr):
            return None
        rows = (refused().get(name) for name in self._project.ancestry(facts).external)
        row = next(filter(None, rows), None)
        if row is None:
            return None
        words = f"{row.kind} (`{facts.node.name}`)"
        return Culprit(Why.OBJECT, given.module, given.node, words, row.error, platforms=row.platforms, late=row.late)

    def all_kept(self, owner: Instance, given: Expression, depth: int) -> list[Culprit]:
        """All that is refused in it, in the order in which it is stored."""
        facts = owner.facts
        if facts in self._asked or self.reduces(facts):
            return []
        pickling = pickling_methods(self._project.ancestry(facts).classes)
        self._asked.add(facts)
        try:
            return [
                found
                for found in self._stored(owner, given, depth - 1)
                if not any(leaves_out(method, {found.path[0]}) for method in pickling)
            ]
        finally:
            self._asked.discard(facts)

    def set_on(self, there: Expression, given: Expression, name: ast.Name, depth: int) -> Culprit | None:
        """What is refused in what an object is given after it was made: ``dataset.transform = ...``, by a method.

        ``there``: what the name stands for, where that is written down; ``given``: the name, where it is read.
        """
        is_parameter = given.frame is not None and there.scope is not given.scope is given.frame.function.scope
        symbol = self._class_of(there, is_parameter=is_parameter)
        if symbol is None or (isinstance(symbol, ClassFacts) and self.chooses(symbol)):
            return None
        here = given if is_parameter else there
        owner = Instance(symbol, call=there) if isinstance(symbol, ClassFacts) else None
        return self._set_after(None if is_parameter else there.node, here, name, owner, depth)

    def set_on_part(self, owner: Instance, given: Expression, name: ast.Name, depth: int) -> Culprit | None:
        """The same for an object that a function of the project gives beside others: ``train, test = datasets()``."""
        return self._set_after(None, given, name, owner, depth) if not self.chooses(owner.facts) else None

    def _set_after(
        self, start: ast.AST | None, here: Expression, name: ast.Name, owner: Instance | None, depth: int
    ) -> Culprit | None:
        """What is refused in what statements set before a name is read, behind another place if one is given."""
        for statement in statements(here.scope.node.body):
            if (start is None or is_before(start, statement)) and is_before(statement, name):
                found = self._set_by(here, statement, name.id, owner, depth)
                if found is not None:
                    return found
        return None

    def _class_of(self, there: Expression, *, is_parameter: bool) -> ClassFacts | External | None:
        """The class that a call makes an object of, or of which the object is that a function was given."""
        if isinstance(there.node, ast.Call):
            symbol = self._project.resolve(there.module, there.scope, there.node.func)
            if isinstance(symbol, (ClassFacts, External)):
                return symbol
        value = self._unpicklable.evaluator.find(there).value if is_parameter else None
        return value.facts if isinstance(value, Instance) else None

    def _set_by(
        self, here: Expression, statement: ast.stmt, name: str, owner: Instance | None, depth: int
    ) -> Culprit | None:
        """What is refused in what one statement gives to an object by a name; ``owner``: of a class of the project."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if (
            isinstance(statement, ast.Assign)
            and isinstance(target, ast.Attribute)
            and is_name(_whole(target.value), name)
        ):
            found = self._unpicklable.of(here.part(statement.value), depth - 1)
            return found.kept_as(target.attr, None) if found is not None and owner is not None else found
        for attribute, value in _put_in(statement, name):
            found = self._unpicklable.of(here.part(value), depth - 1)
            if found is not None:
                return found.kept_as(attribute, None) if owner is not None else found
        call = statement.value if isinstance(statement, ast.Expr) else None
        on = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
        if call is None or owner is None or not is_name(on, name):
            return None
        return self.told(here.part(call), owner, depth)

    def told(self, call: Expression, owner: Instance, depth: int) -> Culprit | None:
        """What is refused in what an object keeps by a call of one of its methods: ``dataset.map(function)``."""
        function = call.node.func  # type: ignore[attr-defined]
        found = method(self._project, owner, function.attr)
        if found is None or found[0].node.decorator_list or owner.facts in self._asked or self.chooses(owner.facts):
            return None
        frame = Frame(found[0], arguments.of_call(self._unpicklable.evaluator, call), owner, call.frame)
        return next(self._run(frame, owner, depth - 1, {found[0].node}), None)

    def _stored(self, owner: Instance, given: Expression, depth: int) -> Iterator[Culprit]:
        found = method(self._project, owner, "__init__")
        made = owner.made or NO_ARGUMENTS
        if found is not None:
            yield from self._run(Frame(found[0], made, owner, given.frame), owner, depth, {found[0].node})
        else:
            yield from self._given_to_base(owner, made, depth)
            yield from self._after_fields(owner, given, depth)

    def _after_fields(self, owner: Instance, given: Expression, depth: int) -> Iterator[Culprit]:
        """What an object of fields keeps once these have their values."""
        for one in (method(self._project, owner, name) for name in AFTER_FIELDS):
            if one is not None:
                yield from self._run(Frame(one[0], NOT_KNOWN, owner, given.frame), owner, depth, {one[0].node})

    def _given_to_base(self, owner: Instance, made: Arguments, depth: int) -> Iterator[Culprit]:
        """What a base outside the project keeps of the arguments, or an object of its fields."""
        rows = [keeper(name) for name in self._project.ancestry(owner.facts).external]
        fields = objects.fields_given(self._unpicklable.evaluator, owner)
        for name, source in made.keywords.items():
            if any(row.keeps is None or name in row.keeps for row in rows) or (fields and name in fields.entries):
                found = self._unpicklable.first([source], depth)
                if found is not None:
                    yield found.kept_as(name, owner.facts if found.path else None)
        for row in rows:
            for number, source in enumerate(made.positional):
                found = self._unpicklable.first([source], depth) if row.holds(number) else None
                if found is not None:
                    yield found.kept_as(row.attribute, owner.facts)

    def _run(self, frame: Frame, owner: Instance, depth: int, seen: set[Function]) -> Iterator[Culprit]:
        """Give what a method stores that is refused, and what those store that it calls on its object."""
        function, own = frame.function, first_parameter(frame.function.node)
        here = Expression(function.module, function.scope, ast.Constant(None), frame)
        evaluator = self._unpicklable.evaluator
        for statement in statements(function.node.body):
            if not self._unpicklable.budget.spend():
                return
            for attribute, value in (*_stores(statement, own), *_put_in(statement, own)):
                module = self._module_given(function, here.part(value))
                found = module or self._unpicklable.of(here.part(value), depth)
                if module is not None and self._unpicklable.passes_over(module):
                    continue
                if found is None or (owner.made is not None and is_passed_over(evaluator, here.part(value))):
                    continue  # of an object that anyone makes each branch may run
                if not _is_replaced(function, statement, attribute, own):
                    kept = found.kept_as(attribute, function.owner if _is_inside(found, function.owner) else None)
                    yield replace(kept, by_branch=isinstance(function.module.parents[statement], ast.If))
            call = statement.value if isinstance(statement, ast.Expr) else None
            taken = mapping_set_by(function, call) if call is not None else None
            if taken is not None:
                yield from self._taken(here.part(taken), depth)
            elif isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                yield from self._follow(here.part(call), call.func, owner, depth, seen)

    def _module_given(self, function: FunctionFacts, value: Expression) -> Culprit | None:
        """The module that whoever makes a dataset gives it: the class is to import it instead."""
        facts = function.owner
        if facts is None or not isinstance(value.node, ast.Name) or not inherits_dataset(self._project, facts):
            return None
        return module_given(self._unpicklable.evaluator, value)

    def _taken(self, mapping: Expression, depth: int) -> Iterator[Culprit]:
        """Give what is refused in what an object takes from a mapping: ``self.__dict__.update(options)``."""
        table = self._unpicklable.evaluator.table(mapping)
        for name, source in table.entries.items() if table is not None else ():
            found = self._unpicklable.first([source], depth)
            if found is not None:
                yield found.kept_as(name, None)

    def _follow(
        self, call: Expression, function: ast.Attribute, owner: Instance, depth: int, seen: set[Function]
    ) -> Iterator[Culprit]:
        """Follow ``super().__init__(...)`` and ``self.method(...)``."""
        evaluator, node = self._unpicklable.evaluator, call.node
        is_up = isinstance(node, ast.Call) and is_super_call(node)
        symbol = self._project.resolve(call.module, call.scope, function) if is_up else None
        named = (
            callee(evaluator, call.part(function), None) if not isinstance(symbol, FunctionFacts) else (symbol, owner)
        )
        given = handed_up(evaluator, call) if is_up else arguments.of_call(evaluator, call)
        if named is None and is_up:
            yield from self._given_to_base(owner, given, depth)
        elif named is not None and named[1] == owner and named[0].node not in seen and not named[0].node.decorator_list:
            seen.add(named[0].node)
            yield from self._run(Frame(named[0], given, owner, call.frame), owner, depth, seen)


def _whole(node: ast.expr) -> ast.expr:
    """What ``part.dataset`` is a part of: each part of a dataset holds the whole."""
    while isinstance(node, ast.Attribute) and node.attr == WHOLE:
        node = node.value
    return node


def _is_inside(found: Culprit, facts: ClassFacts | None) -> bool:
    return facts is not None and found.module is facts.module and facts.node in found.module.above(found.node)


def _stores(statement: ast.stmt, own: str) -> Iterator[tuple[str, ast.expr]]:
    """Give the attributes of the object that a statement stores, each with its value, or the call that gives it."""
    whole = statement.value if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) else None
    for name, value in stored(statement, own):
        if value is not None or whole is not None:
            yield name, value or whole  # type: ignore[misc]


def _put_in(statement: ast.stmt, own: str) -> Iterator[tuple[str, ast.expr]]:
    """Give the attribute of the object into which a statement puts another value, and that value."""
    into: ast.expr | None = None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        into, value = statement.targets[0].value, statement.value
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.args:
        function, value = statement.value.func, statement.value.args[-1]
        if isinstance(function, ast.Attribute) and function.attr in CONTAINER_METHODS:
            into = function.value if isinstance(value, DISPLAYS) or function.attr not in TAKE_APART else None
    if isinstance(into, ast.Attribute) and is_name(into.value, own):
        yield into.attr, value


def _is_replaced(method: FunctionFacts, statement: ast.stmt, attribute: str, own: str) -> bool:
    """Whether the method surely stores something else there, or deletes it, later on."""
    chain = [statement, *method.module.above(statement)]
    for later in statements(method.node.body):
        if start_of(later) <= start_of(statement) or later in chain:
            continue
        gone = isinstance(later, ast.Delete) and any(dotted(one) == f"{own}.{attribute}" for one in later.targets)
        if gone or _surely_stores(later, attribute, own):
            block = block_of(method.module, later)
            if any(one in block for one in chain):
                return True
    return False


def _surely_stores(statement: ast.stmt, attribute: str, own: str) -> bool:
    """Whether a statement stores an attribute of the object, in whichever of its branches."""
    if isinstance(statement, ast.If):
        branches = (statement.body, statement.orelse)
        return all(any(_surely_stores(one, attribute, own) for one in block) for block in branches)
    return any(name == attribute for name, _ in _stores(statement, own))
