"""What an expression surely is: a constant, something other than None, an object of some class."""

from __future__ import annotations

import ast
import re

from forklint.knowledge.starters import iteration
from forklint.project.certainty import is_certain
from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.source.kinds import PYTHON_SUFFIXES
from forklint.values import model
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance, Lambda, Made, Row, Table, Text, Value
from forklint.values.numbers import Positive

CLASS_NAME = re.compile(r"_*[A-Z]\w*[a-z]\w*$")
"""The usual spelling of a class: its call gives an object, never None."""


class Unknown:
    """Stands for a value that the text does not tell."""


UNKNOWN = Unknown()
Constant = str | bytes | int | float | bool | None | Unknown


def constant(project: Project, place: Expression) -> Constant:
    """The constant that an expression surely is; UNKNOWN for any other."""
    return constant_of(surely(project, place))


def constant_of(value: Value) -> Constant:
    """The constant that a value is; UNKNOWN for any other."""
    is_plain = isinstance(value, model.Constant) and not isinstance(value.value, Positive)
    return value.value if is_plain else UNKNOWN  # type: ignore[union-attr,return-value]


def is_something(project: Project, value: Value) -> bool:
    """Whether a value is surely not None: a constant, a display, an object of a class."""
    if isinstance(value, model.Constant):
        return value.value is not None
    if isinstance(value, Instance):
        return project.method(value.facts, "__new__") is None
    if isinstance(value, Made):
        call = value.call
        if not isinstance(call.node, ast.Call) or not is_certain(project, call.module, call.scope, call.node.func):
            return False
        is_class = bool(CLASS_NAME.match(value.name.rpartition(".")[2])) and value.name.startswith("torch")
        return is_class or value.name in iteration().contexts
    return isinstance(value, (Row, Table, Lambda, Text))


def is_of_kind(project: Project, value: Value, kind: str) -> bool:
    """Whether a value is surely of a kind that ``loader_options.toml`` names."""
    if kind == "not none":
        return is_something(project, value)
    if kind == "iterable":
        return isinstance(value, Instance) and value.made is not None and _is_iterable(project, value.facts)
    plain = constant_of(value)
    is_number = isinstance(plain, (int, float))
    return (
        not isinstance(plain, Unknown)
        and {
            "true": bool(plain),
            "none": plain is None,
            "not one": plain != 1 and (plain is None or is_number),
            "positive": isinstance(plain, (int, float)) and plain > 0,
            "zero": is_number and plain == 0,
        }[kind]
    )


def _is_iterable(project: Project, facts: ClassFacts) -> bool:
    ancestry = project.ancestry(facts)
    if not ancestry.complete or any("DataPipe" in name for name in ancestry.external):
        return False
    if any("__new__" in owner.methods or owner.node.decorator_list for owner in ancestry.classes):
        return False
    return any(name.startswith("torch.utils.data.") and name.endswith(".IterableDataset") for name in ancestry.external)


def is_surely_something(project: Project, source: Expression) -> bool:
    """Whether a source holds something other than None, whichever branch gives it: a sampler for each way to train."""
    value = surely(project, source)
    if value is not model.UNKNOWN:
        return is_something(project, value)
    found = Evaluator(project).find(source)
    is_told = found.is_all and len(found.options) > 1 and not found.by_default and _is_in_code(found)
    return is_told and all(is_something(project, one.value) and not one.by_default for one in found.options)


def _is_in_code(found: model.Found) -> bool:
    return all(link.path.endswith(PYTHON_SUFFIXES) for link in found.links)


def surely(project: Project, source: Expression) -> Value:
    """What a source holds, whoever runs the program; UNKNOWN where that depends on who does, or stands in a file.

    What a file of settings says is told of there.
    """
    if isinstance(source.node, (ast.Name, ast.Attribute)) and not is_certain(
        project, source.module, source.scope, source.node
    ):
        return model.UNKNOWN
    found = Evaluator(project).find(source)
    return found.value if _is_in_code(found) and not found.by_default else model.UNKNOWN
