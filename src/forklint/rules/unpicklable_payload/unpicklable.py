"""Whether pickle surely refuses the value of an expression, and which part of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from forklint.handles.openers import asks_for
from forklint.knowledge.handles import openers
from forklint.knowledge.unpicklable import Keeper, have_views, keeper, refused
from forklint.project.bindings import binder_of, reaching
from forklint.project.guard import guard_of
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Kind, Scope
from forklint.project.spelling import last_name
from forklint.rules.unpicklable_payload.by_name import memoized_in, module_in
from forklint.rules.unpicklable_payload.decorated import keeps_its_name, put_in_its_place
from forklint.rules.unpicklable_payload.handed_over import drawn_from, given_by_callers
from forklint.rules.unpicklable_payload.replacing import parts_of
from forklint.rules.unpicklable_payload.values import Culprit, Why, is_local
from forklint.values import arguments, parameters, stores
from forklint.values.calls import qualified
from forklint.values.evaluator import Evaluator
from forklint.values.libraries import names_meant
from forklint.values.model import Expression, Frame, Instance, Lambda, Made, Ref, Row, Source, Stream, Table
from forklint.values.model import Value as Abstract
from forklint.values.objects import behind_in_heirs
from forklint.values.origins import behind

if TYPE_CHECKING:
    from forklint.project.budget import Budget
    from forklint.project.index import Project
    from forklint.rules.unpicklable_payload.kept import Objects
    from forklint.rules.unpicklable_payload.stages import Stages

MAX_DEPTH = 30
"""How many names, calls and attributes are followed for one payload."""
NOT_LOOKED_UP = "AttributeError: Can't pickle local object"
GENERATOR = "TypeError: cannot pickle 'generator' object"
LAMBDA = "PicklingError: attribute lookup <lambda> failed"
MOST_PARTS = 8
"""So many parts that are refused are looked for in one payload."""
WALKS = {"iterdir", "rglob"}
"""Methods of a path whose result is a generator."""
RETURN_THEMSELVES = {"manual_seed"}
"""Methods of torch.Generator whose result is the object itself."""
OF_CLASS = {"classmethod", "staticmethod"}
"""Decorators of methods that know nothing of the object by which they are named."""
COMPUTING = {"property", "cached_property"}
"""Decorators of methods that are no part of what they give."""
VIEWS = {"keys", "values", "items"}


class Unpicklable:
    """Looks for what pickle refuses in one payload."""

    def __init__(self, project: Project, budget: Budget, *, handles: bool = True, asks_callers: bool = False) -> None:
        """``handles``: whether open files and the like count; ``asks_callers``: whether what callers give does."""
        self.project = project
        self.budget = budget
        self._handles = handles
        self._asks_callers = asks_callers
        self._known: set[ast.AST] = set()
        self._harmless: dict[tuple[ast.AST, Frame | None], int] = {}
        """Names in which nothing is refused, each with how far that was followed."""

    @cached_property
    def evaluator(self) -> Evaluator:
        """What answers for values."""
        return Evaluator(self.project)

    @cached_property
    def objects(self) -> Objects:
        """What objects of the project's classes hold."""
        from forklint.rules.unpicklable_payload.kept import Objects

        return Objects(self)

    @cached_property
    def stages(self) -> Stages:
        """What streams hold."""
        from forklint.rules.unpicklable_payload.stages import Stages

        return Stages(self)

    def all_of(self, given: Expression) -> list[Culprit]:
        """The parts that pickle refuses, each once."""
        found: list[Culprit] = []
        for _ in range(MOST_PARTS):
            culprit = self.of(given)
            if culprit is None:
                break
            self.pass_over([culprit])
            found.append(culprit)
        return found

    def pass_over(self, known: Iterable[Culprit]) -> None:
        """Look for others from now on."""
        self._known.update(one.key for one in known)

    def passes_over(self, culprit: Culprit) -> bool:
        """Whether it is known already."""
        return culprit.key in self._known

    def of(self, given: Expression, depth: int = MAX_DEPTH) -> Culprit | None:
        """The part of an expression's value that pickle surely refuses in some run; None if none is known."""
        node = given.node
        found: Culprit | None = None
        if depth <= 0 or not self.budget.spend():
            return None
        if isinstance(node, ast.Lambda):
            found = Culprit(Why.LAMBDA, given.module, node, "the lambda", _lambda_error(given.module, node), node)
        elif isinstance(node, ast.GeneratorExp):
            found = Culprit(Why.GENERATOR, given.module, node, "a generator", GENERATOR)
        elif isinstance(node, ast.Name):
            found = self._name(given, node, depth)
        elif isinstance(node, ast.Attribute):
            found = self._attribute(given, node, depth)
        elif isinstance(node, ast.Call):
            found = self._call(given, node, depth)
        elif isinstance(node, ast.Starred):
            found = self.of(given.part(node.value), depth)
        elif isinstance(node, ast.Subscript):
            found = self.stages.added(given, node, depth) or self._evaluated(given, depth)
        else:
            nearer = parts_of(self.evaluator, given) or behind(self.evaluator, given)
            found = self.first(nearer, depth) if nearer else self._evaluated(given, depth)
        return None if found is not None and found.key in self._known else found

    def first(self, sources: Iterable[Source], depth: int) -> Culprit | None:
        """What is refused in the first of several in which anything is."""
        places = dict.fromkeys(one for one in sources if isinstance(one, Expression))
        return next((found for one in places if (found := self.of(one, depth - 1))), None)

    def _evaluated(self, given: Expression, depth: int) -> Culprit | None:
        """What is refused in what the expression is found to be, or may be, wherever that is written down."""
        held = (self._held(given, one.value, depth) for one in self.evaluator.find(given).possible)
        return next((one for one in held if one is not None and one.key not in self._known), None)

    def _held(self, given: Expression, value: Abstract, depth: int) -> Culprit | None:
        inner: Iterable[Source] = ()
        if isinstance(value, Ref) and not isinstance(value.symbol, Module):
            return self.definition(value.symbol)
        if isinstance(value, Instance):
            own = None if self.objects.reduces(value.facts) else self.definition(value.facts)
            return own or (self.objects.kept(value, value.call, depth) if value.call is not None else None)
        if isinstance(value, Row):
            inner = value.items
        elif isinstance(value, Table):
            inner = value.values
        elif isinstance(value, Lambda):
            inner = (value.place,)
        elif isinstance(value, Made) and value.call.node is not given.node:
            inner = (value.call,)
        return self.first(inner, depth)

    def _name(self, given: Expression, node: ast.Name, depth: int) -> Culprit | None:
        """What is refused in what a name holds; each is followed once, however many ways lead to it."""
        key = node, given.frame
        if self._harmless.get(key, 0) >= depth:
            return None
        found = self._held_by_name(given, node, depth)
        if found is None and not self.objects.is_asking:
            self._harmless[key] = depth
        return found

    def _held_by_name(self, given: Expression, node: ast.Name, depth: int) -> Culprit | None:
        binder = binder_of(given.module, node)
        if binder is not None:
            return self._drawn(given, binder, depth)
        symbol = self.project.lookup(given.module, given.scope, node.id)
        if isinstance(symbol, (FunctionFacts, ClassFacts)):
            return self._definition(given, node, symbol)
        defined = self._defined_by_branch(given, node)
        if defined is not None:
            return defined
        nearer = behind(self.evaluator, given, perhaps=True)
        is_own = given.frame is not None and given.frame.function.scope is given.scope
        handed = parameters.source_in(given.frame, node.id) if is_own and given.frame is not None else None
        if isinstance(handed, Expression) and handed in nearer and getattr(handed.node, "value", "") is not None:
            nearer = (handed,)  # what replaces None does not count
        for there in nearer:
            found = self.of(there, depth - 1) or self.objects.set_on(there, given, node, depth)
            if found is not None:
                return found
        bindings = (given.scope.find(node.id) or (given.scope, []))[1]
        is_changed = stores.is_changed(self.evaluator, given.scope, node.id)
        is_rest = is_own and node.id in _rest(given.scope)
        is_drawn = not nearer and (is_rest or all(one.kind is not Kind.PARAMETER for one in bindings))
        if self._asks_callers and given.frame is None and not nearer and not is_drawn:
            return self.first(given_by_callers(self.evaluator, given), depth)
        place = given if is_changed or given.frame is not None else given.by_anyone()
        found = self._evaluated(place, depth) if is_changed or is_drawn else None
        parts = self.evaluator.find(given).value if is_drawn and found is None else None
        if isinstance(parts, Made) and parts.call.node is not node:
            found = self.objects.set_on(parts.call, given, node, depth)
        elif isinstance(parts, Instance):
            found = self.objects.set_on_part(parts, given, node, depth)
        return found or (self.stages.set_on(given, node, depth) if nearer else module_in(self.project, given))

    def _drawn(self, given: Expression, binder: ast.AST, depth: int) -> Culprit | None:
        """What is refused in what a comprehension draws; nothing is known of the parameter of a lambda."""
        found = self._evaluated(given, depth) if not isinstance(binder, ast.Lambda) else None
        source = drawn_from(given, binder) if found is None or found.key in self._known else None
        found = self.of(source, depth - 1) if source is not None else found
        is_source = found is not None and found.why in {Why.GENERATOR, Why.VIEW} and not found.path
        return None if is_source else found

    def _defined_by_branch(self, given: Expression, node: ast.Name) -> Culprit | None:
        """What is refused of a function that a branch defines, where another one gives its name something else."""
        found = reaching(given.module, given.scope, node)
        for one in reversed(found[1] if found is not None else ()):
            if isinstance(one.node, FUNCTIONS):
                culprit = self._definition(given, node, FunctionFacts(given.module, one.node))
                if culprit is not None and culprit.key not in self._known:
                    return culprit
        return None

    def _attribute(self, given: Expression, node: ast.Attribute, depth: int) -> Culprit | None:
        """What is refused in ``something.name``: an attribute of an object, a bound method, a name of a module."""
        owner = self.evaluator.find(given.part(node.value)).value
        bound = self.project.method(owner.facts, node.attr) if isinstance(owner, Instance) else None
        marks = {last_name(mark) for mark in bound[1].decorator_list} if bound is not None else set()
        if marks & OF_CLASS:
            return None  # its class is found by name, and the object stays where it is
        if isinstance(owner, Instance) and bound is not None and not marks & COMPUTING:
            is_self = owner.call is None or (given.frame is not None and owner == given.frame.receiver)
            if owner.call is None or is_self:  # pickling a bound method pickles its object
                return self.objects.kept(owner, given, depth)
            return self._instance(owner.call, owner, depth - 1)
        symbol = self.project.resolve(given.module, given.scope, node)
        if isinstance(symbol, (FunctionFacts, ClassFacts)):
            return self._definition(given, node, symbol)
        found = self.first(behind(self.evaluator, given, perhaps=True), depth)
        if found is None and isinstance(owner, Instance):
            found = self.first(behind_in_heirs(self.evaluator, owner, node.attr), depth)
        elif found is None and isinstance(owner, (Table, Ref)):
            found = self._evaluated(given, depth)
        return found or module_in(self.project, given)

    def definition(self, symbol: FunctionFacts | ClassFacts) -> Culprit | None:
        """What is wrong with a definition, told where it stands."""
        name = ast.copy_location(ast.Name(symbol.node.name, ast.Load()), symbol.node)
        found = self._definition(Expression(symbol.module, symbol.scope, name), name, symbol)
        return replace(found, node=symbol.node) if found is not None else None

    def _definition(self, given: Expression, node: ast.expr, symbol: FunctionFacts | ClassFacts) -> Culprit | None:
        """A function or class that is itself sent: refused if it stands in a function, or lost if in a notebook."""
        is_class = isinstance(symbol, ClassFacts)
        if isinstance(symbol, FunctionFacts) and not keeps_its_name(self.project, symbol):
            inner = put_in_its_place(self.project, symbol)
            return self._definition(given, node, inner) if inner is not None else None
        if is_local(symbol):
            words = f"the local {'class' if is_class else 'function'} `{symbol.node.name}`"
            error = f"{NOT_LOOKED_UP} '{_python_name(symbol)}'"
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

    def _call(self, given: Expression, node: ast.Call, depth: int) -> Culprit | None:
        symbol = self.project.resolve(given.module, given.scope, node.func)
        if isinstance(symbol, ClassFacts):
            made = arguments.of_call(self.evaluator, given)
            return self._instance(given, Instance(symbol, made, given), depth)
        memoized = memoized_in(self.project, given, node)
        if memoized is not None:
            return memoized
        name = qualified(self.evaluator, given.part(node.func))
        if name:
            return self._made(given, node, name, depth)
        value = self.evaluator.find(given).value
        if isinstance(value, Stream):
            words = f"the generator of `{value.frame.function.node.name}`"
            return Culprit(Why.GENERATOR, given.module, node, words, GENERATOR)
        found = self.first(behind(self.evaluator, given), depth)
        if found is not None or isinstance(symbol, FunctionFacts):
            return found
        if isinstance(node.func, ast.Attribute):
            return self._method(given, node, node.func, depth) or self._evaluated(given, depth)
        chosen = names_meant(self.evaluator, given.part(node.func))
        found = next(filter(None, (self._made(given, node, one, depth) for one in chosen)), None)
        return found or self._evaluated(given, depth) or self._made(given, node, last_name(node.func), depth)

    def _instance(self, given: Expression, owner: Instance, depth: int) -> Culprit | None:
        """What is refused in a new object of a project's class."""
        facts, call = owner.facts, given.node
        if (facts.node.decorator_list and not _is_dataclass(facts)) or not isinstance(call, ast.Call):
            return None
        own = self._definition(given, call.func, facts)
        if own is not None and own.why is Why.LOCAL_CLASS and self.objects.reduces(facts):
            return None
        is_new = own is not None and own.key not in self._known
        return own if is_new else self.objects.kept(owner, given, depth)

    def _made(self, given: Expression, node: ast.Call, name: str, depth: int) -> Culprit | None:
        """What is refused in what a call of a library makes."""
        row = refused().get(name)
        if row is not None:
            words = f"{row.kind} (`{name}`)"
            return Culprit(Why.OBJECT, given.module, node, words, row.error, platforms=row.platforms, late=row.late)
        handle = openers(self.project.settings.handles).get(name.removeprefix("builtins."))
        is_open = handle is not None and not handle.suffix and asks_for(node, handle.keywords)
        if self._handles and handle is not None and is_open and handle.spawn == "bites":
            return Culprit(Why.HANDLE, given.module, node, f"an open {handle.kind}", handle.spawn_effect)
        found = self.first(self.kept_arguments(given, node, keeper(name)), depth)
        is_read = found is not None and (found.why is Why.GENERATOR or (found.why is Why.VIEW and not found.path))
        return None if is_read else found  # it may be read to its end: ConcatDataset makes a list of it

    def _method(self, given: Expression, node: ast.Call, function: ast.Attribute, depth: int) -> Culprit | None:
        """What a method of something returns: of a dictionary a view, of a stream the stream with another stage."""
        is_view = function.attr in VIEWS and not node.args
        if is_view and self._is_dictionary(given.part(function.value)):
            error = f"TypeError: cannot pickle 'dict_{function.attr}' object"
            words = f"a view of a dictionary (`{ast.unparse(node)}`)"
            return Culprit(Why.VIEW, given.module, node, words, error)
        if function.attr in WALKS:
            words = f"the generator of `{function.attr}()`"
            return Culprit(Why.GENERATOR, given.module, node, words, GENERATOR)
        if function.attr in RETURN_THEMSELVES:
            return self.of(given.part(function.value), depth - 1)
        owner, result = (self.evaluator.find(one).value for one in (given.part(function.value), given))
        if isinstance(owner, Instance) and isinstance(result, Instance) and result.facts == owner.facts:
            return self.objects.told(given, owner, depth) or self.of(given.part(function.value), depth - 1)
        return self.stages.added(given, node, depth)

    def kept_arguments(self, given: Expression, call: ast.Call, row: Keeper) -> Iterator[Source]:
        """The arguments of a call that its result holds, those of ``**options`` taken apart."""
        for number, argument in enumerate(call.args):
            is_copied = number in row.copies and isinstance(argument, (ast.Dict, ast.List, ast.Set, ast.Tuple))
            if row.holds(number) or is_copied:
                yield given.part(argument)
        for keyword in call.keywords:
            if row.keeps is None or keyword.arg in row.keeps:
                yield given.part(keyword.value)
            elif keyword.arg is None:
                value = self.evaluator.find(given.part(keyword.value)).value
                held = value.entries if isinstance(value, Table) else {}
                yield from (source for name, source in held.items() if name in row.keeps)

    def _is_dictionary(self, given: Expression) -> bool:
        if isinstance(self.evaluator.find(given).value, Table):
            return True
        near = (given, *behind(self.evaluator, given))
        calls = [one.part(one.node.func) for one in near if isinstance(one.node, ast.Call)]
        return any(qualified(self.evaluator, one) in have_views() for one in calls)


def _rest(scope: Scope) -> set[str]:
    """The names of ``*args`` and ``**kwargs``."""
    taken = scope.node.args if isinstance(scope.node, FUNCTIONS) else None
    return {one.arg for one in (taken.vararg, taken.kwarg) if one is not None} if taken is not None else set()


def _is_dataclass(facts: ClassFacts) -> bool:
    return all("dataclass" in ast.unparse(decorator) for decorator in facts.node.decorator_list)


def _lambda_error(module: Module, node: ast.Lambda) -> str:
    above = _dotted(module.scope_at(node))
    return f"{NOT_LOOKED_UP} '{above}.<lambda>'" if "<locals>" in above else LAMBDA


def _python_name(facts: FunctionFacts | ClassFacts) -> str:
    """The qualified name as Python gives it, with ``<locals>``."""
    above = _dotted(facts.scope.parent)
    return f"{above}.{facts.node.name}" if above else facts.node.name


def _dotted(scope: Scope | None) -> str:
    """The qualified name of what is defined directly in a scope, up to its own name."""
    parts: list[str] = []
    while scope is not None and scope.parent is not None:
        is_function = isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        parts.append(f"{getattr(scope.node, 'name', '')}{'.<locals>' if is_function else ''}")
        scope = scope.parent
    return ".".join(reversed(parts))
