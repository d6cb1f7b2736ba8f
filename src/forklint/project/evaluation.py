"""What an expression holds in an abstract run, with all that evaluating it starts."""

from __future__ import annotations

import ast
import builtins
from functools import cache
from typing import TYPE_CHECKING

from forklint.knowledge.starters import iteration
from forklint.project import calling, iterating
from forklint.project.index import External, Package
from forklint.project.index import Value as Bindable
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Binding, Kind
from forklint.project.values import (
    NONE,
    UNKNOWN,
    Arguments,
    Bound,
    Const,
    Dictionary,
    Foreign,
    Frame,
    Function,
    Guard,
    Instance,
    Lambda,
    Made,
    MainName,
    Method,
    PlatformTest,
    Ref,
    Sequence,
    Super,
    Value,
    merge,
    merge_all,
)
from forklint.project.workers import Number, Positive, compute

if TYPE_CHECKING:
    from forklint.project.execution import Execution

CHILD_NAME = "__mp_main__"
"""What ``__name__`` is in a child that imports the main module again."""
PLATFORM_NAMES = {"sys.platform", "os.name", "platform.system", "platform.platform", "platform.uname"}
EXITS = {"sys.exit", "os._exit", "builtins.exit", "builtins.quit", "os.abort"}
PROCESS_NAMES = {"multiprocessing.current_process", "torch.multiprocessing.current_process"}


def evaluate(run: Execution, frame: Frame, node: ast.expr) -> Value:
    """Evaluate an expression in a frame."""
    run.step()
    if isinstance(node, ast.Constant):
        return Const(node.value) if node.value is not ... else UNKNOWN
    if isinstance(node, ast.Name):
        return name(run, frame, node.id)
    if isinstance(node, ast.Attribute):
        return attribute(run, frame, evaluate(run, frame, node.value), node)
    if isinstance(node, ast.Call):
        return calling.call(run, frame, node)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return _sequence(run, frame, node.elts)
    if isinstance(node, ast.Dict):
        return _dictionary(run, frame, node)
    if isinstance(node, ast.Subscript):
        return _item(evaluate(run, frame, node.value), evaluate(run, frame, node.slice))
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        return _comprehension(run, frame, node, 0)
    if isinstance(node, (ast.Compare, ast.BoolOp, ast.IfExp)) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return _logic(run, frame, node)
    return _other(run, frame, node)


def _other(run: Execution, frame: Frame, node: ast.expr) -> Value:
    if isinstance(node, ast.Lambda):
        return Lambda(node, frame)
    if isinstance(node, ast.NamedExpr):
        value = evaluate(run, frame, node.value)
        run.bind(frame, node.target, value)
        return value
    if isinstance(node, ast.Yield):
        frame.yields.append(evaluate(run, frame, node.value) if node.value else NONE)
        return UNKNOWN
    if isinstance(node, ast.YieldFrom):
        frame.yields.append(iterating.draw(run, frame, node.value, evaluate(run, frame, node.value)))
        return UNKNOWN
    if isinstance(node, (ast.Await, ast.Starred)):
        return evaluate(run, frame, node.value)
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        left = evaluate(run, frame, node.left if isinstance(node, ast.BinOp) else node.operand)
        if isinstance(node, ast.BinOp) and isinstance(left, (Dictionary, Sequence)):
            return _joined(node.op, left, evaluate(run, frame, node.right))
        return number(run, frame, node)
    for child in ast.iter_child_nodes(node):  # f-strings, slices: only what they start counts
        if isinstance(child, ast.expr):
            evaluate(run, frame, child)
    return UNKNOWN


def number(run: Execution, frame: Frame, node: ast.expr) -> Value:
    """The number that an arithmetic expression or a call of a counting function gives."""

    def value_of(part: ast.expr) -> Number:
        value = evaluate(run, frame, part)
        plain = isinstance(value, Const) and isinstance(value.value, (int, float, str, Positive))
        return value.value if plain else None  # type: ignore[union-attr,return-value]

    def qualified(function: ast.expr) -> str:
        value = evaluate(run, frame, function)
        return value.name if isinstance(value, Foreign) else ""

    result = compute(node, value_of, qualified)
    return UNKNOWN if result is None else Const(result)


def _joined(operator: ast.operator, left: Dictionary | Sequence, right: Value) -> Value:
    if isinstance(left, Dictionary) and isinstance(right, Dictionary) and isinstance(operator, ast.BitOr):
        return left.updated(dict(right.items), complete=right.complete)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and isinstance(operator, ast.Add):
        return Sequence(left.items + right.items, left.complete and right.complete)
    if isinstance(left, Sequence) and isinstance(operator, ast.Mult):
        return Sequence(left.items, complete=False)
    return UNKNOWN


def augmented(run: Execution, frame: Frame, node: ast.AugAssign) -> Value:
    """What ``x += y`` leaves in ``x``."""
    target = evaluate(run, frame, node.target)
    if isinstance(target, (Sequence, Dictionary)):
        return _joined(node.op, target, evaluate(run, frame, node.value))
    return UNKNOWN


# Names


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
        if hasattr(builtins, identifier):  # before the stars: looking through those may parse half the project
            return Foreign(f"builtins.{identifier}")
        symbol = run.project.lookup(frame.module, frame.scope, identifier) if frame.module.scope.stars else None
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
            value = evaluate(run, home, binding.node.value)
            for target in binding.node.targets if isinstance(binding.node, ast.Assign) else [binding.node.target]:
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


# Attributes and items


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
                return Bound(Function(FunctionFacts(facts.module, facts.methods[node.attr]), home), owner.instance, facts)
        return Method(owner, node.attr, node.value)
    if isinstance(owner, Made) and owner.name in PROCESS_NAMES and node.attr == "name":
        return MainName()
    if isinstance(owner, PlatformTest):
        return owner
    return Method(owner, node.attr, node.value)


def _class_member(run: Execution, frame: Frame, facts: ClassFacts, instance: Instance | None, node: ast.Attribute) -> Value:
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
            return evaluate(run, Frame(owner.module, owner.scope, home), bindings[0].value)
    return Method(instance or Ref(facts), node.attr, node.value)


def _item(owner: Value, key: Value) -> Value:
    if isinstance(owner, Dictionary):
        if isinstance(key, Const):
            return owner.get(key.value)
        return merge_all([value for _, value in owner.items]) if owner.complete else UNKNOWN
    if isinstance(owner, Sequence):
        if isinstance(key, Const) and isinstance(key.value, int) and owner.complete:
            return owner.items[key.value] if -len(owner.items) <= key.value < len(owner.items) else UNKNOWN
        return merge_all(list(owner.items))
    return UNKNOWN


def _sequence(run: Execution, frame: Frame, elements: list[ast.expr]) -> Value:
    found: list[Value] = []
    complete = True
    for element in elements:
        value = evaluate(run, frame, element)
        if not isinstance(element, ast.Starred):
            found.append(value)
        elif isinstance(value, Sequence):
            found += value.items
            complete &= value.complete
        else:
            iterating.draw(run, frame, element.value, value)
            complete = False
    return Sequence(tuple(found), complete)


def _dictionary(run: Execution, frame: Frame, node: ast.Dict) -> Value:
    entries: dict[object, Value] = {}
    complete = True
    for key, expression in zip(node.keys, node.values, strict=True):
        value = evaluate(run, frame, expression)
        if key is None:
            entries.update(dict(value.items) if isinstance(value, Dictionary) else {})
            complete &= isinstance(value, Dictionary) and value.complete
            continue
        known = evaluate(run, frame, key)
        if isinstance(known, Const):
            entries[known.value] = value
        complete &= isinstance(known, Const)
    return Dictionary(tuple(entries.items()), complete)


def _comprehension(run: Execution, frame: Frame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, depth: int) -> Value:
    generator = node.generators[depth]
    iterated = evaluate(run, frame, generator.iter)
    complete = isinstance(iterated, (Sequence, Dictionary)) and iterated.complete and not generator.ifs
    found: list[Value] = []
    table = Dictionary(())
    for item in iterating.items(run, frame, generator.iter, iterated):
        run.bind(frame, generator.target, item)
        for test in generator.ifs:
            evaluate(run, frame, test)
        if depth + 1 < len(node.generators):
            complete = False
            inner = _comprehension(run, frame, node, depth + 1)
            found += inner.items if isinstance(inner, Sequence) else ()
        elif isinstance(node, ast.DictComp):
            key, value = evaluate(run, frame, node.key), evaluate(run, frame, node.value)
            table = table.updated({key.value: value} if isinstance(key, Const) else {}, complete=isinstance(key, Const) and complete)
        else:
            found.append(evaluate(run, frame, node.elt))
    return table if isinstance(node, ast.DictComp) else Sequence(tuple(found), complete)


# Tests


def truth(value: Value) -> bool | None:
    """Whether a test surely holds or surely fails; None if neither."""
    if isinstance(value, Const):
        return True if isinstance(value.value, Positive) else bool(value.value)
    if isinstance(value, (Sequence, Dictionary)) and value.complete:
        return bool(value.items)
    return None


def _logic(run: Execution, frame: Frame, node: ast.expr) -> Value:
    if isinstance(node, ast.Compare):
        return _compare(node, [evaluate(run, frame, side) for side in (node.left, *node.comparators)])
    if isinstance(node, ast.UnaryOp):
        value = evaluate(run, frame, node.operand)
        if isinstance(value, Guard):
            return Guard(None if value.in_main is None else not value.in_main)
        known = truth(value)
        return value if isinstance(value, PlatformTest) else UNKNOWN if known is None else Const(not known)
    if isinstance(node, ast.IfExp):
        test = evaluate(run, frame, node.test)
        known = truth(test)
        if known is not None:
            return evaluate(run, frame, node.body if known else node.orelse)
        with run.muted():  # which of the two is evaluated is not known
            return merge(evaluate(run, frame, node.body), evaluate(run, frame, node.orelse))
    assert isinstance(node, ast.BoolOp)  # noqa: S101 - what is left of the kinds that come here
    return _bool_op(run, frame, node)


def _bool_op(run: Execution, frame: Frame, node: ast.BoolOp) -> Value:
    is_and = isinstance(node.op, ast.And)
    values: list[Value] = []
    for part in node.values:
        value = evaluate(run, frame, part)
        if isinstance(value, Guard):
            return value if is_and and value.in_main else Guard(None)
        known = truth(value)
        if known is not None and known is not is_and:
            return value if not values else UNKNOWN
        if known is None:
            values.append(value)
    if not values:
        return value
    platform = next((value for value in values if isinstance(value, PlatformTest)), None)
    return platform or (values[0] if len(values) == 1 and isinstance(values[0], Guard) else UNKNOWN)


def _compare(node: ast.Compare, sides: list[Value]) -> Value:
    if any(isinstance(side, PlatformTest) for side in sides):
        return PlatformTest()
    if len(sides) != 2:  # noqa: PLR2004 - chained comparisons are not followed
        return UNKNOWN
    left, right = sides
    operator = node.ops[0]
    if any(isinstance(side, MainName) for side in sides):
        return _compare_main(operator, right if isinstance(left, MainName) else left)
    if isinstance(left, Const) and isinstance(right, Const) and not isinstance(left.value, Positive):
        if isinstance(operator, (ast.Eq, ast.Is)):
            return Const(left.value == right.value) if not isinstance(right.value, Positive) else UNKNOWN
        if isinstance(operator, (ast.NotEq, ast.IsNot)):
            return Const(left.value != right.value) if not isinstance(right.value, Positive) else UNKNOWN
        if isinstance(left.value, (int, float)) and isinstance(right.value, (int, float)):
            table = {ast.Gt: left.value > right.value, ast.Lt: left.value < right.value,
                     ast.GtE: left.value >= right.value, ast.LtE: left.value <= right.value}  # fmt: skip
            return Const(table[type(operator)]) if type(operator) in table else UNKNOWN  # type: ignore[index]
    positive = isinstance(left, Const) and isinstance(left.value, Positive) and right == Const(0)
    return Const(value=True) if positive and isinstance(operator, (ast.Gt, ast.NotEq)) else UNKNOWN


def _compare_main(operator: ast.cmpop, other: Value) -> Value:
    """Judge a comparison with ``__name__``; one that a child passes too is no guard."""
    names = other.items if isinstance(other, Sequence) else (other,)
    if Const(CHILD_NAME) in names and len(names) > 1:
        return UNKNOWN
    if isinstance(operator, (ast.Eq, ast.In, ast.Is)):
        return Guard(in_main=Const(CHILD_NAME) not in names)
    if isinstance(operator, (ast.NotEq, ast.NotIn, ast.IsNot)):
        return Guard(in_main=Const(CHILD_NAME) in names)
    return Guard(None)


# Functions


@cache
def is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function holds a ``yield`` of its own."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        current = waiting.pop()
        if isinstance(current, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(current, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(current))
    return False


def decorators(run: Execution, facts: FunctionFacts) -> list[str]:
    """Qualified names of a function's decorators; empty strings for those not known."""
    scope = facts.scope.parent or facts.module.scope
    found = []
    for decorator in facts.node.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        plain = isinstance(function, ast.Name) and scope.find(function.id) is None
        found.append(f"builtins.{function.id}" if plain else run.project.qualified(facts.module, scope, function))  # type: ignore[attr-defined]
    return found


def changes_result(run: Execution, facts: FunctionFacts) -> bool:
    """Whether a decorator may give something else than the function does."""
    return any(mark not in iteration().transparent_decorators for mark in decorators(run, facts))


def bind_parameters(run: Execution, frame: Frame, facts: FunctionFacts, given: Arguments) -> None:
    """Put a call's arguments, or else the defaults, into the function's frame; UNKNOWN where neither is certain."""
    arguments = facts.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    defaults.update(
        {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    )
    hidden = given.open or changes_result(run, facts)
    outer = frame.parent or run.frame_of(facts.module)
    for position, parameter in enumerate([*names, *(argument.arg for argument in arguments.kwonlyargs)]):
        value = given.get(parameter, position if position < len(names) else None)
        if value is None:
            default = defaults.get(parameter)
            value = evaluate(run, outer, default) if default is not None and not hidden else UNKNOWN
        run.put(frame, parameter, value)
    if arguments.vararg is not None:
        run.put(frame, arguments.vararg.arg, Sequence(given.positional[len(names) :], not hidden))
    if arguments.kwarg is not None:
        known = {*names, *(argument.arg for argument in arguments.kwonlyargs)}
        extra = tuple((key, value) for key, value in given.keywords.items() if key not in known)
        run.put(frame, arguments.kwarg.arg, Dictionary(extra, not hidden))


def is_exit(run: Execution, frame: Frame, call: ast.Call) -> bool:
    """Whether a call ends the process."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    function = evaluate(run, frame, call.func)
    return isinstance(function, Foreign) and function.name in EXITS
