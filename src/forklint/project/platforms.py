"""On which machines a place in the code runs: what its conditions, names and neighbours say.

A *world* is a kind of machine together with the accelerator in use. A place starts with all worlds;
each branch, early exit, keyed dictionary or telling name around it strikes some out. What is left is
the answer, so that ``else``, ``!=``, ``not`` and early returns need no treatment of their own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum

from forklint.knowledge import presets
from forklint.project.index import External, Project, Value
from forklint.project.module import FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Function


class World(Enum):
    """A system and the accelerator that the program uses on it."""

    MPS = "darwin with mps"
    MAC = "darwin without it"
    LINUX_CUDA = "linux with cuda"
    LINUX = "linux without it"
    WINDOWS_CUDA = "windows with cuda"
    WINDOWS = "windows without it"


Worlds = frozenset[World]
NOWHERE: Worlds = frozenset()
EVERYWHERE: Worlds = frozenset(World)
MPS: Worlds = frozenset({World.MPS})
DARWIN: Worlds = frozenset({World.MPS, World.MAC})
CUDA: Worlds = frozenset({World.LINUX_CUDA, World.WINDOWS_CUDA})
LINUX: Worlds = frozenset({World.LINUX_CUDA, World.LINUX})
WINDOWS: Worlds = frozenset({World.WINDOWS_CUDA, World.WINDOWS})
BY_MACHINE = {"darwin": DARWIN, "mps": MPS, "cuda": CUDA, "linux": LINUX, "windows": WINDOWS}
DEPTH = 8
"""How many names and functions are followed for one condition."""


@dataclass(frozen=True)
class Truth:
    """The worlds in which a condition can hold, and those in which it can fail."""

    true: Worlds = EVERYWHERE
    false: Worlds = EVERYWHERE

    def negated(self) -> Truth:
        """The truth of ``not`` this."""
        return Truth(self.false, self.true)


UNKNOWN = Truth()


def asks(worlds: Worlds) -> Truth:
    """The truth of a question that is answered yes in these worlds and nowhere else."""
    return Truth(worlds, EVERYWHERE - worlds)


class Conditions:
    """Reads conditions of one module; names are followed through the project."""

    def __init__(self, project: Project, module: Module, depth: int = DEPTH) -> None:
        self.project = project
        self.module = module
        self.depth = depth

    def truth(self, test: ast.expr) -> Truth:
        """Where a condition can hold and where it can fail."""
        if isinstance(test, ast.Constant):
            return Truth(EVERYWHERE, NOWHERE) if test.value else Truth(NOWHERE, EVERYWHERE)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.truth(test.operand).negated()
        if isinstance(test, ast.BoolOp):
            return self._bool(test)
        if isinstance(test, ast.NamedExpr):
            return self.truth(test.value)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compare(test.left, test.ops[0], test.comparators[0])
        if isinstance(test, ast.Call):
            return self._call(test)
        if isinstance(test, (ast.Name, ast.Attribute)):
            return self._named(test)
        return UNKNOWN

    def _bool(self, test: ast.BoolOp) -> Truth:
        parts = [self.truth(value) for value in test.values]
        result = parts[0]
        for part in parts[1:]:
            if isinstance(test.op, ast.And):
                result = Truth(result.true & part.true, result.false | part.false)
            else:
                result = Truth(result.true | part.true, result.false & part.false)
        return result

    def _compare(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Truth:
        if isinstance(operator, (ast.NotEq, ast.NotIn, ast.IsNot)):
            positive = {ast.NotEq: ast.Eq(), ast.NotIn: ast.In(), ast.IsNot: ast.Is()}[type(operator)]
            return self._compare(left, positive, right).negated()
        if isinstance(operator, (ast.Gt, ast.GtE)) and isinstance(right, ast.Constant):
            return self.truth(left) if isinstance(left, ast.Call) else UNKNOWN
        if isinstance(operator, ast.In):
            if isinstance(right, (ast.Tuple, ast.List, ast.Set)):
                return self._one_of(left, right.elts)
            return self.equals(right, left)
        if isinstance(operator, ast.Is):
            return self.truth(left) if isinstance(right, ast.Constant) and right.value is True else UNKNOWN
        if isinstance(operator, ast.Eq):
            return self.equals(left, right) if self.text(right) else self.equals(right, left)
        return UNKNOWN

    def _one_of(self, subject: ast.expr, values: list[ast.expr]) -> Truth:
        parts = [self.equals(subject, value) for value in values]
        true, false = NOWHERE, EVERYWHERE
        for part in parts:
            true, false = true | part.true, false & part.false
        return Truth(true, false)

    def equals(self, subject: ast.expr, value: ast.expr) -> Truth:
        """Where a subject (``sys.platform``, ``device.type``, a name) equals or begins with a text."""
        text = self.text(value).lower()
        if text.startswith("mps"):
            return asks(MPS)
        if text.startswith("cuda"):
            return asks(CUDA)
        if text == "cpu":
            return asks(EVERYWHERE - CUDA - MPS)
        machine = presets.machine_of(text) if text else ""
        if self._is_probe(subject):
            return asks(DARWIN | LINUX) if text == "posix" else asks(BY_MACHINE.get(machine, NOWHERE)) if machine else UNKNOWN
        return asks(BY_MACHINE[machine]) if text in {"darwin", "macos", "osx", "linux", "windows", "win32"} else UNKNOWN

    def text(self, value: ast.expr) -> str:
        """The text of a constant, also as ``torch.device("mps")``; empty if it is no such thing."""
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
        if isinstance(value, ast.Call) and len(value.args) == 1 and last_name(value.func) == "device":
            return self.text(value.args[0])
        return ""

    def _is_probe(self, subject: ast.expr) -> bool:
        while isinstance(subject, ast.Call) and isinstance(subject.func, ast.Attribute) and not subject.args:
            if subject.func.attr not in {"lower", "strip", "casefold"}:
                break
            subject = subject.func.value
        called = isinstance(subject, ast.Call)
        name = self.qualified(subject.func if isinstance(subject, ast.Call) else subject)
        if name:
            return name in presets.listed("probes", "calls" if called else "names")
        found = self._follow(subject) if isinstance(subject, (ast.Name, ast.Attribute)) else None
        return found is not None and found[0]._is_probe(found[1])

    def qualified(self, expression: ast.expr) -> str:
        """Qualified name of something outside the project; empty if it is not, or not certain."""
        if not isinstance(expression, (ast.Name, ast.Attribute)):
            return ""
        return self.project.qualified(self.module, self.module.scope_at(expression), expression)

    def _follow(self, name: ast.expr) -> tuple[Conditions, ast.expr] | None:
        """From a name that is bound once to the expression, with a reader for the module it stands in."""
        if self.depth <= 0:
            return None
        symbol = self.project.resolve(self.module, self.module.scope_at(name), name)
        if isinstance(symbol, Value) and symbol.binding.value is not None:
            return Conditions(self.project, symbol.module, self.depth - 1), symbol.binding.value
        return None

    def _named(self, name: ast.Name | ast.Attribute) -> Truth:
        found = self._follow(name)
        if found is not None:
            known = found[0].truth(found[1])
            if known != UNKNOWN:
                return known
        return self._by_name(last_name(name))

    def _by_name(self, name: str) -> Truth:
        machine = presets.flag_of(name)
        return asks(BY_MACHINE[machine]) if machine else UNKNOWN

    def _call(self, call: ast.Call) -> Truth:
        name = self.qualified(call.func)
        if name in presets.questions():
            worlds = NOWHERE
            for machine in presets.questions()[name]:
                worlds |= BY_MACHINE[machine]
            return asks(worlds)
        if name == "builtins.bool" or (isinstance(call.func, ast.Name) and call.func.id == "bool" and len(call.args) == 1):
            return self.truth(call.args[0])
        if isinstance(call.func, ast.Attribute) and call.func.attr == "startswith" and len(call.args) == 1:
            wanted = call.args[0]
            values = wanted.elts if isinstance(wanted, ast.Tuple) else [wanted]
            return self._one_of(call.func.value, values)
        symbol = self.project.resolve(self.module, self.module.scope_at(call), call.func)
        if isinstance(symbol, FunctionFacts) and self.depth > 0:
            known = Conditions(self.project, symbol.module, self.depth - 1).function(symbol.node)
            if known != UNKNOWN:
                return known
        return UNKNOWN if isinstance(symbol, External) and not name.endswith("is_available") else self._by_name(last_name(call.func))

    def function(self, node: Function) -> Truth:
        """Where a function without arguments gives a true value, and where a false one."""
        regions = Regions(self)
        true, false = NOWHERE, regions.survivors(node.body)
        for statement in ast.walk(node):
            if isinstance(statement, ast.Return) and self.module.scope_at(statement).node is node:
                here = regions.branches(statement, until=node)
                value = self.truth(statement.value) if statement.value is not None else Truth(NOWHERE, EVERYWHERE)
                true, false = true | (here & value.true), false | (here & value.false)
        return Truth(true, false)


def last_name(expression: ast.expr) -> str:
    """The last part of a dotted name; empty for anything else."""
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


LEAVES = frozenset(
    {"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"},
)


class Regions:
    """The worlds that reach a place, by the branches and early exits around and before it."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        self.module = conditions.module

    def branches(self, node: ast.AST, until: ast.AST | None = None) -> Worlds:
        """The worlds in which a node is reached from the start of the module (or of ``until``)."""
        worlds = EVERYWHERE
        parents = self.module.parents
        while node is not until and node in parents and worlds:
            above = parents[node]
            worlds &= self.within(above, node)
            if isinstance(node, (ast.stmt, ast.match_case)):
                worlds &= self.before(above, node)
            node = above
        return worlds

    def within(self, above: ast.AST, node: ast.AST) -> Worlds:
        """What it means for a node that it is this child of the node above."""
        if isinstance(above, (ast.If, ast.IfExp, ast.While)) and node is not above.test:
            truth = self.conditions.truth(above.test)
            is_body = node is above.body if isinstance(above, ast.IfExp) else node in above.body
            return truth.true if is_body else EVERYWHERE if isinstance(above, ast.While) else truth.false
        if isinstance(above, ast.BoolOp):
            worlds = EVERYWHERE
            for value in above.values[: above.values.index(node)]:  # type: ignore[arg-type]
                truth = self.conditions.truth(value)
                worlds &= truth.true if isinstance(above.op, ast.And) else truth.false
            return worlds
        if isinstance(above, ast.Match) and isinstance(node, ast.match_case):
            return self.cases(above)[above.cases.index(node)]
        return EVERYWHERE

    def before(self, above: ast.AST, node: ast.AST) -> Worlds:
        """The worlds that get past the statements before this one in its block."""
        for name in ("body", "orelse", "finalbody"):
            block = getattr(above, name, None)
            if isinstance(block, list) and node in block:
                return self.survivors(block[: block.index(node)])
        return EVERYWHERE

    def cases(self, match: ast.Match) -> list[Worlds]:
        """The worlds of each case of a ``match``."""
        left, found = EVERYWHERE, []
        for case in match.cases:
            truth = self._pattern(match.subject, case.pattern)
            guard = self.conditions.truth(case.guard) if case.guard is not None else Truth(EVERYWHERE, NOWHERE)
            found.append(left & truth.true & guard.true)
            left &= truth.false | guard.false
        return found

    def _pattern(self, subject: ast.expr, pattern: ast.pattern) -> Truth:
        if isinstance(pattern, ast.MatchValue):
            return self.conditions.equals(subject, pattern.value)
        if isinstance(pattern, ast.MatchSingleton) and pattern.value is not None:
            truth = self.conditions.truth(subject)
            return truth if pattern.value else truth.negated()
        if isinstance(pattern, ast.MatchAs):
            return self._pattern(subject, pattern.pattern) if pattern.pattern else Truth(EVERYWHERE, NOWHERE)
        if isinstance(pattern, ast.MatchOr):
            true, false = NOWHERE, EVERYWHERE
            for part in pattern.patterns:
                truth = self._pattern(subject, part)
                true, false = true | truth.true, false & truth.false
            return Truth(true, false)
        return UNKNOWN

    def survivors(self, block: list[ast.stmt]) -> Worlds:
        """The worlds in which a block is left at its end, not by return, raise or exit."""
        worlds = EVERYWHERE
        for statement in block:
            worlds &= self._survives(statement)
            if not worlds:
                break
        return worlds

    def _survives(self, statement: ast.stmt) -> Worlds:
        if isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            return NOWHERE
        if isinstance(statement, ast.Assert):
            return self.conditions.truth(statement.test).true
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            leaves = self._leaves(statement.value)
            return NOWHERE if leaves else EVERYWHERE
        if isinstance(statement, ast.If):
            if not self._may_leave(statement):
                return EVERYWHERE
            truth = self.conditions.truth(statement.test)
            return (truth.true & self.survivors(statement.body)) | (truth.false & self.survivors(statement.orelse))
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            return self.survivors(statement.body)
        if isinstance(statement, ast.Match):
            worlds = [here & self.survivors(case.body) for here, case in zip(self.cases(statement), statement.cases)]
            whole = any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None for case in statement.cases)
            return frozenset().union(*worlds) if whole else EVERYWHERE
        return EVERYWHERE

    def _leaves(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name) and call.func.id in {"exit", "quit"}:
            return True
        return isinstance(call.func, ast.Attribute) and self.conditions.qualified(call.func) in LEAVES

    def _may_leave(self, statement: ast.If) -> bool:
        kinds = (ast.Return, ast.Raise, ast.Continue, ast.Break, ast.Call, ast.Assert)
        return any(isinstance(node, kinds) for part in (*statement.body, *statement.orelse) for node in ast.walk(part))


def enclosing_function(module: Module, node: ast.AST) -> Function | None:
    """The function in whose body a node stands; None at module or class level."""
    scope = module.scope_at(node)
    return scope.node if isinstance(scope.node, FUNCTIONS) else None
