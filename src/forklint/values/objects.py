"""What attributes of the project's objects hold: fields of settings, what ``__init__`` sets, hyperparameters."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.project import entries, scopes
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.spelling import first_parameter, is_name, part_read, takes_class
from forklint.values import arguments, calls, hyperparameters, items
from forklint.values import stores as changes
from forklint.values.assigned import assigned, has_heir_with, has_own
from forklint.values.callers import handed_up, is_super_call
from forklint.values.model import (
    MOST_OPTIONS,
    NO_ARGUMENTS,
    NOTHING,
    Constant,
    Expression,
    Found,
    Frame,
    Instance,
    Source,
    Table,
    agreed,
    perhaps,
    told,
)
from forklint.values.taken import sets_any, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forklint.project.index import Project
    from forklint.values.evaluator import Evaluator

MOST_HEIRS = 32
"""So many classes are looked at that inherit from one."""
PLAIN_ENUMS = frozenset({"enum.Enum", "enum.Flag"})


def attribute(evaluator: Evaluator, owner: Instance, name: str) -> Found:
    """What an attribute of an object of a project class holds."""
    facts = owner.facts
    if name == hyperparameters.NAME and (kept := hyperparameters.find(evaluator, owner)).known:
        return kept
    stored = _all_stores(evaluator, owner, name)
    if stored is None and owner.made is not None:
        init = evaluator.project.method(facts, "__init__")
        found = taken(evaluator, owner, name, lambda one: _frame_of(evaluator, owner, init, one))
        if found is not None:
            return found
        stored = _named_stores(evaluator, owner, name)
    if stored is None:
        return _in_heirs(evaluator, owner, name)
    if stored:
        return agreed(_stored(evaluator, owner, place, name) for place in stored)
    if evaluator.project.method(facts, name) is not None:
        return agreed(evaluator.find(value) for value in _computed(evaluator, owner, name))
    return _field(evaluator, owner, name)


def _computed(evaluator: Evaluator, owner: Instance, name: str) -> list[Expression]:
    """What a property of an object returns; nothing for another method."""
    found = evaluator.project.method(owner.facts, name)
    if found is None or not any(
        isinstance(mark, ast.Name) and mark.id == "property" for mark in found[1].decorator_list
    ):
        return []
    function = FunctionFacts(found[0].module, found[1])
    returns = [s.value for s in scopes.statements(found[1].body) if isinstance(s, ast.Return)]
    frame = Frame(function, NO_ARGUMENTS, owner)
    return [Expression(function.module, function.scope, value, frame) for value in returns if value]


def behind_in_heirs(evaluator: Evaluator, owner: Instance, name: str) -> list[Expression]:
    """What may be put into an attribute, or given by a property, where the classes that inherit from it see to that."""
    computed = _computed(evaluator, owner, name)
    if computed:
        return computed
    heirs = map(Instance, _heirs_with(evaluator, owner, name))
    return [one for heir in heirs for one in stores(evaluator, heir, name) or () if one is not None]


def stores(evaluator: Evaluator, owner: Instance, name: str) -> list[Expression | None] | None:
    """What methods of an object's class and its bases assign to an attribute of ``self``; a value is None if unclear.

    None if anything may assign it, or the object may be one of a subclass that has an attribute of its own.
    """
    found = _all_stores(evaluator, owner, name)
    return found and [one if one is not None and not items.is_part(one) else None for one in found]


def _all_stores(evaluator: Evaluator, owner: Instance, name: str) -> list[Expression | None] | None:
    """The same; a part of what a call returns is written as an index of that call."""
    facts, project = owner.facts, evaluator.project
    if any(sets_any(evaluator, one) for one in project.ancestry(facts).classes):
        return None
    if owner.made is None and has_heir_with(project, facts, name):
        return None
    return _named_stores(evaluator, owner, name)


def _named_stores(evaluator: Evaluator, owner: Instance, name: str) -> list[Expression | None]:
    """The same by those that name the attribute."""
    facts = owner.facts
    find = lambda: _find_stores(evaluator, facts, name)  # noqa: E731 - it is short
    init = evaluator.project.method(facts, "__init__")
    found: list[Expression | None] = []
    for function, value in evaluator.project.answer("what methods assign", (facts, name), find):
        frame = _frame_of(evaluator, owner, init, function)
        found.append(Expression(function.module, function.scope, value, frame) if value is not None else None)
    return found


def _frame_of(
    evaluator: Evaluator, owner: Instance, init: tuple[ClassFacts, scopes.Function] | None, function: FunctionFacts
) -> Frame | None:
    """The call of a method of an object that is known: that of its constructor, or the one on its name."""
    made = _made_with(evaluator, owner, init, function) if init is not None and owner.made is not None else None
    return made or _called_on(evaluator, owner, function)


def _made_with(
    evaluator: Evaluator, owner: Instance, init: tuple[ClassFacts, scopes.Function], function: FunctionFacts
) -> Frame | None:
    """The call of a constructor by which an object was made, also of one that its own hands arguments up to."""
    home, node = init
    frame = Frame(FunctionFacts(home.module, node), owner.made or NO_ARGUMENTS, owner)
    for base in evaluator.project.ancestry(owner.facts).classes:
        if frame.function.node is function.node:
            return frame
        above = base.methods.get("__init__")
        if above is None or above is frame.function.node:
            continue
        up = [one for one in nodes_below(frame.function.node) if isinstance(one, ast.Call) and is_super_call(one)]
        if len(up) != 1:
            return None
        given = handed_up(evaluator, Expression(frame.function.module, frame.function.scope, up[0], frame))
        frame = Frame(FunctionFacts(base.module, above), given, owner)
    return frame if frame.function.node is function.node else None


def _in_heirs(evaluator: Evaluator, owner: Instance, name: str) -> Found:
    """What an attribute may hold in an object of one of the classes that inherit from its class and set it."""
    heirs = _heirs_with(evaluator, owner, name)[:MOST_OPTIONS]
    return perhaps(attribute(evaluator, Instance(one), name) for one in heirs)


def _heirs_with(evaluator: Evaluator, owner: Instance, name: str) -> list[ClassFacts]:
    """The classes that inherit from that of an object, which may be one of theirs, and have an attribute of a name."""
    if owner.made is not None:
        return []
    heirs = islice(evaluator.project.subclasses(owner.facts), MOST_HEIRS)
    return [one for one in heirs if has_own(evaluator.project, one, name)]


def _called_on(evaluator: Evaluator, owner: Instance, function: FunctionFacts) -> Frame | None:
    """The one call of a method on an object under the name that it is given where it is made; None if it is not one.

    So old code sets its objects up: ``loader = Loader()`` and then ``loader.initialize(options)``.
    """
    made = owner.call
    statement = made.module.parents.get(made.node) if made is not None else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if made is None or not isinstance(target, ast.Name):
        return None
    find = lambda: _methods_called(made.scope)  # noqa: E731 - it is short
    called = evaluator.project.answer("methods called on names", made.scope, find)
    on_it = called.get((target.id, function.node.name), ())
    return (
        Frame(function, arguments.of_call(evaluator, made.part(on_it[0])), owner, made.frame)
        if len(on_it) == 1
        else None
    )


def _methods_called(scope: scopes.Scope) -> dict[tuple[str, str], list[ast.Call]]:
    """The calls of ``name.method(...)`` in a scope, by both names."""
    found: dict[tuple[str, str], list[ast.Call]] = {}
    for node in nodes_below(scope.node):
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            found.setdefault((func.value.id, func.attr), []).append(node)  # type: ignore[arg-type]
    return found


def _find_stores(evaluator: Evaluator, facts: ClassFacts, name: str) -> list[tuple[FunctionFacts, ast.expr | None]]:
    found: list[tuple[FunctionFacts, ast.expr | None]] = []
    for owner in evaluator.project.ancestry(facts).classes:
        for function in owner.methods.values():
            this = FunctionFacts(owner.module, function)
            given = assigned(evaluator.project, function, first_parameter(function)).get(name, ())
            found += [(this, _value(evaluator, this, name, *one)) for one in given]
    return found


def _value(
    evaluator: Evaluator, function: FunctionFacts, name: str, statement: ast.stmt, value: ast.expr | None
) -> ast.expr | None:
    """What a statement assigns to an attribute; each part of ``random_split(whole)`` is as the whole."""
    whole = statement.value if isinstance(statement, ast.Assign) and value is None else None
    if not isinstance(statement, ast.Assign) or not isinstance(whole, ast.Call):
        return value
    called = calls.qualified(evaluator, Expression(function.module, function.scope, whole.func))
    return whole if called in listed("datasets", "wrappers") else items.written_part(statement.targets[0], whole, name)


def kept_as(project: Project, facts: ClassFacts, parameter: str, key: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """Give the attributes under which a constructor keeps a parameter as it is, ``x or y`` included, and where.

    With a ``key`` it is that part of the parameter.
    """
    found = project.method(facts, "__init__")
    if found is None or parameter not in {one.arg for one in scopes.parameters(found[1])}:
        return
    for statement in scopes.statements(found[1].body):
        for attribute, value in entries.stored(statement, first_parameter(found[1])):
            part = value.values[0] if isinstance(value, ast.BoolOp) else value
            read = part_read(part) if key and part is not None else (part, "")
            if read is not None and is_name(read[0], parameter) and read[1] == key:
                yield attribute, statement


def _stored(evaluator: Evaluator, owner: Instance, place: Expression | None, name: str) -> Found:
    if place is None:
        return NOTHING
    found = told(evaluator.find(place), place, name)
    classes = evaluator.project.ancestry(owner.facts).classes
    methods = (FunctionFacts(one.module, method) for one in classes for method in one.methods.values())
    written = items.as_written(place)
    return changes.attribute_brought_up_to_date(evaluator, written, name, found, methods)


# Fields and class attributes


def class_attribute(evaluator: Evaluator, facts: ClassFacts, name: str) -> Found:
    """What ``Class.name`` holds; a member of an Enum is no constant, but for those of an IntEnum and the like."""
    if PLAIN_ENUMS.intersection(evaluator.project.ancestry(facts).external):
        return NOTHING
    for owner in evaluator.project.ancestry(facts).classes:
        bindings = owner.scope.bound(name)
        if bindings:
            value = bindings[0].value if len(bindings) == 1 else None
            place = Expression(owner.module, owner.scope, value) if value is not None else None
            found = told(evaluator.find(place), place, name) if place is not None else NOTHING
            return agreed([found, *_set_on_class(evaluator, facts, name)])
    return NOTHING


def _set_on_class(evaluator: Evaluator, facts: ClassFacts, name: str) -> Iterator[Found]:
    """Give what methods that get their class store in an attribute of it: ``cls.ready = True``."""
    find = lambda: _find_stores(evaluator, facts, name)  # noqa: E731 - it is short
    for function, value in evaluator.project.answer("what methods assign", (facts, name), find):
        if takes_class(function.node):
            place = Expression(function.module, function.scope, value) if value is not None else None
            yield told(evaluator.find(place), place, name) if place is not None else NOTHING


def has_fields(evaluator: Evaluator, facts: ClassFacts) -> bool:
    """Whether the annotated names of a class are fields that its constructor takes."""
    ancestry = evaluator.project.ancestry(facts)
    if listed("objects", "field_bases") & set(ancestry.external):
        return True
    known = listed("objects", "field_decorators")
    for owner in ancestry.classes:
        scope = owner.scope.parent or owner.module.scope
        for mark in owner.node.decorator_list:
            func = mark.func if isinstance(mark, ast.Call) else mark
            if calls.qualified(evaluator, Expression(owner.module, scope, func)) in known:
                return True
    return False


def is_made_of_fields(evaluator: Evaluator, facts: ClassFacts) -> bool:
    """Whether a class leaves it to its fields what its constructor does."""
    return evaluator.project.method(facts, "__init__") is None and has_fields(evaluator, facts)


def field_names(evaluator: Evaluator, facts: ClassFacts) -> list[str]:
    """The fields of a class, in the order in which its constructor takes them."""
    owners = reversed(evaluator.project.ancestry(facts).classes)
    lines = ((owner, statement) for owner in owners for statement in owner.node.body)
    return list(dict.fromkeys(name for owner, line in lines if (name := _field_in(evaluator, owner, line))))


def _field_in(evaluator: Evaluator, owner: ClassFacts, line: ast.stmt) -> str:
    """The name of the field that a line of a class is: ``size: int``, and with attrs also ``size = attr.ib()``."""
    target: ast.expr | None = None
    if isinstance(line, ast.AnnAssign):
        target = line.target
    elif isinstance(line, ast.Assign) and is_field(evaluator, Expression(owner.module, owner.scope, line.value)):
        target = line.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _field(evaluator: Evaluator, owner: Instance, name: str) -> Found:
    if not has_fields(evaluator, owner.facts):
        return class_attribute(evaluator, owner.facts, name)
    outside = bool(listed("objects", "from_outside") & set(evaluator.project.ancestry(owner.facts).external))
    names = field_names(evaluator, owner.facts)
    if owner.made is not None:
        given = owner.made.get(name, names.index(name) if name in names else None)
        if given is not None:
            found = evaluator.find(given)
            return told(found, given, name) if isinstance(given, Expression) else found
        return NOTHING if owner.made.open else _field_default(evaluator, owner.facts, name, by_default=outside)
    return _field_default(evaluator, owner.facts, name, by_default=True)


def _field_default(evaluator: Evaluator, facts: ClassFacts, name: str, *, by_default: bool) -> Found:
    place = given_to_field(evaluator, facts, name)
    if place is not None and is_field(evaluator, place):
        return _declared(evaluator, place, name, by_default=by_default)
    return told(evaluator.find(place), place, name, by_default=by_default) if place is not None else NOTHING


def given_to_field(evaluator: Evaluator, facts: ClassFacts, name: str) -> Expression | None:
    """What the body of a class, or of one above it, gives a field; None if nothing does, or several lines."""
    owner = next((one for one in evaluator.project.ancestry(facts).classes if one.scope.bound(name)), None)
    bindings = owner.scope.bound(name) if owner is not None else []
    value = bindings[0].value if len(bindings) == 1 else None
    return Expression(owner.module, owner.scope, value) if owner is not None and value is not None else None


def is_field(evaluator: Evaluator, place: Expression) -> bool:
    """Whether an expression declares a field: ``field(default=4)``."""
    node = place.node
    return isinstance(node, ast.Call) and calls.qualified(evaluator, place.part(node.func)) in listed(
        "objects", "fields"
    )


def factory_in(declaration: Expression) -> ast.expr | None:
    """What ``field(default_factory=...)`` calls for each object; None for a field without."""
    given = dict(entries.of_call(declaration.node))  # type: ignore[arg-type]
    return given.get("default_factory") or given.get("factory")


def _declared(evaluator: Evaluator, place: Expression, name: str, *, by_default: bool) -> Found:
    """What ``field(default=4)`` and ``Field(4, ...)`` declare, or a factory without arguments makes."""
    call = place.node
    assert isinstance(call, ast.Call)  # noqa: S101 - it declares a field
    value = dict(entries.of_call(call)).get("default") or (call.args[0] if call.args else None)
    factory = factory_in(place)
    if value is not None:
        return told(evaluator.find(place.part(value)), place.part(value), name, by_default=by_default)
    if isinstance(factory, ast.Lambda):
        return evaluator.find(place.part(factory.body)).after(by_default=by_default)
    if factory is None:
        return NOTHING
    made = ast.copy_location(ast.Call(factory, [], []), factory)
    return evaluator.find(place.part(made)).after(by_default=by_default)


def fields_given(evaluator: Evaluator, owner: Instance) -> Table | None:
    """The fields of an object of settings as a mapping (``**asdict(config)``); None for another object."""
    if not has_fields(evaluator, owner.facts):
        return None
    table: dict[str, Source] = {}
    for index, name in enumerate(field_names(evaluator, owner.facts)):
        given = owner.made.get(name, index) if owner.made is not None else None
        default = _default_of(evaluator, owner.facts, name)
        source = given or default
        if source is not None:
            table[name] = source
    return Table(table, complete=False)


def _default_of(evaluator: Evaluator, facts: ClassFacts, name: str) -> Expression | None:
    for owner in evaluator.project.ancestry(facts).classes:
        bindings = owner.scope.bound(name)
        value = bindings[0].value if bindings and len(bindings) == 1 else None
        if value is not None:
            found = _field_default(evaluator, facts, name, by_default=False)
            return Expression(owner.module, owner.scope, value) if isinstance(found.value, Constant) else None
    return None
