"""What attributes an object of a project class has, by its class, its bases and whoever adds to it."""

from __future__ import annotations

import ast
import re
from abc import ABCMeta
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TypeGuard

from forklint.knowledge.patches import patches
from forklint.knowledge.torch_api import class_names
from forklint.project.certainty import has_certain_bases
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import dotted, first_parameter, last_name
from forklint.records import dataclass
from forklint.rules.unknown_method import members
from forklint.rules.unknown_method.decorators import keeps_class, leaves_alone
from forklint.rules.unknown_method.members import ClassMembers
from forklint.summaries.summary import Scope
from forklint.summaries.terms import WORD

SELF = "self"
SETTER, CLASS = "setattr", "__class__"
EVERY_OBJECT = frozenset(dir(object))
OF_CONTAINERS = frozenset[str]().union(*map(dir, (dict, list, tuple, set, str)))
"""What an object has whose annotation names the class of what is in it."""
MANGLED = re.compile(r"_+[A-Z]\w*?__\w")
"""A private name of a class, as others have to spell it: ``_LightningModule__to_tensor``."""
NO_METHODS = frozenset({"training", "dump_patches", "call_super_init", "T_destination"})
"""What every module of torch has and nobody can call."""
OWN_SETTINGS = frozenset({"args", "opt", "opts", "cfg", "conf", "config", "namespace", "hparams", "params", "parser"})
"""Objects that programs fill from the command line; filling them patches no class."""
COPIERS = frozenset({"setattr", "vars", "update_wrapper"})
"""As they are spelt: functions of Python that give an object other names."""
FILLING = frozenset({"parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args"})
"""Methods of the standard library's parser, which store options in the object that they are given."""
NAMESPACE = "namespace"
"""The keyword by which they are given it."""
METACLASS, ABSTRACT_METACLASS = "metaclass", "ABCMeta"
METACLASSES = frozenset({"builtins.type", "abc.ABCMeta"})
MAKING = frozenset({"__new__", "__init__", "__prepare__", "__getattr__", "__getattribute__"})
"""Methods by which a metaclass may give a class what its body does not have."""


def missed_on_classes(names: AbstractSet[str]) -> set[str]:
    """Those names that a class itself lacks if its objects do: no class has them because it is one, abstract or not."""
    return {name for name in names if not hasattr(ABCMeta, name) and not name.startswith("__")}


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
        left = {name for name in left if not (patches().supply(name) or MANGLED.match(name))}
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
            left = left - names.every - patches().attached_to(name)
        for owner in ancestry.classes[1:]:
            left = left - owner.scope.bindings.keys() - self._stored(owner)
        if left:
            has = self.has(facts)
            left = left - has.names if has is not None else set()
        return {name for name in left if not any(self.members(one).may_spell(name) for one in ancestry.classes)}

    def has(self, facts: ClassFacts) -> Has | None:
        """All that an object of this class has; None if its classes do not tell."""
        return self.project.answer("attributes.has", facts, lambda: self._has(facts))

    def _has(self, facts: ClassFacts) -> Has | None:
        ancestry = self.project.ancestry(facts)
        if not ancestry.complete or any(self.is_open(owner) for owner in ancestry.classes):
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

    def is_open(self, facts: ClassFacts) -> bool:
        """Whether something may give its objects what its body does not declare."""
        if self.members(facts).open_because or not has_certain_bases(self.project, facts):
            return True
        return (
            not all(self._keeps_class(facts, decorator) for decorator in facts.node.decorator_list)
            or not all(self._is_harmless(facts, keyword) for keyword in facts.node.keywords)
            or not self._leaves_heirs_alone(facts)
            or self._keeps_arguments(facts)
            or any(self.may_add(facts.module, name) for name in self.members(facts).gives_self_to)
        )

    def _keeps_class(self, facts: ClassFacts, decorator: ast.expr) -> bool:
        around = facts.scope.parent or facts.module.scope
        return keeps_class(self.project, facts.module, around, decorator, self.may_add)

    def _keeps_arguments(self, facts: ClassFacts) -> bool:
        """Whether a function of the project that decorates the constructor may store its arguments on the object."""
        init = facts.methods.get("__init__")
        for mark in init.decorator_list if init is not None else ():
            named = mark.func if isinstance(mark, ast.Call) else mark
            symbol = self.project.resolve(facts.module, facts.module.scope, named)
            nodes = nodes_below(symbol.node) if isinstance(symbol, (FunctionFacts, ClassFacts)) else ()
            if any(is_setter(one) or _fills(symbol.module, one) for one in nodes):  # type: ignore[union-attr]
                return True
        return False

    def _leaves_heirs_alone(self, facts: ClassFacts) -> bool:
        hook = facts.methods.get("__init_subclass__")
        return hook is None or leaves_alone(facts.module, hook, first_parameter(hook), self.may_add)

    def _is_harmless(self, facts: ClassFacts, keyword: ast.keyword) -> bool:
        """Whether a keyword beside the bases gives the class nothing: one for ``__init_subclass__``, or a metaclass."""
        if keyword.arg != METACLASS:
            return keyword.arg is not None
        if last_name(keyword.value) == ABSTRACT_METACLASS:
            return True
        around = facts.scope.parent or facts.module.scope
        kind = self.project.resolve(facts.module, around, keyword.value)
        if not isinstance(kind, ClassFacts):
            return False
        ancestry = self.project.ancestry(kind)
        given = frozenset(name for one in ancestry.classes for name in one.methods)
        is_plain = MAKING.isdisjoint(given) and all(name.startswith("__") for name in given)
        return ancestry.complete and METACLASSES.issuperset(ancestry.external) and is_plain

    def makes_others(self, facts: ClassFacts) -> bool:
        """Whether a call of the class may give an object of another one."""
        classes = self.project.ancestry(facts).classes
        kinds = (keyword.value for one in classes for keyword in one.node.keywords if keyword.arg == METACLASS)
        return any("__new__" in one.methods for one in classes) or any(
            last_name(kind) != ABSTRACT_METACLASS for kind in kinds
        )

    def may_bind(self, facts: ClassFacts, name: str) -> bool:
        """Whether a class's body or methods give its objects a name, as far as they are written out."""
        return name in facts.scope.bindings or name in self._stored(facts)

    def is_patched(self, facts: ClassFacts) -> bool:
        """Whether a file gives the class attributes under computed names from outside, or makes other objects its."""
        changing = self._mentioning(facts, self.project.where(WORD, CLASS))
        if any(facts.name in self._classes_given(path) for path in changing):
            return True
        setting = self.project.where(WORD, SETTER)
        if facts.module.path in setting and any(_outside_setters(facts.module)):
            return True
        return any(facts.name in self._classes_set(path) for path in self._mentioning(facts, setting))

    def _mentioning(self, facts: ClassFacts, paths: tuple[Path, ...]) -> set[Path]:
        """Those of some files in which the name of a class stands."""
        return set(self.project.where(WORD, facts.name)).intersection(paths) if paths else set()

    def _classes_given(self, path: Path) -> frozenset[str]:
        """The words in what a file gives objects as another class: ``layer.__class__ = kinds.Sparse``."""

        def find() -> frozenset[str]:
            summary = self.project.summary(path)
            stores = summary.by_target.items() if summary is not None else ()
            given = (value for target, values in stores if target.endswith(f".{CLASS}") for _, value in values)
            return frozenset(word for value in given for word in re.findall(r"\w+", value))

        return self.project.answer("classes that objects are given", path, find, compared=True)

    def _classes_set(self, path: Path) -> frozenset[str]:
        """The last names of what a file sets attributes of by ``setattr``."""

        def find() -> frozenset[str]:
            module = self.project.module(path)
            calls = [node for node in module.nodes if is_setter(node)] if module is not None else []
            return frozenset(last_name(call.args[0]) for call in calls)

        return self.project.answer("objects of setattr", path, find, compared=True)

    def may_add(self, module: Module, callee: str) -> bool:
        """Whether a function, by its name in a module, may add attributes to an object that it gets."""
        if callee in COPIERS or callee.rpartition(".")[2] in FILLING:
            return True
        expression = ast.parse(callee, mode="eval").body
        symbol = self.project.resolve(module, module.scope, expression)
        if isinstance(symbol, (FunctionFacts, ClassFacts)):
            return self._adds(symbol)
        if isinstance(symbol, External):
            return patches().may_add(symbol.name)
        return False

    def _adds(self, facts: ClassFacts | FunctionFacts) -> bool:
        """Whether a definition of the project sets attributes, under computed names, of what is not its own object."""
        path, number = facts.module.path, facts.module.number(facts.node)

        def find() -> bool:
            summary = self.project.summary(path)
            if summary is None or number >= len(summary.scopes):
                return True
            if not any(_may_set(summary.scopes[at]) for at in summary.below(number)):
                return False
            module = self.project.module(path)
            return module is None or any(_sets(module, node) for node in nodes_below(module.all_scopes[number].node))

        return self.project.answer("may add attributes", (path, number), find, compared=True)


def _fills(module: Module, node: ast.AST) -> bool:
    """Whether a node is the table of names of an object that further names are put into."""
    if not isinstance(node, ast.Attribute) or node.attr != "__dict__":
        return False
    above = module.parents[node]
    is_item = isinstance(above, ast.Subscript) and not isinstance(above.ctx, ast.Load)
    return is_item or not isinstance(node.ctx, ast.Load) or getattr(above, "attr", "") in {"update", "setdefault"}


def _may_set(scope: Scope) -> bool:
    if "__dict__" in scope.attributes or NAMESPACE in scope.passed:
        return True
    if any(store.endswith(".__class__") for store in scope.stores):
        return True
    return any(call.rpartition(".")[2] in _changing() for call in scope.calls)


def _changing() -> frozenset[str]:
    return frozenset({SETTER, *(name.rpartition(".")[2] for name in patches().changing)})


def _sets(module: Module, node: ast.AST) -> bool:
    """Whether a node gives other names to something, unless that is the object of the method that it stands in."""
    if isinstance(node, ast.Call) and last_name(node.func) in _changing():
        return not node.args or not _is_own(module, node.args[0])
    if isinstance(node, ast.keyword):
        return node.arg == NAMESPACE
    if isinstance(node, ast.Attribute) and node.attr in {"__dict__", "__class__"}:
        changes = node.attr == "__dict__" or not isinstance(node.ctx, ast.Load)
        return changes and not _is_own(module, node.value)
    return False


def _is_own(module: Module, value: ast.expr) -> bool:
    """Whether a value is the object of the method that it stands in."""
    found = module.scope_at(value).find(value.id) if isinstance(value, ast.Name) else None
    if found is None or not isinstance(value, ast.Name):
        return False
    function, above = found[0].node, found[0].parent
    is_method = above is not None and isinstance(above.node, ast.ClassDef)
    return is_method and isinstance(function, FUNCTIONS) and first_parameter(function) == value.id


def is_setter(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a node is a call of ``setattr`` with a computed name."""
    if not isinstance(node, ast.Call) or dotted(node.func) != SETTER or len(node.args) != 3:
        return False
    return not isinstance(node.args[1], ast.Constant)


def _outside_setters(module: Module) -> Iterator[ast.Call]:
    """Calls of setattr with a computed name that stand in no class of the module."""
    waiting: list[ast.AST] = [module.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            continue
        if is_setter(node) and last_name(node.args[0]) not in OWN_SETTINGS:
            yield node
        waiting.extend(ast.iter_child_nodes(node))
