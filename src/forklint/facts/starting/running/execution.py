"""Follow a script's top level as Python would run it, to see whether worker processes start there.

The run is abstract: loops run once (or once for each item that is known), branches of an unknown test both run
and are joined, calls of project functions and methods are entered with their arguments, and what is not
understood is UNKNOWN, from which nothing follows. It ends at the first start (``StartedError``), at the end of the
file, or when it has taken ``MAX_STEPS`` steps.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from forklint.facts.starting.running import binding, conditions, evaluation, functions, iterating, names
from forklint.facts.starting.running.starts import MethodSet, OutOfStepsError, Site, StartedError
from forklint.facts.starting.running.values import (
    DEFAULT_METHOD,
    NONE,
    UNKNOWN,
    Arguments,
    Bound,
    Frame,
    Function,
    Guard,
    Instance,
    Loader,
    MainName,
    Place,
    PlatformTest,
    Ref,
    Slots,
    Spot,
    Startable,
    Stream,
    Value,
    is_plain,
    merge_all,
    merge_slots,
)
from forklint.model import Cell
from forklint.project.module import FunctionFacts, Module

if TYPE_CHECKING:
    from forklint.project.index import Project

MAX_STEPS = 60_000
"""Expressions and statements looked at for one script; about a third of a second."""
MAX_DEPTH = 24
"""Calls within calls."""
MAX_ENTRIES = 12
"""How often one function is entered: tables built by hundreds of calls of one function start nothing."""
CATCHES_RUNTIME_ERROR = {"RuntimeError", "Exception", "BaseException"}


class _OwnError(Exception):
    """What a call gives, where that is true of one run alone and must not be remembered."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class Execution:
    """One abstract run of a module's top level."""

    def __init__(self, project: Project, module: Module, cells_of: Callable[[str], tuple[Cell, ...]]) -> None:
        self.project = project
        self.module = module
        self.cells_of = cells_of
        self.slots: Slots = {}
        self.method = DEFAULT_METHOD
        self.methods_set: list[MethodSet] = []
        self.guarded = False
        self.follow_guarded = False
        self.sites: list[Site] = []
        self._frames: dict[Module, Frame] = {}
        self._kept: list[object] = []
        self._running: list[ast.AST] = []
        self._entries: dict[ast.AST, int] = {}
        self._steps = 0
        self._muted = 0
        self.changed: set[ast.AST] = set()
        """Where loaders are made of which an attribute is set later."""
        self.uncertain = 0
        """Above zero in branches that may not run, and where a RuntimeError is caught."""

    # The run

    def run(self) -> None:
        """Run the module; raises StartedError at the first start, OutOfStepsError."""
        self.block(self.module.tree.body, self.frame_of(self.module))

    def frame_of(self, module: Module) -> Frame:
        """Give the frame that holds a module's globals."""
        if module not in self._frames:
            self._frames[module] = Frame(module, module.scope)
        return self._frames[module]

    def step(self) -> None:
        """Count a step; raises OutOfStepsError."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise OutOfStepsError

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Run something whose starts do not count."""
        self._muted += 1
        try:
            yield
        finally:
            self._muted -= 1

    def start(
        self,
        place: Place,
        what: str,
        method: str,
        made: Loader | Startable | None = None,
        *,
        platforms: tuple[str, ...] = (),
    ) -> None:
        """Raise StartedError, for processes start here, on these platforms or on all, if that bites in some cell."""
        if self._muted or (self.guarded and not self.follow_guarded):
            return
        cells = self.cells_of(self.method if method == DEFAULT_METHOD else method)
        cells = tuple(cell for cell in cells if not platforms or cell.platform in platforms)
        if cells:
            raise StartedError(place, what, cells, tuple(self.sites), made)

    def set_method(self, place: Place, method: str, *, forced: bool) -> None:
        """Note that the process's start method is set here."""
        if not (forced or self.uncertain or self._muted or self.guarded):
            self.methods_set.append(MethodSet(place, tuple(self.sites), method))
            self.follow_guarded = True
        self.method = either(self.method, method) if self.uncertain else method

    # Slots

    def get(self, holder: object, name: str) -> Value | None:
        """Give what a frame's variable or an instance's attribute holds; None if nothing was put there."""
        return self.slots.get((id(holder), name))

    def put(self, holder: object, name: str, value: Value) -> None:
        """Bind a variable or an attribute."""
        self._kept.append(holder)
        self.slots[(id(holder), name)] = value

    # Statements

    def block(self, body: list[ast.stmt], frame: Frame) -> bool:
        """Run statements; True if the block surely ends early (return, raise, exit, break, continue)."""
        return any(self.statement(statement, frame) for statement in body)

    def statement(self, node: ast.stmt, frame: Frame) -> bool:
        """Run one statement; True if nothing after it in its block runs."""
        self.step()
        runner = self.runners.get(type(node))
        return bool(runner(self, node, frame)) if runner is not None else False

    def bind(self, frame: Frame, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        binding.bind(self, frame, target, value)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, frame: Frame) -> None:
        if isinstance(node, ast.ClassDef):
            facts = frame.module.class_facts(node)
            self.put(frame, node.name, Ref(facts))
            self.block(node.body, Frame(frame.module, facts.scope, frame))
        else:
            home = frame.parent if isinstance(frame.scope.node, ast.ClassDef) else frame
            self.put(frame, node.name, Function(FunctionFacts(frame.module, node), home))

    def _expression(self, node: ast.Expr, frame: Frame) -> bool:
        evaluation.evaluate(self, frame, node.value)
        return isinstance(node.value, ast.Call) and functions.is_exit(self, frame, node.value)

    def _assign(self, node: ast.Assign | ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            value = evaluation.evaluate(self, frame, node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.bind(frame, target, value)

    def _augment(self, node: ast.AugAssign, frame: Frame) -> None:
        self.bind(frame, node.target, evaluation.augmented(self, frame, node))

    def _assert(self, node: ast.Assert, frame: Frame) -> None:
        evaluation.evaluate(self, frame, node.test)

    def _return(self, node: ast.Return, frame: Frame) -> bool:
        frame.returns.append(evaluation.evaluate(self, frame, node.value) if node.value else NONE)
        return True

    def _leave(self, _node: ast.stmt, _frame: Frame) -> bool:
        return True

    def _match(self, node: ast.Match, frame: Frame) -> bool:
        if isinstance(evaluation.evaluate(self, frame, node.subject), MainName):
            return self.block(conditions.cases_of_main_name(node), frame)
        return self._branches([*(case.body for case in node.cases), []], frame)

    def _if(self, node: ast.If, frame: Frame) -> bool:
        test = evaluation.evaluate(self, frame, node.test)
        if isinstance(test, Guard):
            return self._guarded_if(node, test, frame)
        truth = conditions.truth(test)
        if truth is not None:
            return self.block(node.body if truth else node.orelse, frame)
        if isinstance(test, PlatformTest):
            with self.muted():
                self._branches([node.body, node.orelse], frame)
            return False
        return self._branches([node.body, node.orelse], frame)

    def _guarded_if(self, node: ast.If, test: Guard, frame: Frame) -> bool:
        """Only the main process takes the one branch, only children and importers the other."""
        before = self.guarded
        self.guarded = True
        if test.in_main is not None and self.follow_guarded:
            self.block(node.body if test.in_main else node.orelse, frame)
        self.guarded = before
        children = node.orelse if test.in_main else node.body
        if test.in_main is False and children and isinstance(children[-1], (ast.Raise, ast.Expr)):
            with self.muted():
                leaves = self.block(children, frame)
            self.guarded = before or leaves
        return False

    def _branches(self, bodies: list[list[ast.stmt]], frame: Frame) -> bool:
        """Run each body from the same state and join what is left by those that go on."""
        before, method = self.slots, self.method
        left: list[tuple[Slots, str]] = []
        self.uncertain += 1
        for body in bodies:
            self.slots, self.method = dict(before), method
            if not self.block(body, frame):
                left.append((self.slots, self.method))
        self.uncertain -= 1
        if not left:
            return True
        self.slots, self.method = left[0]
        for slots, other in left[1:]:
            self.slots = merge_slots(self.slots, slots)
            self.method = either(self.method, other)
        return False

    def _while(self, node: ast.While, frame: Frame) -> bool:
        test = evaluation.evaluate(self, frame, node.test)
        if conditions.truth(test) is False or isinstance(test, Guard):
            return False
        self.block(node.body, frame)
        self.block(node.orelse, frame)
        return False

    def _for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
        iterated = evaluation.evaluate(self, frame, node.iter)
        for item in iterating.items(self, Spot(frame, node.iter), iterated):
            self.bind(frame, node.target, item)
            self.block(node.body, frame)
        self.block(node.orelse, frame)

    def _with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> bool:
        catches = False
        for item in node.items:
            value = evaluation.evaluate(self, frame, item.context_expr)
            entered = iterating.entered(self, Spot(frame, item.context_expr), value)
            catches |= "suppress" in ast.unparse(item.context_expr)
            if item.optional_vars is not None:
                self.bind(frame, item.optional_vars, entered)
        self.uncertain += catches
        ends = self.block(node.body, frame)
        self.uncertain -= catches
        return ends and not catches

    def _try(self, node: ast.Try, frame: Frame) -> bool:
        caught = any(_catches_runtime_error(handler) for handler in node.handlers)
        before = dict(self.slots)
        self.uncertain += caught
        ends = self.block(node.body, frame) or self.block(node.orelse, frame)
        self.uncertain -= caught
        left = [] if ends else [self.slots]
        after = self.slots
        for handler in node.handlers:
            self.slots = merge_slots(dict(before), after)
            self.uncertain += 1
            with self.muted():
                if not self.block(handler.body, frame):
                    left.append(self.slots)
            self.uncertain -= 1
        self.slots = left[0] if left else after
        for slots in left[1:]:
            self.slots = merge_slots(self.slots, slots)
        if names.asks_notebook(frame.module, node):
            answers = [key for key, value in self.slots.items() if key[0] == id(frame) and before.get(key) is not value]
            self.slots.update((key, PlatformTest()) for key in answers if is_plain(self.slots[key]))
        return self.block(node.finalbody, frame) or not left

    # Calls

    def method_of(self, instance: Instance, name: str) -> Bound | None:
        """Find a method that an instance's class has in the project."""
        found = self.project.method(instance.facts, name)
        if found is None:
            return None
        owner, node = found
        return Bound(Function(FunctionFacts(owner.module, node), self.frame_of(owner.module)), instance, owner)

    def invoke(self, spot: Spot, function: Bound, given: Arguments) -> Value:
        """Call a project function from ``spot``; a generator only begins to run when it is drawn from."""
        facts = function.function.facts
        if functions.is_generator(facts.node):
            return Stream(function, given)
        key = self._key(function, given)
        if key is None:
            return self._run(spot, function, given, key)
        try:
            return self.project.answer("calls that start nothing", key, lambda: self._run(spot, function, given, key))
        except _OwnError as own:
            return own.value

    def _run(self, spot: Spot, function: Bound, given: Arguments, key: tuple[object, ...] | None) -> Value:
        """Run a function; raises _OwnError with what it gives, if there is a key and that is true of this run alone."""
        facts, state = function.function.facts, self._state()
        inner = self.enter(spot, function, given, f"calls {facts.qualname}()")
        result: Value = UNKNOWN
        if inner is not None and not functions.changes_result(self, facts):
            result = merge_all(inner.returns or [NONE])
            if inner.returns and is_plain(result) and names.asks_notebook(facts.module, facts.node):
                result = PlatformTest()
        if key is not None and (inner is None or not is_plain(result) or state != self._state()):
            raise _OwnError(result)
        return result

    def _state(self) -> tuple[str, int, int]:
        """What a call may change beside variables."""
        return self.method, len(self.methods_set), len(self.changed)

    def _key(self, function: Bound, given: Arguments) -> tuple[object, ...] | None:
        """What identifies a call of another module's function, if nothing of this run decides what it does."""
        facts = function.function.facts
        hidden = self._muted or (self.guarded and not self.follow_guarded) or facts.module is self.module
        hidden = hidden or facts.node in self._running  # nothing is asked while it is being answered
        if hidden or function.receiver is not None or facts.owner is not None or not all(map(is_plain, given.all)):
            return None
        keywords = tuple(sorted(given.keywords.items(), key=itemgetter(0)))
        return (facts.node, given.positional, keywords, given.open, self.method)

    def enter(self, spot: Spot, function: Bound, given: Arguments, what: str) -> Frame | None:
        """Run the body of a project function; None if that is not possible (too deep, or already running)."""
        facts = function.function.facts
        entries = self._entries[facts.node] = self._entries.get(facts.node, 0) + 1
        if facts.node in self._running or len(self._running) >= MAX_DEPTH or entries > MAX_ENTRIES:
            return None
        if function.receiver is not None:
            given = Arguments((function.receiver, *given.positional), given.keywords, given.open)
        inner = Frame(facts.module, facts.scope, function.function.frame, owner=function.owner)
        inner.receiver = given.positional[0] if function.owner is not None and given.positional else UNKNOWN
        self._kept.append(inner)
        functions.bind_parameters(self, inner, facts, given)
        self._running.append(facts.node)
        self.sites.append(Site(spot.place, what))
        try:
            if not self.block(facts.node.body, inner) and inner.returns:
                inner.returns.append(NONE)
        finally:
            self._running.pop()
            self.sites.pop()
        return inner

    runners: ClassVar[dict[type[ast.AST], Callable[[Execution, Any, Frame], bool | None]]] = {
        ast.If: _if,
        ast.While: _while,
        ast.For: _for,
        ast.AsyncFor: _for,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.Try: _try,
        ast.Match: _match,
        ast.FunctionDef: _define,
        ast.AsyncFunctionDef: _define,
        ast.ClassDef: _define,
        ast.Expr: _expression,
        ast.Assign: _assign,
        ast.AnnAssign: _assign,
        ast.AugAssign: _augment,
        ast.Assert: _assert,
        ast.Return: _return,
        ast.Raise: _leave,
        ast.Break: _leave,
        ast.Continue: _leave,
    }
    """What runs each kind of statement; all others (imports, ``pass``, ``del``) change nothing that is followed."""


def either(one: str, other: str) -> str:
    """What is sure of the start method when it is the one or the other; spawn bites at least where the default does."""
    if one == other:
        return one
    return DEFAULT_METHOD if {one, other} <= {DEFAULT_METHOD, "spawn", "forkserver"} else ""


def _catches_runtime_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in CATCHES_RUNTIME_ERROR for kind in kinds)
