"""What texts an expression may spell: whole ones, or how they begin and end."""

from __future__ import annotations

import ast
import re

from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function
from forklint.project.spelling import is_name

Spelling = tuple[str, str | None]
"""How a text begins and how it ends; None for the end if the beginning is all of it."""
TELLING = 2
"""So many known letters tell a text from most others."""
UNKNOWN: Spelling = ("", "")
CONVERSION = re.compile(r"%(?:\(\w+\))?[-#0 +]*[\d.*]*[a-zA-Z]")
FIELD = re.compile(r"\{[^{}]*\}")


def spellings(node: ast.expr, function: Function | None) -> list[Spelling]:
    """The texts that an expression may be; in a function, what its variables are given there is known."""
    if isinstance(node, ast.Name) and function is not None:
        return _of_variable(node.id, function)
    if isinstance(node, ast.IfExp):
        return [*spellings(node.body, function), *spellings(node.orelse, function)]
    return [_spelt(node)]


def _spelt(node: ast.expr) -> Spelling:
    if isinstance(node, ast.Constant):
        return (node.value, None) if isinstance(node.value, str) else UNKNOWN
    if isinstance(node, ast.JoinedStr):
        return _joined([_spelt(part) for part in node.values])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined([_spelt(node.left), _spelt(node.right)])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        return _filled(node.left, CONVERSION)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _filled(node.func.value, FIELD)
    return UNKNOWN


def _joined(parts: list[Spelling]) -> Spelling:
    if all(last is None for _, last in parts):
        return "".join(first for first, _ in parts), None
    first = last = ""
    for begin, end in parts:
        first += begin
        if end is not None:
            break
    for begin, end in reversed(parts):
        last = (begin if end is None else end) + last
        if end is not None:
            break
    return first, last


def _filled(template: ast.expr, hole: re.Pattern[str]) -> Spelling:
    """A text with holes that something is put into."""
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        return UNKNOWN
    between = hole.split(template.value)
    return (between[0], between[-1]) if len(between) > 1 else (template.value, None)


def _of_variable(name: str, function: Function) -> list[Spelling]:
    """What the lines of a function that bind a variable give it; unknown if one of them does not say."""
    found: list[Spelling] = []
    bindings = 0
    for node in nodes_below(function):
        if isinstance(node, ast.arg) and node.arg == name:
            return [UNKNOWN]
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            bindings += 1
        elif isinstance(node, ast.Assign) and any(is_name(target, name) for target in node.targets):
            found.append(_spelt(node.value))
        elif isinstance(node, (ast.For, ast.comprehension)) and is_name(node.target, name):
            found += _elements(node.iter)
            bindings += max(len(_elements(node.iter)) - 1, 0)
    return found if found and len(found) == bindings else [UNKNOWN]


def _elements(node: ast.expr) -> list[Spelling]:
    return [_spelt(one) for one in node.elts] if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else [UNKNOWN]
