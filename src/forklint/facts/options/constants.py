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
    value = _surely(project, place)
    is_plain = isinstance(value, model.Constant) and not isinstance(value.value, Positive)
    return value.value if is_plain else UNKNOWN  # type: ignore[union-attr,return-value]


def is_something(project: Project, place: Expression) -> bool:
    """Whether an expression is surely not None: a constant, a display, an object of a class."""
    value = _surely(project, place)
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


def class_of(project: Project, place: Expression) -> ClassFacts | None:
    """The class of the project that an expression is surely an object of."""
    value = _surely(project, place)
    return value.facts if isinstance(value, Instance) and value.made is not None else None


def _surely(project: Project, source: Expression) -> Value:
    """What a source holds, whoever runs the program; UNKNOWN where that depends on who does, or stands in a file.

    What a file of settings says is told of there.
    """
    if isinstance(source.node, (ast.Name, ast.Attribute)) and not is_certain(
        project, source.module, source.scope, source.node
    ):
        return model.UNKNOWN
    found = Evaluator(project).find(source)
    is_in_code = all(link.path.endswith(PYTHON_SUFFIXES) for link in found.links)
    return found.value if is_in_code and not found.by_default else model.UNKNOWN
