"""Of which classes an object is that the evaluator follows: through functions, conditions, defaults and wrappers."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from forklint.knowledge.torch_api import torch_class
from forklint.members.abstract import can_be_made
from forklint.members.attribute_stores import is_assigned_somewhere
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Kind, expressions, statements
from forklint.project.spelling import dotted, first_parameter, is_name
from forklint.records import dataclass
from forklint.rules.unknown_method.attributes import Attributes, is_setter
from forklint.rules.unknown_method.filled_objects import FilledObjects
from forklint.rules.unknown_method.givers import SETTINGS_NAME
from forklint.rules.unknown_method.owners import WRAPPERS, Owner
from forklint.summaries.terms import CALL, WORD
from forklint.values.arithmetic import is_sure
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression, Found, Instance, Made

MODULE_OF_TORCH = "torch.nn.Module"
TABLE, SETTER = "__dict__", "setattr"


@dataclass(frozen=True)
class Valued:
    """The class of an object that lacks a name."""

    owner: Owner
    perhaps: bool = False
    """Whether it is only sometimes an object of that class: a model that a branch wraps."""


class ValuedObjects:
    """Answers for the objects of one project."""

    def __init__(self, project: Project, attributes: Attributes, filled: FilledObjects) -> None:
        self._project = project
        self._attributes = attributes
        self._filled_objects = filled
        self._evaluator = Evaluator(project)

    def lacking(self, module: Module, use: ast.Attribute) -> Valued | None:
        """The class of an object that surely lacks a name, whichever of its values it has; a model may be wrapped."""
        if _is_converted(module, use.value) or _is_named_within(module, use.value):
            return None
        found = self._evaluator.find(Expression(module, module.scope_at(use), use.value))
        if not is_sure(found) or any(one.by_default for one in (found, *found.options)):
            return None
        kinds = [one for one in found.possible if one.value != Constant(None)]
        owners = [self._owner(one, module, use.value) for one in kinds]
        known = [one for one in owners if one is not None]
        if not known or len(known) < len(owners):
            return None
        lacking = [one for one in known if self._lacks(one, use.attr)]
        wrappers = [one for one in lacking if not isinstance(one, ClassFacts) and one.path in WRAPPERS]
        lack_it_all = len(lacking) == len(known)
        if not lack_it_all and (not wrappers or len(wrappers) < len(lacking)):
            return None
        objects = [one.value for one in kinds if isinstance(one.value, Instance)]
        if any(self._may_be_other(one) or self._is_filled(one) for one in objects):
            return None  # asked last: it is dear, and few names are lacking
        return Valued(known[0]) if lack_it_all else Valued(wrappers[0], perhaps=True)

    def classes(self, module: Module, value: ast.expr) -> list[ClassFacts]:
        """The classes of the project of which a value surely is an object; none if it may be something else."""
        found = self._evaluator.find(Expression(module, module.scope_at(value), value))
        kinds = [one.value for one in found.possible if one.value != Constant(None)]
        objects = [one.facts for one in kinds if isinstance(one, Instance)]
        return objects if is_sure(found) and len(objects) == len(kinds) else []

    def may_have(self, module: Module, use: ast.Attribute) -> bool:
        """Whether an object that some caller may pass has a name, whatever class it is said to be of."""
        found = self._evaluator.find(Expression(module, module.scope_at(use), use.value))
        objects = [one.value.facts for one in found.possible if isinstance(one.value, Instance)]
        return any(not self._lacks(one, use.attr) for one in objects)

    def is_never_come_to(self, module: Module, use: ast.Attribute) -> bool:
        """Whether a use stands behind a flag that is never on: ``self.labels() if self.with_labels else None``."""
        below: ast.AST = use
        for above in module.above(use):
            if isinstance(above, FUNCTIONS):
                return False
            if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
                is_on = self._is_on(module, above.test)
                is_body = below in above.body if isinstance(above, ast.If) else below is above.body
                if is_on is not None and is_on is not is_body:
                    return True
            below = above
        return False

    def _is_on(self, module: Module, test: ast.expr) -> bool | None:
        """Whether an attribute of ``self`` always is, or never, as the only constant that code gives it."""
        if not isinstance(test, ast.Attribute) or not is_name(test.value, "self"):
            return None
        home = next((one for one in module.above(test) if isinstance(one, ast.ClassDef)), None)
        facts = module.class_facts(home) if home is not None else None
        truths = {bool(one.value) if isinstance(one, ast.Constant) else None for one in _values(module, test)}
        if facts is None or len(truths) != 1 or is_assigned_somewhere(self._project, test.attr, [module]):
            return None
        kin = (*self._project.ancestry(facts).classes[1:], *self._project.subclasses(facts))
        return truths.pop() if not any(self._attributes.may_bind(one, test.attr) for one in kin) else None

    def _owner(self, found: Found, module: Module, receiver: ast.expr) -> Owner | None:
        value = found.value
        if isinstance(value, Made):
            is_told = value.name in WRAPPERS or _is_given(module, receiver, value.call.node)
            return torch_class(value.name) if is_told else None
        return value.facts if isinstance(value, Instance) else None

    def _is_filled(self, value: Instance) -> bool:
        """Whether an object may have other attributes than its class, or be one of another class."""
        facts = value.facts
        is_plain = can_be_made(self._project, facts) and not self._attributes.makes_others(facts)
        is_plain = is_plain and self._enters_itself(facts, value.call)
        return not is_plain or self._is_filled_at_home(value.call) or self._may_be_filled(facts)

    def _may_be_other(self, value: Instance) -> bool:
        """Whether the name of the class means something else where another import or definition of it counts."""
        call = value.call
        name = call.node.func if call is not None and isinstance(call.node, ast.Call) else None
        found = call.scope.find(name.id) if call is not None and isinstance(name, ast.Name) else None
        if call is None or found is None or len(found[1]) == 1:
            return False
        return any(self._project.of_binding(call.module, found[0], one) != value.facts for one in found[1])

    def _enters_itself(self, facts: ClassFacts, call: Expression | None) -> bool:
        """Whether ``with ... as`` gives an object of a class itself, if the class is a context manager."""
        enter = self._project.method(facts, "__enter__")
        returned = [one.value for one in statements(enter[1].body) if isinstance(one, ast.Return)] if enter else []
        if enter is None:
            above = call.module.parents.get(call.node) if call is not None else None
            return not isinstance(above, ast.withitem)  # what it has from outside gives nobody knows what
        return bool(returned) and all(is_name(one, first_parameter(enter[1])) for one in returned)

    def _lacks(self, owner: Owner, name: str) -> bool:
        if isinstance(owner, ClassFacts):
            return name in self._attributes.lacking(owner, {name})
        return name not in owner.every

    def _may_be_filled(self, facts: ClassFacts) -> bool:
        """Whether code outside of a class may give its objects attributes under computed names."""
        find = lambda: any(self._may_be(facts, one) for one in self._filled())  # noqa: E731 - it is short
        return self._project.answer("objects may be filled", facts, find)

    def _is_filled_at_home(self, call: Expression | None) -> bool:
        """Whether the function that makes an object gives it to one that may add attributes to it."""
        above = call.module.parents.get(call.node) if call is not None else None
        targets = above.targets if isinstance(above, ast.Assign) else []
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        return call is not None and any(
            self._filled_objects.is_given_away(call.module, call.scope, one) for one in names
        )

    def _may_be(self, facts: ClassFacts, filled: Expression) -> bool:
        """Whether what is filled may be an object of a class: where that is unknown, the file has to speak of it."""
        found = self._evaluator.find(filled)
        kinds = [one.value.facts for one in found.possible if isinstance(one.value, Instance)]
        if any(facts in self._project.ancestry(one).classes for one in kinds):
            return True
        if is_sure(found):
            return False
        speaks = SETTINGS_NAME.search(facts.name) or filled.module.path in self._project.where(WORD, facts.name)
        return bool(speaks) and MODULE_OF_TORCH not in self._project.ancestry(facts).external

    def _filled(self) -> list[Expression]:
        """What any file gives attributes under computed names, but for what a method gives its own object."""
        return self._project.answer("what is filled", None, lambda: [*self._find_filled()])

    def _find_filled(self) -> Iterator[Expression]:
        paths = dict.fromkeys((*self._project.where(CALL, SETTER), *self._project.where(WORD, TABLE)))
        for module in self._project.modules(paths):
            for node in (*module.uses(SETTER), *module.uses(TABLE)):
                filled = _filled_by(module.parents, node)
                if filled is not None and dotted(filled) not in {"self", "cls"}:
                    yield Expression(module, module.scope_at(filled), filled)


def _values(module: Module, receiver: ast.expr) -> list[ast.expr | None]:
    """What lines give a variable, or an attribute of a name; None for a line that gives a part of something."""
    if isinstance(receiver, ast.Attribute):
        stored = (one for one in module.uses(receiver.attr) if isinstance(one, ast.Attribute))
        above = [module.parents[one] for one in stored if not isinstance(one.ctx, ast.Load)]
        return [one.value if isinstance(one, (ast.Assign, ast.AnnAssign)) else None for one in above]
    found = module.scope_at(receiver).find(receiver.id) if isinstance(receiver, ast.Name) else None
    return [one.value for one in found[1]] if found is not None else []


def _is_given(module: Module, receiver: ast.expr, call: ast.expr) -> bool:
    """Whether a line gives a variable or attribute what a call makes, and all others give it one value, too.

    What ``accelerate`` and others prepare is followed as what it was before, but an object of torch is wrapped by then.
    """
    values = _values(module, receiver)
    return None not in values and any(part is call for value in values if value for part in nodes_below(value))


def _is_converted(module: Module, receiver: ast.expr) -> bool:
    """Whether a builtin makes one of its values: the evaluator follows ``str(path)`` as the path that it is."""
    calls = (one for one in _values(module, receiver) if isinstance(one, ast.Call))
    return any(isinstance(one.func, ast.Name) and hasattr(builtins, one.func.id) for one in calls)


def _is_named_within(module: Module, receiver: ast.expr) -> bool:
    """Whether an expression names a variable on the way, by ``:=``, so that its other values say less."""
    found = module.scope_at(receiver).find(receiver.id) if isinstance(receiver, ast.Name) else None
    others = [one.node for one in found[1] if one.kind is Kind.OTHER] if found is not None else []
    wholes = (whole for one in others if isinstance(one, ast.stmt) for whole in expressions(one))
    parts = (part for whole in wholes for part in nodes_below(whole))
    return any(isinstance(part, ast.NamedExpr) and part.target.id == getattr(receiver, "id", "") for part in parts)


def _filled_by(parents: Mapping[ast.AST, ast.AST], use: ast.AST) -> ast.expr | None:
    """What is filled where ``setattr`` or ``__dict__`` is used."""
    above = parents[use]
    if is_setter(above) and above.func is use:
        return above.args[0]
    return use.value if isinstance(use, ast.Attribute) and use.attr == TABLE else None
