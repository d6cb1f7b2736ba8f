"""What names and attributes hold in an abstract run."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from forklint.facts.starting.running import evaluation
from forklint.facts.starting.running.values import (
    UNKNOWN,
    Arguments,
    Bound,
    Const,
    Foreign,
    Frame,
    Function,
    Instance,
    Made,
    MainName,
    Method,
    PlatformTest,
    Ref,
    Spot,
    Super,
    Value,
)
from forklint.knowledge.starters import starters
from forklint.project.index import External, Package
from forklint.project.index import Value as Bindable
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Binding, Kind

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution

PLATFORM_NAMES = {
    "sys.platform",
    "os.name",
    "platform.system",
    "platform.platform",
    "platform.uname",
    "multiprocessing.get_start_method",
    "multiprocessing.get_all_start_methods",
    "torch.multiprocessing.get_start_method",
    "IPython.get_ipython",
    "IPython.core.getipython.get_ipython",
}
"""What tells a platform, or the start method that comes with it."""
NOTEBOOK_NAMES = {"get_ipython", "__IPYTHON__"}
"""Builtins that a notebook adds: no child imports a notebook again, so what asks for them is a test like the others."""
PROPERTIES = {"property", "cached_property", "functools.cached_property"}
PROCESS_NAMES = {"multiprocessing.current_process", "torch.multiprocessing.current_process"}


def name(run: Execution, frame: Frame, identifier: str) -> Value:
    """Give what a name holds where a frame runs."""
    if identifier == "__name__" and frame.module is run.module:
        return MainName()
    current: Frame | None = frame
    while current is not None:
        value = run.get(current, identifier)
        if value is not None:
            return value
        current = current.parent
    found = frame.scope.find(identifier)
    if found is None:
        return _unbound(run, frame, identifier)
    home, bindings = found
    if home is frame.module.scope:
        return module_member(run, frame.module, identifier)
    imported = all(binding.kind is Kind.IMPORT for binding in bindings)
    return _imported(run, frame.module, bindings) if imported else UNKNOWN


def _unbound(run: Execution, frame: Frame, identifier: str) -> Value:
    """A name that no scope binds: a builtin (asked first, since a star may parse half the project) or a star's."""
    if identifier in NOTEBOOK_NAMES:
        return PlatformTest()
    if hasattr(builtins, identifier):
        return Foreign(f"builtins.{identifier}")
    if not frame.module.scope.stars or identifier.startswith("__"):
        return UNKNOWN
    symbol = run.project.lookup(frame.module, frame.scope, identifier)
    known = starters(run.project.settings.starters)
    outside = (f"{star.module}.{identifier}" for star in frame.module.scope.stars if not star.level)
    named = next((name for name in outside if name in known), "")
    return Foreign(named) if symbol is None and named else of_symbol(run, symbol)


def asks_notebook(module: Module, node: ast.AST) -> bool:
    """Whether a function or statement reads a name that only notebooks have."""
    text = module.document.text
    return any(name in text for name in NOTEBOOK_NAMES) and any(
        isinstance(inner, ast.Name) and inner.id in NOTEBOOK_NAMES for inner in nodes_below(node)
    )


def module_member(run: Execution, module: Module, identifier: str) -> Value:
    """Give what a module's global holds: as the run left it, or else as its one binding says."""
    home = run.frame_of(module)
    value = run.get(home, identifier)
    if value is not None:
        return value
    bindings = module.scope.bindings.get(identifier)
    if not bindings:
        return of_symbol(run, run.project.member(module, identifier))
    if all(binding.kind is Kind.IMPORT for binding in bindings):
        return _imported(run, module, bindings)
    if len(bindings) > 1 or (module is run.module and bindings[0].kind not in {Kind.FUNCTION, Kind.CLASS}):
        return UNKNOWN
    return _bound_once(run, module, bindings[0], home)


def _bound_once(run: Execution, module: Module, binding: Binding, home: Frame) -> Value:
    if isinstance(binding.node, ast.ClassDef):
        return Ref(module.class_facts(binding.node))
    if isinstance(binding.node, FUNCTIONS):
        return Function(FunctionFacts(module, binding.node), home)
    if isinstance(binding.node, (ast.Assign, ast.AnnAssign)) and binding.node.value is not None:
        run.put(home, binding.name, UNKNOWN)  # while it is being worked out, and for what depends on itself
        with run.muted():
            value = evaluation.evaluate(run, home, binding.node.value)
            for target in getattr(binding.node, "targets", None) or [binding.node.target]:  # type: ignore[union-attr]
                run.bind(home, target, value)
        return run.get(home, binding.name) or UNKNOWN
    return UNKNOWN


def _imported(run: Execution, module: Module, bindings: list[Binding]) -> Value:
    for binding in bindings:
        target = run.project.find_module(module, binding.module, binding.level)
        if binding.attribute and isinstance(target, Module) and binding.attribute in target.scope.bindings:
            return module_member(run, target, binding.attribute)
        symbol = run.project.imported(module, binding)
        if symbol is not None:
            return of_symbol(run, symbol)
    return UNKNOWN


def of_symbol(run: Execution, symbol: object) -> Value:
    """Give the value that stands for what the index found."""
    if isinstance(symbol, External):
        return Const(value=False) if symbol.name == "typing.TYPE_CHECKING" else Foreign(symbol.name)
    if isinstance(symbol, (ClassFacts, Module, Package)):
        return Ref(symbol)
    if isinstance(symbol, FunctionFacts):
        return Function(symbol, run.frame_of(symbol.module))
    if isinstance(symbol, Bindable) and symbol.scope is symbol.module.scope:
        return module_member(run, symbol.module, symbol.binding.name)
    return UNKNOWN


def attribute(run: Execution, frame: Frame, node: ast.Attribute) -> Value:
    """Give what ``owner.name`` holds."""
    owner = evaluation.evaluate(run, frame, node.value)
    result: Value = Method(owner, node.attr, node.value)
    if isinstance(owner, Foreign):
        result = _of_library(f"{owner.name}.{node.attr}")
    elif isinstance(owner, Ref):
        result = _of_project(run, owner, node)
    elif isinstance(owner, Instance):
        held = run.get(owner, node.attr)
        result = held if held is not None else _of_class(run, Spot(frame, node), owner.facts, owner) or result
    elif isinstance(owner, Super):
        result = _inherited(run, owner, node.attr) or result
    elif isinstance(owner, Made) and owner.name in PROCESS_NAMES and node.attr == "name":
        result = MainName()
    elif isinstance(owner, PlatformTest):
        result = owner
    return result


def _of_library(qualified: str) -> Value:
    if qualified == "typing.TYPE_CHECKING":
        return Const(value=False)
    return PlatformTest() if qualified in PLATFORM_NAMES else Foreign(qualified)


def _of_project(run: Execution, owner: Ref, node: ast.Attribute) -> Value:
    if isinstance(owner.symbol, Module):
        return module_member(run, owner.symbol, node.attr)
    if isinstance(owner.symbol, ClassFacts):
        spot = Spot(run.frame_of(owner.symbol.module), node)
        return _of_class(run, spot, owner.symbol, None) or Method(owner, node.attr, node.value)
    return of_symbol(run, run.project.member(owner.symbol, node.attr))


def _inherited(run: Execution, owner: Super, identifier: str) -> Value | None:
    """Find a method in the project classes that come after the one whose method asks."""
    classes = run.project.ancestry(owner.instance.facts).classes
    later = classes[classes.index(owner.owner) + 1 :] if owner.owner in classes else ()
    for facts in later:
        if identifier in facts.methods:
            function = Function(FunctionFacts(facts.module, facts.methods[identifier]), run.frame_of(facts.module))
            return Bound(function, owner.instance, facts)
    return None


def _of_class(run: Execution, spot: Spot, facts: ClassFacts, instance: Instance | None) -> Value | None:
    """Find an attribute in a class and its bases, as its instance sees it, or (with none) the class itself."""
    identifier = spot.node.attr if isinstance(spot.node, ast.Attribute) else ""
    for owner in run.project.ancestry(facts).classes:
        if identifier in owner.methods:
            return _method(run, spot, Function(FunctionFacts(owner.module, owner.methods[identifier])), instance, facts)
        bindings = owner.scope.bindings.get(identifier, [])
        if len(bindings) == 1 and bindings[0].value is not None:
            inside = Frame(owner.module, owner.scope, run.frame_of(owner.module))
            return evaluation.evaluate(run, inside, bindings[0].value)
    return None


def _method(run: Execution, spot: Spot, function: Function, instance: Instance | None, facts: ClassFacts) -> Value:
    home = run.frame_of(function.facts.module)
    function = Function(function.facts, home)
    marks = {ast.unparse(decorator) for decorator in function.facts.node.decorator_list}
    if "staticmethod" in marks or (instance is None and "classmethod" not in marks):
        return function
    bound = Bound(function, Ref(facts) if "classmethod" in marks else instance, function.facts.owner)
    return run.invoke(spot, bound, Arguments()) if marks & PROPERTIES else bound
