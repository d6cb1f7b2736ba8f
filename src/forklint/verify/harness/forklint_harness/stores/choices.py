"""Which texts a function compares an argument with: ``split`` in it is one of them."""

from __future__ import annotations

import ast
import linecache
from typing import Any, Dict, List


def choices_in(code: Any) -> Dict[str, List[str]]:
    """Names that the function of a code object compares with texts, with those texts in the order of the source."""
    found: Dict[str, List[str]] = {}
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is(node, code):
            for compared in ast.walk(node):
                if isinstance(compared, ast.Compare):
                    _add(compared, found)
    return found


def _is(node: Any, code: Any) -> bool:
    first = min([node.lineno] + [one.lineno for one in node.decorator_list])
    return bool(node.name == code.co_name) and first <= code.co_firstlineno <= node.lineno


def _add(compared: ast.Compare, found: Dict[str, List[str]]) -> None:
    sides = [compared.left, *compared.comparators]
    names = [_name(side) for side in sides]
    texts = [
        one.value
        for side in sides
        for one in ([side] if isinstance(side, ast.Constant) else getattr(side, "elts", []))
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    for name in filter(None, names):
        for text in texts:
            if text not in found.setdefault(name, []):
                found[name].append(text)


def _name(side: ast.expr) -> str:
    """The last name of ``split``, ``self.split``, ``config["split"]``, ``split.lower()``."""
    while isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and not side.args:
        side = side.func.value
    if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Constant):
        return str(side.slice.value)
    return side.id if isinstance(side, ast.Name) else side.attr if isinstance(side, ast.Attribute) else ""
