"""Where a generator that an object keeps is started anew: between epochs, or in each worker."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from forklint.datasets.workers import worker_methods
from forklint.environment.launching import function_of
from forklint.knowledge.random_streams import Generator
from forklint.project.constructors import CONSTRUCTORS
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.records import dataclass
from forklint.rules.rng_in_init.drawing import StreamUse, is_attribute, uses
from forklint.rules.rng_in_init.worker_seeds import GIVEN_AS, given_to

MANY = "workers"
"""How a name for a number of workers ends."""
WORKER = b"worker"
"""A word of every module that starts a generator anew in a worker."""


@dataclass(frozen=True)
class Elsewhere:
    """What code outside the worker's own methods does with a generator."""

    in_workers: bool
    """Whether a ``worker_init_fn`` may put another in its place."""
    between_epochs: bool
    """Whether a method of the object, such as ``set_epoch``, does, for the parent to call."""


class Restarts:
    """Facts about one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def elsewhere(self, facts: ClassFacts, attribute: str, row: Generator, first: ast.stmt) -> Elsewhere:
        """Where the attribute of objects of a class is stored or restarted.

        But for ``__init__``, worker methods, and the statement that stores it first, which may stand in a method that
        ``__init__`` calls.
        """
        methods = self._methods(facts, attribute, row, first)
        stored = {self._is_for_workers(module, node) for module, node in self._stored(attribute, row)}
        return Elsewhere(
            in_workers=True in stored or any(self._called_for_workers(name) for name in methods),
            between_epochs=bool(methods or stored),
        )

    def _methods(self, facts: ClassFacts, attribute: str, row: Generator, first: ast.stmt) -> list[str]:
        """Names of the other methods that start it anew."""
        known = set(worker_methods(self._project, facts))
        return [
            name
            for owner in self._project.ancestry(facts).classes
            for name, method in owner.methods.items()
            if method not in known and name not in CONSTRUCTORS
            for use, node in uses(owner.module, method, is_attribute(attribute, "self"), row)
            if use is StreamUse.RESTARTS and owner.module.statement_of(node) is not first
        ]

    def _called_for_workers(self, method: str) -> bool:
        return any(self._project.mentioning(f".{method}(", lambda data: WORKER in data))

    def _stored(self, attribute: str, row: Generator) -> Iterator[tuple[Module, ast.AST]]:
        """Where code of a file that speaks of workers sets the attribute on an object, or starts it anew."""
        named = re.compile(rb"(?:\.\s*|[\"'])%b\b" % re.escape(attribute).encode())
        for module in self._project.mentioning(attribute, lambda data: WORKER in data and named.search(data)):
            for node in module.nodes:
                if _is_set_by_name(node, attribute) or _is_anew(module, node, attribute, row):
                    yield module, node

    def _is_for_workers(self, module: Module, node: ast.AST) -> bool:
        """Whether the function around a place has to do with one worker, or workers begin with it."""
        if any(isinstance(above, ast.keyword) and above.arg == GIVEN_AS for above in module.above(node)):
            return True
        function = function_of(module, node)
        if function is None:
            return False
        is_told = any(_names_a_worker(one) for one in ast.walk(function))
        return is_told or bool(given_to(self._project, FunctionFacts(module, function)))


def _is_set_by_name(node: ast.AST, attribute: str) -> bool:
    is_told = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr" and len(node.args) > 1
    return is_told and getattr(node.args[1], "value", None) == attribute  # type: ignore[attr-defined]


def _is_anew(module: Module, node: ast.AST, attribute: str, row: Generator) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != attribute:
        return False
    if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
        return False
    above = module.parents[node]
    return (isinstance(above, ast.Attribute) and above.attr in row.restarts) or isinstance(node.ctx, ast.Store)


def _names_a_worker(node: ast.AST) -> bool:
    name = getattr(node, "id", "") or getattr(node, "attr", "") or (node.arg if isinstance(node, ast.arg) else "")
    return WORKER.decode() in name.lower() and not name.lower().endswith(MANY)
