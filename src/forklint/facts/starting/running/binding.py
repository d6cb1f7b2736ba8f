"""Assignment in an abstract run: names, attributes, items, unpacking."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.facts.starting.running import evaluation, iterating
from forklint.facts.starting.running.values import (
    LOADER,
    UNKNOWN,
    Const,
    Dictionary,
    Frame,
    Instance,
    Loader,
    Ref,
    Sequence,
    Spot,
    Value,
)
from forklint.project.module import Module

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution


def bind(run: Execution, frame: Frame, target: ast.expr, value: Value) -> None:
    """Assign a value to a target, unpacking where it is a tuple or list."""
    if isinstance(target, ast.Name):
        declared = target.id in frame.scope.elsewhere
        run.put(run.frame_of(frame.module) if declared else frame, target.id, value)
    elif isinstance(target, ast.Attribute):
        owner = evaluation.evaluate(run, frame, target.value)
        changed(run, owner, target.attr)
        if isinstance(owner, Instance):
            run.put(owner, target.attr, value)
        elif isinstance(owner, Ref) and isinstance(owner.symbol, Module):
            run.put(run.frame_of(owner.symbol), target.attr, value)
    elif isinstance(target, ast.Subscript):
        _bind_item(run, frame, target, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts: tuple[Value, ...] = ()
        if not isinstance(value, (Sequence, Dictionary)):
            iterating.draw(run, Spot(frame, target), value)
        if isinstance(value, Sequence) and value.complete and len(value.items) == len(target.elts):
            parts = value.items
        if any(isinstance(element, ast.Starred) for element in target.elts):
            parts = ()
        for index, element in enumerate(target.elts):
            inner = element.value if isinstance(element, ast.Starred) else element
            bind(run, frame, inner, parts[index] if parts else UNKNOWN)


def changed(run: Execution, owner: Value, name: str) -> None:
    """Note that a loader's attribute is set: it may have other workers than its constructor was given."""
    if isinstance(owner, Loader):
        run.changed.add(owner.made_at.node)
    elif isinstance(owner, Instance):
        base = run.get(owner, LOADER)
        if isinstance(base, Loader) and name in {base.row.workers, base.row.context}:
            run.changed.add(base.made_at.node)


def _bind_item(run: Execution, frame: Frame, target: ast.Subscript, value: Value) -> None:
    """``owner[key] = value``: what is changed is bound anew to the name that holds it."""
    owner = evaluation.evaluate(run, frame, target.value)
    key = evaluation.evaluate(run, frame, target.slice)
    if not isinstance(target.value, (ast.Name, ast.Attribute)):
        return
    if isinstance(owner, Dictionary):
        known = {key.value: value} if isinstance(key, Const) else {}
        bind(run, frame, target.value, owner.updated(known, complete=bool(known)))
    elif isinstance(owner, Sequence):
        bind(run, frame, target.value, UNKNOWN)
