"""Builds the dataset of a finding, with arguments that the project gives or that were made up."""

from __future__ import annotations

import inspect
from functools import reduce
from typing import Any, Dict, List

from forklint_harness.stores import hooks
from forklint_harness.stores.names import BUNDLE, annotated, guess
from forklint_harness.stores.node import Node
from forklint_harness.stores.unknown import hints, learn, learning_value
from forklint_harness.stores.values import value_of


def build(node: Node) -> Any:
    """An object of the class that a node names: ``value`` is its file and its qualified name."""
    file, qualname = node.value
    kind: Any = reduce(getattr, qualname.split("."), module(file))
    if "mixin" in node.facts:
        other, name = node.facts["mixin"]
        kind = type(kind.__name__, (kind, getattr(module(other), name)), {"__module__": kind.__module__})
    return call(kind, node)


def module(file: str) -> Any:
    """The module of a source file, under the name that its packages give it."""
    from forklint_harness.__main__ import module_at

    return module_at(file)


def call(kind: Any, node: Node) -> Any:
    """Call a class with the arguments that are known, and with others where it does not go without."""
    positional: List[Any] = []
    keywords: Dict[str, Any] = {}
    parameters = inspect.signature(kind).parameters
    node.facts["takes"] = tuple(parameters)
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        known = node.parts.get(name)
        if known is None and parameter.default is not inspect.Parameter.empty:
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(parameter.default)
            continue
        if known is None or not (known.kind or known.facts.get("made_up")):
            known = node.part(name, name)
            _make_up(known, name, parameter)
        value = argument(known)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            keywords[name] = value
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        keywords.update({name: argument(part) for name, part in node.items() if name not in parameters})
    return kind(*positional, **keywords)


def argument(node: Node) -> Any:
    """The value of one argument, in the way of the pass that is going on."""
    if node.kind != "class" and hooks.is_learning():
        return learning_value(node)
    return value_of(node)


def _make_up(node: Node, name: str, parameter: Any) -> None:
    """The kind of an argument that nothing in the project gives: by its annotation, its name, configuration files."""
    node.facts["made_up"] = True
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        text = ""
    else:
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "") or str(annotation)
    by_type, by_name = annotated(text), guess(name)
    if by_type is not None and by_type[0] == "text" and by_name is not None and by_name[0] in ("path", "text"):
        by_type = by_name
    if by_type is not None and by_name is not None and by_type[0] == by_name[0]:
        by_type = by_name
    found = by_type or by_name
    if node.facts.get("truth") and (found is None or found[0] == "bool"):
        found = ("bool", True)
    if name in hints and not BUNDLE.search(name.lower()) and (found is None or found[0] not in ("path", "identity")):
        learn(node, hints[name][0])
    elif found is not None:
        node.kind, node.value = found


def made_up(node: Node) -> List[str]:
    """Names of the arguments that were made up, for the report."""
    found = [name for name, part in node.items() if part.facts.get("made_up")]
    return found + [name for _, part in node.items() if part.kind == "class" for name in made_up(part)]
