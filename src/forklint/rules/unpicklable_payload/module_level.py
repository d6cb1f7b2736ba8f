"""The fix of FKL204: a lambda, or a function or class inside a function, moves to the top of its module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.edits.tree import Tree
from forklint.model import Applicability
from forklint.project.bindings import binder_of
from forklint.project.guard import guard_of
from forklint.project.scopes import FUNCTIONS, Function
from forklint.project.spelling import last_name
from forklint.rules.unpicklable_payload.values import Culprit

if TYPE_CHECKING:
    from forklint.project.module import Module

NAMES = {"collate_fn": "collate", "worker_init_fn": "init_worker", "initializer": "init_process", "loader": "load"}
"""What a function is called that is given to a parameter; else the parameter's name, if it is one for a function."""
FUNCTION_NAMES = re.compile(r"(?:\w+_)?(?:transform|fn|func|function)|key|preprocess\w*|process\w*")
BLANK = 2
"""Blank lines around a definition at the top of a module."""


def proposal(culprit: Culprit, part: str, module: Module, tree: Tree) -> Proposal | None:
    """Move a definition above the statement of the module that holds it; None if it needs what is around it."""
    definition = culprit.definition
    if definition is None or culprit.module is not module or module.is_notebook:
        return None
    top = _top(module, definition)
    if not _stands_alone(module, definition, top):
        return None
    if isinstance(definition, ast.Lambda):
        return _named(definition, top, part, module, tree)
    if definition.name in module.scope.bindings and guard_of(module, definition) is None:
        return None
    moved = _moved(definition, top, module, tree)
    if moved is None:
        return None
    safe = not isinstance(definition, ast.ClassDef)
    words = f"move `{definition.name}` to the top of the module"
    return Proposal(words, Applicability.SAFE if safe else Applicability.UNSAFE, moved)


def _top(module: Module, node: ast.AST) -> ast.stmt:
    """The statement of the module's own body that a node belongs to."""
    return next(one for one in (node, *module.above(node)) if module.parents.get(one) is module.tree)  # type: ignore[return-value]


def _stands_alone(module: Module, definition: ast.Lambda | Function | ast.ClassDef, top: ast.stmt) -> bool:
    """Whether a definition means the same at the top of the module, just above ``top``."""
    if getattr(definition, "decorator_list", []):
        return False
    early = set(_evaluated_at_once(definition))
    for node in ast.walk(definition):
        if isinstance(node, ast.Nonlocal) or (isinstance(node, ast.Name) and node.id in {"super", "__class__"}):
            return False
        if isinstance(node, ast.Name) and not _means_the_same(module, node, definition, top, is_early=node in early):
            return False
    return True


def _evaluated_at_once(definition: ast.Lambda | Function | ast.ClassDef) -> Iterator[ast.AST]:
    """What is evaluated where the definition stands: defaults, annotations, and all of a class but its methods."""
    if isinstance(definition, ast.ClassDef):
        for part in (*definition.bases, *definition.keywords, *definition.body):
            yield from _evaluated_at_once(part) if isinstance(part, FUNCTIONS) else ast.walk(part)
        return
    arguments = definition.args
    for value in (*arguments.defaults, *arguments.kw_defaults, getattr(definition, "returns", None)):
        yield from ast.walk(value) if value is not None else ()
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            yield from ast.walk(argument.annotation)


def _means_the_same(
    module: Module, name: ast.Name, definition: ast.Lambda | Function | ast.ClassDef, top: ast.stmt, *, is_early: bool
) -> bool:
    binder = binder_of(module, name)
    if binder is not None:
        inside = binder is definition or definition in module.above(binder)
        return inside and not (is_early and binder is definition)  # a default is evaluated outside
    found = module.scope_at(name).find(name.id)
    if found is None:
        return True
    home, bindings = found
    if home.node is definition or definition in module.above(home.node):
        return True
    if any(binding.node is definition for binding in bindings):
        return len(bindings) == 1  # it calls itself
    if home is not module.scope or any(guard_of(module, binding.node) is not None for binding in bindings):
        return False
    return not is_early or all(getattr(binding.node, "lineno", 0) < top.lineno for binding in bindings)


def _named(definition: ast.Lambda, top: ast.stmt, part: str, module: Module, tree: Tree) -> Proposal | None:
    """Make a lambda a function with a name."""
    node: Any = next((one for one in tree.at(module.span(definition)) if isinstance(one, cst.Lambda)), None)
    if node is None:
        return None
    if isinstance(top, ast.Assign) and top.value is definition and len(top.targets) == 1:
        return _assigned(node, top, module, tree)
    name = _free_name(definition, part, module)
    line = tree.replace(node, cst.Name(name))
    return Proposal(
        f"make it the module-level function `{name}`",
        Applicability.SAFE,
        _put_above(line, module.ordinals[top], _function(name, node, tree)),
    )


def _assigned(node: Any, top: ast.Assign, module: Module, tree: Tree) -> Proposal | None:
    """``name = lambda ...`` at the top of the module becomes ``def name(...)``."""
    target = top.targets[0]
    small = tree.statements[module.ordinals[top]]
    line: Any = tree.line_of(small)
    if not isinstance(target, ast.Name) or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    comment = line.trailing_whitespace.comment
    above = [cst.EmptyLine(indent=False, comment=comment)] if comment is not None else []
    body: list[Any] = list(tree.module.body)
    index = body.index(line)
    leading = [*(_blanks() if index else []), *_without_blanks(line.leading_lines), *above]
    body[index] = _function(target.id, node, tree).with_changes(leading_lines=leading)
    if index + 1 < len(body):
        following = body[index + 1]
        body[index + 1] = following.with_changes(leading_lines=[*_blanks(), *_without_blanks(following.leading_lines)])
    changed = Tree(tree.module.with_changes(body=body))
    return Proposal(f"make `{target.id}` a function with that name", Applicability.SAFE, changed)


def _free_name(definition: ast.Lambda, part: str, module: Module) -> str:
    """A name that says what the function is for and that the module does not use yet."""
    above = module.parents[definition]
    if isinstance(above, ast.keyword) and above.arg is not None:
        part = above.arg
    elif isinstance(above, ast.Call) and last_name(above.func) == "Lambda":
        part = "transform"
    elif isinstance(above, ast.Call) and definition in above.args and part in NAMES:
        part = ""  # it is only a part of what the parameter is given
    base = NAMES.get(part, part if FUNCTION_NAMES.fullmatch(part) else "process")
    second = {"collate": "collate_batch"}.get(base, f"{'apply' if base.endswith('transform') else 'run'}_{base}")
    candidates = (base, second, *(f"{second}_{number}" for number in range(2, 100)))
    return next(name for name in candidates if not re.search(rf"\b{name}\b", module.document.text))


def _function(name: str, node: Any, tree: Tree) -> Any:
    body = node.body
    if "\n" in tree.module.code_for_node(body) and not body.lpar:
        body = body.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    returned = cst.SimpleStatementLine([cst.Return(body)])
    return cst.FunctionDef(cst.Name(name), node.params, cst.IndentedBlock([returned]))


def _moved(definition: Function | ast.ClassDef, top: ast.stmt, module: Module, tree: Tree) -> Tree | None:
    """Take a definition out of its block and put it at the top."""
    node: Any = tree.statements[module.ordinals[cast("ast.stmt", definition)]]
    block: Any = tree.block_of(node)
    body = list(block.body)
    index = body.index(node)
    if len(body) == 1:
        return None
    del body[index]
    if not index and body and hasattr(body[0], "leading_lines"):
        body[0] = body[0].with_changes(leading_lines=_without_blanks(body[0].leading_lines))
    emptied = tree.replace(block, block.with_changes(body=body))
    comments = _without_blanks(node.leading_lines)
    return _put_above(emptied, module.ordinals[top], node.with_changes(leading_lines=comments))


def _blanks() -> list[Any]:
    return [cst.EmptyLine(indent=False)] * BLANK


def _without_blanks(lines: Any) -> list[Any]:
    found = list(lines)
    while found and found[0].comment is None:
        found.pop(0)
    return found


def _put_above(tree: Tree, ordinal: int, definition: Any) -> Tree:
    """Put a definition above a statement of the module, with blank lines around it."""
    line: Any = tree.line_of(tree.statements[ordinal])
    body: list[Any] = list(tree.module.body)
    index = body.index(line)
    definition = definition.with_changes(leading_lines=[*(_blanks() if index else []), *definition.leading_lines])
    anchor = line.with_changes(leading_lines=[*_blanks(), *_without_blanks(line.leading_lines)])
    body[index : index + 1] = [definition, anchor]
    return Tree(tree.module.with_changes(body=body))
