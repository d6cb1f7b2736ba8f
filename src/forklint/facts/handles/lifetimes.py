"""Follows open handles through code: opened, passed on, kept, closed. A small abstract interpreter.

It walks a function's statements once, in order, joins the branches of an ``if`` or ``try``, enters the project's own
methods and functions, and answers which handles each name and attribute may hold when the function returns.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from forklint.facts.handles import shapes
from forklint.facts.handles.held import (
    NOTHING,
    Frame,
    Held,
    Opened,
    State,
    StoredHandle,
    Values,
    boxed,
    boxes,
    closers,
    join,
    join_live,
    unboxed,
    without,
)
from forklint.facts.handles.openers import Openers
from forklint.facts.handles.screening import MAX_DEPTH
from forklint.knowledge.handles import Handle
from forklint.project.budget import Budget
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Function, parameters
from forklint.project.spelling import is_static


class Lifetimes:
    """Follows handles through the methods of one class.

    ``openers`` maps qualified names to handles. ``built`` answers which handles an object keeps whose class
    is called, so that readers are followed; ``opens`` whether a function is worth entering.
    """

    def __init__(  # noqa: PLR0913 - what it does not know by itself
        self,
        project: Project,
        facts: ClassFacts | None,
        openers: dict[str, Handle],
        built: Callable[[ClassFacts], Values],
        opens: Callable[[FunctionFacts], bool],
        *,
        budget: Budget,
    ) -> None:
        self._project = project
        self._facts = facts
        self._table = Openers(project, facts, openers)
        self._built = built
        self._opens = opens
        self._active: list[Function] = []
        self._budget = budget
        self.kept: dict[tuple[Opened, str], StoredHandle] = {}
        """Where each handle was first stored under each attribute."""

    def run(self, module: Module, function: Function, state: State) -> State:
        """Follow a method from ``state`` (attributes as ``self.x``); gives the attributes' state on return."""
        frame = self._enter(module, function, state, {})
        return {name: values for name, values in frame.state.items() if name.startswith("self.")}

    # Calls

    def _enter(self, module: Module, function: Function, state: State, arguments: State) -> Frame:
        attributes = {name: values for name, values in state.items() if name.startswith("self.")}
        names = [argument.arg for argument in parameters(function)]
        is_method = FunctionFacts(module, function).owner is not None and bool(names)
        frame = Frame(module, module.scope_of[function], {**attributes, **arguments}, names[0] if is_method else "")
        self._active.append(function)
        last = self._block(frame, function.body, frame.state)
        self._active.pop()
        frame.state = join([*frame.exits, *([last] if last is not None else [])])
        return frame

    def _call(self, frame: Frame, call: ast.Call, module: Module, function: Function, *, bound: bool) -> Values:
        """Enter a project function; what it does to the object's attributes happens here as well."""
        if function in self._active or len(self._active) >= MAX_DEPTH or not self._budget.spend():
            return NOTHING
        names = [argument.arg for argument in parameters(function)][1 if bound else 0 :]
        arguments = {name: self.value(frame, argument) for name, argument in zip(names, call.args, strict=False)}
        arguments |= {k.arg: self.value(frame, k.value) for k in call.keywords if k.arg in names and k.arg}
        inner = self._enter(module, function, frame.state, {name: held for name, held in arguments.items() if held})
        for name in [name for name in frame.state if name.startswith("self.")]:
            del frame.state[name]
        frame.state.update({name: held for name, held in inner.state.items() if name.startswith("self.")})
        return inner.returned

    def _call_target(self, frame: Frame, call: ast.Call) -> tuple[Module, Function, bool] | None:
        """The project function that a call enters, and whether its first parameter is already bound."""
        function = call.func
        if isinstance(function, ast.Attribute):
            value = function.value
            if isinstance(value, ast.Name) and value.id == frame.me and frame.me and self._facts:
                found = self._project.method(self._facts, function.attr)
                return (found[0].module, found[1], not is_static(found[1])) if found else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super":
                return self._super_target(frame, function.attr)
        symbol = self._project.resolve(frame.module, frame.scope, function)
        if isinstance(symbol, FunctionFacts):
            by_class = symbol.owner is not None and bool(call.args) and shapes.is_name(call.args[0], frame.me)
            if by_class or (symbol.owner is None and self._opens(symbol)):
                return symbol.module, symbol.node, False
        return None

    def _super_target(self, frame: Frame, name: str) -> tuple[Module, Function, bool] | None:
        owner = frame.scope.parent.node if frame.scope.parent else None
        if self._facts is None or not isinstance(owner, ast.ClassDef):
            return None
        classes = self._project.ancestry(self._facts).classes
        current = frame.module.class_facts(owner)
        after = classes[classes.index(current) + 1 :] if current in classes else ()
        for facts in after:
            if name in facts.methods:
                return facts.module, facts.methods[name], True
        return None

    # Values

    def value(self, frame: Frame, expression: ast.expr) -> Values:
        """The handles that the value of an expression is or contains."""
        if isinstance(expression, ast.Name):
            return frame.state.get(expression.id, NOTHING)
        if isinstance(expression, ast.Call):
            return self._call_value(frame, expression)
        if isinstance(expression, ast.Attribute):
            return self._attribute_value(frame, expression)
        if isinstance(expression, ast.Subscript):
            return self._subscript_value(frame, expression)
        if isinstance(expression, ast.Dict):
            parts = [
                (key, self.value(frame, value)) for key, value in zip(expression.keys, expression.values, strict=True)
            ]
            return boxed(NOTHING.union(*(held if key is not None else boxes(held) for key, held in parts)))
        if isinstance(expression, (ast.List, ast.Tuple, ast.Set)):
            return boxed(self._union(frame, expression.elts))
        if isinstance(expression, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return self._comprehension_value(frame, expression)
        return self._passed_on(frame, expression)

    def _passed_on(self, frame: Frame, expression: ast.expr) -> Values:
        """The value of an expression that hands on what is in it, or nothing."""
        if isinstance(expression, (ast.IfExp, ast.BoolOp)):
            choices = [expression.body, expression.orelse] if isinstance(expression, ast.IfExp) else expression.values
            return self._union(frame, choices)
        if isinstance(expression, ast.NamedExpr):
            frame.state[expression.target.id] = self.value(frame, expression.value)
            return frame.state[expression.target.id]
        if isinstance(expression, ast.Starred):
            return boxes(self.value(frame, expression.value))
        if isinstance(expression, ast.Await):
            return self.value(frame, expression.value)
        for child in ast.iter_child_nodes(expression):
            if isinstance(child, ast.expr):
                self.value(frame, child)  # for the calls in it
        return NOTHING

    def _union(self, frame: Frame, expressions: list[ast.expr]) -> Values:
        return NOTHING.union(*(self.value(frame, expression) for expression in expressions))

    def _call_value(self, frame: Frame, call: ast.Call) -> Values:
        target = self._call_target(frame, call)
        if target is not None:
            return self._call(frame, call, target[0], target[1], bound=target[2])
        arguments = self._union(frame, [*call.args, *(keyword.value for keyword in call.keywords)])
        row = self._table.row(frame.module, frame.scope, call)
        if row is not None:
            return frozenset({Held(Opened(frame.module, call, row))}) | arguments
        symbol = self._project.resolve(frame.module, frame.scope, call.func)
        if isinstance(symbol, ClassFacts):
            streams = [
                a for a in call.args if isinstance(a, ast.Call) and self._table.wraps(frame.module, frame.scope, a)
            ]
            return self._built(symbol) | (arguments - self._union(frame, list(streams)))  # it most likely reads them
        if self._table.wraps(frame.module, frame.scope, call):
            return arguments
        if isinstance(call.func, ast.Attribute):
            return self._method_value(frame, call.func, arguments)
        if isinstance(call.func, ast.Name) and call.func.id in shapes.BOX_FUNCTIONS:
            return frozenset(held for held in arguments if held.boxed)
        return NOTHING

    def _method_value(self, frame: Frame, function: ast.Attribute, arguments: Values) -> Values:
        owner = self.value(frame, function.value)
        closed = frozenset(held for held in owner if function.attr in closers(held.opened.row))
        if closed:
            frame.state = without(frame.state, closed)
            return NOTHING
        if function.attr == "enter_context":
            return arguments
        members = {held for held in owner if not held.boxed and function.attr in held.opened.row.derived}
        if function.attr == "values" and members:
            return boxed(frozenset(replace(held, part=True) for held in members))
        if function.attr in shapes.BOX_VIEWS | shapes.UNBOXING:
            return owner if function.attr in shapes.BOX_VIEWS else unboxed(owner)
        return frozenset(members)

    def _attribute_value(self, frame: Frame, expression: ast.Attribute) -> Values:
        if shapes.is_name(expression.value, frame.me) and frame.me:
            known = frame.state.get(f"self.{expression.attr}")
            if known is not None or self._facts is None:
                return known or NOTHING
            found = self._project.method(self._facts, expression.attr)
            if found is not None and shapes.is_property(found[1]):
                call = ast.Call(func=expression, args=[], keywords=[])
                held = self._call(frame, call, found[0].module, found[1], bound=True)
                if shapes.is_cached(found[1]):
                    self._assign(frame, expression, held, shapes.last_return(found[1]))
                return held
            return NOTHING
        owner = self.value(frame, expression.value)
        return frozenset(held for held in owner if expression.attr in held.opened.row.derived)

    def _subscript_value(self, frame: Frame, expression: ast.Subscript) -> Values:
        owner = self.value(frame, expression.value)
        reads = isinstance(expression.slice, (ast.Slice, ast.Tuple)) or (
            isinstance(expression.slice, ast.Constant) and not isinstance(expression.slice.value, str)
        )
        parts = [held for held in owner if not held.boxed and "[]" in held.opened.row.derived and not reads]
        if not isinstance(expression.slice, ast.Constant):
            parts = [held for held in parts if not held.part]  # by a name in a part: most likely rows, a copy
        derived = {replace(held, part=True) for held in parts}
        return unboxed(frozenset(held for held in owner if held.boxed)) | derived

    def _comprehension_value(
        self, frame: Frame, expression: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Values:
        for generator in expression.generators:
            self._assign(frame, generator.target, unboxed(boxes(self.value(frame, generator.iter))), None)
        element = expression.value if isinstance(expression, ast.DictComp) else expression.elt
        return boxed(self.value(frame, element))

    # Statements

    def _block(self, frame: Frame, body: list[ast.stmt], state: State) -> State | None:
        """Follow a block; gives the state behind it, or None if it never gets there."""
        current: State | None = state
        for statement in body:
            if current is None or not self._budget.spend():
                return None
            frame.state = current
            current = self._statement(frame, statement)
        return current

    def _statement(self, frame: Frame, statement: ast.stmt) -> State | None:
        if isinstance(statement, ast.Assign):
            held = self.value(frame, statement.value)
            for target in statement.targets:
                self._assign(frame, target, held, statement)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign(frame, statement.target, self.value(frame, statement.value), statement)
        elif isinstance(statement, ast.AugAssign):
            self._assign(frame, statement.target, self.value(frame, statement.value), statement, widen=True)
        elif isinstance(statement, ast.Expr):
            self._expression(frame, statement)
        elif isinstance(statement, ast.Delete):
            for target in statement.targets:
                frame.state.pop(frame.key(target), None)
        elif isinstance(statement, ast.Return):
            if statement.value is not None:
                frame.returned |= self.value(frame, statement.value)
            frame.exits.append(dict(frame.state))
            return None
        elif isinstance(statement, ast.Raise):
            return None
        elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            return self._compound(frame, statement)
        return frame.state

    def _compound(self, frame: Frame, statement: ast.stmt) -> State | None:
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            return self._with(frame, statement)
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            self._assign(frame, statement.target, unboxed(boxes(self.value(frame, statement.iter))), None)
            before = dict(frame.state)
            after = self._block(frame, statement.body, frame.state)
            return self._block(frame, statement.orelse, before if after is None else after)
        if isinstance(statement, ast.While):
            before = dict(frame.state)
            after = self._block(frame, statement.body, frame.state)
            return before if after is None else after
        if isinstance(statement, ast.If):
            self.value(frame, statement.test)
            start = dict(frame.state)
            branches = [self._block(frame, body, dict(start)) for body in (statement.body, statement.orelse)]
            return join_live(branches)
        if isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
            return self._try(frame, cast("ast.Try", statement))
        if isinstance(statement, ast.Match):
            start = dict(frame.state)
            return join_live([*(self._block(frame, case.body, dict(start)) for case in statement.cases), start])
        return frame.state

    def _try(self, frame: Frame, statement: ast.Try) -> State | None:
        before, exits = dict(frame.state), len(frame.exits)
        done = self._block(frame, statement.body, frame.state)
        middle = join([before, done] if done is not None else [before])
        if done is not None:
            done = self._block(frame, statement.orelse, done)
        after = join_live([done, *(self._block(frame, handler.body, dict(middle)) for handler in statement.handlers)])
        if statement.finalbody:
            inside = frame.exits[exits:]
            frame.exits[exits:] = [self._block(frame, statement.finalbody, state) or {} for state in inside]
            return None if after is None else self._block(frame, statement.finalbody, after)
        return after

    def _with(self, frame: Frame, statement: ast.With | ast.AsyncWith) -> State | None:
        closing = NOTHING
        for item in statement.items:
            held, closed = self._context(frame, item.context_expr)
            closing_call = shapes.is_closing(item.context_expr)
            closed = frozenset(one for one in closed if one.opened.row.with_closes or closing_call)
            if item.optional_vars is not None:
                self._assign(frame, item.optional_vars, held, None)
            closing |= closed
        exits, returned = len(frame.exits), frame.returned
        after = self._block(frame, statement.body, frame.state)
        frame.exits[exits:] = [without(state, closing) for state in frame.exits[exits:]]
        gone = {held.opened for held in closing}
        frame.returned = returned | {held for held in frame.returned if held.opened not in gone}
        return None if after is None else without(after, closing)

    def _context(self, frame: Frame, expression: ast.expr) -> tuple[Values, Values]:
        """What ``with`` binds, and what it closes: a transaction's end does not close its environment."""
        held = self.value(frame, expression)
        if not isinstance(expression, ast.Call):
            return held, held
        if shapes.is_closing(expression):
            held = self._union(frame, expression.args)
            return held, held
        opens = self._table.row(frame.module, frame.scope, expression) or not isinstance(expression.func, ast.Attribute)
        return held, held if opens else NOTHING

    def _expression(self, frame: Frame, statement: ast.Expr) -> None:
        call = statement.value
        method = call.func if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and isinstance(method, ast.Attribute) and method.attr in shapes.CONTAINER_METHODS:
            held = self._union(frame, call.args)
            if method.attr in shapes.READING_METHODS:
                held = unboxed(boxes(held))
            held |= self._union(frame, [keyword.value for keyword in call.keywords])
            self._assign(frame, method.value, boxed(held), statement, widen=True)
            return
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("setattr", "delattr"):
            self._set_by_name(frame, call, statement)
            return
        self.value(frame, call)

    def _set_by_name(self, frame: Frame, call: ast.Call, statement: ast.Expr) -> None:
        """``setattr(self, "x", value)`` and ``delattr(self, "x")``."""
        name = call.args[1] if len(call.args) > 1 else None
        held = self._union(frame, call.args[2:])
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            self._assign(frame, ast.Attribute(call.args[0], name.value, ast.Store()), held, statement)

    def _assign(
        self, frame: Frame, target: ast.expr, held: Values, statement: ast.stmt | None, *, widen: bool = False
    ) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            source = statement.value if isinstance(statement, ast.Assign) else None
            is_row = isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(target.elts)
            parts = source.elts if is_row else None  # type: ignore[union-attr]
            for index, element in enumerate(target.elts):
                part = self.value(frame, parts[index]) if parts else unboxed(held) or held
                self._assign(frame, element, part, statement)
            return
        if isinstance(target, ast.Subscript):
            target, held, widen = target.value, boxed(held), True
        key = frame.key(target)
        if not key:
            return
        frame.state[key] = frame.state.get(key, NOTHING) | held if widen else held
        if key.startswith("self.") and statement is not None:
            for one in held:
                stored = StoredHandle(one.opened, key[5:], frame.module, statement, one.via)
                self.kept.setdefault((one.opened, key[5:]), stored)
