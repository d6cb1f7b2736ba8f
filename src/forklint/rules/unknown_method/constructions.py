"""Calls that make objects, and what a call hands to a method: read from the tree alone."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from forklint.knowledge.torch_api import RETURN_SELF
from forklint.project.module import ClassFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Binding, Function, Kind, Scope
from forklint.project.spelling import hides_arguments, is_class_name, is_name, is_static, last_name
from forklint.summaries.spelling import class_annotated


def takes(function: Function, call: ast.Call) -> bool:
    """Whether a method, by its parameters, can take the arguments of a call."""
    arguments = function.args
    if hides_arguments(call):
        return True
    bare = is_static(function)
    positional = [*arguments.posonlyargs, *arguments.args][0 if bare else 1 :]
    if len(call.args) > len(positional) and arguments.vararg is None:
        return False
    named = {parameter.arg for parameter in (*positional[len(call.args) :], *arguments.kwonlyargs)}
    if arguments.kwarg is None and not all(keyword.arg in named for keyword in call.keywords):
        return False
    given = {keyword.arg for keyword in call.keywords}
    needed = positional[len(call.args) : len(positional) - len(arguments.defaults)]
    return all(parameter.arg in given for parameter in needed)


def moves(bindings: Sequence[Binding]) -> list[str] | None:
    """The methods by which a name that is given one value is moved or set later: ``net = net.cuda()``.

    None if it is given another value.
    """
    around: list[str] = []
    for binding in bindings[1:]:
        call, value = binding.value, binding.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in RETURN_SELF:
            around.append(value.func.attr)
            value = value.func.value
        if value is call or not is_name(value, binding.name):
            return None
    return around


def may_be_object(scope: Scope, binding: Binding) -> bool:
    """Whether a variable looks like an object or a class: a name with a capital is called, or a class of the file.

    What is imported by its own name may be either; a parameter is annotated with a class.
    """
    if binding.kind is Kind.CLASS or (binding.kind is Kind.IMPORT and binding.attribute):
        return True
    if binding.kind is Kind.PARAMETER:
        return annotated(binding) is not None
    if binding.kind is not Kind.VALUE or not isinstance(binding.value, ast.Call):
        return False
    function = peeled(binding.value)[0].func
    name = last_name(function)
    if is_class_name(name):
        return True
    found = scope.find(name) if isinstance(function, ast.Name) else None
    return found is not None and found[1][0].kind is Kind.CLASS


def annotated(binding: Binding) -> ast.expr | None:
    """The class that a parameter is annotated with."""
    found = class_annotated(binding.node.annotation) if isinstance(binding.node, ast.arg) else None
    return found if last_name(found)[:1].isupper() else None


def peeled(call: ast.Call) -> tuple[ast.Call, list[str]]:
    """The call inside ``Class(...).to(device).eval()``, and the methods around it."""
    around: list[str] = []
    while isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        if call.func.attr not in RETURN_SELF:
            break
        around.append(call.func.attr)
        call = call.func.value
    return call, around


def stores(facts: ClassFacts) -> dict[str, list[ast.Attribute]]:
    """Where the methods of a class store to attributes of their object, by the names of these."""
    found: dict[str, list[ast.Attribute]] = {}
    for function in facts.methods.values():
        for node in nodes_below(function):
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and is_name(node.value, "self"):
                found.setdefault(node.attr, []).append(node)
    return found
