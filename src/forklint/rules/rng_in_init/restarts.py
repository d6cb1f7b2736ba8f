"""Where a generator that an object keeps is started anew: between epochs, or in each worker."""

from __future__ import annotations

import ast
import re

from forklint.datasets.workers import worker_methods
from forklint.knowledge.random_streams import Generator
from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.records import dataclass
from forklint.rules.rng_in_init.drawing import StreamUse, is_attribute, uses

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
        return Elsewhere(
            in_workers=self._stored(attribute, row) or any(self._called_for_workers(name) for name in methods),
            between_epochs=bool(methods),
        )

    def _methods(self, facts: ClassFacts, attribute: str, row: Generator, first: ast.stmt) -> list[str]:
        """Names of the other methods that start it anew."""
        known = set(worker_methods(self._project, facts))
        return [
            name
            for owner in self._project.ancestry(facts).classes
            for name, method in owner.methods.items()
            if method not in known and name not in {"__init__", "__post_init__"}
            for use, node in uses(owner.module, method, is_attribute(attribute, "self"), row)
            if use is StreamUse.RESTARTS and owner.module.statement_of(node) is not first
        ]

    def _called_for_workers(self, method: str) -> bool:
        return any(self._project.mentioning(f".{method}(", lambda data: WORKER in data))

    def _stored(self, attribute: str, row: Generator) -> bool:
        """Whether code that speaks of workers sets the attribute on an object from outside, or starts it anew."""
        named = re.compile(rb"(?:\.\s*|[\"'])%b\b" % re.escape(attribute).encode())
        for module in self._project.mentioning(attribute, lambda data: WORKER in data and named.search(data)):
            for node in module.nodes:
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr":
                    is_told = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
                    if is_told and node.args[1].value == attribute:  # type: ignore[attr-defined]
                        return True
                if not isinstance(node, ast.Attribute) or node.attr != attribute:
                    continue
                if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
                    continue
                above = module.parents[node]
                restarted = isinstance(above, ast.Attribute) and above.attr in row.restarts
                if restarted or isinstance(node.ctx, ast.Store):
                    return True
        return False
