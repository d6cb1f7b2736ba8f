"""Whether a handle that is closed after the constructor and opened again later is as good as the first one.

What was set on the first one (a row factory, a password), what was made of it (a reader, an iterator), and what
has happened to its path in between is lost; so all that the constructor does with it has to be a plain read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from forklint.datasets.workers import init_path
from forklint.knowledge.handles import Handle
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Kind, Scope
from forklint.project.spelling import all_arguments, last_name

COLLECTORS = frozenset({"len", "list", "tuple", "set", "frozenset", "sorted"})
"""Functions that read all of what they are given before they return."""
ASKING = frozenset({"getattr", "hasattr", "isinstance", "bool", "int", "str", "repr", "print"})
"""Functions whose answer keeps nothing of what they are asked about, in most cases."""
FACTS = frozenset({"shape", "dtype", "size", "ndim"})
"""Attributes of an array in a file that are plain values."""
UPHEAVALS = frozenset({"chdir", "remove", "unlink", "rmtree", "rmdir", "rename", "renames", "move"})
"""Calls after which a path may name something else."""
BLOCKS = (ast.Try, ast.With, ast.AsyncWith)


def constructing(project: Project, owner: ClassFacts, dataset: ClassFacts) -> list[FunctionFacts]:
    """The functions that may run while the object that keeps the handle, and the dataset around it, are built."""
    path = [*init_path(project, owner), *init_path(project, dataset)]
    names = {node.attr for function in path for node in nodes_below(function.node) if isinstance(node, ast.Attribute)}
    path += [FunctionFacts(owner.module, method) for name, method in owner.methods.items() if name in names]
    return list(dict.fromkeys(path))


def only_read(path: Iterable[FunctionFacts], owner: ClassFacts, attribute: str, row: Handle) -> bool:
    """Whether the constructor's way only reads plain values from the handle, and nothing is ever set on it."""
    parents = owner.module.parents
    if any(_is_set_on(node, attribute) for node in nodes_below(owner.node)):
        return False
    inside = [function.node for function in path if function.module is owner.module]
    nodes = [node for function in inside for node in nodes_below(function) if _reads(node, attribute)]
    return all(_is_plain_read(node, parents, row) for node in nodes)


def handed_on(path: Iterable[FunctionFacts], attribute: str, row: Handle) -> bool:
    """Whether the constructor gives the handle to what it keeps under another attribute: ``csv.reader(self.f)``."""
    for function in path:
        for statement in nodes_below(function.node):
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
            if not any(isinstance(target, ast.Attribute) and target.attr != attribute for target in targets):
                continue
            for call in nodes_below(statement):
                if isinstance(call, ast.Call) and not _is_harmless(call.func, row):
                    given = all_arguments(call)
                    if any(_reads(argument, attribute) for argument in given):
                        return True
    return False


def _is_harmless(function: ast.expr, row: Handle) -> bool:
    name = ast.unparse(function)
    return name in COLLECTORS or name in ASKING or name in row.harmless


def stands_free(statement: ast.stmt, path: Iterable[FunctionFacts], owner: ClassFacts) -> bool:
    """Whether the opening, and each call of the method it is in, stands in no ``try`` and no ``with``."""
    module = owner.module
    if _is_in_block(statement, module):
        return False
    name = next((n for n, method in owner.methods.items() if any(s is statement for s in nodes_below(method))), "")
    for function in path:
        for node in nodes_below(function.node):
            calls = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name != "__init__"
            if calls and _is_in_block(node, function.module):
                return False
    return True


def keeps_paths(project: Project, path: Iterable[FunctionFacts]) -> bool:
    """Whether the functions leave the files and the working directory as they are."""
    for function in path:
        for node in nodes_below(function.node):
            if not isinstance(node, ast.Call):
                continue
            if last_name(node.func) in UPHEAVALS:
                return False
            symbol = project.resolve(function.module, function.scope, node.func)
            if isinstance(symbol, External) and (symbol.name.startswith("tempfile.") or symbol.name == "os.replace"):
                return False
    return True


def keeps_meaning(project: Project, module: Module, call: str) -> bool:
    """Whether the module's names in a call that waits mean the same whenever it is made."""
    expression = ast.parse(call, mode="eval").body
    parents = {child: node for node in nodes_below(expression) for child in ast.iter_child_nodes(node)}
    declared = {name for node in module.nodes if isinstance(node, ast.Global) for name in node.names}
    for node in nodes_below(expression):
        bindings = module.scope.bound(node.id) if isinstance(node, ast.Name) else []
        if not isinstance(node, ast.Name) or not bindings:
            continue
        if len(bindings) != 1 or node.id in declared:
            return False
        above = parents.get(node)
        if isinstance(above, ast.Subscript) or (isinstance(above, ast.Attribute) and not _is_fixed(bindings[0].kind)):
            return False
        if isinstance(above, ast.Attribute) and not _names_outside(project, module, module.scope, above):
            return False
    return True


def _is_fixed(kind: Kind) -> bool:
    return kind is Kind.IMPORT


def _names_outside(project: Project, module: Module, scope: Scope, expression: ast.expr) -> bool:
    """Whether ``a.b`` is of a package outside the project, and not its view of the environment."""
    symbol = project.resolve(module, scope, expression)
    return isinstance(symbol, External) and symbol.name != "os.environ"


def _is_in_block(node: ast.AST, module: Module) -> bool:
    while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(node, BLOCKS) or type(node).__name__ == "TryStar":
            return True
        node = module.parents[node]
    return False


def _reads(node: ast.AST, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load)


def _is_set_on(node: ast.AST, attribute: str) -> bool:
    """Whether a node stores into the handle: ``self.c.row_factory = x``, ``self.h["x"] = y``."""
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or isinstance(node.ctx, ast.Load):
        return False
    below: ast.expr = node.value
    while isinstance(below, (ast.Attribute, ast.Subscript)):
        if _reads(below, attribute):
            return True
        below = below.value
    return False


Parents = dict[ast.AST, ast.AST]


def _is_plain_read(node: ast.AST, parents: Parents, row: Handle) -> bool:
    above = parents[node]
    if "iter" in row.reads and _is_read_through(node, parents):
        return True
    if isinstance(above, ast.Compare):
        return "in" in row.reads and above.left is not node and isinstance(above.ops[-1], (ast.In, ast.NotIn))
    if isinstance(above, ast.Call):
        return ast.unparse(above.func) in ("len", *row.harmless) and node in above.args
    if isinstance(above, ast.Subscript) and above.value is node:
        return "[]" in row.reads or ("[]" in row.derived and _ends_in_read(above, parents))
    if not isinstance(above, ast.Attribute):
        return False
    call = parents[above]
    if isinstance(call, ast.Subscript):
        return "attrs" in row.reads and above.attr == "attrs" and call.value is above
    return isinstance(call, ast.Call) and call.func is above and _is_reading_call(call, above.attr, parents, row)


def _is_reading_call(call: ast.Call, name: str, parents: Parents, row: Handle) -> bool:
    """Whether a method of the handle only reads: its result keeps nothing of the handle, or is read at once."""
    above = parents[call]
    if name == row.close and not call.args:
        return True
    if isinstance(above, ast.withitem):
        return name == "begin" and name in row.derived
    if name not in row.reads:
        return False
    if name == "execute":
        query = call.args[0] if call.args else None
        text = query.value if isinstance(query, ast.Constant) else ""
        if not isinstance(text, str) or not text.lstrip().upper().startswith("SELECT"):
            return False
        fetched = isinstance(above, ast.Attribute) and above.attr in ("fetchone", "fetchall")
        return (fetched and isinstance(parents[above], ast.Call)) or _is_read_through(call, parents)
    return name not in row.derived or _is_read_through(call, parents)


def _is_read_through(node: ast.AST, parents: Parents) -> bool:
    """Whether an iterable is read to its end on the spot, its elements being plain."""
    above = parents[node]
    if isinstance(above, ast.Call):
        return getattr(above.func, "id", "") in COLLECTORS and node in above.args
    if isinstance(above, ast.comprehension):
        return above.iter is node and not isinstance(parents[above], ast.GeneratorExp)
    return isinstance(above, ast.For) and above.iter is node


def _ends_in_read(node: ast.expr, parents: Parents) -> bool:
    """Whether ``self.h["x"]...`` goes on until it is a value: ``[:]``, ``[()]``, ``.shape``, ``len()``."""
    for above in _above(node, parents):
        if isinstance(above, ast.Subscript) and above.value is node:
            if _is_whole(above.slice):
                return True
        elif isinstance(above, ast.Attribute):
            return above.attr in FACTS
        else:
            return isinstance(above, ast.Call) and getattr(above.func, "id", "") == "len"
        node = above
    return False


def _above(node: ast.AST, parents: Parents) -> Iterator[ast.expr]:
    above = parents[node]
    while isinstance(above, ast.expr):
        yield above
        above = parents[above]


def _is_whole(index: ast.expr) -> bool:
    return isinstance(index, (ast.Slice, ast.Tuple)) or (isinstance(index, ast.Constant) and index.value is ...)
