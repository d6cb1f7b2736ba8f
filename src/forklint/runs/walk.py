"""The trace of a module or function: its statements in order, each followed once, whoever runs them.

Loops run once, and a ``try`` raises nothing: what stands in them is taken for what happens. A branch, a handler and a
case are parts of their own. What is imported or called of the project is named in the trace, and a program plays it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.project import entries
from forklint.project.index import External
from forklint.project.scopes import FUNCTIONS, bodies, expressions, statements
from forklint.project.spelling import text_of
from forklint.runs import fields, guards
from forklint.runs.calls import entered, method
from forklint.runs.drawing import Drawing, by_call
from forklint.runs.errors import caught_by, suppressed
from forklint.runs.guards import Guard
from forklint.runs.trace import AT_ONCE, Enters, Event, Imports, Kind, Place, Step, Trace, Way, behind, maybe, part_of
from forklint.values import calls
from forklint.values.arithmetic import is_true
from forklint.values.evaluator import Evaluator
from forklint.values.model import NO_ARGUMENTS, Constant, Expression, Frame, Instance
from forklint.values.worlds import EVERYWHERE, JUMPS, NOWHERE, Conditions, Regions, Worlds, may_leave

if TYPE_CHECKING:
    from forklint.project.index import Project, Symbol
    from forklint.project.module import FunctionFacts, Module
    from forklint.project.scopes import Scope
    from forklint.values.model import Found

IMPORTERS = frozenset({"importlib.import_module", "builtins.__import__"})
TRIES: tuple[type[ast.AST], ...] = (ast.Try, ast.TryStar) if hasattr(ast, "TryStar") else (ast.Try,)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Topic:
    """What a rule wants to know of runs: which calls, imports and statements are events, and of which kind.

    After an edit, a trace is found again by the topic that it was first found by. So a topic asks the project when it
    is called, and keeps nothing that depends on the files.
    """

    name = ""
    """By which traces are remembered."""
    with_values = False
    """Whether methods are entered, and it counts what a function is called with."""
    by_machine = False
    """Whether conditions that ask for a platform or an accelerator choose a branch."""
    about = EVERYWHERE
    """The kinds of machine that it is about: what runs on all of these counts as what surely runs."""

    follows_imports = True
    """Whether it counts what importing a file does."""
    most_calls = 6
    """How many calls deep a program goes."""
    most_entries = 3
    """How often one function is entered in one program."""

    def __init__(self, project: Project) -> None:
        """Follow the code of a project."""
        self.project = project
        self.evaluator = Evaluator(project)

    def of_call(self, call: Expression, symbol: Symbol | None) -> Iterable[Event]:
        """What a call does by itself; ``symbol`` is what it calls, where that is known."""
        return ()

    def of_import(self, name: str, names: Sequence[str]) -> Iterable[Event]:
        """What importing a library does, or names from it."""
        return ()

    def of_iteration(self, place: Expression, iterated: Found) -> Iterable[Event]:
        """What it does by itself to call ``iter`` of something; asked with values alone."""
        return ()

    def may_matter(self, call: Expression, symbol: Symbol | None) -> bool:
        """Whether what a call enters may do anything that is an event, or leads to one."""
        return True

    def of_statement(self, module: Module, scope: Scope, statement: ast.stmt) -> Iterable[Event]:
        """What a statement does, beside its calls."""
        return ()


def trace_of_module(topic: Topic, path: Path) -> Trace:
    """What running a file of the project does."""
    module = topic.project.module(path)
    if module is None:
        return ()

    def find() -> Trace:
        return Walk(topic, module).block(module.scope, module.tree.running)

    return topic.project.answer("what a module does", (topic.name, module), find, compared=True)


def trace_of_function(topic: Topic, function: FunctionFacts, frame: Frame | None = None) -> Trace:
    """What the body of a function does, called as a frame says, or by anyone."""

    def find() -> Trace:
        return Walk(topic, function.module, frame, is_call=True).block(function.scope, function.node.body)

    return topic.project.answer("what a function does", (topic.name, function.node, frame), find, compared=True)


class Walk:
    """One walk over statements of a module."""

    def __init__(self, topic: Topic, module: Module, frame: Frame | None = None, *, is_call: bool = False) -> None:
        """Follow the body of a module, or with ``is_call`` that of a function."""
        self._topic = topic
        self._project = topic.project
        self._module = module
        self._frame = frame
        self._is_call = is_call
        self._conditions = Conditions(topic.project, module)
        self._regions = Regions(self._conditions)
        self._known_branches: dict[int, Trace] = {}
        """What branches do, by the identity of their lists of statements."""

    def block(self, scope: Scope, body: Sequence[ast.stmt]) -> Trace:
        """Follow statements, as far as they are surely come to; those that may not be are a part of their own."""
        steps: list[Step] = []
        for number, statement in enumerate(body, 1):
            own, rest = tuple(self._statement(scope, statement)), body[number:]
            chosen, after = None, None
            if isinstance(statement, ast.If) and (own or may_leave(statement)):  # no other condition changes the trace
                after = self.block(scope, rest) if not own else None
                chosen = self._chosen(scope, statement) if own or after else None
                own = tuple(self._statement(scope, statement, chosen)) if chosen is not None else own
            steps += own
            run = [statement] if chosen is None else chosen
            left = self._left(run)
            if not left or not rest:
                break
            is_for_children = self._is_for_children(scope, statement)
            leaves = self._is_call and any(map(_may_leave, run))
            if is_for_children or leaves or left != EVERYWHERE or after is not None:
                after = self.block(scope, rest) if after is None else after
                if is_for_children:
                    return (*steps, *part_of(rest, after, Kind.GUARD, Way(guarded=True)))
                way = Way(worlds=left) if left != EVERYWHERE else AT_ONCE
                return (*steps, *part_of(rest, after, Kind.LEFT if leaves else Kind.PLAIN, way))
        return tuple(steps)

    def _branch(self, scope: Scope, block: list[ast.stmt]) -> Trace:
        """Follow a branch, once however often it is asked for."""
        if id(block) not in self._known_branches:
            self._known_branches[id(block)] = self.block(scope, block)
        return self._known_branches[id(block)]

    def _chosen(self, scope: Scope, statement: ast.If) -> list[ast.stmt] | None:
        """The branch of an ``if`` that surely runs, by what its condition is known to hold; None if none does."""
        if not self._topic.with_values:
            return None
        found = self._topic.evaluator.find(Expression(self._module, scope, statement.test, self._frame))
        if not isinstance(found.value, Constant) or found.by_default:
            return None
        return statement.body if is_true(found.value) else statement.orelse

    def _is_for_children(self, scope: Scope, statement: ast.stmt) -> bool:
        """Whether a statement ends the run of all but the main process: ``if __name__ != "__main__": sys.exit()``."""
        if not isinstance(statement, ast.If) or self._guard(scope, statement.test) is not Guard.CHILD:
            return False
        return _leaves(statement.body[-1]) or not self._regions.survivors(statement.body)

    def _guard(self, scope: Scope, test: ast.expr) -> Guard | None:
        return guards.guard_of(self._project, self._module, scope, test)

    def _part(self, scope: Scope, block: Sequence[ast.stmt], kind: Kind = Kind.PLAIN, way: Way = AT_ONCE) -> Trace:
        return part_of(block, self.block(scope, block), kind, way)

    def _left(self, block: list[ast.stmt]) -> Worlds:
        """The worlds in which the statements behind some others are come to."""
        if self._topic.by_machine:
            return self._regions.survivors(block)
        return NOWHERE if any(map(_leaves, block)) else EVERYWHERE

    def _placed(self, node: ast.AST, events: Iterable[Event]) -> Iterator[Event]:
        place = Place(self._module, node)
        return (behind(event, (place,), AT_ONCE) for event in events)

    # Statements

    def _statement(self, scope: Scope, node: ast.stmt, chosen: list[ast.stmt] | None = None) -> Iterator[Step]:
        defaults = [value for _, value in entries.of_arguments(node.args)] if isinstance(node, FUNCTIONS) else ()
        for expression in (*expressions(node), *defaults):  # of a definition, too, these are evaluated where it stands
            yield from self.of_expression(scope, expression)
        yield from self._placed(node, self._topic.of_statement(self._module, scope, node))
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from self._imports(node) if self._topic.follows_imports else ()
        elif isinstance(node, ast.Assign) and any(isinstance(one, (ast.Tuple, ast.List)) for one in node.targets):
            yield from self._drawn(scope, node.value)
        elif chosen is not None:
            yield from self._branch(scope, chosen)
        else:
            yield from self._blocks(scope, node)

    def _blocks(self, scope: Scope, node: ast.stmt) -> Iterator[Step]:
        """What the blocks of a compound statement do."""
        if isinstance(node, ast.ClassDef):
            yield from self.block(self._module.scope_of[node], node.body)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                yield from self._calling(scope, item.context_expr, "__enter__")
            caught = suppressed(node)
            yield from self._part(scope, node.body, way=Way(caught=caught) if caught else AT_ONCE)
        elif isinstance(node, ast.If):
            yield from self._branches(scope, node)
        elif isinstance(node, TRIES):
            yield from self._try(scope, node)  # type: ignore[arg-type]
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if not isinstance(node, ast.While):
                yield from self._drawn(scope, node.iter)
            yield from self._part(scope, node.body, way=AT_ONCE.perhaps())
            yield from self._part(scope, node.orelse, way=AT_ONCE.perhaps())
        elif isinstance(node, ast.Match):
            yield from self._cases(scope, node)

    def _cases(self, scope: Scope, node: ast.Match) -> Iterator[Step]:
        worlds = self._regions.cases(node) if self._topic.by_machine else [EVERYWHERE] * len(node.cases)
        for case, here in zip(node.cases, worlds, strict=True):
            guard = guards.of_case(self._project, self._module, scope, node.subject, case)
            way = replace(AT_ONCE.perhaps(), worlds=here)
            yield from self._part(scope, case.body, *((Kind.BRANCH, way) if guard is None else guards.way_under(guard)))

    def _branches(self, scope: Scope, node: ast.If) -> Iterator[Step]:
        body, orelse = self._branch(scope, node.body), self._branch(scope, node.orelse)
        guard = self._guard(scope, node.test) if body or orelse else None
        if guard is not None:
            yield from part_of(node.body, body, *guards.way_under(guard))
            yield from part_of(node.orelse, orelse, *guards.way_under(guards.OPPOSITE[guard]))
        elif body or orelse:
            inside, other = self._ways(scope, node.test)
            yield from part_of(node.body, body, Kind.BRANCH, inside)
            yield from part_of(node.orelse, orelse, Kind.BRANCH, other)

    def _ways(self, scope: Scope, test: ast.expr) -> tuple[Way, Way]:
        """The ways to what runs if a condition holds, and to what runs if it does not."""
        inside = other = AT_ONCE.perhaps()
        if self._topic.by_machine:
            truth = self._conditions.truth(test)
            asks = guards.asks_for_method(test)
            if not truth.true & truth.false:  # each world takes one branch
                inside = other = AT_ONCE
            elif asks:
                inside = replace(AT_ONCE.perhaps(usual=True), if_unset=True)
            inside, other = replace(inside, worlds=truth.true), replace(other, worlds=truth.false)
        elif self._topic.about != EVERYWHERE and guards.asks_the_machine(test):
            inside, other = Way.both(self._topic.about, self._conditions.truth(test))
        if self._topic.with_values and guards.asks_for_notebook(self._project, self._module, scope, test):
            inside, other = replace(inside, aside=True), replace(other, aside=True)
        return inside, other

    def _try(self, scope: Scope, node: ast.Try) -> Iterator[Step]:
        """A handler knows nothing of what was done; the first statement surely runs, the others unless it raises."""
        for handler in node.handlers:
            yield from self._part(scope, handler.body, Kind.BRANCH, replace(AT_ONCE.perhaps(), aside=True))
        caught = frozenset[str]().union(*map(caught_by, node.handlers))
        inside = Way(caught=caught) if caught else AT_ONCE
        later = AT_ONCE.perhaps(usual=True) if node.handlers else AT_ONCE
        sure = 0 if self._is_call and _may_leave(node.body[0]) else 1
        yield from self._part(scope, node.body[:sure], way=inside)
        yield from self._part(scope, node.body[sure:], way=inside.then(later))
        yield from self._part(scope, node.orelse, way=later)
        yield from self._part(scope, node.finalbody)

    # Imports

    def _imports(self, statement: ast.Import | ast.ImportFrom) -> Iterator[Step]:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield from self._import(statement, alias.name, 0, ())
        else:
            names = tuple(alias.name for alias in statement.names if alias.name != "*")
            yield from self._import(statement, statement.module or "", statement.level, names)

    def _import(self, node: ast.AST, name: str, level: int, names: tuple[str, ...]) -> Iterator[Step]:
        """The project files that an import runs, packages on the way included, or what a library's import does."""
        importer, parts = self._module.path, name.split(".") if name else []
        find, place = self._project.resolver.find, Place(self._module, node)
        for length in range(0 if level else 1, len(parts) + 1):
            prefix = ".".join(parts[:length])
            path = find(importer, prefix, level)
            if path is not None:
                yield Imports(path, place)
            elif length == 1 and not level and self._project.resolver.is_package(importer, prefix) is None:
                yield from self._placed(node, self._topic.of_import(name, names))
                return
        package = find(importer, name, level)
        home = self._project.module(package) if package is not None else None
        for inner in names:
            path = find(importer, f"{name}.{inner}".strip("."), level)
            if path is not None and (home is None or not home.scope.bound(inner)):
                yield Imports(path, place)

    # Expressions

    def of_expression(self, scope: Scope, node: ast.AST) -> Iterator[Step]:
        """What evaluating an expression does, inner calls first; a comprehension runs once."""
        if isinstance(node, (ast.Lambda, *FUNCTIONS)):
            return
        if isinstance(node, (ast.BoolOp, ast.IfExp)):
            yield from self._choice(scope, node)
            return
        parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, COMPREHENSIONS):
            for one in node.generators:
                yield from self.of_expression(scope, one.iter)
                yield from self._drawn(scope, one.iter)
            tests = [test for one in node.generators for test in one.ifs]
            parts = [*tests, *([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])]
        for part in parts:
            yield from self.of_expression(scope, part)
        if isinstance(node, ast.Call):
            yield from self._call(scope, node)
        elif isinstance(node, ast.Starred) or (isinstance(node, ast.YieldFrom) and isinstance(scope.node, FUNCTIONS)):
            yield from self._drawn(scope, node.value)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[-1], (ast.In, ast.NotIn)):
            yield from self._drawn(scope, node.comparators[-1])

    def _choice(self, scope: Scope, node: ast.BoolOp | ast.IfExp) -> Iterator[Step]:
        """What ``and``, ``or`` and conditional expressions do; only their first part surely runs."""
        first, *others = (node.test, node.body, node.orelse) if isinstance(node, ast.IfExp) else node.values
        yield from self.of_expression(scope, first)
        guard = self._guard(scope, first)
        if guard is not None:
            ways = [guards.way_under(one)[1] for one in (guard, guards.OPPOSITE[guard])]
        else:
            asks = isinstance(node, ast.IfExp) or self._topic.about != EVERYWHERE
            ways = [*self._ways(scope, first)] if asks else [AT_ONCE.perhaps()] * 2
        if isinstance(node, ast.BoolOp):
            ways = [ways[isinstance(node.op, ast.Or)]] * len(others)
        for part, way in zip(others, ways, strict=True):
            yield from maybe(tuple(self.of_expression(scope, part)), way)

    def _drawn(self, scope: Scope, node: ast.expr) -> Iterator[Step]:
        if self._topic.with_values:
            place = Expression(self._module, scope, node, self._frame)
            yield from Drawing(self._topic, place).of_source(place)

    def _calling(self, scope: Scope, node: ast.expr, name: str) -> Iterator[Step]:
        """A method that a statement calls of what an expression holds."""
        here = Expression(self._module, scope, node, self._frame)
        owner = self._topic.evaluator.find(here).value if self._topic.with_values else None
        found = method(self._project, owner, name) if isinstance(owner, Instance) else None
        if found is not None:
            frame = Frame(found[0], NO_ARGUMENTS, found[1], self._frame)
            yield Enters(found[0], frame, Place(self._module, node, f"calls {found[0].qualname}()"))

    # Calls

    def _call(self, scope: Scope, call: ast.Call) -> Iterator[Step]:
        here = Expression(self._module, scope, call, self._frame)
        symbol = self._project.resolve(self._module, scope, call.func)
        name = calls.qualified(self._topic.evaluator, here.part(call.func)) if self._topic.with_values else ""
        if symbol is None and name and not name.startswith("builtins."):
            symbol = External(name)
        if isinstance(symbol, External) and symbol.name in IMPORTERS and call.args:
            imported = text_of(call.args[0])
            if imported:
                yield from self._import(call, imported, 0, ())
        yield from self._placed(call, self._topic.of_call(here, symbol))
        if self._topic.with_values:
            yield from by_call(self._topic, here, name)
        if not self._topic.may_matter(here, symbol):
            return
        for function, frame, is_sure in entered(self._topic, here, symbol):
            step = Enters(function, frame, Place(self._module, call, f"calls {function.qualname}()"))
            yield from (step,) if is_sure else maybe((step,))
        for made in fields.run_by(self._topic.evaluator, here, symbol) if self._topic.with_values else ():
            yield from (made,) if isinstance(made, Enters) else self._elsewhere(made, Place(self._module, call))

    def _elsewhere(self, there: Expression, place: Place) -> Iterator[Step]:
        """What evaluating an expression of another place does, from where that is."""
        for step in Walk(self._topic, there.module, there.frame).of_expression(there.scope, there.node):
            yield behind(step, (place,), AT_ONCE) if isinstance(step, Event) else step


def _leaves(statement: ast.stmt) -> bool:
    """Whether what stands behind a statement is not come to."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return any(map(_leaves, statement.body))
    return isinstance(statement, JUMPS)


def _may_leave(statement: ast.stmt) -> bool:
    """Whether a compound statement may end the function that it stands in."""
    inner = (one for body in bodies(statement) for one in statements(body))
    return any(isinstance(one, (ast.Return, ast.Raise)) for one in inner)
