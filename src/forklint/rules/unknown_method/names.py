"""Edits of the names of methods and of imported names."""

from __future__ import annotations

import ast

from forklint.edits import cst
from forklint.edits.tree import Tree, find


def renamed(tree: Tree, statement: cst.CSTNode, node: ast.AST, meant: str) -> Tree:
    """Rename every such attribute of the same object in the statement."""
    if not isinstance(node, ast.Attribute):
        return tree
    owner = ast.unparse(node.value)
    changes: dict[cst.CSTNode, cst.CSTNode] = {}
    for attribute in find(statement, cst.Attribute):
        if attribute.attr.value == node.attr and _text(tree, attribute.value) == owner:
            changes[attribute.attr] = attribute.attr.with_changes(value=meant)
    return tree.replace_all(dict(changes))


def put_instead(tree: Tree, statement: cst.CSTNode, node: ast.AST, path: str) -> Tree:
    """Write another name of the same module for every such attribute of the same object, or a builtin for all of it."""
    owner, _, name = path.rpartition(".")
    if owner or not isinstance(node, ast.Attribute):
        return renamed(tree, statement, node, name)
    spelt = ast.unparse(node)
    uses = [one for one in find(statement, cst.Attribute) if _text(tree, one) == spelt]
    return tree.replace_all({one: cst.Name(name, lpar=one.lpar, rpar=one.rpar) for one in uses})


def asked_by_builtin(tree: Tree, statement: cst.CSTNode, use: ast.Attribute) -> Tree:
    """Write `next(batches)` for every `batches.next()` of the same iterator in the statement."""
    owner = ast.unparse(use.value)
    changes: dict[cst.CSTNode, cst.CSTNode] = {}
    for call in find(statement, cst.Call):
        func = call.func
        is_use = isinstance(func, cst.Attribute) and func.attr.value == use.attr and not call.args
        if isinstance(func, cst.Attribute) and is_use and _text(tree, func.value) == owner:
            changes[call] = call.with_changes(func=func.attr, args=[cst.Arg(func.value)])
    return tree.replace_all(dict(changes))


def renamed_import(tree: Tree, statement: cst.CSTNode, wrong: str, meant: str) -> Tree:
    """Rename an imported name, and its uses in the file unless the import gives it another."""
    changes: dict[cst.CSTNode, cst.CSTNode] = {}
    for alias in find(statement, cst.ImportAlias):
        if isinstance(alias.name, cst.Name) and alias.name.value == wrong:
            changes[alias.name] = alias.name.with_changes(value=meant)
            if alias.asname is None:
                taken = {attribute.attr for attribute in find(tree.module, cst.Attribute)}
                taken |= {argument.keyword for argument in find(tree.module, cst.Arg) if argument.keyword}
                uses = [n for n in find(tree.module, cst.Name) if n.value == wrong and n not in taken]
                changes |= {name: name.with_changes(value=meant) for name in uses}
    return tree.replace_all(dict(changes))


def _text(tree: Tree, node: cst.CSTNode) -> str:
    return "".join(tree.module.code_for_node(node).split())
