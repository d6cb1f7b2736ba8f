"""Follows open handles through code: opened, passed on, kept, closed. A small abstract interpreter.

It walks a function's statements once, in order, joins the branches of an ``if`` or ``try``, enters the project's own
methods and functions, and answers which handles each name and attribute may hold when the function returns.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import starmap

from forklint.handles import shapes
from forklint.handles.conditions import Conditions
from forklint.handles.flow import Flow
from forklint.handles.held import (
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
    own,
    unboxed,
    without,
    without_derived,
)
from forklint.handles.openers import Openers
from forklint.handles.per_process import tells_process
from forklint.handles.screening import MAX_DEPTH
from forklint.handles.targets import Target, Targets
from forklint.knowledge.handles import Handle
from forklint.project.budget import Budget
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Function, parameters
from forklint.project.spelling import all_arguments, is_name, is_static
from forklint.values.arguments import of_call
from forklint.values.evaluator import Evaluator
from forklint.values.model import NOT_KNOWN, Arguments, Instance, Made, Ref
from forklint.values.model import Frame as Context

NAMED_TUPLES = frozenset({"collections.namedtuple"})


class Lifetimes(Flow):
    """Follows handles through the methods of one class.

    ``openers`` maps qualified names to handles. ``built`` answers which handles an object keeps whose class
    is called with some arguments, so that readers are followed; ``opens`` whether a function is worth entering,
    ``leaves`` whether it is even if no handle is passed to it. A branch is passed over if the arguments of the calls
    on the way there decide against it.
    """

    def __init__(  # noqa: PLR0913 - what it does not know by itself
        self,
        project: Project,
        facts: ClassFacts | None,
        openers: dict[str, Handle],
        built: Callable[[ClassFacts, Arguments], Values],
        opens: Callable[[FunctionFacts], bool],
        *,
        leaves: Callable[[FunctionFacts], bool],
        budget: Budget,
    ) -> None:
        self._evaluator = Evaluator(project)
        super().__init__(Openers(project, facts, openers), Conditions(self._evaluator, facts), budget)
        self._project = project
        self._facts = facts
        self._built = built
        self._leaves = leaves
        self._targets = Targets(project, facts, opens)
        self._active: list[Function] = []
        self.kept: dict[tuple[Opened, str], StoredHandle] = {}
        """Where each handle was first stored under each attribute."""

    @property
    def has_run_out(self) -> bool:
        """Whether there was more to follow than there were steps."""
        return self._budget.has_run_out

    def run(self, module: Module, function: Function, state: State, given: Arguments, made: Arguments) -> State:
        """Follow a method of an object from ``state`` (attributes as ``self.x``); gives their state on return.

        ``given`` is what the method is called with, ``made`` what the object was made with.
        """
        this = Instance(self._facts, made) if self._facts is not None else None
        frame = self._enter(module, function, state, {}, Context(FunctionFacts(module, function), given, this))
        return {name: values for name, values in frame.state.items() if name.startswith("self.")}

    def leaves_open(self, function: FunctionFacts) -> bool:
        """Whether a function may return a handle, store one or never return, whoever calls it: with any arguments."""
        before: State = {"self.": NOTHING}
        frame = self._enter(function.module, function.node, before, {}, Context(function, NOT_KNOWN))
        returns = frame.state.keys() >= before.keys()
        return bool(frame.returned or self.kept or not returns or self.has_run_out)

    # Calls

    def _enter(self, module: Module, function: Function, state: State, arguments: State, context: Context) -> Frame:
        attributes = {name: values for name, values in state.items() if name.startswith("self.")}
        names = [argument.arg for argument in parameters(function)]
        is_method = FunctionFacts(module, function).owner is not None and bool(names)
        me = names[0] if is_method else ""
        frame = Frame(module, module.scope_of[function], {**attributes, **arguments}, context, me)
        self._active.append(function)
        last = self._block(frame, function.body, frame.state)
        self._active.pop()
        frame.state = join([*frame.exits, *([last] if last is not None else [])])
        return frame

    def _call(self, frame: Frame, call: ast.Call, target: Target) -> Values:
        """Enter a project function; what it does to the object's attributes happens here as well."""
        function = target.function
        if function in self._active or len(self._active) >= MAX_DEPTH or not self._budget.spend():
            return NOTHING
        names = [argument.arg for argument in parameters(function)][1 if target.bound else 0 :]
        arguments = {name: self.value(frame, argument) for name, argument in zip(names, call.args, strict=False)}
        arguments |= {k.arg: self.value(frame, k.value) for k in call.keywords if k.arg in names and k.arg}
        held = {name: values for name, values in arguments.items() if values}
        called = FunctionFacts(target.module, function)
        if not held and called.owner is None and not self._leaves(called):
            return NOTHING
        inner = self._enter(target.module, function, frame.state, held, self._context_of(frame, call, target))
        for name in [name for name in frame.state if name.startswith("self.")]:
            del frame.state[name]
        frame.state.update({name: held for name, held in inner.state.items() if name.startswith("self.")})
        return inner.returned

    def _context_of(self, frame: Frame, call: ast.Call, target: Target) -> Context:
        """What a function that is entered knows: what the call gives, and the object if it is a method of it."""
        given = of_call(self._evaluator, frame.expression(call))
        called = FunctionFacts(target.module, target.function)
        if not target.bound and called.owner is not None and not is_static(target.function):
            given = given.without_first
        this = frame.context.receiver
        is_its = this is not None and called.owner in self._project.ancestry(this.facts).classes
        return Context(called, given, this if is_its else None, frame.context)

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
            return boxed(NOTHING.union(*starmap(partial(self._entry, frame), shapes.pairs(expression))))
        if isinstance(expression, (ast.List, ast.Tuple, ast.Set)):
            return boxed(self._union(frame, expression.elts))
        if isinstance(expression, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return self._comprehension_value(frame, expression)
        return self._passed_on(frame, expression)

    def _entry(self, frame: Frame, key: ast.expr | None, value: ast.expr) -> Values:
        """What an entry of a display of a dictionary holds; without a key it is another dictionary."""
        held = self.value(frame, value)
        if key is None:
            return boxes(held)
        return own(held) if tells_process(frame.scope, key) else held

    def _passed_on(self, frame: Frame, expression: ast.expr) -> Values:
        """The value of an expression that hands on what is in it, or nothing."""
        if isinstance(expression, ast.IfExp):
            truth = self._conditions.truth(frame, expression.test)
            arms = {True: expression.body, False: expression.orelse}
            return self._union(frame, [arm for taken, arm in arms.items() if truth in (taken, None)])
        if isinstance(expression, ast.BoolOp):
            return self._union(frame, expression.values)
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

    def _call_value(self, frame: Frame, call: ast.Call) -> Values:
        target = self._targets.of(frame, call)
        if target is not None:
            return self._call(frame, call, target)
        arguments = self._union(frame, all_arguments(call))
        row = self._table.row(frame.module, frame.scope, call)
        if row is not None:
            return frozenset({Held(Opened(frame.module, call, row), claims=self._claims)}) | arguments
        taker = self._project.resolve(frame.module, frame.scope, call.func) if arguments else None
        if isinstance(taker, FunctionFacts) and taker.owner is None:
            return self._call(frame, call, Target(taker.module, taker.node, bound=False))
        each = self._table.mapped(frame.module, frame.scope, call)
        if each is not None:
            return boxed(frozenset({Held(Opened(frame.module, call, each), claims=self._claims)}))
        made = self._classes(frame, call.func)
        if not made and arguments and self._is_named_tuple(frame, call.func):
            return boxed(arguments)
        if made:
            streams = [
                a for a in call.args if isinstance(a, ast.Call) and self._table.wraps(frame.module, frame.scope, a)
            ]
            given = of_call(self._evaluator, frame.expression(call))
            built = NOTHING.union(*(self._built(facts, given) for facts in made))
            return built | (arguments - self._union(frame, list(streams)))  # it likely reads them
        if self._table.wraps(frame.module, frame.scope, call):
            return arguments
        if isinstance(call.func, ast.Attribute):
            return self._method_value(frame, call.func, arguments)
        if isinstance(call.func, ast.Name) and call.func.id in shapes.BOX_FUNCTIONS:
            return frozenset(held for held in arguments if held.boxed)
        return NOTHING

    def _is_named_tuple(self, frame: Frame, function: ast.expr) -> bool:
        made = self._evaluator.find(frame.expression(function)).value if isinstance(function, ast.Name) else None
        return isinstance(made, Made) and made.name in NAMED_TUPLES

    def _classes(self, frame: Frame, function: ast.expr) -> list[ClassFacts]:
        """The classes of the project of which a call makes an object, one of them if it chooses."""
        symbol = self._project.resolve(frame.module, frame.scope, function)
        if isinstance(symbol, ClassFacts):
            return [symbol]
        is_own = isinstance(function, ast.Attribute) and is_name(function.value, frame.me)
        if symbol is not None or (isinstance(function, ast.Attribute) and not is_own):
            return []
        found = (one.value for one in self._evaluator.find(frame.expression(function)).possible)
        symbols = [one.symbol for one in found if isinstance(one, Ref)]
        return [one for one in symbols if isinstance(one, ClassFacts)]

    def _method_value(self, frame: Frame, function: ast.Attribute, arguments: Values) -> Values:
        owner = self.value(frame, function.value)
        closed = frozenset(held for held in owner if function.attr in closers(held.opened.row))
        if closed:
            whole = frozenset(held for held in closed if not held.derived)
            frame.state = without_derived(without(frame.state, whole), closed)
            return NOTHING
        if function.attr == "enter_context":
            return arguments
        members = frozenset(held for held in owner if not held.boxed and function.attr in held.opened.row.derived)
        if function.attr == "values" and members:
            return boxed(frozenset(replace(held, part=True) for held in members))
        members = frozenset(replace(held, derived=True) for held in members)
        if function.attr == "__enter__":
            return owner
        if function.attr == "setdefault":
            self._assign(frame, function.value, boxed(arguments), frame.module.statement_of(function), widen=True)
            return arguments | unboxed(boxes(owner))
        inside = boxes(owner) if function.attr in shapes.BOX_VIEWS | shapes.UNBOXING else NOTHING
        return members | (inside if function.attr in shapes.BOX_VIEWS else unboxed(inside))

    def _attribute_value(self, frame: Frame, expression: ast.Attribute) -> Values:
        if is_name(expression.value, frame.me) and frame.me:
            known = frame.state.get(f"self.{expression.attr}")
            if known is not None or self._facts is None:
                return known or NOTHING
            found = self._project.method(self._facts, expression.attr)
            if found is not None and shapes.is_property(found[1]):
                call = ast.Call(func=expression, args=[], keywords=[])
                held = self._call(frame, call, Target(found[0].module, found[1], bound=True))
                if shapes.is_cached(found[1]):
                    self._assign(frame, expression, held, shapes.last_return(found[1]))
                return held
            return NOTHING
        owner = self.value(frame, expression.value)
        taken = (
            replace(held, via=None, under="") for held in owner if held.under == expression.attr and not held.boxed
        )
        return frozenset((*taken, *(held for held in owner if expression.attr in held.opened.row.derived)))

    def _subscript_value(self, frame: Frame, expression: ast.Subscript) -> Values:
        found = self._project.method(self._facts, "__getitem__") if self._facts is not None else None
        if found is not None and frame.me and is_name(expression.value, frame.me):
            call = ast.Call(func=expression.value, args=[expression.slice], keywords=[])
            return self._call(frame, call, Target(found[0].module, found[1], bound=True))
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
            self._each(frame, generator.target, generator.iter)
        element = expression.value if isinstance(expression, ast.DictComp) else expression.elt
        return boxed(self.value(frame, element))

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
            held = own(held) if tells_process(frame.scope, target.slice) else held
            target, held, widen = target.value, boxed(held), True
        key = frame.key(target)
        if not key:
            return
        frame.state[key] = frame.state.get(key, NOTHING) | held if widen else held
        self._learn(frame, key, getattr(statement, "value", None) if not widen else None)
        if key.startswith("self.") and statement is not None:
            for one in held:
                stored = StoredHandle(one.opened, key[5:], frame.module, statement, one.via, one.own)
                self.kept.setdefault((one.opened, key[5:]), stored)
