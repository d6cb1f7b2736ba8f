"""What objects of Lightning's classes lost, where it is used: ``trainer.lr_find()``, ``self.trainer.use_ddp``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from forklint.knowledge.removed import Gone, removed_members
from forklint.members.attribute_stores import is_assigned_somewhere
from forklint.members.guards import is_hidden, is_method_excused
from forklint.members.version_tests import is_chosen_by_version
from forklint.project.guard import is_for_type_checkers
from forklint.project.spelling import dotted, first_parameter, is_name, last_name
from forklint.project.versions import asks_for_older
from forklint.rules.unknown_method.attributes import Attributes
from forklint.rules.unknown_method.removed import LIGHTNING, Removed
from forklint.rules.unknown_method.supers import method_around
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Made

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module
    from forklint.project.scopes import Function

PACKAGES = ("lightning.", "pytorch_lightning.")
TRAINER, KEPT = "pytorch_lightning.Trainer", "trainer"
"""The class, and under which name models, data and callbacks have their trainer."""
MAKING = ("Trainer", "Trainer.from_argparse_args")
HOLDING = ("LightningModule", "LightningDataModule")
"""Classes that have it as an attribute."""
TAKING = "Callback"
"""The class whose hooks take it as a parameter."""
HOOK = re.compile(r"on_|setup$|teardown$")
"""How its hooks are called."""


def lost_members(project: Project, module: Module) -> Iterator[Removed]:
    """Give the places where a module reads or assigns them, each once in a function for what they are read on."""
    code = module.screened.code
    derives = (_derives(project, facts, one) for facts in module.classes for one in HOLDING)
    if LIGHTNING.encode() not in code and not any(derives):
        return
    attributes = Attributes(project)
    seen: set[tuple[ast.AST, str, str]] = set()
    for name, had in _owners().items():
        for node in module.uses(name) if name.encode() in code else ():
            if not isinstance(node, ast.Attribute) or node.attr != name or isinstance(node.ctx, ast.Del):
                continue
            owners = {one: gone for one, gone in had.items() if gone.is_setter is isinstance(node.ctx, ast.Store)}
            place = (module.scope_at(node).node, ast.unparse(node.value), name)
            owner = _owner(attributes, module, node, owners) if owners and place not in seen else ""
            if owner and not _is_spared(project, module, node, owners[owner]):
                seen.add(place)
                yield Removed(node, f"{owner}.{name}", is_hidden(module, node))


def is_lost(base: str, name: str) -> bool:
    """Whether objects of a class outside the project, by its dotted path, had what they lack now."""
    had = _owners().get(name, {})
    return any(not gone.is_setter and _is_called(base, owner.rpartition(".")[2]) for owner, gone in had.items())


@cache
def _owners() -> Mapping[str, Mapping[str, Gone]]:
    """By name, the classes that had it."""
    found: dict[str, dict[str, Gone]] = {}
    for owner, names in removed_members().items():
        for name, gone in names.items():
            found.setdefault(name, {})[owner] = gone
    return found


def _owner(attributes: Attributes, module: Module, node: ast.Attribute, owners: Mapping[str, Gone]) -> str:
    """Of some classes, the one of the object that a name is used on; empty if it is not known, or may have the name."""
    project, name, around = attributes.project, node.attr, method_around(module, node)
    around = around if around is not None and first_parameter(around[1]) == "self" else None
    if is_name(node.value, "self"):
        is_closed = around is not None and attributes.has(around[0]) is not None
        if around is None or not is_closed or any(_binds(one, name) for one in _kin(project, around[0])):
            return ""
        if isinstance(node.ctx, ast.Load) and _is_given(attributes, around[0], name):
            return ""
        return next((one for one in owners if _derives(project, around[0], one.rpartition(".")[2])), "")
    if TRAINER not in owners or not _is_trainer(attributes, module, node.value, around):
        return ""
    is_given = is_assigned_somewhere(project, name, [module]) or any(_binds(one, name) for one in _trainers(project))
    return "" if is_given else TRAINER


def _is_trainer(
    attributes: Attributes, module: Module, value: ast.expr, around: tuple[ClassFacts, Function] | None
) -> bool:
    project = attributes.project
    if around is not None and isinstance(value, ast.Attribute) and is_name(value.value, "self"):
        if value.attr != KEPT or not any(_derives(project, around[0], one) for one in HOLDING):
            return False
        return not any(_binds(one, KEPT) or attributes.may_bind(one, KEPT) for one in _kin(project, around[0]))
    if around is not None and is_name(value, KEPT) and KEPT in {one.arg for one in around[1].args.args[1:2]}:
        note = around[1].args.args[1].annotation
        is_lightning = note is None or last_name(note) == TRAINER.rpartition(".")[2]
        return is_lightning and HOOK.match(around[1].name) is not None and _derives(project, around[0], TAKING)
    if not isinstance(value, (ast.Name, ast.Attribute, ast.Call)):
        return False
    made = Evaluator(project).find(Expression(module, module.scope_at(value), value)).value
    return isinstance(made, Made) and any(_is_called(made.name, one) for one in MAKING)


def _trainers(project: Project) -> Iterator[ClassFacts]:
    """Give the classes of the project whose base is called as Lightning's trainer."""
    for path, name in project.hierarchy.with_base(TRAINER.rpartition(".")[2]):
        module = project.module(path)
        yield from (one for one in (module.classes if module is not None else ()) if one.name == name)


def _derives(project: Project, facts: ClassFacts, name: str) -> bool:
    return any(_is_called(one, name) for one in project.ancestry(facts).external)


def _is_called(path: str, name: str) -> bool:
    """Whether a dotted path leads to something of Lightning under a name."""
    return path.startswith(PACKAGES) and path.endswith(f".{name}")


def _is_given(attributes: Attributes, facts: ClassFacts, name: str) -> bool:
    """Whether a method of a class or of its kin stores an attribute, or code elsewhere does."""
    is_stored = any(attributes.may_bind(one, name) for one in _kin(attributes.project, facts))
    return is_stored or is_assigned_somewhere(attributes.project, name, [facts.module])


def _kin(project: Project, facts: ClassFacts) -> tuple[ClassFacts, ...]:
    """A class, what it derives from, and what derives from it."""
    return (*project.ancestry(facts).classes, *project.subclasses(facts))


def _binds(facts: ClassFacts, name: str) -> bool:
    """Whether the body of a class gives an attribute a value, or a type, or sees to each that is assigned."""
    noted = {dotted(one.target) for one in facts.node.body if isinstance(one, ast.AnnAssign)}
    return name in facts.scope.bindings or name in noted or "__setattr__" in facts.scope.bindings


def _is_spared(project: Project, module: Module, node: ast.Attribute, gone: Gone) -> bool:
    """Whether the project is for a version that has it, or the code is ready for its lack."""
    if asks_for_older(project, module.path, gone.since, LIGHTNING) or is_method_excused(module, node):
        return True
    return is_chosen_by_version(project, module, node) or is_for_type_checkers(module, node)
