"""The fixes of FKL302: a generator of its own for each process, and the seed that torch makes for each worker."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from forklint.datasets.workers import attribute_nodes, init_path
from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.edits.tree import Tree, small_statement
from forklint.model import Applicability
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Function, Kind, Scope
from forklint.rules.rng_in_init.kept import KeptGenerator
from forklint.rules.rng_in_init.worker_seeds import Seeding, WorkerSeeds
from forklint.summaries.summary import last_name
from forklint.summaries.terms import WORD

PROPERTY = """
_{stem}_generator = _{stem}_seed = None

@property
def {attribute}(self):
    \"\"\"The generator of this process, seeded from torch's own seed: another one in each worker and each epoch.\"\"\"
    {imports}
    if self._{stem}_seed != torch.initial_seed():
        self._{stem}_generator = {fresh}
        self._{stem}_seed = torch.initial_seed()
    return self._{stem}_generator
"""
SEVERAL = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
Changes = dict["cst.CSTNode", "cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]"]
OWN = "draw from a generator that each process seeds from `torch.initial_seed()`"
FRESH = "torch.initial_seed() % 2**32"


class _NotSoError(Exception):
    """The fix is left to a person; the text says why."""


def of_generator(project: Project, kept: KeptGenerator, module: Module, tree: Tree) -> Iterator[Proposal]:
    """Make the attribute a property that gives the generator of the process at hand."""
    try:
        init = _constructor(project, kept)
        fresh = kept.made.row.fresh.format(call=_constructor_text(kept, module, init))
    except _NotSoError as reason:
        yield Proposal(f"{OWN} (no automatic fix: {reason})", Applicability.DISPLAY)
        return
    attribute = kept.name.rpartition(".")[2]
    text = PROPERTY.format(
        stem=attribute.lstrip("_"),
        attribute=attribute,
        fresh=fresh,
        imports="" if _is_torch(module.scope) else "import torch",
    )
    statement = tree.statements[module.ordinals[kept.statement]]
    yield Proposal(
        OWN, Applicability.UNSAFE, _with_property(tree, statement, tree.statements[module.ordinals[init]], text)
    )


def _constructor(project: Project, kept: KeptGenerator) -> Function:
    """The ``__init__`` whose statement can go; raises _NotSoError."""
    facts, attribute = kept.keeper, kept.name.rpartition(".")[2]
    if facts is None or not kept.on_object:
        raise _NotSoError("it does not belong to one object")
    init = facts.methods.get("__init__")
    if init is None or kept.statement not in init.body or len(init.body) < 2:
        raise _NotSoError("it is not created by a statement of `__init__` itself")
    if any(other is not kept.statement and other.lineno == kept.statement.lineno for other in (init, *init.body)):
        raise _NotSoError("it shares a line with another statement")
    value = kept.statement.value if isinstance(kept.statement, (ast.Assign, ast.AnnAssign)) else None
    if value is None or not any(node is kept.made.node for node in ast.walk(value)):
        raise _NotSoError("it comes from a caller, or is created in several steps")
    if isinstance(value, SEVERAL):
        raise _NotSoError("it is one of several")
    if isinstance(value, (ast.BoolOp, ast.IfExp)) or (
        isinstance(kept.statement, ast.Assign) and len(kept.statement.targets) > 1
    ):
        raise _NotSoError("it may come from a caller")
    _check_family(project, facts, kept.statement, attribute)
    if _is_stored_outside(project, attribute):
        raise _NotSoError("other code replaces it")
    for one in init_path(project, facts):
        if any(node.attr == attribute for node in attribute_nodes(one.node)):
            raise _NotSoError("`__init__` draws from it, too")
    return init


def _check_family(project: Project, facts: ClassFacts, statement: ast.stmt, attribute: str) -> None:
    """Raise _NotSoError if the class, a base or a subclass stores the attribute elsewhere or has its names."""
    stem = attribute.lstrip("_")
    names = {attribute, f"_{stem}_seed", f"_{stem}_generator", "__slots__"}
    for owner in (*project.ancestry(facts).classes, *project.subclasses(facts)):
        for node in ast.walk(owner.node):
            is_it = isinstance(node, ast.Attribute) and node.attr == attribute and not isinstance(node.ctx, ast.Load)
            if is_it and owner.module.statement_of(node) is not statement:
                raise _NotSoError("it is stored elsewhere, too")
        if names & set(owner.scope.bindings):
            raise _NotSoError("the class already uses a name that the fix needs")


def _is_stored_outside(project: Project, attribute: str) -> bool:
    """Whether any code stores an attribute of this name on something other than ``self``."""
    return any(
        last_name(store) == attribute and store != f"self.{attribute}"
        for path in project.where(WORD, attribute)
        if (summary := project.summary(path)) is not None
        for scope in summary.scopes
        for store in scope.stores
    )


def _constructor_text(kept: KeptGenerator, module: Module, init: Function) -> str:
    """What is called to make it, as the class can write it elsewhere."""
    func = kept.made.constructor
    name = func
    while isinstance(name, ast.Attribute):
        name = name.value
    found = module.scope_of[init].find(name.id) if isinstance(name, ast.Name) else None
    if func is None or found is None or found[0] is not module.scope or module is not kept.made.module:
        raise _NotSoError("it is created with a local name")
    if not kept.made.row.fresh:
        raise _NotSoError("it is created from more than a seed")
    return ast.unparse(func)


def _with_property(tree: Tree, statement: cst.CSTNode, init: cst.CSTNode, text: str) -> Tree:
    import libcst

    style = tree.module
    text = re.sub(r"^ +\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(?:    )+", lambda m: style.default_indent * (len(m[0]) // 4), text, flags=re.MULTILINE)
    body = cst.parse_module(text.replace("\n", style.default_newline), style.config_for_parsing).body
    blank = cst.EmptyLine(indent=False)
    line = tree.line_of(statement)
    kept = _comments(line)
    methods = [part.with_changes(leading_lines=[blank, *(kept if part is body[0] else [])]) for part in body]

    path = tree.above((line, init))

    class Rewriter(libcst.CSTTransformer):
        def on_visit(self, node: cst.CSTNode) -> bool:
            return node in path

        def on_leave(self, original_node, updated_node):  # type: ignore[no-untyped-def]
            if original_node is line:
                return libcst.RemoveFromParent()
            if original_node is init:
                return libcst.FlattenSentinel([updated_node, *methods])
            return updated_node

    changed = tree.module.visit(Rewriter())
    assert isinstance(changed, libcst.Module)  # noqa: S101 - a module stays a module
    return Tree(changed)


def _comments(line: cst.CSTNode) -> list[cst.EmptyLine]:
    """The comments above a line and behind it, each as a line of its own."""
    found = [above for above in getattr(line, "leading_lines", ()) if above.comment is not None]
    behind = line.trailing_whitespace.comment  # type: ignore[attr-defined]
    return [*found, *([cst.EmptyLine(comment=behind)] if behind is not None else [])]


def of_seeds(seeds: WorkerSeeds, module: Module, tree: Tree) -> Iterator[Proposal]:
    """Seed each worker from the seed that torch made for it."""
    is_error = seeds.too_large or seeds.refused
    applicability = Applicability.SAFE if is_error else Applicability.UNSAFE
    what = f"seed with `{FRESH}`, which differs in each worker and each epoch"
    if seeds.too_large:
        what = "reduce the seed modulo 2**32"
    elif seeds.refused:
        what = "make it an integer of Python: `int(...)`"
    changes = _changes(seeds, module, tree)
    if changes is None:
        words = "remove it: torch seeds each worker differently in each epoch"
        is_kept = is_error or not all(one.seeder.fresh for one in seeds.seedings)
        words = what if is_kept else words
        yield Proposal(words, Applicability.DISPLAY)
        return
    yield Proposal(what, applicability, tree.replace_all(changes))


def _changes(seeds: WorkerSeeds, module: Module, tree: Tree) -> Changes | None:
    """The statements as they would be; None where that is left to a person."""
    is_error = seeds.too_large or seeds.refused
    if not isinstance(seeds.function, FunctionFacts) or not (is_error or _is_torch(module.scope)):
        return None
    if not is_error:
        local = _local_of(seeds, seeds.function)
        if local is not None:
            node = tree.statements[module.ordinals[local]]
            return {node: small_statement(f"{ast.unparse(local.targets[0])} = {FRESH}")}
    changes: Changes = {}
    for one in seeds.seedings:
        statement = module.statement_of(one.call)
        if not isinstance(statement, ast.Expr) or statement.value is not one.call or len(one.call.args) != 1:
            return None
        if one.call.keywords or ("torch" in one.seeder.streams and not is_error):
            return None
        changes[tree.statements[module.ordinals[statement]]] = small_statement(_seeded(one, seeds))
    return changes


def _seeded(one: Seeding, seeds: WorkerSeeds) -> str:
    function, argument = ast.unparse(one.call.func), ast.unparse(one.call.args[0])
    if seeds.refused:
        return f"{function}(int({argument}))"
    if not seeds.too_large:
        return f"{function}({one.seeder.fresh or FRESH})"
    simple = isinstance(one.call.args[0], (ast.Name, ast.Attribute, ast.Call))
    return f"{function}({argument if simple else f'({argument})'} % 2**32)"


def _local_of(seeds: WorkerSeeds, function: FunctionFacts) -> ast.Assign | None:
    """The one statement that works the seed out, if all calls are given the name that it binds."""
    names = {
        one.call.args[0].id if one.call.args and isinstance(one.call.args[0], ast.Name) else ""
        for one in seeds.seedings
    }
    if len(names) != 1:
        return None
    bindings = function.scope.bound(names.pop())
    if len(bindings) != 1 or bindings[0].kind is not Kind.VALUE or not isinstance(bindings[0].node, ast.Assign):
        return None
    statement = bindings[0].node
    return statement if len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name) else None


def _is_torch(scope: Scope) -> bool:
    """Whether ``torch`` means torch at the top of a module."""
    bindings = scope.bound("torch")
    return bool(bindings) and all(one.module == "torch" and not one.attribute and not one.level for one in bindings)
