"""On which machines a place in the code runs: what its conditions, names and neighbours say.

A *world* is a kind of machine together with the accelerator in use. A place starts with all worlds;
each branch, early exit, keyed dictionary or telling name around it strikes some out. What is left is
the answer, so that ``else``, ``!=``, ``not`` and early returns need no treatment of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import Enum
from typing import Any

from forklint.knowledge import presets
from forklint.project.index import Project, Value
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below, start_of
from forklint.project.scopes import Function, bodies, statements
from forklint.project.spelling import last_name, text_of
from forklint.project.top_level import Root
from forklint.records import dataclass
from forklint.values import counted_gpus


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
PLATFORMS = {"linux": LINUX, "darwin": DARWIN, "windows": WINDOWS}
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
ALWAYS = Truth(EVERYWHERE, NOWHERE)
DEVICES = {"mps": MPS, "cuda": CUDA, "cpu": EVERYWHERE - CUDA - MPS}
SYSTEMS = frozenset({"darwin", "macos", "osx", "linux", "windows", "win32"})
"""Texts that are compared with nothing but the name of a system."""


def asks(worlds: Worlds) -> Truth:
    """The truth of a question that is answered yes in these worlds and nowhere else."""
    return Truth(worlds, EVERYWHERE - worlds)


def either(parts: list[Truth]) -> Truth:
    """The truth of ``or``."""
    true, false = NOWHERE, EVERYWHERE
    for part in parts:
        true, false = true | part.true, false & part.false
    return Truth(true, false)


def platforms_of(worlds: Worlds) -> tuple[str, ...]:
    """The platforms, by name, on which a program can be in one of some worlds."""
    return tuple(name for name, own in PLATFORMS.items() if own & worlds)


class Conditions:
    """Reads conditions of one module; names are followed through the project."""

    def __init__(self, project: Project, module: Module, depth: int = DEPTH) -> None:
        self.project = project
        self.module = module
        self.depth = depth

    def truth(self, test: ast.expr) -> Truth:
        """Where a condition can hold and where it can fail."""
        readers: dict[type[ast.expr], Callable[[Any], Truth]] = {
            ast.Constant: lambda node: ALWAYS if node.value else ALWAYS.negated(),
            ast.UnaryOp: lambda node: self.truth(node.operand).negated() if isinstance(node.op, ast.Not) else UNKNOWN,
            ast.NamedExpr: lambda node: self.truth(node.value),
            ast.BoolOp: self._bool,
            ast.Compare: self._compare,
            ast.Call: self._call,
            ast.Name: self._named,
            ast.Attribute: self._named,
            ast.Subscript: lambda node: self._keyed(text_of(node.slice)),
        }
        read = readers.get(type(test))
        return read(test) if read is not None else UNKNOWN

    def _bool(self, test: ast.BoolOp) -> Truth:
        parts = [self.truth(value) for value in test.values]
        if isinstance(test.op, ast.Or):
            return either(parts)
        return either([part.negated() for part in parts]).negated()

    def _compare(self, test: ast.Compare) -> Truth:
        if len(test.ops) != 1:
            return UNKNOWN
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            truth = self.equals(left, right) if self.text(right) else self.equals(right, left)
        elif isinstance(operator, (ast.In, ast.NotIn)):
            values = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else None
            truth = self.equals(right, left) if values is None else either([self.equals(left, v) for v in values])
        elif isinstance(operator, (ast.Is, ast.IsNot)):
            truth = self.truth(left) if isinstance(right, ast.Constant) and right.value is True else UNKNOWN
        else:  # torch.cuda.device_count() > 1
            counted = isinstance(operator, ast.Gt) and isinstance(left, ast.Call) and isinstance(right, ast.Constant)
            truth = Truth(self.truth(left).true) if counted else UNKNOWN
        question = counted_gpus.asked(test) if truth == UNKNOWN else None
        if question is not None:
            truth = asks(CUDA) if question.exact else Truth(CUDA)
            return truth.negated() if question.negated else truth
        return truth.negated() if isinstance(operator, (ast.NotEq, ast.NotIn, ast.IsNot)) else truth

    def equals(self, subject: ast.expr, value: ast.expr) -> Truth:
        """Where a subject (``sys.platform``, ``device.type``, a name) equals or begins with a text."""
        text = self.text(value).lower()
        for device, worlds in DEVICES.items():
            if text.startswith(device):
                return asks(worlds)
        if not text or not (text in SYSTEMS or self.is_probe(subject)):
            return UNKNOWN
        if text == "posix":
            return asks(DARWIN | LINUX)
        machine = presets.machine_of(text)
        return asks(BY_MACHINE[machine]) if machine else UNKNOWN

    def text(self, value: ast.expr) -> str:
        """The text of a constant, also as ``torch.device("mps")``; empty if it is no such thing."""
        if isinstance(value, ast.Call) and len(value.args) == 1 and last_name(value.func) == "device":
            value = value.args[0]
        return text_of(value)

    def is_probe(self, subject: ast.expr) -> bool:
        """Whether an expression gives the name of the system: ``sys.platform``, or a name bound to it."""
        while isinstance(subject, ast.Call) and isinstance(subject.func, ast.Attribute) and not subject.args:
            if subject.func.attr not in {"lower", "strip", "casefold"}:
                break
            subject = subject.func.value
        called = isinstance(subject, ast.Call)
        name = self.qualified(subject.func if isinstance(subject, ast.Call) else subject)
        if name:
            return name in presets.listed("probes", "calls" if called else "names")
        found = self._follow(subject) if isinstance(subject, (ast.Name, ast.Attribute)) else None
        return found is not None and found[0].is_probe(found[1])

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
        if not machine and presets.gpus_named(name) in {"count", "list"}:
            machine = "cuda"
        return asks(BY_MACHINE[machine]) if machine else UNKNOWN

    def _keyed(self, key: str) -> Truth:
        """The truth of what a mapping has under a key: ``info["is_mac"]``; a word alone is no condition."""
        return self._by_name(key) if len(presets.words(key)) > 1 else UNKNOWN

    def _call(self, call: ast.Call) -> Truth:
        name = self.qualified(call.func)
        if name in presets.questions():
            return asks(NOWHERE.union(*(BY_MACHINE[machine] for machine in presets.questions()[name])))
        if last_name(call.func) == "bool" and len(call.args) == 1:
            return self.truth(call.args[0])
        if last_name(call.func) in {"get", "getattr"}:  # info.get("is_mac", False)
            return self._keyed(next((text for text in map(text_of, call.args[:2]) if text), ""))
        if isinstance(call.func, ast.Attribute) and call.func.attr == "startswith" and len(call.args) == 1:
            subject, wanted = call.func.value, call.args[0]
            return either(
                [self.equals(subject, v) for v in (wanted.elts if isinstance(wanted, ast.Tuple) else [wanted])]
            )
        symbol = self.project.resolve(self.module, self.module.scope_at(call), call.func)
        known = UNKNOWN
        if isinstance(symbol, FunctionFacts) and self.depth > 0:
            known = Conditions(self.project, symbol.module, self.depth - 1).function(symbol.node)
        return known if known != UNKNOWN else self._by_name(last_name(call.func))

    def function(self, node: Function) -> Truth:
        """Where a function without arguments gives a true value, and where a false one."""
        regions = Regions(self)
        true, false = NOWHERE, regions.survivors(node.body)
        for statement in nodes_below(node):
            if isinstance(statement, ast.Return) and self.module.scope_at(statement).node is node:
                here = regions.branches(statement, until=node)
                value = self.truth(statement.value) if statement.value is not None else ALWAYS.negated()
                true, false = true | (here & value.true), false | (here & value.false)
        return Truth(true, false)


EXITS = frozenset({"exit", "quit", "_exit", "abort"})
"""Last names of the calls that end the process."""
JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


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
        if isinstance(above, ast.BoolOp) and isinstance(node, ast.expr):
            earlier = [self.conditions.truth(value) for value in above.values[: above.values.index(node)]]
            needed = [truth.true if isinstance(above.op, ast.And) else truth.false for truth in earlier]
            return EVERYWHERE.intersection(*needed)
        if isinstance(above, ast.Match) and isinstance(node, ast.match_case):
            return self.cases(above)[above.cases.index(node)]
        return EVERYWHERE

    def before(self, above: ast.AST, node: ast.AST) -> Worlds:
        """The worlds that get past the statements before this one in its block."""
        if isinstance(above, Root):
            return self.survivors([one for one in above.flow if start_of(one) < start_of(node)])
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
            guard = self.conditions.truth(case.guard) if case.guard is not None else ALWAYS
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
            return self._pattern(subject, pattern.pattern) if pattern.pattern else ALWAYS
        if isinstance(pattern, ast.MatchOr):
            return either([self._pattern(subject, part) for part in pattern.patterns])
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
        if not may_leave(statement):
            return EVERYWHERE
        if isinstance(statement, ast.Assert):
            return self.conditions.truth(statement.test).true
        if isinstance(statement, ast.If):
            return self._survives_if(statement)
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            return self.survivors(statement.body)
        if isinstance(statement, ast.Match):
            reached = self.cases(statement)
            left = [here & self.survivors(case.body) for here, case in zip(reached, statement.cases, strict=True)]
            whole = any(isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None for c in statement.cases)
            return NOWHERE.union(*left) if whole else EVERYWHERE
        return NOWHERE if isinstance(statement, (*JUMPS, ast.Expr)) else EVERYWHERE

    def _survives_if(self, statement: ast.If) -> Worlds:
        left, found = EVERYWHERE, NOWHERE
        while True:  # a chain of elif may be longer than Python can recurse
            truth = self.conditions.truth(statement.test)
            found |= left & truth.true & self.survivors(statement.body)
            left &= truth.false
            following = statement.orelse[0] if len(statement.orelse) == 1 else None
            if not isinstance(following, ast.If):
                return found | (left & self.survivors(statement.orelse))
            statement = following


def may_leave(statement: ast.stmt) -> bool:
    """Whether a statement can keep the ones after it from being reached; definitions and loops do not."""
    if isinstance(statement, (ast.If, ast.With, ast.AsyncWith, ast.Match)):
        inside = (inner for block in bodies(statement) for inner in statements(block))
        return any(_leaves(inner) for inner in inside)
    return _leaves(statement)


def _leaves(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and last_name(statement.value.func) in EXITS
    return isinstance(statement, (*JUMPS, ast.Assert))
