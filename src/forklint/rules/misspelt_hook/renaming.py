"""Renames a method where it is defined, a keyword where it is given, a key of a literal mapping."""

from __future__ import annotations

import ast

from forklint.edits import cst
from forklint.edits.places import Places
from forklint.edits.tree import Tree
from forklint.loading.given import Given
from forklint.project.module import Module
from forklint.project.scopes import Function


def method_renamed(tree: Tree, module: Module, method: Function, name: str) -> Tree | None:
    """The tree in which a function is defined by another name; what calls it is left as it is."""
    found = tree.statements[module.ordinals[method]]
    if not isinstance(found, cst.FunctionDef):
        return None
    return tree.replace(found.name, found.name.with_changes(value=name))


def argument_renamed(tree: Tree, module: Module, given: Given, name: str) -> Tree | None:
    """The tree in which an argument has another name; None if other calls get it from where it is written, too."""
    if given.module is not module or given.home is None or not given.is_own:
        return None
    try:
        places = Places(tree, module)
        home, value = places.expression(given.home), places.expression(given.value)
    except LookupError:
        return None
    if isinstance(home, cst.Call) and isinstance(given.home, ast.Call):
        keyword = next((one.keyword for one in home.args if one.value is value and one.keyword), None)
        return tree.replace(keyword, keyword.with_changes(value=name)) if keyword is not None else None
    entries = home.elements if isinstance(home, cst.Dict) else ()
    keys = (one.key for one in entries if isinstance(one, cst.DictElement) and one.value is value)
    key = next(keys, None)
    if not isinstance(key, cst.SimpleString) or key.raw_value != given.name:
        return None
    return tree.replace(key, key.with_changes(value=f"{key.prefix}{key.quote}{name}{key.quote}"))
