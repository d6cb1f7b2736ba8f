"""Of which class the object is that a variable or an attribute holds."""

from __future__ import annotations

import ast
from itertools import takewhile

from forklint.knowledge.torch_api import ApiNames, torch_class
from forklint.members.abstract import can_be_made
from forklint.project.certainty import is_certain
from forklint.project.index import External, Project, Value
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Binding, Kind, Scope
from forklint.project.spelling import dotted
from forklint.rules.unknown_method.attributes import Attributes
from forklint.rules.unknown_method.constructions import annotated, may_be_object, peeled, takes

Owner = ClassFacts | ApiNames
WRAPPERS = frozenset({"torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel"})
"""They keep a module under ``.module`` and hand none of its methods on."""
OF_WRAPPERS = frozenset({"module", "_orig_mod"})
"""Where they, and what `torch.compile` makes, keep it: they are passed where the module is asked for."""


class Owners:
    """Answers for the modules of one project."""

    def __init__(self, project: Project, attributes: Attributes) -> None:
        self.project = project
        self._attributes = attributes

    def of(self, module: Module, scope: Scope, binding: Binding) -> Owner | None:
        """The class of the object that a variable surely is, or the class itself that it names."""
        if binding.kind is Kind.VALUE:
            return self._made_by(module, scope, binding)
        if binding.kind is Kind.PARAMETER:
            return self._typed(module, binding)
        symbol = self.project.lookup(module, scope, binding.name)
        if not is_certain(self.project, module, scope, ast.Name(binding.name)):
            return None
        if isinstance(symbol, Value) and symbol.module is not module and may_be_object(symbol.scope, symbol.binding):
            return self._made_by(symbol.module, symbol.scope, symbol.binding)
        return symbol if isinstance(symbol, ClassFacts) else None

    def kept_in(self, module: Module, given: list[ast.Attribute]) -> tuple[Owner | None, bool]:
        """The class of what is put into an attribute, if one line of a class does so; whether an annotation says it."""
        above = module.parents[given[0]] if len(given) == 1 else None
        value = above.value if isinstance(above, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Call):
            return self._class_called(module, module.scope_at(value), value), False
        bindings = module.scope_at(value).bindings.get(value.id, []) if isinstance(value, ast.Name) else []
        is_told = len(bindings) == 1 and bindings[0].kind is Kind.PARAMETER
        return (self._typed(module, bindings[0]), True) if is_told else (None, False)

    def _typed(self, module: Module, parameter: Binding) -> Owner | None:
        """The class of the project or of torch that a parameter is annotated with, if objects of it can be made."""
        written = annotated(parameter)
        scope = module.scope_at(parameter.node)
        symbol = self.project.resolve(module, scope, written) if written is not None else None
        if symbol is None or written is None or not is_certain(self.project, module, scope, written):
            return None
        if isinstance(symbol, External):
            return torch_class(symbol.name)
        return symbol if isinstance(symbol, ClassFacts) and can_be_made(self.project, symbol) else None

    def _made_by(self, module: Module, scope: Scope, binding: Binding) -> Owner | None:
        """The class whose constructor gave a variable its only value."""
        return self._class_called(module, scope, binding.value) if isinstance(binding.value, ast.Call) else None

    def _class_called(self, module: Module, scope: Scope, call: ast.Call) -> Owner | None:
        """The class of the object that a call makes, also where the new module is moved or set in the same line."""
        made, returning = peeled(call)
        symbol = self.project.resolve(module, scope, made.func)
        if not isinstance(symbol, (ClassFacts, External)):
            return None
        if not is_certain(self.project, module, scope, made.func):
            return None
        if isinstance(symbol, External):
            is_module = symbol.name.startswith("torch.nn.") and symbol.name not in WRAPPERS
            return torch_class(symbol.name) if is_module or not returning else None
        constructor = self.project.method(symbol, "__init__")
        if constructor is not None and not takes(constructor[1], made):
            return None  # it raises TypeError before anything is called on it
        if self._attributes.makes_others(symbol) or not can_be_made(self.project, symbol):
            return None
        if returning and any(self.project.method(symbol, name) for name in returning):
            return None
        is_module = "torch.nn.Module" in self.project.ancestry(symbol).external
        return symbol if is_module or not returning else None


def is_unaware(module: Module, use: ast.Attribute) -> bool:
    """Whether nothing around a use asks whether the object is wrapped, and it stands in no branch of its own."""
    wrapped = dotted(use.value)
    function = module.scope_at(use).node
    if any(isinstance(one, ast.Attribute) and one.attr in OF_WRAPPERS for one in nodes_below(function)):
        return False
    tests = (ast.If, ast.IfExp)
    above = module.above(use)
    branches = [one for one in takewhile(lambda node: node is not function, above) if isinstance(one, tests)]
    return bool(wrapped) and not branches
