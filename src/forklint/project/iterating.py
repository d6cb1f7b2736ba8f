"""What happens in an abstract run when something is iterated, advanced or entered with ``with``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project.values import (
    NONE,
    UNKNOWN,
    Arguments,
    Bound,
    Const,
    Dictionary,
    Frame,
    Function,
    Instance,
    Lazy,
    Loader,
    Place,
    Sequence,
    Startable,
    Stream,
    Super,
    Value,
    merge_all,
)
from forklint.project.workers import Workers

if TYPE_CHECKING:
    from forklint.project.execution import Execution

MAX_ITEMS = 8
"""How many known items a loop runs for, one by one."""
LOADER = "(loader)"
"""The slot of an instance of a loader's subclass that holds what its base class was given."""


def items(run: Execution, frame: Frame, node: ast.expr, value: Value) -> list[Value]:
    """Iterate a value at ``node``: the items to run a loop's body for, one by one; one UNKNOWN if they are not known."""
    if isinstance(value, Sequence):
        known = list(value.items[:MAX_ITEMS])
        return known if known or value.complete else [UNKNOWN]
    if isinstance(value, Dictionary):
        return [Const(key) for key, _ in value.items[:MAX_ITEMS]] or [UNKNOWN]  # type: ignore[arg-type]
    if isinstance(value, Lazy):
        inner = [items(run, frame, node, part) for part in value.parts]
        return inner[0] if len(inner) == 1 else [UNKNOWN]
    return [draw(run, frame, node, value)]


def draw(run: Execution, frame: Frame, node: ast.expr, value: Value) -> Value:
    """Iterate a value whose items are alike, or advance a generator; give what an item is."""
    run.step()
    if isinstance(value, Loader):
        if value.workers is Workers.SOME:
            run.start(
                Place(frame.module, node),
                f"iterates a {value.row.name} with workers",
                value.method,
                value.made_at,
            )
        return UNKNOWN
    if isinstance(value, Stream):
        what = f"draws from {value.function.facts.qualname}()"
        inner = run.enter(frame, node, value.function, value.arguments, value.owner, what)
        return merge_all(inner.yields) if inner is not None else UNKNOWN
    if isinstance(value, (Lazy, Sequence, Dictionary)):
        return merge_all(items(run, frame, node, value))
    if isinstance(value, (Instance, Super)):
        return _draw_instance(run, frame, node, value)
    return UNKNOWN


def _draw_instance(run: Execution, frame: Frame, node: ast.expr, value: Instance | Super) -> Value:
    """Iterate an instance of a project class: by its ``__iter__``, or by that of the loader it inherits from."""
    instance = value.instance if isinstance(value, Super) else value
    found = None if isinstance(value, Super) else run.project.method(instance.facts, "__iter__")
    if found is None:
        base = run.get(instance, LOADER)
        return draw(run, frame, node, base) if isinstance(base, Loader) else UNKNOWN
    owner, method = found
    function = Function(run.project_function(run.frame_of(owner.module), method), run.frame_of(owner.module))
    result = run.invoke(frame, node, function, Arguments((instance,)), owner)
    if result is instance:  # an object that is its own iterator
        following = run.project.method(instance.facts, "__next__")
        if following is None:
            return UNKNOWN
        function = Function(run.project_function(run.frame_of(following[0].module), following[1]))
        return run.invoke(frame, node, function, Arguments((instance,)), following[0])
    return draw(run, frame, node, result) if not isinstance(result, Instance) else UNKNOWN


def following(run: Execution, frame: Frame, node: ast.expr, value: Value) -> Value:
    """``next(value)``: only what has not begun yet can start something."""
    if isinstance(value, (Stream, Lazy)):
        return draw(run, frame, node, value)
    if isinstance(value, Instance):
        found = run.project.method(value.facts, "__next__")
        if found is not None:
            home = run.frame_of(found[0].module)
            function = Function(run.project_function(home, found[1]), home)
            return run.invoke(frame, node, function, Arguments((value,)), found[0])
    return UNKNOWN


def iterator(run: Execution, frame: Frame, node: ast.expr, value: Value) -> Value:
    """``iter(value)``: a loader starts its workers here; a generator does not run yet."""
    if isinstance(value, (Stream, Sequence, Dictionary, Lazy)):
        return value
    draw(run, frame, node, value)
    return UNKNOWN


def entered(run: Execution, frame: Frame, node: ast.expr, value: Value) -> Value:
    """What ``with value as x`` binds."""
    if isinstance(value, Stream):
        return draw(run, frame, node, value)
    if isinstance(value, Instance):
        found = run.project.method(value.facts, "__enter__")
        if found is None:
            return UNKNOWN
        home = run.frame_of(found[0].module)
        function = Function(run.project_function(home, found[1]), home)
        return run.invoke(frame, node, function, Arguments((value,)), found[0])
    if isinstance(value, (Startable, Loader)):
        return value
    return UNKNOWN if value is not NONE else NONE


def numbered(value: Value) -> Value:
    """``enumerate(value)`` for items that are known."""
    if not isinstance(value, Sequence):
        return UNKNOWN
    return Sequence(tuple(Sequence((UNKNOWN, item)) for item in value.items), value.complete)


def zipped(values: tuple[Value, ...]) -> Value:
    """``zip(*values)`` for items that are known."""
    columns = [value.items for value in values if isinstance(value, Sequence)]
    if len(columns) != len(values) or not columns:
        return UNKNOWN
    return Sequence(tuple(Sequence(row) for row in zip(*columns, strict=False)))


def bound(function: Value) -> Bound | None:
    """A method with its receiver, if that is what a value is."""
    return function if isinstance(function, Bound) else None
