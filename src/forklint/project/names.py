"""What names and attributes hold in an abstract run."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from forklint.project.index import External, Package
from forklint.project.index import Value as Bindable
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Binding, Kind

from forklint.project import evaluation
from forklint.project.values import (
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
    Super,
    Value,
)

if TYPE_CHECKING:
    from forklint.project.execution import Execution

PLATFORM_NAMES = {"sys.platform", "os.name", "platform.system", "platform.platform", "platform.uname"}
PROCESS_NAMES = {"multiprocessing.current_process", "torch.multiprocessing.current_process"}


def name(run: Execution, frame: Frame, identifier: str) -> Value:
    """What a name holds where a frame runs."""
    if identifier == "__name__" and frame.module is run.module:
        return MainName()
    current: Frame | None = frame
    while current is not None:
        value = run.get(current, identifier)
        if value is not None and (current is frame or not isinstance(current.scope.node, ast.ClassDef)):
            return value
        current = current.parent
    found = frame.scope.find(identifier)
    if found is None:
        if hasattr(
            builtins, identifier
        ):  # before the stars: looking through those may parse half the project
            return Foreign(f"builtins.{identifier}")
        symbol = (
            run.project.lookup(frame.module, frame.scope, identifier) if frame.module.scope.stars else None
        )
        return of_symbol(run, symbol) if symbol is not None else UNKNOWN
    home, bindings = found
    if home is frame.module.scope:
        return module_member(run, frame.module, identifier)
    if all(binding.kind is Kind.IMPORT for binding in bindings):
        return _imported(run, frame.module, bindings)
    return UNKNOWN


def module_member(run: Execution, module: Module, identifier: str) -> Value:
    """What a module's global holds: as the run left it, or else as its one binding says."""
    home = run.frame_of(module)
    value = run.get(home, identifier)
    if value is not None:
        return value
    bindings = module.scope.bindings.get(identifier)
    if not bindings:
        symbol = run.project.member(module, identifier)
        return of_symbol(run, symbol) if symbol is not None else UNKNOWN
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
            for target in (
                binding.node.targets if isinstance(binding.node, ast.Assign) else [binding.node.target]
            ):
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
    """The value that stands for what the index found."""
    if isinstance(symbol, External):
        return Const(value=False) if symbol.name == "typing.TYPE_CHECKING" else Foreign(symbol.name)
    if isinstance(symbol, (ClassFacts, Module, Package)):
        return Ref(symbol)
    if isinstance(symbol, FunctionFacts):
        return Function(symbol, run.frame_of(symbol.module))
    if isinstance(symbol, Bindable) and symbol.scope is symbol.module.scope:
        return module_member(run, symbol.module, symbol.binding.name)
    return UNKNOWN


def attribute(run: Execution, frame: Frame, owner: Value, node: ast.Attribute) -> Value:
    """What ``owner.name`` holds."""
    if isinstance(owner, Foreign):
        qualified = f"{owner.name}.{node.attr}"
        if qualified in PLATFORM_NAMES:
            return PlatformTest()
        return Const(value=False) if qualified == "typing.TYPE_CHECKING" else Foreign(qualified)
    if isinstance(owner, Ref):
        if isinstance(owner.symbol, Module):
            return module_member(run, owner.symbol, node.attr)
        if isinstance(owner.symbol, ClassFacts):
            return _class_member(run, frame, owner.symbol, None, node)
        symbol = run.project.member(owner.symbol, node.attr)
        return of_symbol(run, symbol) if symbol is not None else UNKNOWN
    if isinstance(owner, Instance):
        value = run.get(owner, node.attr)
        return value if value is not None else _class_member(run, frame, owner.facts, owner, node)
    if isinstance(owner, Super):
        classes = run.project.ancestry(owner.instance.facts).classes
        later = classes[classes.index(owner.owner) + 1 :] if owner.owner in classes else ()
        for facts in later:
            if node.attr in facts.methods:
                home = run.frame_of(facts.module)
                return Bound(
                    Function(FunctionFacts(facts.module, facts.methods[node.attr]), home),
                    owner.instance,
                    facts,
                )
        return Method(owner, node.attr, node.value)
    if isinstance(owner, Made) and owner.name in PROCESS_NAMES and node.attr == "name":
        return MainName()
    if isinstance(owner, PlatformTest):
        return owner
    return Method(owner, node.attr, node.value)


def _class_member(
    run: Execution, frame: Frame, facts: ClassFacts, instance: Instance | None, node: ast.Attribute
) -> Value:
    for owner in run.project.ancestry(facts).classes:
        home = run.frame_of(owner.module)
        if node.attr in owner.methods:
            method = owner.methods[node.attr]
            function = Function(FunctionFacts(owner.module, method), home)
            marks = {ast.unparse(decorator) for decorator in method.decorator_list}
            if "staticmethod" in marks:
                return function
            if "classmethod" in marks:
                return Bound(function, Ref(facts), owner)
            if instance is None:
                return function
            if marks & {"property", "cached_property", "functools.cached_property"}:
                return run.invoke(frame, node, function, Arguments((instance,)), owner)
            return Bound(function, instance, owner)
        bindings = owner.scope.bindings.get(node.attr, [])
        if len(bindings) == 1 and bindings[0].value is not None:
            return evaluation.evaluate(run, Frame(owner.module, owner.scope, home), bindings[0].value)
    return Method(instance or Ref(facts), node.attr, node.value)
