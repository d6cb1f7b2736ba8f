"""Whether a name can mean only one thing, or may be bound here or there (``try: import``, ``except: class``)."""

from __future__ import annotations

import ast

from forklint.knowledge.torch_api import torch_class, torch_module
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, Module
from forklint.project.scopes import Binding, Kind, Scope

MAX_HOPS = 12


def is_certain(project: Project, module: Module, scope: Scope, expression: ast.expr, hops: int = MAX_HOPS) -> bool:
    """Whether each name on the way from a dotted name to its definition is bound at one place.

    Imports of the same thing twice, and of a class that torch and lightning export by several paths, are one.
    """
    if hops <= 0:
        return False
    if isinstance(expression, ast.Attribute):
        owner = project.resolve(module, scope, expression.value)
        if isinstance(owner, Module):
            return _is_certain_in(project, owner, expression.attr, hops - 1)
        return is_certain(project, module, scope, expression.value, hops - 1)
    if not isinstance(expression, ast.Name):
        return False
    found = scope.find(expression.id)
    if found is None:
        return _is_from_one_star(project, module, expression.id, hops)
    return _are_certain(project, module, *found, hops)


def _is_certain_in(project: Project, module: Module, name: str, hops: int) -> bool:
    return is_certain(project, module, module.scope, ast.Name(name), hops)


def _is_from_one_star(project: Project, module: Module, name: str, hops: int) -> bool:
    """Whether a name that a file does not bind can come by one of its stars only: the last one that has it gives it."""
    stars = module.scope.stars
    if len(stars) <= 1:
        return True
    targets = [project.resolver.find(module.path, star.module, star.level) for star in stars]
    giving = [at for at, path in enumerate(targets) if path is not None and project.stars.may_give(path, name)]
    if len(giving) != 1:
        return False
    later = (star.module for star, path in zip(stars, targets, strict=True) if path is None)
    outside = [torch_module(one) for one in later]
    home = targets[giving[0]] if all(one and name not in one.every for one in outside) else None
    target = project.module(home) if home is not None else None
    return target is not None and _is_certain_in(project, target, name, hops - 1)


def _are_certain(project: Project, module: Module, home: Scope, bindings: list[Binding], hops: int) -> bool:
    if all(binding.kind is Kind.IMPORT for binding in bindings):
        if len({(b.module, b.attribute, b.level) for b in bindings}) > 1:
            symbols = [project.imported(module, binding) for binding in bindings]
            names = {symbol.name if isinstance(symbol, External) else None for symbol in symbols}
            if len(names) == 1 and None not in names:  # `import torch.nn as nn` and `from torch import nn`
                return True
            known = [torch_class(symbol.name) if isinstance(symbol, External) else None for symbol in symbols]
            return known[0] is not None and all(one == known[0] for one in known)
        first = bindings[0]
        target = project.find_module(module, first.module, first.level)
        if not isinstance(target, Module) or not first.attribute:
            return True
        if _is_module_at_first(project, module, target, first.attribute):
            return False
        return _is_certain_in(project, target, first.attribute, hops - 1)
    if len(bindings) != 1:
        return False
    value = bindings[0].value
    if bindings[0].kind is Kind.VALUE and isinstance(value, (ast.Name, ast.Attribute)):
        return is_certain(project, module, home, value, hops - 1)
    return True


def _is_module_at_first(project: Project, importer: Module, package: Module, name: str) -> bool:
    """Whether a name that a package binds is also a module of it, which is what its own files get if they run first."""
    folder = package.path.parent
    if package.path.name != "__init__.py" or folder not in importer.path.parents or not package.scope.bound(name):
        return False
    return project.resolver.find(package.path, name, level=1) is not None


def has_certain_bases(project: Project, facts: ClassFacts) -> bool:
    """Whether each base of a class can be only one class."""
    scope = facts.scope.parent or facts.module.scope
    bases = (base.value if isinstance(base, ast.Subscript) else base for base in facts.node.bases)
    return all(is_certain(project, facts.module, scope, base) for base in bases)
