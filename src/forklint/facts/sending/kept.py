"""What objects of a project's classes hold when they are sent: what ``__init__`` stores and pickling takes along."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.facts.handles.carried import leaves_out, pickling_methods
from forklint.facts.sending.values import Culprit
from forklint.knowledge.unpicklable import keeper
from forklint.project.bindings import block_of
from forklint.project.entries import stored
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import start_of
from forklint.project.scopes import FUNCTIONS, Function, statements
from forklint.project.spelling import dotted, first_parameter, is_name
from forklint.values.model import Expression, Frame, Instance

if TYPE_CHECKING:
    from forklint.facts.sending.unpicklable import Unpicklable

REDUCING = {"__reduce__", "__reduce_ex__"}
CHOOSING = {*REDUCING, "__getstate__", "__getattr__", "__setattr__", "__new__"}
"""Methods by which a class says itself what it holds, or what is pickled of it."""


class Objects:
    """Answers for objects of the project's classes, for one payload."""

    def __init__(self, unpicklable: Unpicklable) -> None:
        self._unpicklable = unpicklable
        self._project = unpicklable.project
        self._asked: set[ClassFacts] = set()

    def reduces(self, facts: ClassFacts) -> bool:
        """Whether a class says itself how its objects are made again."""
        return any(REDUCING & set(owner.methods) for owner in self._project.ancestry(facts).classes)

    def chooses(self, facts: ClassFacts) -> bool:
        """Whether a class says itself what of an object is pickled, or meddles with attributes."""
        return any(CHOOSING & set(owner.methods) for owner in self._project.ancestry(facts).classes)

    def kept(self, facts: ClassFacts, given: Expression, call: ast.Call | None, depth: int) -> Culprit | None:
        """What is refused in an object that a call makes; without a call in any that is made with its defaults."""
        return next(iter(self.all_kept(facts, given, call, depth)), None)

    def all_kept(self, facts: ClassFacts, given: Expression, call: ast.Call | None, depth: int) -> list[Culprit]:
        """All that is refused in it, in the order in which it is stored."""
        if facts in self._asked or self.reduces(facts):
            return []
        pickling = pickling_methods(self._project.ancestry(facts).classes)
        self._asked.add(facts)
        try:
            return [
                found
                for found in self._stored(facts, given, call, depth - 1)
                if not any(leaves_out(method, {found.path[0]}) for method in pickling)
            ]
        finally:
            self._asked.discard(facts)

    def _stored(self, facts: ClassFacts, given: Expression, call: ast.Call | None, depth: int) -> Iterator[Culprit]:
        owners = self._project.ancestry(facts).classes
        for number, owner in enumerate(owners):
            if "__init__" in owner.methods:
                init = FunctionFacts(owner.module, owner.methods["__init__"])
                frame = self._unpicklable.frame_of(init, call, given)
                yield from self._run(owners[number:], frame, depth, {init.node})
                return
        if call is not None:
            yield from self._given_to_base(facts, given, call, depth)

    def _given_to_base(self, facts: ClassFacts, given: Expression, call: ast.Call, depth: int) -> Iterator[Culprit]:
        """What a base outside the project keeps of the arguments, or a dataclass of its fields."""
        rows = [row for name in self._project.ancestry(facts).external if (row := keeper(name)) is not None]
        fields = {one.target.id for one in facts.node.body if isinstance(one, ast.AnnAssign) and _is_name(one.target)}  # type: ignore[union-attr]
        for keyword in call.keywords:
            if keyword.arg is None:
                continue
            if any(row.keeps is None or keyword.arg in row.keeps for row in rows) or (
                facts.node.decorator_list and keyword.arg in fields
            ):
                found = self._unpicklable.of(given.part(keyword.value), depth)
                if found is not None:
                    yield found.kept_as(keyword.arg, facts) if found.path else _as(found, keyword.arg)

    def _run(
        self,
        owners: tuple[ClassFacts, ...],
        frame: Frame,
        depth: int,
        seen: set[Function],
    ) -> Iterator[Culprit]:
        """Give what a method stores that is refused, and what those store that it calls on its object."""
        method, own = frame.function, _own_name(frame.function.node)
        for statement in statements(method.node.body):
            if not self._unpicklable.budget.spend():
                return
            here = Expression(method.module, method.scope, ast.Constant(None), frame)
            for attribute, value in _stores(statement, own):
                found = self._unpicklable.of(here.part(value), depth)
                if found is not None and not _is_replaced(method, statement, attribute, own):
                    yield _as(found, attribute, owners[0] if _is_inside(found, owners[0]) else None)
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                yield from self._follow(owners, statement.value, here, depth, seen)

    def _follow(
        self, owners: tuple[ClassFacts, ...], call: ast.Call, here: Expression, depth: int, seen: set[Function]
    ) -> Iterator[Culprit]:
        """Follow ``super().__init__(...)`` and ``self.method(...)``."""
        function, own = call.func, _own_name(here.scope.node)
        if not isinstance(function, ast.Attribute):
            return
        if function.attr == "__init__" and _is_super(function.value):
            above = next((n for n, owner in enumerate(owners) if n and "__init__" in owner.methods), None)
            if above is None:
                yield from self._given_to_base(owners[0], here, call, depth)
                return
            owners, name = owners[above:], "__init__"
        elif _is_name(function.value) and getattr(function.value, "id", "") == own:
            name = function.attr
        else:
            return
        for number, owner in enumerate(owners):
            target = owner.methods.get(name)
            if target is not None:
                if target not in seen and not target.decorator_list:
                    seen.add(target)
                    frame = self._unpicklable.frame_of(FunctionFacts(owner.module, target), call, here)
                    yield from self._run(owners[number:] if name == "__init__" else owners, frame, depth, seen)
                return

    def attribute(self, given: Expression, node: ast.Attribute, depth: int) -> Culprit | None:
        """What is refused in ``something.name``: an attribute of ``self``, a bound method, a name of a module."""
        owner = self._object(given, node.value)
        if owner is None:
            symbol = self._project.resolve(given.module, given.scope, node)
            return self._unpicklable.named(given, node, symbol, depth)
        is_self = _is_receiver(given, owner)
        if self._project.method(owner.facts, node.attr) is None:
            return self._assigned(owner, node.attr, depth) if is_self else None
        if is_self or owner.call is None:  # pickling a bound method pickles its object
            return self.kept(owner.facts, given, None, depth)
        made = owner.call.node
        return (
            self._unpicklable.instance(owner.call, made, owner.facts, depth - 1) if isinstance(made, ast.Call) else None
        )

    def own_method(self, given: Expression, function: ast.Attribute) -> FunctionFacts | None:
        """The method that ``self.name`` means."""
        owner = self._object(given, function.value)
        if owner is None or not _is_receiver(given, owner):
            return None
        found = self._project.method(owner.facts, function.attr)
        return FunctionFacts(found[0].module, found[1]) if found is not None else None

    def _object(self, given: Expression, node: ast.expr) -> Instance | None:
        """The object that an expression is; without a call, it is the one whose method the code stands in."""
        value = self._unpicklable.evaluator.find(given.part(node)).value
        is_class = isinstance(value, Instance) and value.call is None and not _own_name(given.scope.node)
        return value if isinstance(value, Instance) and not is_class else None

    def _assigned(self, owner: Instance, attribute: str, depth: int) -> Culprit | None:
        """What is refused in a value that some method stores as an attribute of an object."""
        for facts in self._project.ancestry(owner.facts).classes:
            for method in (FunctionFacts(facts.module, one) for one in facts.methods.values()):
                own = _own_name(method.node)
                for statement in statements(method.node.body):
                    for name, value in _stores(statement, own):
                        if name == attribute and not _is_replaced(method, statement, name, own):
                            made = owner.made if method.node.name == "__init__" else None
                            frame = Frame(method, made) if made is not None else None
                            stored_value = Expression(method.module, method.scope, value, frame)
                            found = self._unpicklable.of(stored_value, depth - 1)
                            if found is not None:
                                return found
        return None


def _is_receiver(given: Expression, owner: Instance) -> bool:
    """Whether an object is the one whose method an expression stands in."""
    return owner.call is None or (given.frame is not None and owner == given.frame.receiver)


def _as(found: Culprit, attribute: str, facts: ClassFacts | None = None) -> Culprit:
    return Culprit(
        found.why, found.module, found.node, found.name, found.error, found.definition, found.platforms, found.late,
        (attribute, *found.path), found.keeper or facts,
    )  # fmt: skip


def _is_inside(found: Culprit, facts: ClassFacts) -> bool:
    return found.module is facts.module and facts.node in found.module.above(found.node)


def _stores(statement: ast.stmt, own: str) -> Iterator[tuple[str, ast.expr]]:
    """Give the attributes of the object that a statement stores, each with its value, or the call that gives it."""
    whole = statement.value if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) else None
    for name, value in stored(statement, own):
        if value is not None or whole is not None:
            yield name, value or whole  # type: ignore[misc]


def _is_replaced(method: FunctionFacts, statement: ast.stmt, attribute: str, own: str) -> bool:
    """Whether the method surely stores something else there, or deletes it, later on."""
    chain = [statement, *method.module.above(statement)]
    for later in statements(method.node.body):
        if start_of(later) <= start_of(statement) or later in chain:
            continue
        gone = isinstance(later, ast.Delete) and any(dotted(one) == f"{own}.{attribute}" for one in later.targets)
        if gone or any(name == attribute for name, _ in _stores(later, own)):
            block = block_of(method.module, later)
            if any(one in block for one in chain):
                return True
    return False


def _own_name(function: ast.AST) -> str:
    """The name by which a method calls its object; empty for a method of the class, and for what is no method."""
    if not isinstance(function, FUNCTIONS) or any(is_name(one, "classmethod") for one in function.decorator_list):
        return ""
    return first_parameter(function)


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
