"""Whether code that uses a name is ready for the name to be missing, or hides that it is."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from forklint.project.bindings import block_of
from forklint.project.module import Module
from forklint.project.nodes import nodes_below, start_of
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.project.spelling import dotted, is_name, last_name

ERRORS = frozenset(name for name in vars(builtins) if name.endswith("Error"))
EXPECTING = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError"})
CATCHING_ALL = frozenset({"Exception", "BaseException"})
SWALLOWING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex", "try_import"})
KINDS = frozenset({"isinstance", "issubclass", "type"})
NAMES = frozenset({"hasattr", "getattr", "callable", "dir", "vars"})
"""Builtins by which code asks what an object is, or has, before it uses it."""
FIND_SPEC = "find_spec"
"""The function of importlib that asks whether there is a module."""
STATE = "state_dict"
"""The method of torch that lists the weights of a model by the names of its parts."""
LISTS = frozenset({"vars", "dir"})
"""Those that list what it has."""
AVAILABLE = re.compile(r"has_|HAS_|(?<!is)_available|_AVAILABLE")
"""Words in the test of a branch that is taken only where something exists."""
WRAPPED = "module"
WRAPPING = re.compile(r"parallel|distributed|ddp|wrapped", re.IGNORECASE)
"""An attribute that only what wraps a module has, and words in the test of a branch that is taken for such."""
LEAVING = frozenset({"sys.exit", "exit", "quit", "os._exit", "pytest.skip"})
"""Calls after which nothing more of the program runs."""
PARTS = re.compile(r"[A-Za-z][a-z]+|[A-Z]+|\d+")
VERSION = re.compile(r"version|VERSION|is_torch|TORCH|" + AVAILABLE.pattern)
"""The same for names of torch, of which other versions have others."""


def is_excused(module: Module, node: ast.AST, name: str) -> bool:
    """Whether the use of a module, called ``name``, at ``node`` is guarded, not executed, or of another object.

    ``name``: empty for an import, which is guarded where a condition asks whether anything has a name.
    """
    if is_never_reached(module, node):
        return True
    for above, below in _around(module, node):
        if _tries(above, below, EXPECTING | CATCHING_ALL) or _decides(module, (above, below), name, VERSION):
            return True
        if _binds(above, name) or (_is_whole(above) and any(_asks(part, name, "") for part in nodes_below(above))):
            return True
    return False


def is_fallback(module: Module, node: ast.AST) -> bool:
    """Whether code runs only where another name is missing: in a handler of that, or in a function there.

    A handler of every exception counts where the ``try`` is there for one statement.
    """
    handlers = [one for one in module.above(node) if isinstance(one, ast.ExceptHandler)]
    return any(
        _names(one, EXPECTING) or (_catches(one, CATCHING_ALL) and _is_one_line(module.parents[one]))
        for one in handlers
    )


def expects_lack(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is run when a name or module is missing."""
    return _catches(handler, EXPECTING | CATCHING_ALL)


def is_method_excused(module: Module, use: ast.Attribute) -> bool:
    """Whether the use of a method of an object, variable or ``self``, is guarded or not executed, or of another one.

    A ``try`` of several statements that catches every exception does not expect this one: see ``is_hidden``.
    """
    if is_never_reached(module, use):
        return True
    name = dotted(use.value)
    for above, below in _around(module, use):
        if _tries(above, below, EXPECTING) or (_is_one_line(above) and _tries(above, below, CATCHING_ALL)):
            return True
        if _decides(module, (above, below), name, AVAILABLE, use.attr) or _binds(above, name):
            return True
        if _is_whole(above) and any(_asks(part, name, use.attr) for part in nodes_below(above)):
            return True
    return False


def is_never_reached(module: Module, node: ast.AST) -> bool:
    """Whether a statement before a node, in its block or one around it, surely leaves that, or nothing evaluates it."""
    if _is_annotation_in_function(module, node):
        return True
    below = node
    for above in module.above(node):
        block = block_of(module, below) if isinstance(below, ast.stmt) else []
        if any(leaves(statement) for statement in block if start_of(statement) < start_of(below)):
            return True
        if isinstance(above, ast.BoolOp) and _is_decided(above, below):
            return True
        below = above
    return False


def _is_decided(condition: ast.BoolOp, part: ast.AST) -> bool:
    """Whether an exception before a part is the value of a condition: ``except OSError or too_long(row)``."""
    before = condition.values[: condition.values.index(part)]  # type: ignore[arg-type]
    return isinstance(condition.op, ast.Or) and any(isinstance(one, ast.Name) and one.id in ERRORS for one in before)


def _is_annotation_in_function(module: Module, node: ast.AST) -> bool:
    """Whether a node stands in the annotation of a variable of a function, which Python does not evaluate."""
    below = node
    for above in module.above(node):
        if isinstance(above, ast.stmt):
            is_annotation = isinstance(above, ast.AnnAssign) and below is above.annotation
            return is_annotation and isinstance(module.scope_at(above).node, FUNCTIONS)
        below = above
    return False


def leaves(statement: ast.stmt) -> bool:
    """Whether a statement ends the block that it stands in, whatever happens."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return dotted(statement.value.func) in LEAVING
    return isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break))


def is_hidden(module: Module, node: ast.AST) -> bool:
    """Whether a ``try`` around a node catches every exception and goes on."""
    return any(_tries(above, below, CATCHING_ALL) for above, below in _around(module, node))


def _around(module: Module, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes above a node, up to its function or module, each with the one below it on the way."""
    below = node
    for above in module.above(node):
        yield above, below
        if _is_whole(above):
            return
        below = above


def _is_whole(node: ast.AST) -> bool:
    return isinstance(node, (*FUNCTIONS, ast.Module))


def _tries(above: ast.AST, below: ast.AST, errors: frozenset[str]) -> bool:
    """Whether a ``try`` or ``with`` catches one of some errors that comes from the part below it, and goes on."""
    if isinstance(above, (ast.With, ast.AsyncWith)):
        calls = (item.context_expr for item in above.items if isinstance(item.context_expr, ast.Call))
        return any(last_name(call.func) in SWALLOWING for call in calls)
    if not isinstance(above, ast.Try) or below not in above.body:
        return False
    return any(_catches(handler, errors) and not _raises(handler) for handler in above.handlers)


def _catches(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    if handler.type is None:
        return not errors.isdisjoint(CATCHING_ALL)
    return any(last_name(part) in errors for part in nodes_below(handler.type))


def _raises(handler: ast.ExceptHandler) -> bool:
    """Whether a handler of every exception passes it on, so that nothing is hidden."""
    return isinstance(handler.body[-1], ast.Raise) and not _names(handler, EXPECTING)


def _names(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    return handler.type is not None and any(last_name(part) in errors for part in nodes_below(handler.type))


def _is_one_line(above: ast.AST) -> bool:
    """Whether a ``try`` is there for one simple statement: its author knows what may fail."""
    return isinstance(above, ast.Try) and len(above.body) == 1 and not hasattr(above.body[0], "body")


def _decides(
    module: Module, around: tuple[ast.AST, ast.AST], name: str, words: re.Pattern[str], attribute: str = ""
) -> bool:
    """Whether a condition above a node asks what ``name`` is or has, or is false whatever happens.

    ``attribute``: what is used of it there; a flag of its own that speaks of something else says nothing about that.
    """
    above, below = around
    if isinstance(above, (ast.If, ast.IfExp, ast.While)):
        constant = _constant(module, above.test) if below is not above.test else None
        if constant is not None:
            is_body = below is above.body or (isinstance(above.body, list) and below in above.body)
            return bool(constant.value) != is_body
        return _is_question(above.test, name, words, attribute)
    if isinstance(above, ast.Assert):
        return _is_question(above.test, name, words, attribute)
    if isinstance(above, ast.BoolOp):
        return any(_is_question(value, name, words, attribute) for value in above.values if value is not below)
    return False


def _constant(module: Module, test: ast.expr) -> ast.Constant | None:
    """The constant that a condition is: written out, or what the code around it gives a variable, and nothing else."""
    if isinstance(test, ast.Constant):
        return test
    if isinstance(test, ast.Attribute):
        return _kept_constant(module, test)
    found = module.scope_at(test).find(test.id) if isinstance(test, ast.Name) else None
    if found is None or found[0] is not module.scope_at(test) or len(found[1]) != 1:
        return None
    value = found[1][0].value if found[1][0].kind is Kind.VALUE else None
    return value if isinstance(value, ast.Constant) else None


def _kept_constant(module: Module, test: ast.Attribute) -> ast.Constant | None:
    """The constant that a function gives an attribute further up, if the file gives one of its name nothing else."""
    if not is_name(test.value, "self"):
        return None
    stores = [
        one for one in module.uses(test.attr) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
    ]
    above = [module.parents[one] for one in stores]
    values = [one.value for one in above if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)]
    if not values or len(values) < len(stores) or len({ast.dump(one) for one in values}) > 1:
        return None
    around = (one for one in module.above(test) if isinstance(one, ast.stmt) and not isinstance(one, FUNCTIONS))
    run = {id(one) for statement in around for one in block_of(module, statement)}
    return values[0] if any(id(one) in run and start_of(one) < start_of(test) for one in above) else None


def _is_question(test: ast.expr, name: str, words: re.Pattern[str], attribute: str) -> bool:
    for part in nodes_below(test):
        if _asks(part, name, "") or (not name and _asks_for_any(part)) or _asks_for_weights(part, attribute):
            return True
        word = last_name(part)
        if attribute == WRAPPED and WRAPPING.search(word):
            return True
        if attribute and dotted(part) == f"{name}.{word}" and _parts(word).isdisjoint(_parts(attribute)):
            continue
        if isinstance(part, (ast.Name, ast.Attribute)) and (word == "TYPE_CHECKING" or words.search(word)):
            return True
        if dotted(part) == "sys.modules":
            return True
    return False


def _asks_for_weights(node: ast.AST, attribute: str) -> bool:
    """Whether a node asks for weights of a part of a model: ``"encoder.weight" in model.state_dict()``."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return False
    weights = node.left.value if isinstance(node.left, ast.Constant) else None
    asked = {last_name(one.func) for one in nodes_below(node.comparators[0]) if isinstance(one, ast.Call)}
    return isinstance(weights, str) and attribute in weights.split(".") and STATE in asked


def _parts(name: str) -> frozenset[str]:
    """The words in a name, but for ``has``."""
    return frozenset(one.lower() for one in PARTS.findall(name)) - {"has"}


def _asks_for_any(node: ast.AST) -> bool:
    """Whether a call asks what something is or has, or whether there is a module."""
    return isinstance(node, ast.Call) and (dotted(node.func) in NAMES or last_name(node.func) == FIND_SPEC)


def _asks(node: ast.AST, name: str, attribute: str) -> bool:
    """Whether a node asks what ``name`` is, or whether it has an attribute ("" for any)."""
    if not name:
        return False
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__" and not attribute and dotted(node.value) == name
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        left = node.left.value if isinstance(node.left, ast.Constant) else None
        return attribute in {"", left} and _names_of(node.comparators[0]) == name
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
        return False
    asker = node.func.id
    if asker not in KINDS | NAMES or dotted(_of_class(node.args[0])) != name:
        return False
    if asker in KINDS:
        return not attribute or asker != "type"
    asked = node.args[1] if len(node.args) > 1 else None
    if isinstance(asked, ast.Constant):
        return attribute in {"", asked.value}
    return not attribute or asker == "hasattr"


def _names_of(node: ast.expr) -> str:
    """What ``x.__dict__``, ``vars(x)`` and ``dir(x)`` are the names of."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return dotted(node.value)
    is_list = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LISTS
    return dotted(node.args[0]) if is_list and isinstance(node, ast.Call) and node.args else "-"


def _of_class(node: ast.expr) -> ast.expr:
    """What ``type(x)`` and ``x.__class__`` ask of."""
    if isinstance(node, ast.Call) and dotted(node.func) == "type" and node.args:
        return node.args[0]
    return node.value if isinstance(node, ast.Attribute) and node.attr == "__class__" else node


def _binds(above: ast.AST, name: str) -> bool:
    """Whether a comprehension or lambda around the use has a variable of the same name."""
    if isinstance(above, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        targets = (part for generator in above.generators for part in nodes_below(generator.target))
        return any(isinstance(part, ast.Name) and part.id == name for part in targets)
    if isinstance(above, ast.Lambda):
        arguments = above.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        return any(argument is not None and argument.arg == name for argument in every)
    return False
