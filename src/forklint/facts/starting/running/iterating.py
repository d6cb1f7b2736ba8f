"""What happens in an abstract run when something is iterated, advanced or entered with ``with``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.facts.starting.running import evaluation
from forklint.facts.starting.running.values import (
    LOADER,
    NONE,
    UNKNOWN,
    Arguments,
    Dictionary,
    Instance,
    Lazy,
    Loader,
    Sequence,
    Spot,
    Startable,
    Stream,
    Super,
    Value,
    merge_all,
)
from forklint.values.numbers import Workers

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution

MAX_ITEMS = 8
"""How many known items a loop runs for, one by one."""


def items(run: Execution, spot: Spot, value: Value) -> list[Value]:
    """Iterate a value: the items to run a loop's body for, one by one; a single UNKNOWN if they are not known."""
    if isinstance(value, Sequence):
        known = list(value.items[:MAX_ITEMS])
        return known if known or value.complete else [UNKNOWN]
    if isinstance(value, Dictionary):
        return [evaluation.constant(key) for key, _ in value.items[:MAX_ITEMS]] or [UNKNOWN]
    if isinstance(value, Lazy):
        inner = [items(run, spot, part) for part in value.parts]
        return inner[0] if len(inner) == 1 else [UNKNOWN]
    return [draw(run, spot, value)]


def draw(run: Execution, spot: Spot, value: Value) -> Value:
    """Iterate a value whose items are alike, or advance a generator; give what an item is."""
    run.step()
    result: Value = UNKNOWN
    if isinstance(value, Loader):
        if value.workers is Workers.SOME and value.made_at.node not in run.changed:
            workers = "(with workers by default)" if value.by_default else "with workers"
            what = f"iterates a {value.row.name} {workers}"
            run.start(spot.place, what, value.method, value, platforms=value.platforms)
    elif isinstance(value, Stream):
        what = f"draws from {value.function.function.facts.qualname}()"
        inner = run.enter(spot, value.function, value.arguments, what)
        result = merge_all(inner.yields) if inner is not None else UNKNOWN
    elif isinstance(value, (Lazy, Sequence, Dictionary)):
        result = merge_all(items(run, spot, value))
    elif isinstance(value, Super):
        result = _draw_inherited(run, spot, value.instance)
    elif isinstance(value, Instance):
        method = run.method_of(value, "__iter__")
        if method is None:
            return _draw_inherited(run, spot, value)
        iterated = run.invoke(spot, method, Arguments())
        result = following(run, spot, value) if iterated is value else _drawn_once(run, spot, iterated)
    return result


def _draw_inherited(run: Execution, spot: Spot, instance: Instance) -> Value:
    """Iterate an instance by the ``__iter__`` of the loader that its class inherits from."""
    base = run.get(instance, LOADER)
    return draw(run, spot, base) if isinstance(base, Loader) else UNKNOWN


def _drawn_once(run: Execution, spot: Spot, value: Value) -> Value:
    return UNKNOWN if isinstance(value, Instance) else draw(run, spot, value)


def following(run: Execution, spot: Spot, value: Value) -> Value:
    """``next(value)``: only what has not begun yet can start something."""
    if isinstance(value, (Stream, Lazy)):
        return draw(run, spot, value)
    if isinstance(value, Instance):
        method = run.method_of(value, "__next__")
        if method is not None:
            return run.invoke(spot, method, Arguments())
    return UNKNOWN


def iterator(run: Execution, spot: Spot, value: Value) -> Value:
    """``iter(value)``: a loader starts its workers here; a generator does not run yet."""
    if isinstance(value, (Stream, Sequence, Dictionary, Lazy)):
        return value
    draw(run, spot, value)
    return UNKNOWN


def entered(run: Execution, spot: Spot, value: Value) -> Value:
    """Give what ``with value as x`` binds."""
    if isinstance(value, Stream):
        return draw(run, spot, value)
    if isinstance(value, Instance):
        method = run.method_of(value, "__enter__")
        return run.invoke(spot, method, Arguments()) if method is not None else UNKNOWN
    return value if isinstance(value, (Startable, Loader)) or value == NONE else UNKNOWN
