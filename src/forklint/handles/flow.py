"""Follows the statements of a function in order and joins what is known where ways meet."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import cast

from forklint.handles import shapes
from forklint.handles.claims import NO_CLAIMS, claims_of_store
from forklint.handles.conditions import Conditions, emptied
from forklint.handles.held import (
    NOTHING,
    Frame,
    State,
    Values,
    boxed,
    boxes,
    denied,
    join,
    join_live,
    unboxed,
    without,
)
from forklint.handles.openers import Openers
from forklint.project.budget import Budget
from forklint.project.scopes import FUNCTIONS


class Flow(ABC):
    """Walks over blocks; what expressions hold, and what a target is then known to hold, a subclass says."""

    def __init__(self, table: Openers, conditions: Conditions, budget: Budget) -> None:
        self._table = table
        self._conditions = conditions
        self._budget = budget
        self._claims = NO_CLAIMS
        """What is known of the object's attributes at the place that is being followed."""

    @abstractmethod
    def value(self, frame: Frame, expression: ast.expr) -> Values:
        """The handles that the value of an expression is or contains."""

    @abstractmethod
    def _assign(
        self, frame: Frame, target: ast.expr, held: Values, statement: ast.stmt | None, *, widen: bool = False
    ) -> None:
        """Note what a target holds from here on; besides what it held, with ``widen``."""

    def _learn(self, frame: Frame, key: str, value: ast.expr | None) -> None:
        """Note that a name is stored to, so that what was known of an attribute is so no longer."""
        if not key.startswith("self."):
            return
        attribute = key.removeprefix("self.")
        claims = frozenset(claims_of_store(attribute, value)) if value is not None else NO_CLAIMS
        self._claims = claims | {one for one in self._claims if attribute not in one.attributes}
        frame.learn(attribute, claims)

    def _union(self, frame: Frame, expressions: list[ast.expr]) -> Values:
        return NOTHING.union(*(self.value(frame, expression) for expression in expressions))

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
                self._learn(frame, frame.key(target), None)
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
            self._each(frame, statement.target, statement.iter)
            before = dict(frame.state)
            after = self._block(frame, statement.body, frame.state)
            return self._block(frame, statement.orelse, before if after is None else after)
        if isinstance(statement, ast.While):
            before = dict(frame.state)
            after = self._block(frame, statement.body, frame.state)
            return before if after is None else after
        if isinstance(statement, ast.If):
            return self._if(frame, statement)
        if isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
            return self._try(frame, cast("ast.Try", statement))
        if isinstance(statement, ast.Match):
            start = dict(frame.state)
            return join_live([*(self._block(frame, case.body, dict(start)) for case in statement.cases), start])
        return frame.state

    def _each(self, frame: Frame, target: ast.expr, iterable: ast.expr) -> None:
        """Give the target of a loop one element: of ``enumerate``, ``zip`` and ``items`` each name its own part."""
        parts = shapes.columns(iterable) if isinstance(target, (ast.Tuple, ast.List)) else []
        if not isinstance(target, (ast.Tuple, ast.List)) or len(parts) != len(target.elts):
            self._assign(frame, target, unboxed(boxes(self.value(frame, iterable))), None)
            return
        for name, part in zip(target.elts, parts, strict=True):
            held = unboxed(boxes(self.value(frame, part))) if part is not None else NOTHING
            self._assign(frame, name, held, None)

    def _if(self, frame: Frame, statement: ast.If) -> State | None:
        self.value(frame, statement.test)
        truth, start = self._conditions.truth(frame, statement.test), dict(frame.state)
        branches: list[State | None] = []
        known = left = self._claims
        for taken, body in ((True, statement.body), (False, statement.orelse)):
            if truth in (taken, None):
                nothing = dict.fromkeys(emptied(frame, statement.test, truth=taken), NOTHING)
                here = self._conditions.claims(frame, statement.test, truth=taken)
                self._claims = known | here
                branches.append(self._block(frame, body, denied({**start, **nothing}, here)))
                left &= self._claims
        self._claims = left
        return join_live(branches)

    def _try(self, frame: Frame, statement: ast.Try) -> State | None:
        before, exits = dict(frame.state), len(frame.exits)
        done = self._block(frame, statement.body, frame.state)
        middle = before if done is None else done if shapes.closes_alone(statement.body) else join([before, done])
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
            closed = frozenset(
                one for one in closed if (one.opened.row.with_closes or closing_call) and not one.derived
            )
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
        names = self._conditions.texts(frame, name) if name is not None else ()
        for one in names:
            target = ast.Attribute(call.args[0], one, ast.Store())
            self._assign(frame, target, held, statement, widen=len(names) > 1)
