"""The fix of FKL303: each worker takes every n-th sample, beginning with its own number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.datasets.whole import Whole
from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.edits.tree import Tree
from forklint.knowledge.streams import stream_words
from forklint.model import Applicability
from forklint.project.module import Module
from forklint.project.spelling import last_name

SHARE = "let each worker yield only its share of the samples, using `get_worker_info()`"
TAKEN = ("worker", "first", "step")


def proposals(whole: Whole, module: Module, tree: Tree) -> Iterator[Proposal]:
    """Wrap what is iterated in ``islice``, where one statement at the top of ``__iter__`` gives all samples."""
    reason = _why_not(whole, module)
    if reason:
        yield Proposal(f"{SHARE} (no automatic fix: {reason})", Applicability.DISPLAY)
        return
    yield Proposal(SHARE, Applicability.UNSAFE, _shared(whole, module, tree))


def _why_not(whole: Whole, module: Module) -> str:
    if not whole.alone:
        return "several statements yield samples"
    if isinstance(whole.giving, ast.While):
        return "samples are read step by step"
    if _is_shuffled(whole):
        return "each worker shuffles by itself, so their shares would overlap"
    for above in module.above(whole.giving):
        if above is whole.function:
            break
        if not isinstance(above, ast.With):
            return "samples are yielded under a condition"
    if any(isinstance(node, ast.Name) and node.id in {*TAKEN, "islice"} for node in ast.walk(whole.function)):
        return "a name that the fix needs is already used"
    others = [node for node in ast.walk(whole.function) if isinstance(node, ast.stmt) and node is not whole.giving]
    return "it shares a line with another statement" if whole.giving.lineno in {one.lineno for one in others} else ""


def _is_shuffled(whole: Whole) -> bool:
    """Whether samples are put in an order that each worker draws for itself."""
    names = {
        last_name(node).lower() for node in ast.walk(whole.function) if isinstance(node, (ast.Attribute, ast.Name))
    }
    words = stream_words().random
    drawn = any(word in name for word in words for name in names)
    return drawn or any(
        isinstance(node, ast.Call) and "shuffle" in last_name(node.func) for node in ast.walk(whole.facts.node)
    )


def _shared(whole: Whole, module: Module, tree: Tree) -> Tree:
    statement = tree.statements[module.ordinals[whole.giving]]
    lines = [
        *([] if _is_imported(module, "itertools") else ["from itertools import islice"]),
        *([] if _is_imported(module, "torch") else ["from torch.utils.data import get_worker_info"]),
        f"worker = {'torch.utils.data.' if _is_imported(module, 'torch') else ''}get_worker_info()",
        "first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)",
    ]
    function = "itertools.islice" if _is_imported(module, "itertools") else "islice"
    line = tree.line_of(statement)
    new = _with_source(tree, statement, f"{function}({{}}, first, None, step)")
    if line is not statement:
        new = line.with_changes(body=[new])
    first, *others = [cst.parse_statement(text) for text in lines]
    before = [first.with_changes(leading_lines=line.leading_lines), *others]  # type: ignore[attr-defined]
    sharing = cst.FlattenSentinel([*before, new.with_changes(leading_lines=[])])
    return tree.replace(line, sharing)


def _with_source(tree: Tree, statement: cst.CSTNode, text: str) -> cst.CSTNode:
    """The statement with what it iterates put into a call."""

    def wrapped(source: cst.CSTNode) -> cst.BaseExpression:
        spelt = tree.module.code_for_node(source)
        if isinstance(source, cst.GeneratorExp) and not source.lpar:
            spelt = f"({spelt})"  # the only argument of a call needs none of its own
        return cst.parse_expression(text.format(spelt), tree.module.config_for_parsing)

    if isinstance(statement, cst.For):
        return statement.with_changes(iter=wrapped(statement.iter))
    if isinstance(statement, cst.Return):
        value = statement.value
        if isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and value.func.value == "iter":
            value = value.args[0].value
        return statement.with_changes(value=wrapped(value)) if value is not None else statement
    giving = cst.ensure_type(cst.ensure_type(statement, cst.Expr).value, cst.Yield)
    source = cst.ensure_type(giving.value, cst.From)
    return statement.with_changes(value=giving.with_changes(value=source.with_changes(item=wrapped(source.item))))


def _is_imported(module: Module, name: str) -> bool:
    """Whether a name means the module of that name at the top of a file."""
    bindings = module.scope.bound(name)
    return bool(bindings) and all(one.module == name and not one.attribute and not one.level for one in bindings)
