"""What a call gives in an abstract run: project functions are entered, project classes make instances."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.facts.starting.running import containers, evaluation, functions, iterating, library
from forklint.facts.starting.running.values import (
    LOADER,
    NONE,
    UNKNOWN,
    Arguments,
    Bound,
    Context,
    Dictionary,
    Foreign,
    Frame,
    Function,
    Instance,
    Lambda,
    Loader,
    Made,
    Method,
    Partial,
    PlatformTest,
    Ref,
    Sequence,
    Spot,
    Startable,
    Stream,
    Super,
    Value,
)
from forklint.knowledge.starters import iteration
from forklint.project.module import ClassFacts

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution

DATACLASS_BASES = {"typing.NamedTuple", "pydantic.BaseModel"}


def call(run: Execution, frame: Frame, node: ast.Call) -> Value:
    """Evaluate a call: its function, its arguments, then what it does."""
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        if frame.owner is not None and isinstance(frame.receiver, Instance):
            return Super(frame.receiver, frame.owner)
        return UNKNOWN
    function = evaluation.evaluate(run, frame, node.func)
    return apply(run, Spot(frame, node), function, _arguments(run, frame, node))


def apply(run: Execution, spot: Spot, function: Value, given: Arguments) -> Value:
    """Call a value with arguments that have been evaluated."""
    result: Value = UNKNOWN
    if isinstance(function, Function):
        on_instance = given.positional and isinstance(given.positional[0], Instance)
        bound = Bound(function, None, function.facts.owner if on_instance else None)
        result = run.invoke(spot, bound, _from_command_line(run, function, given))
    elif isinstance(function, Bound):
        result = run.invoke(spot, function, given)
    elif isinstance(function, Lambda):
        result = _call_lambda(run, function, given)
    elif isinstance(function, Partial):
        result = apply(run, spot, function.function, function.arguments.followed_by(given))
    elif isinstance(function, Ref) and isinstance(function.symbol, ClassFacts):
        result = _construct(run, spot, function.symbol, given)
    elif isinstance(function, Foreign):
        result = library.call(run, spot, function.name, given)
    elif isinstance(function, Method):
        result = _call_method(run, spot, function, given)
    elif isinstance(function, Instance):
        called = run.method_of(function, "__call__")
        result = run.invoke(spot, called, given) if called is not None else UNKNOWN
    elif isinstance(function, PlatformTest):
        result = function
    return result


def _call_method(run: Execution, spot: Spot, method: Method, given: Arguments) -> Value:
    """Call a method of something that is no project class, or that a project class inherits from a library."""
    owner = method.owner
    if isinstance(owner, (Context, Startable, Loader, Stream)):
        return library.call_starter(run, spot, method, given)
    if isinstance(owner, (Instance, Super)):
        return library.call_inherited(run, spot, method, given)
    if isinstance(owner, (Sequence, Dictionary)):
        return containers.call_method(run, spot, method, given)
    if isinstance(owner, Made):
        return library.call_object(run, spot, method, given)
    return owner if isinstance(owner, PlatformTest) else UNKNOWN


def _arguments(run: Execution, frame: Frame, node: ast.Call) -> Arguments:
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    unclear = False
    for argument in node.args:
        value = evaluation.evaluate(run, frame, argument)
        if not isinstance(argument, ast.Starred):
            positional.append(value)
        elif isinstance(value, Sequence) and value.complete:
            positional += value.items
        else:
            iterating.draw(run, Spot(frame, argument.value), value)
            unclear = True
            break
    for keyword in node.keywords:
        value = evaluation.evaluate(run, frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Dictionary):
            keywords.update({key: item for key, item in value.items if isinstance(key, str)})
            unclear |= not value.complete
        else:
            unclear = True
    return Arguments(tuple(positional), keywords, unclear)


def _from_command_line(run: Execution, function: Function, given: Arguments) -> Arguments:
    """Open the arguments of a function whose decorator fills in more of them."""
    marks = functions.decorators(run, function.facts)
    asked = any(mark in iteration().calling_decorators for mark in marks)
    return Arguments(given.positional, given.keywords, open=True) if asked else given


def _call_lambda(run: Execution, function: Lambda, given: Arguments) -> Value:
    inner = Frame(function.frame.module, function.frame.scope, function.frame)
    for position, parameter in enumerate(function.node.args.args):
        run.put(inner, parameter.arg, given.get(parameter.arg, position) or UNKNOWN)
    return evaluation.evaluate(run, inner, function.node.body)


def _construct(run: Execution, spot: Spot, facts: ClassFacts, given: Arguments) -> Value:
    """Make an instance of a project class, running its ``__init__`` or what stands for it."""
    instance = Instance(facts)
    run.put(instance, "", NONE)
    constructor = run.method_of(instance, "__init__")
    if constructor is not None:
        run.invoke(spot, constructor, given)
        return instance
    row = library.inherited_row(run, facts)
    if row is not None and row.how == "iterated":
        run.put(instance, LOADER, library.loader(run, row, given, spot))
    marks = " ".join(ast.unparse(decorator) for decorator in facts.node.decorator_list)
    bases = run.project.ancestry(facts).external
    if "dataclass" in marks or "define" in marks or DATACLASS_BASES & set(bases):
        _fill_fields(run, instance, given)
    return instance


def _fill_fields(run: Execution, instance: Instance, given: Arguments) -> None:
    """Bind the fields of a dataclass; defaults stay where they are, in the class body."""
    fields = [
        statement.target.id
        for owner in reversed(run.project.ancestry(instance.facts).classes)
        for statement in owner.node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]
    for position, field in enumerate(fields):
        value = given.get(field, position)
        if value is not None:
            run.put(instance, field, value)
