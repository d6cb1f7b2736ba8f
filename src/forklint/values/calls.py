"""What a call gives: of the project's functions and classes, of builtins, and of libraries that are understood."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.knowledge.poisons import poisons
from forklint.knowledge.starters import iteration, starters
from forklint.project import scopes
from forklint.project.index import External
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import argument
from forklint.values import arguments, arithmetic, by_name, classes, command_line, files, names, numbers, registering
from forklint.values.model import (
    NOT_KNOWN,
    NOTHING,
    Arguments,
    Constant,
    Expression,
    Found,
    Frame,
    Instance,
    Lambda,
    Made,
    Ref,
    Row,
    Setting,
    Stream,
    Table,
    Value,
    agreed,
    perhaps,
)
from forklint.values.worlds import EVERYWHERE, NOWHERE, Conditions, Worlds

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.values.evaluator import Evaluator
    from forklint.values.model import Source

ENDS = (ast.Return, ast.Raise, ast.If, ast.With, ast.Try, ast.Match, ast.While, ast.For)
"""Statements at the end of a function after which it may not fall through to None."""
NONE = ast.Constant(None)
PARTIAL = frozenset({"functools.partial"})
BOUND = frozenset({"classmethod", "staticmethod"})
"""What makes of a function in a class one that needs no object of it."""
PLAIN_METHODS = frozenset({"copy", "model_dump", "dict", "to_dict", "_asdict"})
"""Methods that give an object with the same entries."""


def find(evaluator: Evaluator, source: Expression) -> Found:
    """What a call gives; NOTHING where that is not understood."""
    node = source.node
    assert isinstance(node, ast.Call)  # noqa: S101 - the evaluator says so
    name = qualified(evaluator, source.part(node.func))
    if name:
        return _library(evaluator, source, name)
    symbol = evaluator.project.resolve(source.module, source.scope, node.func)
    if isinstance(symbol, ClassFacts) or (isinstance(symbol, FunctionFacts) and symbol.owner is None):
        return _of_callee(evaluator, source, Ref(symbol), arguments.of_call(evaluator, source))
    found = _method(evaluator, source, node.func) if isinstance(node.func, ast.Attribute) else NOTHING
    if found.possible:
        return found
    callee = evaluator.find(source.part(node.func))
    if not callee.possible:
        found = by_name.of_any_method(evaluator, source)
        if found.possible:
            return found
    if not callee.possible and isinstance(node.func, ast.Attribute) and node.func.attr == "__iter__":
        return Found(Made("builtins.iter", source))
    given = arguments.of_call(evaluator, source) if callee.possible else NOT_KNOWN
    return evaluator.each(callee, lambda one: _of_callee(evaluator, source, one.value, given))


def _of_callee(evaluator: Evaluator, source: Expression, callee: Value, given: Arguments) -> Found:
    """What it gives to call a class, a function or a partial of one with some arguments."""
    if isinstance(callee, Ref) and isinstance(callee.symbol, ClassFacts):
        is_table = classes.is_table(evaluator.project, callee.symbol)
        return Found(arguments.as_table(evaluator, given) if is_table else Instance(callee.symbol, given, source))
    if isinstance(callee, Ref) and isinstance(callee.symbol, FunctionFacts):
        return result_of(evaluator, callee.symbol, given, None, source.frame)
    if isinstance(callee, Made) and callee.name in PARTIAL and callee.call.node is not source.node:
        kept = arguments.of_call(evaluator, callee.call)
        whole = kept.without_first.then(given)
        inner = evaluator.find(kept.positional[0]) if kept.positional else NOTHING
        name = _named(evaluator, kept.positional[0]) if kept.positional else ""
        if name:
            return Found(Made(name, source))
        return evaluator.each(inner, lambda one: _of_callee(evaluator, source, one.value, whole))
    if isinstance(callee, Instance):
        found = evaluator.project.method(callee.facts, "__call__")
        function = FunctionFacts(found[0].module, found[1]) if found is not None else None
        return result_of(evaluator, function, given, callee, source.frame) if function is not None else NOTHING
    if isinstance(callee, Lambda) and isinstance(callee.place.node, ast.Lambda):
        written = callee.place.node
        return evaluator.find(callee.place.part(written.body)) if not ast.unparse(written.args) else NOTHING
    return NOTHING


def qualified(evaluator: Evaluator, function: Expression) -> str:
    """The qualified name of a function outside the project, builtins included; empty for any other."""
    node = function.node
    if isinstance(node, ast.Name) and function.scope.find(node.id) is None and not function.module.scope.stars:
        return f"builtins.{node.id}"
    symbol = evaluator.project.resolve(function.module, function.scope, node)
    if symbol is None and isinstance(node, ast.Name) and function.scope.find(node.id) is None:
        stars = (f"{star.module}.{node.id}" for star in function.module.scope.stars if not star.level)
        return next((name for name in stars if name in starters()), f"builtins.{node.id}")
    return symbol.name if isinstance(symbol, External) else ""


def _named(evaluator: Evaluator, source: Source) -> str:
    """The qualified name of a library's function or class that is given to a call."""
    return qualified(evaluator, source) if isinstance(source, Expression) else ""


def _library(evaluator: Evaluator, source: Expression, name: str) -> Found:
    node = source.node
    assert isinstance(node, ast.Call)  # noqa: S101 - the caller says so
    first = source.part(node.args[0]) if node.args and not isinstance(node.args[0], ast.Starred) else None
    plain = name.removeprefix("builtins.")
    result = Found(Made(name, source))
    if name in listed("objects", "tables"):
        result = Found(arguments.as_table(evaluator, arguments.of_call(evaluator, source)))
    elif name in listed("objects", "same"):
        result = evaluator.find(first) if first is not None else NOTHING
    elif name in listed("objects", "environment"):
        default = argument(node, "default", 1)
        result = evaluator.find(source.part(default)).after(by_default=True) if default is not None else result
    elif name in listed("files", "readers"):
        result = _known_or(files.read_by(evaluator, source, name), result)
    elif name in listed("files", "openers"):
        result = files.path_of(evaluator, source)
    elif name in listed("command_line", "settings"):
        result = command_line.object_of(evaluator, source)
    elif name in listed("objects", "importing"):
        result = by_name.imported(evaluator, source, name)
    elif name == "builtins.getattr" and len(node.args) > 1:
        result = got(evaluator, source, evaluator.find(source.part(node.args[0])), node.args[1:])
    elif name in by_name.TABLES_OF_NAMES:
        result = by_name.table_of_names(evaluator, source, name, first)
    elif name == "builtins.isinstance" and len(node.args) == 2:
        result = _is_instance(evaluator, source, node.args[0], node.args[1])
    elif plain in {"bool", "int", "min", "max", "len", "abs", "round"} or plain in iteration().positive_counts:
        result = _counted(evaluator, source, plain)
    return result


def _known_or(found: Found, other: Found) -> Found:
    return found if found.known else other


def _is_instance(evaluator: Evaluator, source: Expression, what: ast.expr, kind: ast.expr) -> Found:
    """Whether an object of the project is one of a class of the project."""
    found, asked = evaluator.find(source.part(what)), evaluator.find(source.part(kind))
    if not isinstance(found.value, Instance) or not isinstance(asked.value, Ref):
        return NOTHING
    ancestry = evaluator.project.ancestry(found.value.facts)
    if asked.value.symbol in ancestry.classes:
        return arithmetic.joined(Constant(value=True), found)
    is_sure = found.value.made is not None and ancestry.complete and isinstance(asked.value.symbol, ClassFacts)
    return arithmetic.joined(Constant(value=False), found) if is_sure else NOTHING


def _counted(evaluator: Evaluator, source: Expression, name: str) -> Found:
    parts = [evaluator.find(source.part(argument)) for argument in source.node.args]  # type: ignore[attr-defined]
    if name == "bool" and parts:
        return _known_or(arithmetic.truth(parts[0]), Found(Made("builtins.bool", source)))
    if name == "len" and len(parts) == 1 and isinstance(parts[0].value, (Row, Table)):
        value = parts[0].value
        size = len(value.items if isinstance(value, Row) else value.values)
        return arithmetic.joined(Constant(size), *parts) if value.complete else NOTHING
    return arithmetic.of_each(parts, lambda each: numbers.called(name, each))


def _method(evaluator: Evaluator, source: Expression, func: ast.Attribute) -> Found:
    """What a method of an object gives that is followed itself."""
    owner = evaluator.find(source.part(func.value))
    if not owner.possible:
        return command_line.parsed_by_name(evaluator, source, func.attr)
    return evaluator.each(owner, lambda one: _method_of(evaluator, source, func, one))


def _method_of(evaluator: Evaluator, source: Expression, func: ast.Attribute, owner: Found) -> Found:
    node = source.node
    assert isinstance(node, ast.Call)  # noqa: S101 - the caller says so
    value = owner.value
    if func.attr in listed("files", "opening_methods") and isinstance(value, Constant):
        return owner
    if isinstance(value, Made):
        return _method_of_made(evaluator, source, func, owner, value)
    if isinstance(value, (Table, Setting)) and func.attr in {"get", "pop"} and node.args:
        return got(evaluator, source, owner, node.args)
    if isinstance(value, (Table, Setting, Instance)) and func.attr in PLAIN_METHODS:
        return owner
    if isinstance(value, Table) and func.attr == "values":
        return Found(Row(value.values, complete=False))
    if isinstance(value, Instance):
        parsed = command_line.parsed_by(evaluator, source, value, func.attr)
        if parsed is not None:
            return parsed
        found = evaluator.project.method(value.facts, func.attr)
        if found is not None:
            function = FunctionFacts(found[0].module, found[1])
            return returned(evaluator, function, source, value)
        if func.attr in listed("objects", "same_methods"):
            return owner
        if func.attr in listed("objects", "restoring"):
            return _of_class(evaluator, source, value.facts, func.attr)
    if isinstance(value, Ref) and isinstance(value.symbol, ClassFacts):
        return _of_class(evaluator, source, value.symbol, func.attr)
    return NOTHING


def _of_class(evaluator: Evaluator, source: Expression, facts: ClassFacts, name: str) -> Found:
    """What a method gives that is called by its class: unless it is bound to that, its first argument is its object."""
    given = arguments.of_call(evaluator, source)
    found = evaluator.project.method(facts, name)
    if found is None:
        is_made = name in listed("objects", "restoring")
        return Found(Instance(facts, arguments.of_restoring(evaluator, source, facts), source)) if is_made else NOTHING
    if name == "__init__":
        return NOTHING
    function, owner = FunctionFacts(found[0].module, found[1]), Instance(facts)
    if not BOUND.isdisjoint(mark.id for mark in function.node.decorator_list if isinstance(mark, ast.Name)):
        return result_of(evaluator, function, given, owner, source.frame)
    known = evaluator.find(given.positional[0]).value if given.positional else None
    receiver = known if isinstance(known, Instance) else owner
    return result_of(evaluator, function, replace(given, positional=given.positional[1:]), receiver, source.frame)


def _method_of_made(evaluator: Evaluator, source: Expression, func: ast.Attribute, owner: Found, value: Made) -> Found:
    """What a method of a library's object gives."""
    if value.name in iteration().contexts:
        return Found(Made(f"{value.name.rpartition('.')[0]}.{func.attr}", source))
    if (value.name, func.attr) in iteration().passes_through:
        handed = arguments.of_call(evaluator, source)
        is_single = len(handed.positional) == 1 and not handed.open
        return evaluator.find(handed.positional[0]) if is_single else Found(Row(handed.positional, not handed.open))
    if value.name in listed("files", "readers") and func.attr in {"get", "pop"}:
        node = source.node
        assert isinstance(node, ast.Call)  # noqa: S101 - the caller says so
        return of_unread(evaluator, source, owner, argument(node, "key", 0), argument(node, "default", 1))
    row = starters().get(value.name)
    if row is not None and func.attr in row.chained:
        return owner
    is_torch = func.attr in listed("objects", "same_methods") and value.name.startswith("torch")
    given = poisons().made_from(value.name, func.attr)
    if is_torch or given == value.name:
        return owner
    return Found(Made(given, source)) if given else command_line.method(source, value, func.attr)


def of_unread(
    evaluator: Evaluator, source: Expression, owner: Found, key: ast.expr | None, default: ast.expr | None
) -> Found:
    """What ``get`` gives of settings that are read from a file that is not known: a part, or a count by default."""
    found = evaluator.find(source.part(default)) if default is not None else owner
    if numbers.verdict(arithmetic.number_of(found)) is numbers.Workers.SOME:
        name = key.value if isinstance(key, ast.Constant) else None
        if isinstance(name, str) and names.is_set_elsewhere(evaluator, source.module, name, frame=source.frame):
            return NOTHING
        return found.after(by_default=True)
    return owner if found is owner or isinstance(found.value, Table) else NOTHING


def got(evaluator: Evaluator, source: Expression, owner: Found, given: list[ast.expr]) -> Found:
    """What ``owner.get("name", default)`` gives."""
    key = evaluator.find(source.part(given[0])).value
    home = owner.value.symbol if isinstance(owner.value, Ref) else None
    if isinstance(home, Module) and not isinstance(key, Constant):
        return names.of_any_member(evaluator, home)
    if isinstance(home, ClassFacts) and not isinstance(key, Constant):
        return by_name.of_class(home, key)
    table = evaluator.entries_of(owner)
    if table is not None and not isinstance(key, Constant):
        default = [evaluator.find(source.part(one)) for one in given[1:2]]
        return perhaps([*map(evaluator.find, table.values), *default])
    if not isinstance(key, Constant) or not isinstance(key.value, str):
        return NOTHING
    if table is not None and table.complete and key.value not in table.entries:
        return evaluator.find(source.part(given[1])) if len(given) > 1 else Found(Constant(None))
    found = evaluator.member(owner, key.value)
    return (
        NOTHING
        if found.known and names.is_set_elsewhere(evaluator, source.module, key.value, owner, source.frame)
        else found
    )


def returned(evaluator: Evaluator, function: FunctionFacts, call: Expression, receiver: Instance | None) -> Found:
    """What a call of a function of the project gives, if each ``return`` that it may come to gives the same."""
    return result_of(evaluator, function, arguments.of_call(evaluator, call), receiver, call.frame)


def result_of(
    evaluator: Evaluator,
    function: FunctionFacts,
    given: Arguments,
    receiver: Instance | None,
    within: Frame | None = None,
) -> Found:
    """What a function gives that is called with some arguments; of a generator, the generator."""
    frame = Frame(function, given, receiver, within)
    if not _is_followed(evaluator, frame):
        return NOTHING
    if is_generator(evaluator.project, function.node):
        return Found(Stream(frame))
    gives = agreed if isinstance(function.node.body[-1], ENDS) else perhaps
    return gives(evaluator.find(value).within(worlds) for value, worlds in _returns(evaluator, frame))


def returns(evaluator: Evaluator, frame: Frame) -> tuple[Expression, ...]:
    """The expressions that a call of a function may return; none if it is not followed."""
    if not _is_followed(evaluator, frame) or is_generator(evaluator.project, frame.function.node):
        return ()
    return tuple(value for value, _ in _returns(evaluator, frame))


def _returns(evaluator: Evaluator, frame: Frame) -> list[tuple[Expression, Worlds]]:
    here = Expression(frame.function.module, frame.function.scope, NONE, frame)
    values, _ = _outcomes(evaluator, here, frame.function.node.body)
    return [(here.part(value), worlds) for value, worlds in values]


def _is_followed(evaluator: Evaluator, frame: Frame) -> bool:
    """Whether it is known what a call gives, and it does not stand in another call of the same function."""
    is_again = frame.within is not None and frame.within.enters(frame.function)
    return not is_again and is_plain(evaluator, frame.function)


Outcomes = list[tuple[ast.expr, Worlds]]
"""What may be returned, each with the kinds of machine on which it may be."""


def _outcomes(evaluator: Evaluator, here: Expression, body: Sequence[ast.stmt]) -> tuple[Outcomes, Worlds]:
    """What statements may return, and where they may be followed by others; known conditions choose their branch."""
    values: Outcomes = []
    left = EVERYWHERE
    for statement in body:
        if isinstance(statement, ast.Return):
            return [*values, (statement.value or NONE, left)], NOWHERE
        if isinstance(statement, ast.Raise):
            return values, NOWHERE
        goes_on = left
        if isinstance(statement, ast.If):
            branches = _branches(evaluator, here, statement)
            ways = [(_outcomes(evaluator, here, block), taken) for block, taken in branches]
            values += [(value, worlds & taken & left) for (way, _), taken in ways for value, worlds in way]
            goes_on = left & NOWHERE.union(*(ends & taken for (_, ends), taken in ways))
        elif not isinstance(statement, (*scopes.FUNCTIONS, ast.ClassDef)):
            inner = [_outcomes(evaluator, here, block) for block in scopes.bodies(statement)]
            values += [(value, worlds & left) for way, _ in inner for value, worlds in way]
            if isinstance(statement, (ast.With, ast.AsyncWith)):
                goes_on = left & NOWHERE.union(*(ends for _, ends in inner))
        left = goes_on
        if not left:
            break
    return values, left


def _branches(evaluator: Evaluator, here: Expression, statement: ast.If) -> list[tuple[list[ast.stmt], Worlds]]:
    """The branches of an ``if`` that may be taken, and on which kinds of machine."""
    test = evaluator.find(here.part(statement.test))
    if isinstance(test.value, Constant) and not test.by_default:
        return [(statement.body if arithmetic.is_true(test.value) else statement.orelse, EVERYWHERE)]
    truth = Conditions(evaluator.project, here.module).truth(statement.test)
    return [(statement.body, truth.true), (statement.orelse, truth.false)]


def is_generator(project: Project, node: scopes.Function) -> bool:
    """Whether a function has a ``yield`` of its own."""
    return project.answer("is a generator", node, lambda: any(True for _ in yields(node)))


def yields(node: scopes.Function) -> Iterator[ast.Yield | ast.YieldFrom]:
    """Give what a function yields, not what the functions within it do."""
    for statement in scopes.statements(node.body):
        for expression in scopes.expressions(statement):
            for one in nodes_below(expression):
                if isinstance(one, (ast.Yield, ast.YieldFrom)):
                    yield one


def is_plain(evaluator: Evaluator, function: FunctionFacts) -> bool:
    """Whether calling a function gives what it returns or yields: no decorator changes it."""
    known = iteration().transparent_decorators
    scope = function.scope.parent or function.module.scope
    for mark in function.node.decorator_list:
        place = Expression(function.module, scope, mark)
        name = qualified(evaluator, place.part(mark.func if isinstance(mark, ast.Call) else mark))
        if name not in known and not registering.gives_the_same(evaluator, place):
            return False
    return True
