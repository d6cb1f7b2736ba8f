"""What an experiment needs to know, read from a line: the statement, class or call of the rule's kind that is nearest.

Each aim gives the proof that its rule would give (``Rule.proof``), or says in a few words what is not there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from forklint.environment.launching import launches
from forklint.environment.settings import settings_in
from forklint.handles.openers import Openers
from forklint.knowledge.handles import openers
from forklint.knowledge.hooks import removed_hooks
from forklint.knowledge.random_streams import generators
from forklint.members.attribute_stores import is_assigned_somewhere
from forklint.members.guards import is_excused, is_hidden, is_method_excused
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.rules.misspelt_hook.meaning import meant_hook
from forklint.rules.unknown_method.attributes import Attributes
from forklint.rules.unknown_method.suppliers import Suppliers
from forklint.sending.sites import Sites
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance

FAR = 3
"""Lines between the one that is named and what is meant."""
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Aim:
    """What a line points to."""

    node: ast.AST
    proof: Mapping[str, Any]
    subject: str = ""
    doubt: str = ""
    """Why lint may be silent, for all that an experiment can see."""


def nearest(nodes: Iterable[Node], row: int) -> Node | None:
    """The smallest node that holds the row, else the one nearest to it; None if all are far."""

    def distance(node: Any) -> tuple[int, int]:
        end = node.end_lineno or node.lineno
        return (max(node.lineno - row, row - end, 0), end - node.lineno)

    found = min(nodes, key=distance, default=None)
    return found if found is not None and distance(found)[0] <= FAR else None


def class_at(module: Module, row: int) -> ClassFacts | None:
    """The innermost class around a row."""
    found = nearest([facts.node for facts in module.classes], row)
    return None if found is None else module.class_facts(found)


def class_around(module: Module, node: ast.AST) -> ClassFacts | None:
    """The innermost class that holds a node."""
    return next((module.class_facts(one) for one in module.above(node) if isinstance(one, ast.ClassDef)), None)


def variable(project: Project, module: Module, row: int) -> Aim | str:
    """FKL101: a variable of the environment that is set."""
    settings = settings_in(project, module)
    statement = nearest([one.statement for one in settings], row)
    setting = next((one for one in settings if one.statement is statement), None)
    if setting is None:
        return "no environment variable is set there by name"
    starts = bool(launches(project, module))
    doubt = "the file starts other programs, and the variable may be meant for them" if starts else ""
    return Aim(setting.statement, {"variable": setting.name, "value": setting.literal}, setting.name, doubt)


def start(_project: Project, module: Module, row: int) -> Aim | str:
    """FKL201: whatever statement there is; the script as a whole is run."""
    node = nearest([node for node in module.nodes if isinstance(node, ast.stmt)], row)
    return Aim(node, {}) if node is not None else "there is no statement on that line"


def handle(project: Project, module: Module, row: int) -> Aim | str:
    """FKL301: an attribute that is given what a call gives, or a name of the module that is given what one opens."""
    stores = [node for node in module.nodes if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value]
    statement = nearest([node for node in stores if any(isinstance(one, ast.Call) for one in ast.walk(node))], row)
    if statement is None:
        return "nothing is opened and stored on that line"
    facts = class_around(module, statement)
    table = Openers(project, facts, openers(project.settings.handles))
    calls = [node for node in nodes_below(statement) if isinstance(node, ast.Call)]
    rows = [found for call in calls if (found := table.row(module, module.scope_at(call), call))]
    known = {"openers": rows[0].call, "kind": rows[0].kind} if rows else {"openers": (), "kind": "object"}
    proof = {**known, "attributes": (), "name": ""}
    attribute, name = _stored_in(statement)
    if attribute and facts is not None:
        return Aim(statement, {**proof, "dataset": facts.place, "keeper": facts.place, "attributes": (attribute,)})
    users = [user for use in module.reads(name) if (user := class_around(module, use))]
    if users and rows and facts is None:
        return Aim(statement, {**proof, "dataset": users[0].place, "keeper": users[0].place, "name": name})
    return "no open handle is stored there, neither in an object nor in a variable that a class of the file uses"


def _stored_in(statement: ast.Assign | ast.AnnAssign) -> tuple[str, str]:
    """The attribute and the name that a statement stores in; empty where it does not."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    attributes = [target.attr for target in targets if isinstance(target, ast.Attribute)]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return next(iter(attributes), ""), next(iter(names), "")


def member(project: Project, module: Module, row: int) -> Aim | str:
    """FKL501: a name that is looked up on an object of the project, on one of its classes, or on torch."""
    uses = [node for node in module.nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]
    on_row = [node for node in uses if node.lineno <= row <= (node.end_lineno or row)]
    for use in sorted(on_row or filter(None, [nearest(uses, row)]), key=lambda node: -node.col_offset):
        known = project.qualified(module, module.scope_at(use), use)
        if known.startswith("torch."):
            owner, _, name = known.rpartition(".")
            doubt = "the use is guarded" if is_excused(module, use, ast.unparse(use.value)) else ""
            return Aim(use, {"name": name, "torch": owner}, name, doubt)
        facts = _class_of(project, module, use.value)
        if facts is not None:
            return Aim(use, {"name": use.attr, "class": facts.place}, use.attr, _elsewhere(project, module, use, facts))
    return "no method is called there on an object of a known class"


def _class_of(project: Project, module: Module, receiver: ast.expr) -> ClassFacts | None:
    """The class of ``self``, or of an object that the evaluator knows."""
    facts = class_around(module, receiver)
    if isinstance(receiver, ast.Name) and receiver.id == "self" and facts is not None:
        return facts
    found = Evaluator(project).find(Expression(module, module.scope_at(receiver), receiver)).value
    return found.facts if isinstance(found, Instance) else None


def _elsewhere(project: Project, module: Module, use: ast.Attribute, facts: ClassFacts) -> str:
    """Where else the object may get the name from, for which no class need be asked."""
    if is_method_excused(module, use) or is_hidden(module, use):
        return "the use is guarded"
    if facts.node.decorator_list:
        return f"`{facts.name}` is decorated, which may add names"
    derived = list(project.subclasses(facts))
    family = [*project.ancestry(facts).classes, *derived]
    if any(use.attr in own_names(one) for one in family):
        return f"an object of `{facts.name}` or of a subclass defines `{use.attr}` itself"
    if is_assigned_somewhere(project, use.attr, [module, *{one.module for one in family}]):
        return f"`{use.attr}` is set on objects elsewhere in the project"
    return _not_known(project, facts, use.attr)


def _not_known(project: Project, facts: ClassFacts, name: str) -> str:
    """Why the code of a class does not tell whether its objects have a name; an object that is not set up lacks it."""
    attributes = Attributes(project)
    if attributes.makes_others(facts):
        return f"calling `{facts.name}` may give an object of another class"
    if attributes.is_patched(facts) or not attributes.lacking(facts, {name}):
        return f"objects of `{facts.name}` may get attributes that cannot be read from the code of the class"
    if Suppliers(project, attributes).may_give_self(facts, name):
        return f"`{facts.name}` is for other classes, and their objects may have `{name}`"
    return ""


def own_names(facts: ClassFacts) -> set[str]:
    """Names of methods, of what the class's body binds, and of what its methods store on an object."""
    return stored_names(facts) | set(facts.methods) | set(facts.scope.bindings)


def stored_names(facts: ClassFacts) -> set[str]:
    """Names of the attributes that a class's methods store."""
    return {node.attr for node in ast.walk(facts.node) if isinstance(node, ast.Attribute) and not _is_read(node)}


def _is_read(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def hook(_project: Project, module: Module, row: int) -> Aim | str:
    """FKL502: a method whose name is a slip away from a hook."""
    facts = class_at(module, row)
    methods = [node for node in (facts.node.body if facts else ()) if isinstance(node, FUNCTIONS)]
    node = nearest(methods, row)
    gone = next(iter(removed_hooks().get(node.name, ())), None) if node is not None else None
    if node is not None and facts is not None and gone is not None:
        proof = {"class": facts.place, "name": gone.name, "meant": gone.instead, "removed": gone.effect}
        return Aim(node, proof, gone.name)
    meant = meant_hook(node.name) if node is not None else None
    if node is None or facts is None or meant is None:
        return "no method is defined there whose name is one typo away from one that torch calls"
    return Aim(node, {"class": facts.place, "name": node.name, "meant": meant}, node.name)


def payload(project: Project, module: Module, row: int) -> Aim | str:
    """FKL204: what a call sends to a process."""
    sent = list(Sites(project).in_module(module))
    call = nearest([one.call for one in sent], row)
    found = next((one for one in sent if one.call is call), None)
    if found is None:
        return "no call on that line sends anything to a process"
    span = module.span(found.call)
    place = {"file": str(module.path), "first": span.row, "last": span.end_row}
    proof = {"call": place, "part": found.part, "to": found.to, "piped": found.piped}
    what = f"an argument of {found.to}"
    doubt = "" if found.cells else "nothing is pickled: there are no workers, or they are forked"
    return Aim(found.call, {**proof, "dataset": None, "path": "", "late": "", "what": what}, found.part, doubt)


def generator(project: Project, module: Module, row: int) -> Aim | str:
    """FKL302: an attribute that keeps a generator of random numbers."""
    facts = class_at(module, row)
    stores = [
        node for node in (ast.walk(facts.node) if facts else ()) if isinstance(node, ast.Assign) and _stored_in(node)[0]
    ]
    statement = nearest(stores, row)
    if statement is None or facts is None:
        return "no generator is stored there"
    calls = [node for node in nodes_below(statement) if isinstance(node, ast.Call)]
    names = [project.qualified(module, module.scope_at(call), call.func) for call in calls]
    kinds = [generators()[name].kind for name in names if name in generators()]
    if not kinds:
        return "what is stored there is not a known generator"
    attribute = _stored_in(statement)[0]
    proof = {"dataset": facts.place, "keeper": facts.place, "attribute": attribute, "kind": kinds[0]}
    return Aim(statement, {**proof, "file": str(module.path)}, attribute)


def stream(_project: Project, module: Module, row: int) -> Aim | str:
    """FKL303: a class that is iterated."""
    facts = class_at(module, row)
    if facts is None or "__iter__" not in facts.methods:
        return "no class with `__iter__` is defined there"
    return Aim(facts.node, {"dataset": facts.place, "keeper": facts.place}, facts.name)


AIMS: Mapping[str, Callable[[Project, Module, int], Aim | str]] = {
    "FKL101": variable,
    "FKL201": start,
    "FKL204": payload,
    "FKL301": handle,
    "FKL302": generator,
    "FKL303": stream,
    "FKL501": member,
    "FKL502": hook,
}
"""By the rule's code. For the others a line says too little: what they run is found by lint alone."""
