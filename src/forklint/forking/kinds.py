"""What kind of object an expression gives, as far as poisons.toml knows kinds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.knowledge.poisons import poisons
from forklint.project.nodes import nodes_below
from forklint.project.spelling import last_name
from forklint.values.model import Constant, Instance, Made

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts
    from forklint.values.evaluator import Evaluator
    from forklint.values.model import Expression, Value

SMALL = 512
"""Weights of a ``Linear`` below which no thread is started, whatever the batch of an example may be."""
LARGE_LAYERS = ("Conv", "LSTM", "GRU", "Transformer", "Attention", "Embedding")


def kind_of(evaluator: Evaluator, source: Expression) -> str:
    """The kind of object that an expression surely gives, unless it is None; empty if that is not known."""
    found = evaluator.find(source)
    if not found.known and not found.is_all:
        return ""
    values = [one.value for one in found.possible if one.value != Constant(None)]
    kinds = {_kind(evaluator.project, value) for value in values}
    return kinds.pop() if len(kinds) == 1 else ""


def _kind(project: Project, value: Value) -> str:
    if isinstance(value, Made) and isinstance(value.call.node, ast.Call):
        return made_kind(value.call.node, value.name)
    if not isinstance(value, Instance):
        return ""
    facts = value.facts
    kind = poisons().of_bases(project.ancestry(facts).external)
    is_small = bool(kind) and project.answer("is a small model", facts, lambda: _has_small_layers(project, facts))
    return "" if is_small else kind


def made_kind(call: ast.Call, name: str) -> str:
    """The kind of object that a call of a library's function, class or method gives; empty for none."""
    row = poisons().made_by(name)
    if row is None:
        return poisons().kind_of(name)
    if _is_small(call, name):
        return ""
    given = [one.value for one in call.keywords if one.arg == row.unless]
    return "" if any(isinstance(one, ast.Constant) and one.value is False for one in given) else row.name


def _has_small_layers(project: Project, facts: ClassFacts) -> bool:
    """Whether all layers of a model are so small that torch computes them with one thread."""
    layers = [
        (node, name)
        for owner in project.ancestry(facts).classes
        for node in nodes_below(owner.node)
        if isinstance(node, ast.Call) and (name := last_name(node.func))
    ]
    if any(word in name for _, name in layers for word in LARGE_LAYERS):
        return False
    linear = [node for node, name in layers if name == "Linear"]
    return bool(linear) and all(_is_small(node, "torch.nn.Linear") for node in linear)


def _is_small(call: ast.Call, name: str) -> bool:
    """Whether a call makes a ``Linear`` with a few weights, or a ``Sequential`` of nothing larger."""
    if name == "torch.nn.Sequential":
        inner = [node for node in call.args if isinstance(node, ast.Call)]
        names = [last_name(node.func) for node in inner]
        if len(inner) < len(call.args) or any(word in one for one in names for word in LARGE_LAYERS):
            return False
        linear = [node for node, one in zip(inner, names, strict=True) if one == "Linear"]
        return bool(linear) and all(_is_small(node, "torch.nn.Linear") for node in linear)
    sizes = [argument.value for argument in call.args[:2] if isinstance(argument, ast.Constant)]
    whole = [size for size in sizes if isinstance(size, int)]
    return name == "torch.nn.Linear" and len(whole) == 2 and whole[0] * whole[1] < SMALL
