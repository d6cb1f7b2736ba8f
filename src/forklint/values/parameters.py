"""What a parameter holds: what the calls of its function in the project give, or its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.project import entries
from forklint.project.spelling import first_parameter, is_static, takes_class
from forklint.values import callers, command_line, sacred
from forklint.values.model import (
    NOTHING,
    Absent,
    Arguments,
    Expression,
    Found,
    Frame,
    Instance,
    Ref,
    Row,
    Source,
    Table,
    agreed,
    perhaps,
    told,
)

if TYPE_CHECKING:
    from forklint.project.module import FunctionFacts
    from forklint.values.evaluator import Evaluator


def find(evaluator: Evaluator, function: FunctionFacts, name: str, frame: Frame | None) -> Found:
    """What a parameter holds in one call of its function, or, without a frame, in every call that there is."""
    arguments = function.node.args
    if function.owner is not None and name == first_parameter(function.node):
        receiver = frame.receiver if frame is not None and frame.function.node is function.node else None
        this = receiver or Instance(function.owner)
        return Found(Ref(this.facts) if takes_class(function.node) else this)
    if arguments.vararg is not None and name == arguments.vararg.arg:
        return Found(rest_in(frame)) if frame is not None and frame.function.node is function.node else NOTHING
    if frame is not None and frame.function.node is function.node:
        return in_call(evaluator, function, name, frame.given)
    asked = command_line.parameter(evaluator, function, name)
    if asked is not None:
        return asked
    known = callers.of(evaluator, function)
    if known.escapes:
        return perhaps(in_call(evaluator, function, name, given) for given in known.calls)
    if not known.calls:
        return default_of(evaluator, function, name, by_default=True)
    return agreed(in_call(evaluator, function, name, given) for given in known.calls).after(by_default=known.by_default)


def in_call(evaluator: Evaluator, function: FunctionFacts, name: str, given: Arguments) -> Found:
    """What a parameter holds when its function is called with certain arguments."""
    kwarg = function.node.args.kwarg
    if kwarg is not None and name == kwarg.arg:
        named = {argument.arg for argument in function.node.args.args + function.node.args.kwonlyargs}
        rest: dict[str, Source] = {key: value for key, value in given.keywords.items() if key not in named}
        return Found(Table(rest, complete=not given.open))
    source = given.get(name, position(function, name))
    if source is None:
        return NOTHING if given.open else default_of(evaluator, function, name)
    found = evaluator.find(source)
    if any(isinstance(one.value, Absent) for one in found.options):
        default = default_of(evaluator, function, name)
        return agreed(default.within(one.worlds) if isinstance(one.value, Absent) else one for one in found.options)
    return told(found, source, name) if isinstance(source, Expression) else found


def source_in(frame: Frame, name: str) -> Source | None:
    """Where it is written down what a call gives to a parameter, or its default; None where that is not seen."""
    function = frame.function
    source = frame.given.get(name, position(function, name))
    if source is not None or frame.given.open or function.scope.parent is None:
        return source
    default = dict(entries.of_arguments(function.node.args)).get(name)
    return Expression(function.module, function.scope.parent, default) if default is not None else None


def rest_in(frame: Frame) -> Row:
    """What a call gives to ``*args``: its arguments behind those that have a name."""
    function, given = frame.function, frame.given
    named = len(function.node.args.posonlyargs) + len(function.node.args.args)
    named -= function.owner is not None and not is_static(function.node)
    return Row(given.positional[named:], complete=not given.open)


def position(function: FunctionFacts, name: str) -> int | None:
    """Where a parameter stands among the arguments of a call, ``self`` left out; None for that and a keyword alone."""
    names = [argument.arg for argument in [*function.node.args.posonlyargs, *function.node.args.args]]
    place = names.index(name) - (function.owner is not None and not is_static(function.node)) if name in names else -1
    return place if place >= 0 else None


def default_of(evaluator: Evaluator, function: FunctionFacts, name: str, *, by_default: bool = False) -> Found:
    """What a parameter holds where it is not given; NOTHING if it must be."""
    configured = sacred.configured(evaluator, function, name) if function.node.decorator_list else None
    if configured is not None:
        return configured
    default = next((value for key, value in entries.of_arguments(function.node.args) if key == name), None)
    scope = function.scope.parent
    if default is None or scope is None:
        return NOTHING
    place = Expression(function.module, scope, command_line.typer_default(default))
    return told(evaluator.find(place), place, name, by_default=by_default)
