"""Methods whose names are a slip away from those that torch or Lightning asks a class for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from forklint.datasets.classes import is_dataset
from forklint.knowledge.hooks import Hook, RemovedHook, Role, hooks, removed_hooks, roles
from forklint.loading.rows import HARMLESS_BASES
from forklint.members.abstract import is_for_others
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function
from forklint.project.spelling import dotted
from forklint.project.versions import asks_for_older
from forklint.records import dataclass
from forklint.rules.misspelt_hook.meaning import is_other_form, meant_hook
from forklint.summaries.summary import Scope
from forklint.summaries.terms import WORD

OTHER_THINGS = frozenset({"property", "cached_property", "setter", "staticmethod", "classmethod", "overload"})
"""Decorators of what is no plain method; their last names."""
LIGHTNING = "lightning"
EXPECTED = re.compile(rb"raises\(NotImplementedError")
"""What stands in a test of the error that Lightning raises."""
PLAIN = "class"
"""The role of a class that has no base outside the project."""
BASE_NAME = re.compile(r"Base|Abstract|Mixin|Interface|Template")


@dataclass(frozen=True)
class MisspeltMethod:
    """A method that nothing calls, since its name is not the one that is asked for."""

    owner: ClassFacts
    method: Function
    hook: str
    role: Role
    effect: str
    """What happens without the hook; empty where a base answers, or torch can do without."""
    is_alone: bool
    """Whether no class of the project derives from this one."""


@dataclass(frozen=True)
class RemovedMethod:
    """A method that Lightning once called, and refuses or leaves alone now."""

    owner: ClassFacts
    method: Function
    hook: RemovedHook


def removed_methods(project: Project, module: Module) -> Iterator[RemovedMethod]:
    """Give the methods of a module that are hooks no longer, unless the project asks for an older Lightning."""
    if project.matches(module.path, EXPECTED):
        return
    for facts in module.classes:
        for method in facts.node.body:
            if not isinstance(method, FUNCTIONS):
                continue
            hooks_there = removed_hooks().get(method.name, ())
            external = frozenset(project.ancestry(facts).external) if hooks_there else frozenset()
            hook = next((one for one in hooks_there if _of_kind(one.kind).base & external), None)
            if hook is None or asks_for_older(project, module.path, hook.since, LIGHTNING):
                continue
            if hook.refused or not (method.decorator_list or _is_mentioned(project, method.name)):
                yield RemovedMethod(facts, method, hook)


def misspelt_methods(project: Project, module: Module) -> Iterator[MisspeltMethod]:
    """Give the misspelt methods of a module's classes."""
    for facts in module.classes:
        wrong = {name: hook for name in facts.methods if (hook := meant_hook(name)) is not None}
        role = _role(project, facts) if wrong and not facts.node.keywords else None
        if role is None:
            continue
        for name, hook in wrong.items():
            found = _judged(project, facts, name, hook, role)
            if found is not None:
                yield found


def _role(project: Project, facts: ClassFacts) -> Role | None:
    """What a class is for torch, or for Python alone; streams before datasets, which they derive from."""
    ancestry = project.ancestry(facts)
    external = ancestry.external
    for role in reversed(roles()):
        if not role.base.isdisjoint(external):
            return role
    if any(name.startswith("torch.") and name.endswith("Sampler") for name in external):
        return _of_kind("sampler")
    if is_dataset(project, facts):
        return _of_kind("dataset")
    return _of_kind(PLAIN) if ancestry.complete and HARMLESS_BASES.issuperset(external) else None


def _of_kind(kind: str) -> Role:
    return next(role for role in roles() if role.kind == kind)


def _judged(project: Project, facts: ClassFacts, name: str, hook: str, role: Role) -> MisspeltMethod | None:
    """The finding for a method, unless it may be meant as it is."""
    known, method = hooks()[hook], facts.methods[name]
    is_bare = name in known.bare
    if hook not in role.asks or hook in facts.scope.bindings or not _could_be(method, known):
        return None
    derived = tuple(project.subclasses(facts))
    if any(hook in other.scope.bindings for other in derived) or _is_mentioned(project, name):
        return None
    ancestry = project.ancestry(facts)
    answered = any(hook in owner.scope.bindings for owner in ancestry.classes)
    if role.kind == PLAIN and (answered or any(owner.node.decorator_list for owner in ancestry.classes)):
        return None
    plain = ancestry.complete and all(base in role.base or base in HARMLESS_BASES for base in ancestry.external)
    is_other = is_other_form(name, hook)
    if not known.is_special and (answered or (derived and not is_other) or (hook in role.lacks and not plain)):
        return None
    if is_bare and (answered or not plain or derived or _is_abstract(project, facts) or hook not in role.lacks):
        return None
    effect = role.lacks.get(hook, "") if plain and not answered else ""
    return MisspeltMethod(facts, method, hook, role, effect, not derived)


def _could_be(method: Function, hook: Hook) -> bool:
    """Whether a method can be called as the hook is."""
    if any(dotted(one).rpartition(".")[2] in OTHER_THINGS for one in method.decorator_list):
        return False
    arguments = method.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if not positional or any(default is None for default in arguments.kw_defaults):
        return False
    if method.name in hook.special:
        takes_more = len(positional) > 1 or arguments.vararg is not None
        return takes_more or _calls_base(method, hook.name) or _only_sets(method)
    if hook.arguments is None or is_other_form(method.name, hook.name):
        return True  # hooks once had other arguments
    most = len(positional) - 1 if arguments.vararg is None else hook.arguments
    return len(positional) - 1 - len(arguments.defaults) <= hook.arguments <= most


def _only_sets(method: Function) -> bool:
    """Whether a method sets attributes and neither returns a value nor raises, as what converts an object does."""
    nodes = list(nodes_below(method))
    ends = any(isinstance(node, ast.Raise) or (isinstance(node, ast.Return) and node.value) for node in nodes)
    return not ends and any(isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) for node in nodes)


def _calls_base(method: Function, name: str) -> bool:
    """Whether a method calls what a base has under a name."""
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in nodes_below(method))


def _is_mentioned(project: Project, name: str) -> bool:
    """Whether any file of the project uses the name, in code or text, other than to define it."""
    return any(_mentions(project, path, name) for path in project.where(WORD, name))


def _mentions(project: Project, path: Path, name: str) -> bool:
    def find() -> bool:
        summary = project.summary(path)
        return summary is None or any(_uses(scope, name) for scope in summary.scopes)

    return project.answer("mentions a method", (path, name), find, compared=True)


def _uses(scope: Scope, name: str) -> bool:
    """Whether a scope reads an attribute of a name or quotes it; what is no everyday word counts by itself as well."""
    quotes = any(text.rpartition(".")[2] == name for text in scope.strings)
    return quotes or name in scope.attributes or (name.startswith("_") and name in scope.bare)


def _is_abstract(project: Project, facts: ClassFacts) -> bool:
    """Whether a class is there for others to derive from."""
    return bool(BASE_NAME.search(facts.name)) or is_for_others(project, facts)
