"""What attributes an object of a project class has, by its class, its bases and whoever adds to it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from forklint.facts.members import members
from forklint.facts.members.members import ClassMembers
from forklint.knowledge.torch_api import class_names
from forklint.project.certainty import has_certain_bases
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.spelling import dotted
from forklint.records import dataclass
from forklint.summaries.terms import WORD

SELF = "self"
SETTING = b"setattr("
SETTERS = re.compile(rb"setattr\(")
ADDING = re.compile(r"setattr\(|__dict__|__class__")
HARMLESS_DECORATORS = frozenset({"dataclass", "dataclasses.dataclass", "final", "typing.final"})
HARMLESS_DECORATORS |= {"total_ordering", "functools.total_ordering", "typing_extensions.final"}
EVERY_OBJECT = frozenset(dir(object))
NO_METHODS = frozenset({"training", "dump_patches", "call_super_init", "T_destination"})
"""What every module of torch has and nobody can call."""
OWN_SETTINGS = frozenset({"args", "opt", "opts", "cfg", "conf", "config", "namespace", "hparams", "params", "parser"})
"""Objects that programs fill from the command line; filling them patches no class."""


def missed_on_classes(names: AbstractSet[str]) -> set[str]:
    """Those names that a class itself lacks if its objects do: no class has them because it is one."""
    return {name for name in names if not hasattr(type, name) and not name.startswith("__")}


@dataclass(frozen=True)
class Has:
    """All that an object of a class may have."""

    names: frozenset[str]
    outside: frozenset[str]
    """Those that bases outside the project have today."""


class Attributes:
    """Answers for the classes of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def lacking(self, facts: ClassFacts, called: set[str]) -> set[str]:
        """Those of ``called`` that an object of exactly this class surely lacks; empty where that is unsure.

        Asked in the order of cost: what class bodies bind, what other libraries give, what ``self`` is given
        as the text shows it, and only then each method's tree.
        """
        left = called - facts.scope.bindings.keys() - EVERY_OBJECT
        left = left and left - self._stored(facts)
        if not left:
            return left
        ancestry = self.project.ancestry(facts)
        if not ancestry.complete:
            return set()
        for name in ancestry.external:
            names = class_names(name)
            if names is None:
                return set()
            left = left - names.every
        for owner in ancestry.classes[1:]:
            left = left - owner.scope.bindings.keys() - self._stored(owner)
        if left:
            has = self.has(facts)
            left = left - has.names if has is not None else set()
        return left

    def has(self, facts: ClassFacts) -> Has | None:
        """All that an object of this class has; None if its classes do not tell."""
        return self.project.answer("attributes.has", facts, lambda: self._has(facts))

    def _has(self, facts: ClassFacts) -> Has | None:
        ancestry = self.project.ancestry(facts)
        if not ancestry.complete or any(self._is_open(owner) for owner in ancestry.classes):
            return None
        names: set[str] = set()
        offered: set[str] = set()
        for owner in ancestry.classes:
            names |= self.members(owner).names
        for name in ancestry.external:
            outside = class_names(name)
            if outside is None:
                return None
            names |= outside.every
            offered |= outside.offered
        return Has(frozenset(names), frozenset(offered - NO_METHODS))

    def members(self, facts: ClassFacts) -> ClassMembers:
        """What the class's own body declares."""
        return self.project.answer("attributes.members", facts, lambda: members.members_of(facts.node))

    def _stored(self, facts: ClassFacts) -> frozenset[str]:
        """Names that are stored to through ``self`` in the class's body."""
        path, qualname = facts.module.path, facts.qualname
        find = lambda: self._find_stored(path, qualname)  # noqa: E731 - it is short
        return self.project.answer("attributes.stored", (path, qualname), find, compared=True)

    def _find_stored(self, path: Path, qualname: str) -> frozenset[str]:
        summary = self.project.summary(path)
        if summary is None:
            return frozenset()
        alike = (number for number in summary.classes if summary.qualname(number) == qualname)
        stores = (store for number in alike for at in summary.below(number) for store in summary.scopes[at].stores)
        return frozenset(name for me, _, name in (one.partition(".") for one in stores) if me == SELF)

    def _is_open(self, facts: ClassFacts) -> bool:
        """Whether something may give its objects what its body does not declare."""
        node = facts.node
        if self.members(facts).open_because or "__init_subclass__" in facts.methods:
            return True
        if not has_certain_bases(self.project, facts):
            return True
        for decorator in node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if dotted(call) not in HARMLESS_DECORATORS:
                return True
        for keyword in node.keywords:
            if keyword.arg != "metaclass" or not dotted(keyword.value).endswith("ABCMeta"):
                return True
        return any(self.may_add(facts.module, name) for name in self.members(facts).gives_self_to)

    def is_patched(self, facts: ClassFacts) -> bool:
        """Whether a file gives the class attributes under computed names from outside."""
        setting = self.project.containing(SETTING)
        pattern = re.compile(rb"setattr\(\s*(?:\w+\.)*" + facts.name.encode() + rb"\s*,")
        mentioning = self.project.where(WORD, facts.name) if setting else ()
        if any(self.project.matches(path, pattern) for path in set(setting).intersection(mentioning)):
            return True
        return self.project.matches(facts.module.path, SETTERS) and any(_outside_setters(facts.module))

    def may_add(self, module: Module, callee: str) -> bool:
        """Whether a function, by its name in a module, may add attributes to an object that it gets."""
        if callee in {"setattr", "vars", "functools.update_wrapper", "update_wrapper"}:
            return True
        expression = ast.parse(callee, mode="eval").body
        symbol = self.project.resolve(module, module.scope, expression)
        if isinstance(symbol, (FunctionFacts, ClassFacts)):
            return says(self.project, symbol, ADDING)
        if isinstance(symbol, External):
            return not is_known_package(symbol.name)
        return False


def is_known_package(name: str) -> bool:
    """Whether functions of this package (by the qualified name of one) add no methods to what they get."""
    package = name.partition(".")[0]
    return package in {"torch", "builtins", "numpy"} or package in sys.stdlib_module_names


def says(project: Project, facts: ClassFacts | FunctionFacts, pattern: re.Pattern[str]) -> bool:
    """Whether a pattern is found in the source lines of a definition, comments included."""
    path, qualname = facts.module.path, facts.qualname

    def find() -> bool:
        module = project.module(path)
        scopes = module.all_scopes if module is not None else ()
        return module is not None and any(
            pattern.search(segment(module, scope.node)) for scope in scopes if scope.qualname == qualname
        )

    return project.answer("words of a definition", (path, qualname, pattern.pattern), find, compared=True)


def segment(module: Module, node: ast.stmt | ast.Module) -> str:
    """The source lines of a definition, or the whole text for a module."""
    if isinstance(node, ast.Module):
        return module.document.text
    return "\n".join(module.document.lines[node.lineno - 1 : node.end_lineno])


def _outside_setters(module: Module) -> Iterator[ast.Call]:
    """Calls of setattr with a computed name that stand in no class of the module."""
    waiting: list[ast.AST] = [module.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            continue
        if isinstance(node, ast.Call) and dotted(node.func) == "setattr" and len(node.args) == 3:
            target = dotted(node.args[0]).rpartition(".")[2]
            if not isinstance(node.args[1], ast.Constant) and target not in OWN_SETTINGS:
                yield node
        waiting.extend(ast.iter_child_nodes(node))
