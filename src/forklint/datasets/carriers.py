"""Who carries an object of a class into worker processes: the dataset that it comes to, by whatever ways.

An object is followed from where it is made to what it is put into: containers, other objects, variables, attributes,
parameters, and what functions return. So is the class itself, which a table may hold and a call by that table make.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from forklint.datasets.classes import is_dataset
from forklint.datasets.workers import init_path
from forklint.loading.datasets import class_of
from forklint.loading.loaders import workers_of
from forklint.project import entries
from forklint.project.budget import Budget
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.project.spelling import first_parameter, is_name, last_name, takes_class
from forklint.runs.calls import callees
from forklint.summaries.terms import WORD
from forklint.values import classes, parameters
from forklint.values.arguments import of_call
from forklint.values.evaluator import Evaluator
from forklint.values.model import NOT_KNOWN, Arguments, Expression
from forklint.values.numbers import Workers

MOST_PLACES = 2_000
"""How many expressions are looked at for the objects of one class."""
MOST_FILES = 50
"""A name that stands in more files is too common to say who is meant."""
PASSES_ON = frozenset(
    {"Compose", "Sequential", "ModuleList", "ModuleDict", "list", "tuple", "dict", "deepcopy", "copy", "partial"}
)
"""Calls that give what they get, or something made of it."""
TAKES_IN = frozenset({"append", "insert", "add", "extend", "update", "setdefault", "appendleft", "__setitem__"})
"""Methods that put an argument into what they are called on."""
GIVES_OUT = frozenset({"values", "items", "get", "pop", "copy"})
"""Methods of a container that give what is in it."""
IN_WORKERS = frozenset({"collate_fn", "worker_init_fn"})
"""Arguments of a loader, besides the dataset, that its workers call."""
GIVEN_AS = frozenset({"transform", "transforms", "target_transform", "augment", "augmentation"})
HOLDING = (
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.keyword, ast.Starred, ast.IfExp, ast.BoolOp, ast.NamedExpr),
    *(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.BinOp),
)
"""Expressions whose value is one of those in it, or holds it."""


class _Place(NamedTuple):
    """An expression that has the object, or its class, or holds it."""

    module: Module
    node: ast.AST
    is_class: bool = False


def carried_by(project: Project, facts: ClassFacts) -> ClassFacts | None:
    """The dataset that keeps an object of a class; None if none does.

    The class itself if a library's dataset keeps it, or a loader with workers collates by it.
    """
    return project.answer("carried by", facts, lambda: _of_class(project, facts))


def _of_class(project: Project, facts: ClassFacts) -> ClassFacts | None:
    search = _Search(project, facts)
    return search.follow(list(search.uses(facts)))


def function_carried_by(project: Project, function: FunctionFacts) -> ClassFacts | None:
    """The dataset of the project that is given a function, in a list or a lambda as well; None if none is."""

    def find() -> ClassFacts | None:
        search = _Search(project, None)
        return search.follow(list(search.given(function)))

    return project.answer("function carried by", function.node, find)


def carried_from(project: Project, module: Module, made: ast.Call) -> ClassFacts | None:
    """The dataset that keeps what one call gives; None if none does, or only a library's."""
    found = project.answer("carried from", made, lambda: _Search(project, None).follow([_Place(module, made)]))
    return found if isinstance(found, ClassFacts) else None


def arguments_with(project: Project, module: Module, made: ast.Call) -> Iterator[tuple[Module, ast.Call, ast.AST]]:
    """Give the calls that have what one call gives as an argument, itself, by a name for it, or by a parameter."""
    for place in _Search(project, None).handed_on(_Place(module, made)):
        above = place.module.parents.get(place.node)
        if isinstance(above, ast.keyword):
            above = place.module.parents[above]
        if isinstance(above, ast.Call) and place.node is not above.func and not isinstance(place.node, ast.keyword):
            yield place.module, above, place.node


def receiver(project: Project, facts: ClassFacts, keeps: Callable[[Arguments], bool]) -> ClassFacts | None:
    """The dataset that an object of a class comes to; the class itself if a loader calls it.

    Only objects count of which ``keeps`` says, by the arguments that they are made with, that they keep what matters.
    """
    search, evaluator = _Search(project, facts), Evaluator(project)
    elsewhere: list[_Place] = []
    for place in search.uses(facts):
        call = place.module.parents.get(place.node)
        if not isinstance(call, ast.Call) or call.func is not place.node:
            elsewhere.append(place)
            continue
        given = of_call(evaluator, Expression(place.module, place.module.scope_at(call), call))
        found = search.follow([_Place(place.module, call)]) if keeps(given) else None
        if found is not None:
            return found
    return search.follow(elsewhere) if elsewhere and keeps(NOT_KNOWN) else None


class _Search:
    """Follows the objects of one class, or what one call gives, the nearest places first."""

    def __init__(self, project: Project, facts: ClassFacts | None) -> None:
        self._project = project
        self._facts = facts
        self._budget: Budget = project.budgets.of("following objects", MOST_PLACES)
        self._followed: set[object] = set()
        """The functions and classes whose users were looked for."""

    def follow(self, waiting: list[_Place]) -> ClassFacts | None:
        """The dataset that something comes to from one of some places."""
        seen = {place.node for place in waiting}
        for place in waiting:
            if not self._budget.spend():
                return None
            found = self._taker(place)
            if found is not None:
                return found
            new = [one for one in self._next(place) if one.node not in seen]
            seen.update(one.node for one in new)
            waiting += new
        return None

    def handed_on(self, start: _Place) -> Iterator[_Place]:
        """Give the places that have an object itself, not a container or another object that it is put into."""
        waiting, seen = [start], {start.node}
        for place in waiting:
            if not self._budget.spend():
                return
            yield place
            new = [one for one in self._next(place) if one.node not in seen] if self._is_itself(place) else []
            seen.update(one.node for one in new)
            waiting += [one for one in new if not one.is_class]

    def _is_itself(self, place: _Place) -> bool:
        """Whether what has an object next has it as it is: a name, an attribute, a parameter, a caller."""
        above = place.module.parents.get(place.node)
        if isinstance(above, (ast.Assign, ast.AnnAssign)):
            return all(isinstance(one, ast.Name) or _is_on_self(one) for one in entries.targets(above))
        if isinstance(above, ast.Call):
            symbol = self._project.resolve(place.module, place.module.scope_at(above), above.func)
            return isinstance(symbol, FunctionFacts)
        return isinstance(above, (ast.keyword, ast.Return))

    # Where it ends

    def _taker(self, place: _Place) -> ClassFacts | None:
        """The dataset that keeps what a place has, if that is plain from what stands around it."""
        module, node, is_class = place
        above = module.parents.get(node)
        if is_class or above is None:
            return None
        if isinstance(above, ast.keyword):
            call = module.parents[above]
            return self._given(module, call, node, above.arg or "") if isinstance(call, ast.Call) else None
        if isinstance(above, ast.Call) and above.func is not node:
            return self._given(module, above, node, "")
        if isinstance(above, (ast.Assign, ast.AnnAssign)):
            targets = [one.value if isinstance(one, ast.Subscript) else one for one in entries.targets(above)]
            return self._builder(module, above) if any(map(_is_on_self, targets)) else self._set_on(module, targets)
        return None

    def _set_on(self, module: Module, targets: list[ast.expr]) -> ClassFacts | None:
        """The dataset that gets something from outside: ``dataset.transform = augment``."""
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr in GIVEN_AS:
                owner = Expression(module, module.scope_at(target), target.value)
                found = class_of(Evaluator(self._project), owner)
                if found is not None and is_dataset(self._project, found):
                    return found
        return None

    def _given(self, module: Module, call: ast.Call, node: ast.AST, key: str) -> ClassFacts | None:
        """The dataset that a call builds, or puts its argument into."""
        if isinstance(call.func, ast.Attribute) and call.func.attr in TAKES_IN and _is_on_self(call.func.value):
            return self._builder(module, call)
        symbol = self._project.resolve(module, module.scope_at(call), call.func)
        if not isinstance(symbol, External):
            made = Expression(module, module.scope_at(call), call.func)
            known = classes.choices(Evaluator(self._project), made) if not isinstance(symbol, FunctionFacts) else ()
            return next((one for one in known if is_dataset(self._project, one)), None)
        if key in IN_WORKERS and symbol.name.endswith("DataLoader"):
            workers = workers_of(self._project, module, module.scope_at(call), call)
            return self._facts if workers is not Workers.NONE else None
        if key in GIVEN_AS:
            is_dataset_of_library = ".datasets." in symbol.name or symbol.name.endswith(("Dataset", "ImageFolder"))
            return self._facts if is_dataset_of_library else None
        return None

    def _builder(self, module: Module, node: ast.AST) -> ClassFacts | None:
        """The dataset whose ``__init__`` comes to a place that keeps something on ``self``."""
        owner, function = _around(module, node)
        if owner is None or not is_dataset(self._project, owner):
            return None
        return owner if any(one.node is function for one in init_path(self._project, owner)) else None

    # Where it goes

    def _next(self, place: _Place) -> Iterator[_Place]:
        module, node, is_class = place
        above = module.parents.get(node)
        is_held = isinstance(above, HOLDING) and getattr(above, "test", None) is not node
        if above is not None and (is_held or (isinstance(above, ast.Subscript) and above.value is node)):
            yield _Place(module, above, is_class)
        elif isinstance(above, ast.Attribute):
            yield from self._through_method(place, above)
        elif isinstance(above, ast.withitem) and above.context_expr is node and above.optional_vars is not None:
            yield from self._reads(module, above.optional_vars, is_class=is_class)
        elif isinstance(above, ast.Call):
            yield from self._through_call(place, above)
        elif isinstance(above, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = [above.target] if isinstance(above, ast.AugAssign) else entries.targets(above)
            for target in targets:
                yield from self._reads(module, target, is_class=is_class)
        elif isinstance(above, (ast.Return, ast.Yield)):
            _, function = _around(module, above)
            if isinstance(function, FUNCTIONS) and function.name != "__init__":
                yield from self._calls(FunctionFacts(module, function), is_class=is_class)
        elif isinstance(above, ast.arguments):
            name = next((name for name, value in entries.of_arguments(above) if value is node), "")
            function = module.parents[above]
            if isinstance(function, FUNCTIONS) and name:
                yield from _of_parameter(FunctionFacts(module, function), name, is_class=is_class)

    def _through_method(self, place: _Place, name: ast.Attribute) -> Iterator[_Place]:
        """From a container to what is taken out of it, and from ``Reader.from_path`` to the object that it makes."""
        module, call = place.module, place.module.parents.get(name)
        if not isinstance(call, ast.Call) or call.func is not name:
            return
        if name.attr in GIVES_OUT:
            yield _Place(module, call, place.is_class)
            return
        symbol = self._project.resolve(module, module.scope_at(name), name) if place.is_class else None
        if isinstance(symbol, FunctionFacts):
            own = first_parameter(symbol.node)
            called = (one.func for one in nodes_below(symbol.node) if isinstance(one, ast.Call))
            if takes_class(symbol.node) and any(is_name(one, own) for one in called):
                yield _Place(module, call)

    def _through_call(self, place: _Place, call: ast.Call) -> Iterator[_Place]:
        """From what a call is made with, or calls, to what it gives and to what it is given to."""
        module, node, is_class = place
        if call.func is node:
            if is_class:
                yield _Place(module, call)
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr in TAKES_IN:
            yield from self._reads(module, call.func.value, is_class=is_class)
            return
        if last_name(call.func) in PASSES_ON:
            yield _Place(module, call, is_class)
            return
        scope = module.scope_at(call)
        symbol = self._project.resolve(module, scope, call.func)
        is_class_called = last_name(call.func)[:1].isupper() and isinstance(symbol, External)
        if (isinstance(symbol, ClassFacts) or is_class_called) and not is_class:
            yield _Place(module, call)  # another object has it
        elif isinstance(symbol, FunctionFacts):
            key = node.arg if isinstance(node, ast.keyword) else parameter_at(symbol, call, node)
            if key:
                yield from _of_parameter(symbol, key, is_class=is_class)

    def _reads(self, module: Module, target: ast.expr, *, is_class: bool) -> Iterator[_Place]:
        """Give where what a target was given is read: a variable, an attribute, or a container of it."""
        while isinstance(target, (ast.Subscript, ast.Starred)):
            target = target.value
        if isinstance(target, ast.Name):
            found = module.scope_at(target).find(target.id)
            for other in module.reads(target.id):
                meant = module.scope_at(other).find(target.id) if isinstance(other, ast.Name) else None
                if meant is not None and (found is None or meant[0] is found[0]):
                    yield _Place(module, other, is_class)
            if found is None or found[0] is module.scope:
                yield from self._imported(module, target.id, is_class=is_class)
        elif _is_on_self(target) and isinstance(target, ast.Attribute):
            owner, _ = _around(module, target)
            if owner is None:
                return
            for other in module.reads(target.attr):
                if _is_on_self(other) and owner.node in module.above(other):
                    yield _Place(module, other, is_class)
            if not is_class:
                yield from self.uses(owner)

    def _imported(self, home: Module, name: str, *, is_class: bool) -> Iterator[_Place]:
        """Give the uses of what a module binds at its top level in other modules."""
        for module, node in self._named(home, name):
            if module is not home:
                yield _Place(module, node, is_class)

    def _named(self, home: Module, name: str) -> Iterator[tuple[Module, ast.Name | ast.Attribute]]:
        """Give the reads of a name in files that it may mean the same in."""
        if (home.path, name) in self._followed:
            return
        self._followed.add((home.path, name))
        paths = self._project.where(WORD, name)
        for module in self._project.modules(paths if len(paths) <= MOST_FILES else (home.path,)):
            is_near = module is home or self._project.graph.reaches(module.path, home.path)
            for node in module.reads(name) if is_near else ():
                yield module, node

    def uses(self, facts: ClassFacts) -> Iterator[_Place]:
        """Give where a class is named."""
        for module, node in self._named(facts.module, facts.name):
            if self._project.resolve(module, module.scope_at(node), node) == facts:
                yield _Place(module, node, is_class=True)

    def given(self, function: FunctionFacts) -> Iterator[_Place]:
        """Give where a function is named, but for where it is called; a lambda that calls it stands for it."""
        for module, node in self._named(function.module, function.node.name):
            symbol = self._project.resolve(module, module.scope_at(node), node)
            if not isinstance(symbol, FunctionFacts) or symbol.node is not function.node:
                continue
            around = next((one for one in module.above(node) if isinstance(one, (*FUNCTIONS, ast.Lambda))), None)
            above = module.parents.get(node)
            if isinstance(around, ast.Lambda):
                yield _Place(module, around)
            elif not (isinstance(above, ast.Call) and above.func is node):
                yield _Place(module, node)

    def _calls(self, function: FunctionFacts, *, is_class: bool) -> Iterator[_Place]:
        """Give the calls of a function or method, and the reads of a property: they have what it returns."""
        marks = {last_name(mark) for mark in function.node.decorator_list}
        for module, node in self._named(function.module, function.node.name):
            above = module.parents.get(node)
            if not self._is_call_of(function, module, node):
                continue
            if isinstance(above, ast.Call) and above.func is node:
                yield _Place(module, above, is_class)
            elif marks & {"property", "cached_property"}:
                yield _Place(module, node, is_class)

    def _is_call_of(self, function: FunctionFacts, module: Module, node: ast.expr) -> bool:
        """Whether a name, where it is read, means a function or a method."""
        place = Expression(module, module.scope_at(node), node)
        symbol = self._project.resolve(module, place.scope, node)
        if isinstance(symbol, FunctionFacts):
            return symbol.node is function.node
        return any(one.node is function.node for (one, _), _ in callees(Evaluator(self._project), place, symbol))


def _of_parameter(function: FunctionFacts, name: str, *, is_class: bool) -> Iterator[_Place]:
    """Give the reads of a parameter in its function."""
    bindings = function.scope.bound(name)
    if any(binding.kind is Kind.PARAMETER for binding in bindings):
        for node in function.module.reads(name):
            if isinstance(node, ast.Name) and function.node in function.module.above(node):
                yield _Place(function.module, node, is_class)


def parameter_at(function: FunctionFacts, call: ast.Call, node: ast.AST) -> str:
    """The parameter that a call gives an argument by its place."""
    if node not in call.args or any(isinstance(one, ast.Starred) for one in call.args):
        return ""
    names = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
    place = call.args.index(node)
    return next((name for name in names if parameters.position(function, name) == place), "")


def _is_on_self(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"


def _around(module: Module, node: ast.AST) -> tuple[ClassFacts | None, ast.AST | None]:
    """The class and the function that a place stands in."""
    above = list(module.above(node))
    function = next((one for one in above if isinstance(one, FUNCTIONS)), None)
    owner = next((one for one in above if isinstance(one, ast.ClassDef)), None)
    return (module.class_facts(owner) if owner is not None else None), function
