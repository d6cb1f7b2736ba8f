"""Whether pickle surely refuses the value of an expression, and which part of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from forklint.facts.sending.errors import NOT_LOOKED_UP, lambda_error, python_name
from forklint.facts.sending.libraries import names_meant
from forklint.facts.sending.values import Culprit, Why, is_local
from forklint.knowledge.handles import openers
from forklint.knowledge.unpicklable import Keeper, keeper, refused
from forklint.project.bindings import is_shadowed, values_of
from forklint.project.guard import guard_of
from forklint.project.index import External, Symbol, Value
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import is_before, nodes_below
from forklint.project.scopes import Kind, statements
from forklint.values import arguments, parameters, stores
from forklint.values.calls import PARTIAL, is_generator, returns
from forklint.values.evaluator import Evaluator
from forklint.values.model import NO_ARGUMENTS, Expression, Frame, Instance, Made, Ref, Row, Source, Table
from forklint.values.model import Value as Abstract

if TYPE_CHECKING:
    from forklint.facts.sending.kept import Objects
    from forklint.facts.sending.stages import Stages
    from forklint.project.budget import Budget
    from forklint.project.index import Project

MAX_DEPTH = 30
"""How many names, calls and attributes are followed for one payload."""
MOST_PARTS = 8
"""So many parts that are refused are looked for in one payload."""
WALKS = {"iterdir", "rglob"}
"""Methods of a path whose result is a generator."""
RETURN_THEMSELVES = {"manual_seed"}
"""Methods of torch.Generator whose result is the object itself."""
RENAMES = {"update_wrapper", "wraps", "__name__", "__qualname__"}
"""What a decorator does to let its function pass for the one that it decorates."""
VIEWS = {"keys", "values", "items"}


class Unpicklable:
    """Looks for what pickle refuses in one payload."""

    def __init__(self, project: Project, budget: Budget, *, handles: bool = True) -> None:
        """``handles``: whether open files and the like count."""
        self.project = project
        self.budget = budget
        self._handles = handles
        self._known: set[ast.AST] = set()

    @cached_property
    def evaluator(self) -> Evaluator:
        """What answers for values."""
        return Evaluator(self.project)

    @cached_property
    def objects(self) -> Objects:
        """What objects of the project's classes hold."""
        from forklint.facts.sending.kept import Objects  # noqa: PLC0415 - each asks the other

        return Objects(self)

    @cached_property
    def stages(self) -> Stages:
        """What streams hold."""
        from forklint.facts.sending.stages import Stages  # noqa: PLC0415 - each asks the other

        return Stages(self)

    def all_of(self, given: Expression) -> list[Culprit]:
        """The parts that pickle refuses, one for each attribute that leads to some."""
        found: dict[str, Culprit] = {}
        for _ in range(MOST_PARTS):
            culprit = self.of(given)
            if culprit is None:
                break
            self._known.add(culprit.key)
            found.setdefault(culprit.path[0] if culprit.path else "", culprit)
            if not culprit.path:
                break
        return list(found.values())

    def of(self, given: Expression, depth: int = MAX_DEPTH) -> Culprit | None:
        """The part of an expression's value that pickle surely refuses in some run; None if none is known."""
        node = given.node
        found: Culprit | None = None
        if depth <= 0 or not self.budget.spend():
            return None
        if isinstance(node, ast.Lambda):
            found = Culprit(Why.LAMBDA, given.module, node, "the lambda", lambda_error(given.module, node), node)
        elif isinstance(node, ast.GeneratorExp):
            error = "TypeError: cannot pickle 'generator' object"
            found = Culprit(Why.GENERATOR, given.module, node, "a generator", error)
        elif isinstance(node, ast.Name):
            found = self._name(given, node, depth)
        elif isinstance(node, ast.Attribute):
            found = self.objects.attribute(given, node, depth)
        elif isinstance(node, ast.Call):
            found = self._call(given, node, depth)
        elif isinstance(node, ast.Subscript):
            found = self.stages.added(given, node, depth)
        else:
            found = self._first(given, _parts(node), depth)
        if found is not None and found.key in self._known:
            return None
        return found or self._evaluated(given, depth)

    def _evaluated(self, given: Expression, depth: int) -> Culprit | None:
        """What is refused in what the expression is found to be, or may be, wherever that is written down."""
        if not self._is_asked(given):
            return None
        held = (self._held(given, one.value, depth) for one in self.evaluator.find(given).possible)
        return next(filter(None, held), None)

    def _is_asked(self, given: Expression) -> bool:
        """Whether the evaluator may know more: of what is changed in place, taken from a table, made by a choice."""
        node = given.node
        if isinstance(node, ast.Name):
            return stores.is_changed(self.evaluator, given.scope, node.id) or _is_rest(given, node)
        if isinstance(node, ast.Call):
            is_chosen = not isinstance(node.func, ast.Attribute)
            return is_chosen and self.project.resolve(given.module, given.scope, node.func) is None
        return isinstance(node, ast.Subscript)

    def _held(self, given: Expression, value: Abstract, depth: int) -> Culprit | None:
        inner: Iterable[Source] = ()
        if isinstance(value, Ref) and not isinstance(value.symbol, Module):
            return self.definition(value.symbol)
        if isinstance(value, Instance):
            return self._object(given, value, depth)
        if isinstance(value, Row):
            inner = value.items
        elif isinstance(value, Table):
            inner = value.values
        elif isinstance(value, Made) and value.call.node is not given.node:
            inner = (value.call,)
        places = (one for one in inner if isinstance(one, Expression))
        held = (self.of(one, depth - 1) for one in places)
        return next(filter(None, held), None)

    def _object(self, given: Expression, value: Instance, depth: int) -> Culprit | None:
        """What is refused in an object: its class, or what the call that made it let it keep."""
        call = value.call
        if call is not None and isinstance(call.node, ast.Call) and call.node is not given.node:
            return self.instance(call, call.node, value.facts, depth - 1)
        own = self.definition(value.facts)
        return None if own is None or self.objects.reduces(value.facts) else own

    def _first(self, given: Expression, parts: Iterable[ast.expr], depth: int) -> Culprit | None:
        return next((found for part in parts if (found := self.of(given.part(part), depth - 1))), None)

    def _name(self, given: Expression, node: ast.Name, depth: int) -> Culprit | None:
        if is_shadowed(given.module, node):
            return None
        there = self.given_for(given, node)
        values = list(values_of(given.module, given.scope, node))
        if there is not None and not values:
            return self.of(there, depth - 1)
        if there is not None and not (isinstance(there.node, ast.Constant) and there.node.value is None):
            return None
        symbol = self.project.lookup(given.module, given.scope, node.id)
        is_elsewhere = isinstance(symbol, Value) and symbol.module is not given.module
        if isinstance(symbol, (FunctionFacts, ClassFacts)) or is_elsewhere:
            return self.named(given, node, symbol, depth)
        for home, value in values:
            there = Expression(given.module, home, value, given.frame if home is given.scope else None)
            held = self.of(there, depth - 1) or self._set_on(there, node, depth)
            if held is not None:
                return held
        return self.stages.set_on(given, node, depth) if values else self._module(given, node)

    def named(self, given: Expression, node: ast.expr, symbol: Symbol | None, depth: int) -> Culprit | None:
        """What is refused in what a name means: a definition, or a value of a module."""
        if isinstance(symbol, (FunctionFacts, ClassFacts)):
            return self._definition(given, node, symbol)
        if isinstance(symbol, Value) and symbol.binding.value is not None:
            return self.of(Expression(symbol.module, symbol.scope, symbol.binding.value), depth - 1)
        return None

    def frame_of(self, function: FunctionFacts, call: ast.Call | None, here: Expression) -> Frame:
        """What a function knows of a call of it; without one, its defaults."""
        given = arguments.of_call(self.evaluator, here.part(call)) if call is not None else NO_ARGUMENTS
        return Frame(function, given)

    def given_for(self, given: Expression, name: ast.Name) -> Expression | None:
        """What the call that is looked at gives to a parameter."""
        frame = given.frame
        if frame is None or frame.function.scope is not given.scope:
            return None
        source = parameters.source_in(frame, name.id)
        return source if isinstance(source, Expression) else None

    def _set_on(self, there: Expression, name: ast.Name, depth: int) -> Culprit | None:
        """What is refused in an attribute that is set on an object after it was made: ``dataset.transform = ...``."""
        if not isinstance(there.node, ast.Call):
            return None
        symbol = self.project.resolve(there.module, there.scope, there.node.func)
        if isinstance(symbol, ClassFacts):
            if self.objects.chooses(symbol):
                return None
        elif not isinstance(symbol, External) or keeper(symbol.name) is None:
            return None
        for statement in statements(there.scope.node.body):
            if isinstance(statement, ast.Assign) and is_before(there.node, statement) and is_before(statement, name):
                target = statement.targets[0]
                on = target.value if isinstance(target, ast.Attribute) else None
                if isinstance(on, ast.Name) and on.id == name.id:
                    found = self.of(there.part(statement.value), depth - 1)
                    if found is not None:
                        return found
        return None

    def _module(self, given: Expression, node: ast.Name) -> Culprit | None:
        """A module that is kept as a value: ``self.np = np``."""
        found = given.scope.find(node.id)
        if found and all(one.kind is Kind.IMPORT and not one.attribute for one in found[1]):
            error = "TypeError: cannot pickle 'module' object"
            return Culprit(Why.MODULE, given.module, node, f"the module `{node.id}`", error)
        return None

    def definition(self, symbol: FunctionFacts | ClassFacts) -> Culprit | None:
        """What is wrong with a definition, told where it stands."""
        name = ast.copy_location(ast.Name(symbol.node.name, ast.Load()), symbol.node)
        found = self._definition(Expression(symbol.module, symbol.scope, name), name, symbol)
        return replace(found, node=symbol.node) if found is not None else None

    def _definition(self, given: Expression, node: ast.expr, symbol: FunctionFacts | ClassFacts) -> Culprit | None:
        """A function or class that is itself sent: refused if it stands in a function, or lost if in a notebook."""
        is_class = isinstance(symbol, ClassFacts)
        if isinstance(symbol, FunctionFacts) and symbol.node.decorator_list:
            inner = self._put_in_its_place(symbol)
            return self._definition(given, node, inner) if inner is not None else None
        if is_local(symbol):
            words = f"the local {'class' if is_class else 'function'} `{symbol.node.name}`"
            error = f"{NOT_LOOKED_UP} '{python_name(symbol)}'"
            why = Why.LOCAL_CLASS if is_class else Why.LOCAL_FUNCTION
            return Culprit(why, given.module, node, words, error, symbol.node)
        if symbol.module is not given.module:
            return None
        guard = guard_of(given.module, symbol.node)
        if not given.module.is_notebook and guard is None:
            return None
        words = f"the {'class' if is_class else 'function'} `{symbol.node.name}`"
        why, home = (Why.NOTEBOOK, "__main__") if guard is None else (Why.GUARDED, "__mp_main__")
        error = f"AttributeError: Can't get attribute '{symbol.qualname}' on <module '{home}'>"
        return Culprit(why, given.module, node, words, error, symbol.node, late="Can't get attribute")

    def _put_in_its_place(self, decorated: FunctionFacts) -> FunctionFacts | None:
        """The function that the one decorator of another one gives instead, under a name of its own."""
        mark, scope = decorated.node.decorator_list[0], decorated.scope.parent or decorated.module.scope
        symbol = self.project.resolve(decorated.module, scope, mark)
        if (
            len(decorated.node.decorator_list) > 1
            or not isinstance(symbol, FunctionFacts)
            or symbol.node.decorator_list
        ):
            return None
        returned = [one.value for one in statements(symbol.node.body) if isinstance(one, ast.Return)]
        value = returned[0] if len(returned) == 1 else None
        inner = self.project.resolve(symbol.module, symbol.scope, value) if isinstance(value, ast.Name) else None
        names = (one for one in nodes_below(symbol.node) if isinstance(one, (ast.Name, ast.Attribute)))
        is_renamed = any(RENAMES & {getattr(one, "id", ""), getattr(one, "attr", "")} for one in names)
        is_other = isinstance(inner, FunctionFacts) and not inner.node.decorator_list and not is_renamed
        return inner if is_other and isinstance(inner, FunctionFacts) else None

    def _call(self, given: Expression, node: ast.Call, depth: int) -> Culprit | None:
        symbol = self.project.resolve(given.module, given.scope, node.func)
        if isinstance(symbol, ClassFacts):
            return self.instance(given, node, symbol, depth)
        if isinstance(symbol, FunctionFacts):
            return self._returned(given, node, symbol, depth)
        whole = self._whole(given, node) if isinstance(symbol, Value) else None
        if whole is not None:
            return self._call(given, whole, depth)
        name = symbol.name if isinstance(symbol, External) else ""
        if isinstance(node.func, ast.Name) and symbol is None and given.scope.find(node.func.id) is None:
            name = f"builtins.{node.func.id}"
        if name:
            return self._made(given, node, name, depth)
        if isinstance(node.func, ast.Attribute):
            return self._method(given, node, node.func, depth)
        chosen = names_meant(self.evaluator, given.part(node.func))
        return next(filter(None, (self._made(given, node, one, depth) for one in chosen)), None)

    def _whole(self, given: Expression, node: ast.Call) -> ast.Call | None:
        """A call of a partial of the same function, with what the partial was made with; None for any other call."""
        made = self.evaluator.find(given.part(node.func)).value
        kept = made.call.node if isinstance(made, Made) and made.name in PARTIAL else None
        if not isinstance(kept, ast.Call) or not kept.args or made.call.scope is not given.scope:  # type: ignore[union-attr]
            return None
        named = {keyword.arg for keyword in node.keywords}
        keywords = [*(one for one in kept.keywords if one.arg not in named), *node.keywords]
        return ast.copy_location(ast.Call(kept.args[0], [*kept.args[1:], *node.args], keywords), node)

    def instance(self, given: Expression, node: ast.Call, facts: ClassFacts, depth: int) -> Culprit | None:
        """What is refused in a new object of a project's class."""
        if facts.node.decorator_list and not _is_dataclass(facts):
            return None
        own = self._definition(given, node.func, facts)
        if own is not None and own.why is Why.LOCAL_CLASS and self.objects.reduces(facts):
            return None
        return own or self.objects.kept(facts, given, node, depth)

    def _made(self, given: Expression, node: ast.Call, name: str, depth: int) -> Culprit | None:
        """What is refused in what a call of a library makes."""
        row = refused().get(name)
        if row is not None:
            words = f"{row.kind} (`{name}`)"
            return Culprit(Why.OBJECT, given.module, node, words, row.error, platforms=row.platforms, late=row.late)
        handle = openers(self.project.settings.handles).get(name.removeprefix("builtins."))
        if self._handles and handle is not None and handle.spawn == "bites" and not handle.suffix:
            error = handle.spawn_effect
            return Culprit(Why.HANDLE, given.module, node, f"an open {handle.kind}", error)
        kept = keeper(name)
        found = self._first(given, kept_arguments(node, kept), depth) if kept is not None else None
        return None if found is not None and found.why is Why.GENERATOR else found  # it may be read to its end

    def _method(self, given: Expression, node: ast.Call, function: ast.Attribute, depth: int) -> Culprit | None:
        """What a method of something gives: of a dictionary a view, of ``self`` what the method returns."""
        is_view = function.attr in VIEWS and not node.args
        if is_view and isinstance(self.evaluator.find(given.part(function.value)).value, Table):
            error = f"TypeError: cannot pickle 'dict_{function.attr}' object"
            words = f"a view of a dictionary (`{ast.unparse(node)}`)"
            return Culprit(Why.VIEW, given.module, node, words, error)
        if function.attr in WALKS and self.objects.own_method(given, function) is None:
            words, error = f"the generator of `{function.attr}()`", "TypeError: cannot pickle 'generator' object"
            return Culprit(Why.GENERATOR, given.module, node, words, error)
        if function.attr in RETURN_THEMSELVES:
            return self.of(given.part(function.value), depth - 1)
        method = self.objects.own_method(given, function)
        if method is not None:
            return self._returned(given, node, method, depth)
        return self.stages.added(given, node, depth)

    def _returned(self, given: Expression, node: ast.Call, facts: FunctionFacts, depth: int) -> Culprit | None:
        """What is refused in what a function of the project returns."""
        function = facts.node
        if function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
            return None
        if is_generator(self.project, function):
            error = "TypeError: cannot pickle 'generator' object"
            return Culprit(Why.GENERATOR, given.module, node, f"the generator of `{function.name}`", error)
        returned = returns(self.evaluator, self.frame_of(facts, node, given))
        return next((found for one in returned if (found := self.of(one, depth - 1))), None)


def kept_arguments(call: ast.Call, row: Keeper) -> Iterator[ast.expr]:
    """The arguments of a call that its result holds."""
    for number, argument in enumerate(call.args):
        if row.positions is None or number in row.positions:
            yield argument
    for keyword in call.keywords:
        if row.keeps is None or keyword.arg in row.keeps:
            yield keyword.value


def _parts(node: ast.expr) -> list[ast.expr]:
    """The expressions that an expression of several parts may come to, or holds."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, (ast.ListComp, ast.SetComp)):
        return [node.elt]
    if isinstance(node, (ast.DictComp, ast.NamedExpr, ast.Starred)):
        return [node.value]
    return []


def _is_rest(given: Expression, name: ast.Name) -> bool:
    """Whether a name is the ``*args`` of the function whose call is looked at."""
    rest = given.frame.function.node.args.vararg if given.frame is not None else None
    return rest is not None and rest.arg == name.id


def _is_dataclass(facts: ClassFacts) -> bool:
    return all("dataclass" in ast.unparse(decorator) for decorator in facts.node.decorator_list)
