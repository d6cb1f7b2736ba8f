"""Takes one argument out of a call or a literal mapping, or sets it to what it is without being given."""

from __future__ import annotations

import ast

from forklint.edits import cst
from forklint.edits.arguments import without
from forklint.edits.places import Places
from forklint.edits.tree import Tree
from forklint.loading.given import Given
from forklint.project.module import Module


def removed(tree: Tree, module: Module, given: Given, neutral: str) -> Tree | None:
    """The tree without an argument; one that is given by its place becomes ``neutral``. None if it cannot be done.

    A mapping that other calls unpack as well is left alone, and so is one of another module.
    """
    if given.module is not module or given.home is None or not given.is_own:
        return None
    try:
        places = Places(tree, module)
        value = places.expression(given.value)
        if isinstance(given.home, ast.Call) and given.value in given.home.args:
            return tree.replace(value, cst.parse_expression(neutral))
        home = places.expression(given.home)
        return tree.replace(home, without(home, {value}))
    except (LookupError, RecursionError):  # LibCST's visitors recurse into each elif
        return None
