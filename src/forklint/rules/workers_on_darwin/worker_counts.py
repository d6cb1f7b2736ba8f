"""Where a module writes down a number of workers, and what stands beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.knowledge import presets
from forklint.loading.loaders import loader_at
from forklint.project import entries, scopes
from forklint.project.bindings import block_of
from forklint.project.entries import Entry
from forklint.project.index import Project, Value
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Kind, Scope
from forklint.project.spelling import last_name, text_of
from forklint.records import dataclass
from forklint.values.arithmetic import number_of
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression
from forklint.values.numbers import Workers, verdict

HOLDERS = frozenset({ast.Call, ast.Dict, ast.Assign, ast.AnnAssign, ast.arguments, *FUNCTIONS})
"""Kinds of nodes that give a value a name; most nodes are of others."""


@dataclass(frozen=True)
class Count:
    """One expression that is a number of workers."""

    key: str
    """The name under which it is given: ``num_workers``, ``MAC_WORKERS``."""
    value: ast.expr
    """The expression itself: one arm of a conditional expression, one row of a table."""
    home: ast.AST
    """What holds it: a Call, Dict, Assign, AnnAssign, arguments, or the function that returns it."""
    whole: ast.expr
    """All that is given under that name; ``value`` may be a part of it."""

    @property
    def certain(self) -> bool:
        """Whether the name alone says that it is a loader's."""
        return presets.count_kind(self.key) == "certain"


class WorkerCounts:
    """Finds the counts of one module."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module

    def find(self) -> Iterator[Count]:
        """Give every count of the module that may be more than 0, in no special order; an expression may come twice.

        Whether it surely is costs more, and is asked of ``positive`` when all else is known.
        """
        for node in self.module.nodes:
            for key, whole in self._entries(node) if node.__class__ in HOLDERS else ():
                if presets.count_kind(key):
                    yield from (Count(key, leaf, node, whole) for leaf in leaves(whole) if _may_be_positive(leaf))
                if isinstance(node, ast.Call) and isinstance(whole, ast.Name) and presets.count_kind(key) == "certain":
                    yield from self._named(whole)

    def _named(self, name: ast.Name) -> Iterator[Count]:
        """Give the counts that a loader gets by a name that does not say so: ``nw``, bound once, for loaders alone."""
        found = None if presets.count_kind(name.id) else self.module.scope_at(name).find(name.id)
        if found is None or len(found[1]) != 1 or found[1][0].kind is not Kind.VALUE:
            return
        home, whole = found[1][0].node, found[1][0].value
        if whole is not None and isinstance(home, (ast.Assign, ast.AnnAssign)) and self._is_loaders(found[0], name.id):
            yield from (Count(name.id, leaf, home, whole) for leaf in leaves(whole) if _may_be_positive(leaf))

    def _is_loaders(self, scope: Scope, name: str) -> bool:
        """Whether a variable is read for a loader's number of workers, and for options that follow it, alone."""
        named = (node for node in nodes_below(scope.node) if isinstance(node, ast.Name) and node.id == name)
        return all(self._is_loaders_option(node) for node in named if isinstance(node.ctx, ast.Load))

    def _is_loaders_option(self, use: ast.expr) -> bool:
        above = next((above for above in self.module.above(use) if isinstance(above, (ast.keyword, ast.stmt))), None)
        key = (above.arg or "").lower() if isinstance(above, ast.keyword) else ""
        return presets.count_kind(key) == "certain" or key.removeprefix("dataloader_") in presets.options()

    def _entries(self, node: ast.AST) -> Iterator[Entry]:
        """Give the named values that a node holds."""
        if isinstance(node, ast.Call):
            yield from self._call_entries(node)
        elif isinstance(node, ast.Dict):
            yield from entries.of_dict(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            yield from entries.of_assignment(node)
        elif isinstance(node, ast.arguments):
            yield from entries.of_arguments(node)
        elif isinstance(node, FUNCTIONS) and presets.count_kind(node.name):
            for inner in scopes.statements(node.body):
                value = inner.value if isinstance(inner, ast.Return) else None
                if value is not None and not isinstance(value, (ast.Dict, ast.Tuple)):
                    yield node.name, value

    def _call_entries(self, call: ast.Call) -> Iterator[Entry]:
        yield from entries.of_call(call)
        if len(call.args) > 1 and last_name(call.func).endswith("Loader"):
            loader = loader_at(self.project, Expression(self.module, self.module.scope_at(call), call))
            given = loader.option(loader.row.workers) if loader is not None else None
            if loader is not None and isinstance(given, Expression) and given.node in call.args:
                yield loader.row.workers, given.node
        texts = [text for text in map(text_of, call.args) if text]
        flag = next((text for text in texts if text.startswith("--")), "")
        if flag:  # add_argument("--num-workers", default=4), and click's and typer's options
            name = flag.lstrip("-").replace("-", "_")
            yield from ((name, value) for key, value in entries.of_call(call) if key == "default")
        elif last_name(call.func) in {"setdefault", "setattr"} and len(call.args) > 1 and len(texts) == 1:
            yield texts[0], call.args[-1]

    def positive(self, value: ast.expr) -> bool:
        """Whether an expression is certainly a number above 0, on a machine with several cores."""
        if isinstance(value, ast.Constant):
            return _may_be_positive(value)
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):  # os.cpu_count() or 1
            return self.positive(value.values[0])
        if isinstance(value, ast.Call) and last_name(value.func) in {"min", "max"} and value.args:
            parts = [self.positive(argument) for argument in value.args]
            if last_name(value.func) == "max" or not any(parts):
                return any(parts)  # of min(6, config["num_workers"]) the other may be from elsewhere
            return all(here or self._is_some(part) for part, here in zip(value.args, parts, strict=True))
        return self._is_here(Expression(self.module, self.module.scope_at(value), value)) and self._is_some(value)

    def _is_some(self, value: ast.expr) -> bool:
        """Whether an expression surely is above 0, wherever that is decided; a user who may choose decides it."""
        found = Evaluator(self.project).find(Expression(self.module, self.module.scope_at(value), value))
        return not found.by_default and verdict(number_of(found)) is Workers.SOME

    def _is_here(self, place: Expression, depth: int = 12) -> bool:
        """Whether a number is that of constants: what a parameter, function or object gives is told of where it is."""
        node = place.node
        if isinstance(node, (ast.Subscript, ast.NamedExpr, ast.Await)):
            return False
        if isinstance(node, (ast.Name, ast.Attribute)):
            symbol = self.project.resolve(place.module, place.scope, node)
            value = symbol.binding.value if isinstance(symbol, Value) else None
            if not isinstance(symbol, Value) or value is None or depth <= 0:
                return False
            return self._is_here(Expression(symbol.module, symbol.scope, value), depth - 1)
        if isinstance(node, ast.Call):
            symbol = self.project.resolve(place.module, place.scope, node.func)
            return not isinstance(symbol, (ClassFacts, FunctionFacts)) and all(
                self._is_here(place.part(argument), depth) for argument in node.args
            )
        return all(self._is_here(place.part(n), depth) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))


def _may_be_positive(value: ast.expr) -> bool:
    return not isinstance(value, ast.Constant) or (type(value.value) is int and value.value > 0)


def leaves(value: ast.expr) -> Iterator[ast.expr]:
    """Give what an expression can come to: the arms of a conditional one, the rows of a table, else itself."""
    parts: list[ast.expr] | None = None
    if isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.Dict):
        parts = value.values
    elif isinstance(value, ast.Subscript) and isinstance(value.value, ast.Dict):
        parts = [value.value]
    elif isinstance(value, ast.Call) and last_name(value.func).lower() == "field":
        parts = [given for name, given in entries.of_call(value) if name == "default"]
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        table = value.func.value  # {"darwin": 2}.get(sys.platform, 8)
        parts = [table, *value.args[1:]] if isinstance(table, ast.Dict) else None
    if parts is None:
        yield value
    for part in parts or ():
        yield from leaves(part)


def beside(module: Module, count: Count) -> list[Entry]:
    """The settings that stand beside a count: in the same call, dictionary, signature or block."""
    home = count.home
    if isinstance(home, ast.Call):
        return list(entries.of_call(home))
    if isinstance(home, ast.Dict):
        return list(entries.of_dict(home))
    if isinstance(home, ast.arguments):
        return list(entries.of_arguments(home))
    if isinstance(home, (ast.Assign, ast.AnnAssign)):
        return list(entries.of_block(block_of(module, home), entries.base_of(home)))
    return []
