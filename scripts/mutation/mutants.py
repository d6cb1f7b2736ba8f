"""The small faults that a module can have, one at a time: which there are, and the module's code with one of them."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One fault: in the function that starts at ``function``, the ``number``-th that is possible in its module."""

    path: Path
    function: int
    line: int
    column: int
    number: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{'/'.join(self.path.parts[-2:])}:{self.line}:{self.column}: {self.before}  ->  {self.after}"


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """The faults of one node, each as the node that replaces it."""
    if isinstance(node, ast.Compare):
        yield from _compared(node)
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and not isinstance(node.test, (ast.Compare, ast.BoolOp)):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield _with(node, ifs=node.ifs[:-1])
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield _with(node, value=ast.Constant(None))
    elif isinstance(node, ast.Continue):
        yield ast.Break()
        yield ast.Pass()
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(node, ast.AugAssign):
        yield ast.Pass()


def _compared(node: ast.Compare) -> Iterator[ast.AST]:
    for place, operator in enumerate(node.ops):
        yield _with(node, ops=[*node.ops[:place], COMPARISONS[type(operator)](), *node.ops[place + 1 :]])


def _constants(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node.value, str) and node.value:
        yield ast.Constant(f"XX{node.value}")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods of a module; those inside of functions belong to these."""
    for statement in body:
        if isinstance(statement, FUNCTIONS):
            yield statement
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body)


def _nodes(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Each node below with the place that holds it: parent, field, index. Annotations and docstrings are left out."""
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "args"} and not isinstance(node, ast.Call):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.AST) and not is_text and not isinstance(child, (ast.JoinedStr, ast.Assert)):
                yield node, field, index, child
                yield from _nodes(child)


def _places(tree: ast.Module) -> Iterator[tuple[int, ast.AST, str, int | None, ast.AST, ast.AST]]:
    """Every fault of a module: the line of its function, where it goes, the node and what replaces it."""
    for function in _functions(tree.body):
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        for index, statement in enumerate(function.body):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # a docstring
            held: list[tuple[ast.AST, str, int | None, ast.AST]]
            held = [(function, "body", index, statement), *_nodes(statement)]
            for parent, field, number, node in held:
                for new in changed(node):
                    yield first, parent, field, number, node, new


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.comprehension):
        return " ".join(["for ... in", ast.unparse(node.iter), *(f"if {ast.unparse(one)}" for one in node.ifs)])
    if isinstance(node, (ast.If, ast.While)):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}:"
    return " ".join(ast.unparse(node).split())


def mutants(path: Path) -> list[Mutant]:
    """Every fault that a module can have."""
    found = []
    for number, (function, _, _, _, node, new) in enumerate(_places(ast.parse(path.read_bytes()))):
        at = node.iter if isinstance(node, ast.comprehension) else node
        ast.copy_location(new, node)
        text = _text(ast.fix_missing_locations(new))
        found.append(Mutant(path, function, at.lineno, at.col_offset + 1, number, _text(node), text))  # type: ignore[attr-defined] # faults are put into statements and expressions
    return found


def drawn(every: list[Mutant], number: int, seed: int) -> list[Mutant]:
    """Some mutants by chance. One that is drawn stays drawn when other lines of its file change."""
    seen: Counter[tuple[str, ...]] = Counter()
    places = {}
    for mutant in every:
        text = (*mutant.path.parts[-2:], mutant.before, mutant.after)
        seen[text] += 1
        places[mutant] = hashlib.sha256(repr((seed, seen[text], *text)).encode()).digest()
    return sorted(every, key=places.__getitem__)[:number]


def mutated(mutant: Mutant) -> ast.Module:
    """The tree of the module with the fault in it."""
    tree = ast.parse(mutant.path.read_bytes())
    for number, (_, parent, field, index, node, new) in enumerate(_places(tree)):
        if number == mutant.number:
            ast.copy_location(new, node)
            if index is None:
                setattr(parent, field, new)
            else:
                getattr(parent, field)[index] = new
            return ast.fix_missing_locations(tree)
    raise ValueError(f"{mutant.path} has changed")
