"""How a summary spells an expression: by its names and calls alone (see ``Given``)."""

from __future__ import annotations

import ast

from forklint.summaries.summary import Given

PARTIAL = "partial"


def spelt(node: ast.AST | None) -> str:
    """An expression as ``Given`` spells it: its names and calls."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{spelt(node.value)}.{node.attr}"
    if isinstance(node, ast.Call):
        callee = spelt(node.func)
        if callee.rpartition(".")[2] == PARTIAL and node.args:
            return f"{callee}({spelt(node.args[0])})"
        return f"{callee}()"
    if isinstance(node, ast.Subscript):
        return f"{spelt(node.value)}[]"
    if isinstance(node, (ast.Await, ast.Starred, ast.NamedExpr)):
        return spelt(node.value)
    return "?"


def base(node: ast.expr) -> str:
    """A base of a class, ``Generic`` for ``Generic[T]``; ``?`` for what is no dotted name."""
    return _dotted(node.value if isinstance(node, ast.Subscript) else node) or "?"


def decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[str, ...]:
    """The decorators of a definition, in order."""
    return tuple(map(spelt, node.decorator_list))


def typed(arguments: ast.arguments) -> tuple[Given, ...]:
    """The parameters that are annotated with a class, each with its name: ``Net`` for ``Net | None`` as well."""
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    classes = ((one.arg, _dotted(class_annotated(one.annotation))) for one in every)
    return tuple(Given(name, written) for name, written in classes if written.rpartition(".")[2][:1].isupper())


def class_annotated(annotation: ast.expr | None) -> ast.expr | None:
    """The class that an annotation names: of ``Optional["Net"]`` and ``Net | None`` the one that is not None."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return class_annotated(ast.parse(annotation.value, mode="eval").body)
        except (SyntaxError, ValueError):
            return None
    if isinstance(annotation, ast.Subscript) and _dotted(annotation.value).rpartition(".")[2] == "Optional":
        return class_annotated(annotation.slice)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = [one for one in (annotation.left, annotation.right) if not _is_none(one)]
        return class_annotated(sides[0]) if len(sides) == 1 else None
    return annotation if isinstance(annotation, (ast.Name, ast.Attribute)) else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _dotted(node: ast.expr | None) -> str:
    """A dotted name as it is written; empty for anything else."""
    written = spelt(node)
    return written if all(part.isidentifier() for part in written.split(".")) else ""
