"""Follow a script's top level as Python would run it, to see whether worker processes start there.

The run is abstract: loops run once (or once for each item that is known), branches of an unknown test both run
and are joined, calls of project functions and methods are entered with their arguments, and what is not
understood is UNKNOWN, from which nothing follows. It ends at the first start (``StartedError``), at the end of the
file, or when its budget has run out.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from forklint.facts.starting.running import binding, conditions, evaluation, functions, iterating, names, outcomes
from forklint.facts.starting.running.starts import MethodSet, OutOfStepsError, Site, StartedError, either
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
from forklint.project.budget import size
from forklint.project.module import FunctionFacts, Module

if TYPE_CHECKING:
    from forklint.project.index import Project

STEPS_PER_FILE, STEPS_PER_NODE = 60_000, 10
"""Expressions and statements that are looked at for one script: whatever is in it, and besides for each node of it."""
COPIED = 50
"""So many variables are copied, for the branches of a condition, in the time of a step."""
MAX_DEPTH = 24
"""Calls within calls."""
MAX_ENTRIES = 12
"""How often one function is entered: tables built by hundreds of calls of one function start nothing."""


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
        self.running: list[ast.AST] = []
        self._entries: Counter[ast.AST] = Counter()
        self.budget = project.budgets.of("running scripts", STEPS_PER_FILE + STEPS_PER_NODE * size(module.tree))
        self.entered: list[ast.AST] = []
        """The functions that have run, each as often as it did."""
        self.refused = 0
        """How often a function was not entered that would have run."""
        self.deepest = 0
        """How many calls deep the run has been."""
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

    def step(self, number: int = 1) -> None:
        """Take steps; raises OutOfStepsError."""
        if not self.budget.spend(number):
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
        if self.hides_starts:
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
            self.step(len(before) // COPIED)
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
        caught = any(conditions.catches_runtime_error(handler) for handler in node.handlers)
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
        return outcomes.outcome(self, spot, function, given)

    def call(self, spot: Spot, function: Bound, given: Arguments) -> Value:
        """Run a project function that is called from ``spot``, and give what it returns."""
        facts = function.function.facts
        inner = self.enter(spot, function, given, f"calls {facts.qualname}()")
        if inner is None or functions.changes_result(self, facts):
            return UNKNOWN
        result = merge_all(inner.returns or [NONE])
        if inner.returns and is_plain(result) and names.asks_notebook(facts.module, facts.node):
            result = PlatformTest()
        return result

    @property
    def state(self) -> tuple[str, int, int]:
        """What a call may change beside variables."""
        return self.method, len(self.methods_set), len(self.changed)

    @property
    def hides_starts(self) -> bool:
        """Whether starts do not count at present."""
        return bool(self._muted) or (self.guarded and not self.follow_guarded)

    def may_enter(self, entries: Counter[ast.AST], depth: int) -> bool:
        """Take note that functions are entered, so many calls deep; False, and nothing, if one of them could not be."""
        may = len(self.running) + depth <= MAX_DEPTH and all(
            node not in self.running and self._entries[node] + number <= MAX_ENTRIES for node, number in entries.items()
        )
        if may:
            self._entries.update(entries)
        return may

    def enter(self, spot: Spot, function: Bound, given: Arguments, what: str) -> Frame | None:
        """Run the body of a project function; None if that is not possible (too deep, or already running)."""
        facts = function.function.facts
        if not self.may_enter(Counter({facts.node: 1}), 1):
            self.refused += 1
            return None
        self.entered.append(facts.node)
        if function.receiver is not None:
            given = Arguments((function.receiver, *given.positional), given.keywords, given.open)
        inner = Frame(facts.module, facts.scope, function.function.frame, owner=function.owner)
        inner.receiver = given.positional[0] if function.owner is not None and given.positional else UNKNOWN
        self._kept.append(inner)
        functions.bind_parameters(self, inner, facts, given)
        self.running.append(facts.node)
        self.deepest = max(self.deepest, len(self.running))
        self.sites.append(Site(spot.place, what))
        try:
            if not self.block(facts.node.body, inner) and inner.returns:
                inner.returns.append(NONE)
        finally:
            self.running.pop()
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
