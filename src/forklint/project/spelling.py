"""How an expression is spelt, whatever it means: its names, the text of a constant, the arguments of a call."""

from __future__ import annotations

import ast

Method = ast.FunctionDef | ast.AsyncFunctionDef


def is_class_name(name: str) -> bool:
    """Whether a dotted name ends as those of classes do, with a capital: ``torch.nn.Linear``, ``zoo._Net``."""
    return name.rpartition(".")[2].lstrip("_")[:1].isupper()


def last_name(expression: ast.AST | None) -> str:
    """The last part of a dotted name; empty for anything else."""
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def is_name(expression: ast.AST | None, name: str) -> bool:
    """Whether an expression is a certain name, and nothing more."""
    return isinstance(expression, ast.Name) and expression.id == name


def dotted(expression: ast.AST) -> str:
    """``a.b.c`` as it is written; empty for an expression that is no such chain."""
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return ""
    return ".".join(reversed((*parts, expression.id)))


def text_of(expression: ast.AST | None) -> str:
    """The text of a constant; empty if it is none."""
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return expression.value
    return ""


def argument(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    """The argument that a call gives by name or position; None where it gives none, as far as is seen."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or position >= len(call.args):
        return None
    hidden = any(isinstance(one, ast.Starred) for one in call.args[: position + 1])
    return None if hidden else call.args[position]


def all_arguments(call: ast.Call) -> list[ast.expr]:
    """All arguments that a call is seen to give, those by name last."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def hides_arguments(call: ast.Call) -> bool:
    """Whether ``*args`` or ``**kwargs`` may give more than is seen."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)


def is_static(function: Method) -> bool:
    """Whether a method is marked as a static one, which gets no object."""
    return any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in function.decorator_list)


def takes_class(function: Method) -> bool:
    """Whether a method is marked as one that gets its class in place of an object."""
    return any(last_name(mark) == "classmethod" for mark in function.decorator_list)


def first_parameter(function: Method) -> str:
    """The name by which a method calls its object, or its class; empty for a static or bare one."""
    if is_static(function):
        return ""
    names = [*function.args.posonlyargs, *function.args.args]
    return names[0].arg if names else ""


def in_bytes(text: str) -> bytes:
    """A text as a file would have it; a lone surrogate, which no file has, is found nowhere."""
    return text.encode(errors="surrogatepass")


def part_read(node: ast.expr) -> tuple[ast.expr, str] | None:
    """What an expression reads a part of, and under which key; None if it reads none: ``settings.loader``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        key = text_of(node.args[0])
        return (node.func.value, key) if key else None
    if isinstance(node, ast.Subscript):
        return (node.value, text_of(node.slice)) if text_of(node.slice) else None
    return (node.value, node.attr) if isinstance(node, ast.Attribute) else None
