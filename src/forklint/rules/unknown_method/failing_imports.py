"""Modules that end before their code runs, since an import at their top surely fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.scopes import Binding, Kind
from forklint.summaries.parts import BOUND, NAMED
from forklint.summaries.summary import STAR

MAKING_NAMES = frozenset({"__getattr__", "globals", "vars", "exec", "setattr"})
"""What may give a module names that no line binds."""


class FailingImports:
    """Answers for the modules of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def fails(self, module: Module) -> bool:
        """Whether a module takes from another of the project, whatever happens, a name that it surely lacks."""
        return any(self._lacks(module, binding) for binding in _surely_run(module))

    def _lacks(self, module: Module, binding: Binding) -> bool:
        resolver = self._project.resolver
        path = resolver.find(module.path, binding.module, binding.level)
        if path is None or path == module.path or self._may_have(path, binding.attribute):
            return False
        if path.name != "__init__.py":  # a folder of the same name may be meant, from which a program starts
            return resolver.is_package(module.path, binding.module, binding.level) is None
        is_there = resolver.find(path, binding.attribute, 1) or resolver.is_package(path, binding.attribute, 1)
        return not is_there

    def _may_have(self, path: Path, name: str) -> bool:
        """Whether a module binds a name anywhere, or may get it from a star import or from what makes names."""
        summary = self._project.part(path, NAMED, STAR)
        for one in sorted({name, *MAKING_NAMES}):
            self._project.part(path, BOUND, one)
        if summary is None or summary.stars or name in summary.bound:
            return True
        return not MAKING_NAMES.isdisjoint(summary.top.binds | summary.top.bare | summary.top.calls)


def _surely_run(module: Module) -> Iterator[Binding]:
    """The names that statements of the top level itself import, which no branch or ``try`` holds."""
    for bindings in module.scope.bindings.values():
        for binding in bindings:
            is_import = binding.kind is Kind.IMPORT and isinstance(binding.node, ast.ImportFrom)
            if is_import and binding.attribute and binding.node in module.tree.body:
                yield binding
