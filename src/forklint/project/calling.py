"""What a call gives in an abstract run, and what it starts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.project.module import ClassFacts

from forklint.knowledge.starters import Starter, iteration, starters
from forklint.project import conditions, evaluation, functions, iterating, names
from forklint.project.iterating import LOADER
from forklint.project.values import (
    DEFAULT_METHOD,
    NONE,
    UNKNOWN,
    Arguments,
    Bound,
    Const,
    Context,
    Dictionary,
    Foreign,
    Frame,
    Function,
    Instance,
    Lambda,
    Lazy,
    Loader,
    Made,
    Method,
    Partial,
    Place,
    PlatformTest,
    Ref,
    Sequence,
    Startable,
    Stream,
    Super,
    Value,
    merge_all,
)
from forklint.project.workers import Workers, verdict

if TYPE_CHECKING:
    from forklint.project.execution import Execution

FUNCTION = Function
SHARED_METHOD = {"fork", "spawn", "forkserver"}


def call(run: Execution, frame: Frame, node: ast.Call) -> Value:
    """Evaluate a call: its function, its arguments, then what it does."""
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        inside = frame.owner is not None and isinstance(frame.receiver, Instance)
        return Super(frame.receiver, frame.owner) if inside else UNKNOWN  # type: ignore[arg-type]
    function = evaluation.evaluate(run, frame, node.func)
    given = _arguments(run, frame, node)
    return apply(run, frame, node, function, given)


def apply(
    run: Execution, frame: Frame, node: ast.Call | ast.expr, function: Value, given: Arguments
) -> Value:
    """Call a value with arguments that have been evaluated."""
    if isinstance(function, Function):
        return run.invoke(
            frame, node, function, _from_command_line(run, function, given), _unbound_owner(function, given)
        )
    if isinstance(function, Bound):
        extended = Arguments((function.receiver, *given.positional), given.keywords, given.open)
        return run.invoke(frame, node, function.function, extended, function.owner)
    if isinstance(function, Lambda):
        return _call_lambda(run, function, given)
    if isinstance(function, Partial):
        first = function.arguments
        joined = Arguments(
            (*first.positional, *given.positional),
            {**first.keywords, **given.keywords},
            first.open or given.open,
        )
        return apply(run, frame, node, function.function, joined)
    if isinstance(function, Ref) and isinstance(function.symbol, ClassFacts):
        return _construct(run, frame, node, function.symbol, given)
    if isinstance(function, Foreign):
        return _foreign(run, frame, node, function.name, given)
    if isinstance(function, Method):
        return _method(run, frame, node, function, given)
    if isinstance(function, Instance):
        found = run.project.method(function.facts, "__call__")
        if found is not None:
            home = run.frame_of(found[0].module)
            bound = Bound(Function(run.project_function(home, found[1]), home), function, found[0])
            return apply(run, frame, node, bound, given)
    return PlatformTest() if isinstance(function, PlatformTest) else UNKNOWN


def _arguments(run: Execution, frame: Frame, node: ast.Call) -> Arguments:
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    unclear = False
    for argument in node.args:
        value = evaluation.evaluate(run, frame, argument)
        if not isinstance(argument, ast.Starred):
            positional.append(value)
        elif isinstance(value, Sequence) and value.complete:
            positional += value.items
        else:
            unclear = True
            break
    for keyword in node.keywords:
        value = evaluation.evaluate(run, frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Dictionary):
            keywords.update({key: item for key, item in value.items if isinstance(key, str)})
            unclear |= not value.complete
        else:
            unclear = True
    return Arguments(tuple(positional), keywords, unclear)


def _unbound_owner(function: Function, given: Arguments) -> ClassFacts | None:
    """The class of a method that is called through the class, as in ``Base.__init__(self)``."""
    return function.facts.owner if given.positional and isinstance(given.positional[0], Instance) else None


def _from_command_line(run: Execution, function: Function, given: Arguments) -> Arguments:
    marks = functions.decorators(run, function.facts)
    asked = any(mark in iteration().calling_decorators for mark in marks)
    return Arguments(given.positional, given.keywords, open=True) if asked else given


def _call_lambda(run: Execution, function: Lambda, given: Arguments) -> Value:
    inner = Frame(function.frame.module, function.frame.scope, function.frame)
    for position, parameter in enumerate(function.node.args.args):
        run.put(inner, parameter.arg, given.get(parameter.arg, position) or UNKNOWN)
    return evaluation.evaluate(run, inner, function.node.body)


# Project classes


def _construct(run: Execution, frame: Frame, node: ast.expr, facts: ClassFacts, given: Arguments) -> Value:
    """Make an instance of a project class, running its ``__init__`` or what stands for it."""
    instance = Instance(facts)
    run.put(instance, "", NONE)
    found = run.project.method(facts, "__init__")
    if found is not None:
        home = run.frame_of(found[0].module)
        function = Function(run.project_function(home, found[1]), home)
        with_self = Arguments((instance, *given.positional), given.keywords, given.open)
        run.invoke(frame, node, function, with_self, found[0])
        return instance
    row = _base_row(run, facts)
    if row is not None and row.how == "iterated":
        run.put(instance, LOADER, _loader(run, row, given, Place(frame.module, node)))
    marks = " ".join(ast.unparse(decorator) for decorator in facts.node.decorator_list)
    bases = run.project.ancestry(facts).external
    if (
        "dataclass" in marks
        or "define" in marks
        or "typing.NamedTuple" in bases
        or "pydantic.BaseModel" in bases
    ):
        _fill_fields(run, instance, given)
    return instance


def _fill_fields(run: Execution, instance: Instance, given: Arguments) -> None:
    """Bind the fields of a dataclass; defaults stay where they are, in the class body."""
    fields = [
        statement.target.id
        for owner in reversed(run.project.ancestry(instance.facts).classes)
        for statement in owner.node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]
    for position, field in enumerate(fields):
        value = given.get(field, position)
        if value is not None:
            run.put(instance, field, value)


def _base_row(run: Execution, facts: ClassFacts) -> Starter | None:
    known = starters(run.project.settings.starters)
    return next((known[name] for name in run.project.ancestry(facts).external if name in known), None)


# Loaders and other starters


def _loader(run: Execution, row: Starter, given: Arguments, place: Place) -> Loader:
    threads = given.get(row.threads, row.threads_position)
    value = given.get(row.workers, row.workers_position)
    if value is None:
        workers = verdict(row.workers_default)
    else:
        workers = verdict(value.value) if isinstance(value, Const) else Workers.UNKNOWN  # type: ignore[arg-type]
    if threads is not None and conditions.truth(threads) is not False:
        workers = Workers.NONE
    return Loader(row, workers, _method_of(row, given), place)


def _method_of(row: Starter, given: Arguments) -> str:
    """The start method that a call's ``context`` argument asks for; empty if that is not known."""
    value = given.get(row.context, row.context_position) if row.context else None
    if value is None or value == NONE:
        return row.start_method or DEFAULT_METHOD
    if isinstance(value, Context):
        return value.method
    known = isinstance(value, Const) and value.value in SHARED_METHOD
    return str(value.value) if known else ""  # type: ignore[union-attr]


def _start(
    run: Execution, frame: Frame, node: ast.expr, row: Starter, method: str, given: Arguments
) -> Value:
    """Call what is named in starters.toml."""
    place = Place(frame.module, node)
    if row.how == "iterated":
        return _loader(run, row, given, place)
    if row.how == "called":
        run.start(place, f"calls {row.name}(), which starts processes", method)
    return Startable(row, method, place)


def _foreign(run: Execution, frame: Frame, node: ast.expr, name: str, given: Arguments) -> Value:
    """Call a function or class of a library."""
    known = iteration()
    row = starters(run.project.settings.starters).get(name)
    if row is not None:
        return _start(run, frame, node, row, _method_of(row, given), given)
    if name in known.contexts:
        value = given.get("method", 0)
        if value is None or value == NONE:
            return Context(run.method)
        return Context(str(value.value) if isinstance(value, Const) and value.value in SHARED_METHOD else "")
    if name in known.setters:
        _set_method(run, frame, node, given)
        return NONE
    if name in known.calls_its_argument and given.positional:
        return apply(run, frame, node, given.positional[0], Arguments(open=True))
    if name == "functools.partial" and given.positional:
        return Partial(given.positional[0], Arguments(given.positional[1:], given.keywords, given.open))
    if name in known.when_iterated and given.positional:
        return Lazy(given.positional if name == "itertools.chain" else given.positional[:1])
    if name in known.at_once or name == "builtins.next":
        return _iterate(run, frame, node, name, given)
    if name == "builtins.dict":
        return _dict(given)
    if name in names.PLATFORM_NAMES:
        return PlatformTest()
    counted = (
        evaluation.number(run, frame, node)
        if isinstance(node, ast.Call) and name.startswith(("builtins.", "os."))
        else UNKNOWN
    )
    if counted != UNKNOWN or name in known.positive_counts:
        return counted if counted != UNKNOWN else evaluation.number(run, frame, node)
    return UNKNOWN if name.startswith("builtins.") else Made(name)


def _set_method(run: Execution, frame: Frame, node: ast.expr, given: Arguments) -> None:
    value = given.get("method", 0)
    force = given.get("force", 1)
    known = isinstance(value, Const) and value.value in SHARED_METHOD
    forced = force is not None and conditions.truth(force) is not False
    run.set_method(Place(frame.module, node), str(value.value) if known else "", forced=forced)  # type: ignore[union-attr]


def _dict(given: Arguments) -> Value:
    base = given.positional[0] if given.positional else Dictionary(())
    if not isinstance(base, Dictionary):
        return Dictionary(tuple(given.keywords.items()), complete=False)
    return base.updated(dict(given.keywords), complete=not given.open)


def _iterate(run: Execution, frame: Frame, node: ast.expr, name: str, given: Arguments) -> Value:
    """Call a builtin that iterates its arguments."""
    plain = name.partition(".")[2]
    places = node.args if isinstance(node, ast.Call) else []
    if plain == "next":
        return (
            iterating.following(run, frame, places[0] if places else node, given.positional[0])
            if given.positional
            else UNKNOWN
        )
    if plain == "zip":
        for place, value in zip(places, given.positional, strict=False):
            iterating.iterator(run, frame, place, value)
        return iterating.zipped(given.positional)
    if plain in {"map", "filter"} and given.positional:
        inner = [iterating.draw(run, frame, node, value) for value in given.positional[1:]]
        return Sequence(
            (apply(run, frame, node, given.positional[0], Arguments(tuple(inner))),), complete=False
        )
    if not given.positional:
        return Sequence(()) if plain in {"list", "tuple", "set"} else UNKNOWN
    first, place = given.positional[0], places[0] if places else node
    if plain == "iter" or plain == "cycle" or plain == "islice":
        return iterating.iterator(run, frame, place, first)
    if plain == "enumerate":
        if isinstance(first, (Stream, Lazy)):
            return Lazy((first,)) if not isinstance(first, Sequence) else first
        iterating.iterator(run, frame, place, first)
        return iterating.numbered(first)
    if plain in {"list", "tuple", "sorted", "reversed", "set"} and isinstance(first, Sequence):
        return first
    item = iterating.draw(run, frame, place, first)
    return (
        Sequence((item,), complete=False)
        if plain in {"list", "tuple", "deque"}
        else evaluation.number(run, frame, node)
    )


# Methods of what is no project class


def _method(run: Execution, frame: Frame, node: ast.expr, method: Method, given: Arguments) -> Value:
    owner, name = method.owner, method.name
    if isinstance(owner, Context):
        row = starters(run.project.settings.starters).get(f"multiprocessing.{name}")
        return _start(run, frame, node, row, owner.method, given) if row is not None else UNKNOWN
    if isinstance(owner, Startable):
        if name in owner.row.methods:
            run.start(
                Place(frame.module, node),
                f"calls {name}() of a {owner.row.name}",
                owner.method,
                owner.made_at,
            )
        return owner if name == "__enter__" else UNKNOWN
    if isinstance(owner, (Loader, Stream)) and name in {"__iter__", "__next__", "send"}:
        iterating.draw(run, frame, node, owner)
        return UNKNOWN
    if isinstance(owner, (Instance, Super)):
        return _inherited(run, frame, node, owner, name, given)
    if isinstance(owner, Ref):
        return _through_class(run, frame, node, owner, name, given)
    if isinstance(owner, (Sequence, Dictionary)):
        return _change(run, frame, method, given)
    if isinstance(owner, Made):
        return _library_method(run, frame, node, owner, name, given)
    return PlatformTest() if isinstance(owner, PlatformTest) else UNKNOWN


def _inherited(
    run: Execution, frame: Frame, node: ast.expr, owner: Instance | Super, name: str, given: Arguments
) -> Value:
    """Call a method that a project class inherits from a library."""
    instance = owner.instance if isinstance(owner, Super) else owner
    row = _base_row(run, instance.facts)
    if row is None:
        return UNKNOWN
    place = Place(frame.module, node)
    if row.how == "iterated" and name == "__init__":
        run.put(instance, LOADER, _loader(run, row, given, place))
    elif row.how == "iterated" and name == "__iter__":
        return iterating.draw(run, frame, node, owner)
    elif name in row.methods:
        run.start(place, f"calls {name}() of a {row.name}", _method_of(row, Arguments()), None)
    return UNKNOWN


def _through_class(
    run: Execution, frame: Frame, node: ast.expr, owner: Ref, name: str, given: Arguments
) -> Value:
    del run, frame, node, owner, name, given
    return UNKNOWN


def _change(run: Execution, frame: Frame, method: Method, given: Arguments) -> Value:
    """Call a method of a list or dictionary; what changes it binds anew the name that holds it."""
    owner, name, target = method.owner, method.name, method.expression
    changed: Value | None = None
    if isinstance(owner, Dictionary):
        if name == "items":
            return Sequence(
                tuple(Sequence((Const(key), value)) for key, value in owner.items), owner.complete
            )  # type: ignore[arg-type]
        if name == "values":
            return Sequence(tuple(value for _, value in owner.items), owner.complete)
        if name == "copy":
            return owner
        if name == "get" and given.positional and isinstance(given.positional[0], Const):
            fallback = given.positional[1] if len(given.positional) > 1 else NONE
            key = given.positional[0].value
            return owner.get(key) if key in dict(owner.items) or not owner.complete else fallback
        if name == "update":
            more = given.positional[0] if given.positional else Dictionary(())
            known = isinstance(more, Dictionary)
            entries = {**(dict(more.items) if isinstance(more, Dictionary) else {}), **given.keywords}
            changed = owner.updated(entries, complete=known and not given.open)
        elif name in {"pop", "popitem", "clear", "setdefault"}:
            changed = UNKNOWN
    elif isinstance(owner, Sequence) and name in {"append", "add", "insert", "extend"} and given.positional:
        new = given.positional[-1]
        if name == "extend":
            more_items = new.items if isinstance(new, Sequence) else ()
            changed = Sequence(owner.items + more_items, owner.complete and isinstance(new, Sequence))
        else:
            changed = (
                Sequence((*owner.items, new))
                if not owner.items
                else Sequence((*owner.items, new), owner.complete)
            )
    elif isinstance(owner, Sequence) and name in {"pop", "remove", "clear"}:
        changed = Sequence(owner.items, complete=False)
    if changed is not None and isinstance(target, (ast.Name, ast.Attribute)):
        run.bind(frame, target, changed)
    popped = name == "pop" and isinstance(owner, Sequence)
    return merge_all(list(owner.items)) if popped and isinstance(owner, Sequence) else UNKNOWN


def _library_method(
    run: Execution, frame: Frame, node: ast.expr, owner: Made, name: str, given: Arguments
) -> Value:
    """Call a method of a library's object: one that hands a loader on, or one that iterates it."""
    if (owner.name, name) in iteration().passes_through:
        return (
            given.positional[0] if len(given.positional) == 1 else Sequence(given.positional, not given.open)
        )
    for consumer in iteration().consumers:
        if owner.name in consumer.classes and name in consumer.methods:
            for value in given.all:
                _consume(run, frame, node, value, consumer.hooks.get(name, ()))
    return UNKNOWN


def _consume(run: Execution, frame: Frame, node: ast.expr, value: Value, hooks: tuple[str, ...]) -> None:
    if isinstance(value, (Loader, Lazy, Stream)):
        iterating.draw(run, frame, node, value)
    elif isinstance(value, Sequence):
        for item in value.items:
            _consume(run, frame, node, item, ())
    elif isinstance(value, Dictionary):
        for _, item in value.items:
            _consume(run, frame, node, item, ())
    elif isinstance(value, Instance):
        if run.get(value, LOADER) is not None:
            iterating.draw(run, frame, node, value)
        for hook in hooks:
            found = run.project.method(value.facts, hook)
            if found is not None:
                home = run.frame_of(found[0].module)
                bound = Bound(Function(run.project_function(home, found[1]), home), value, found[0])
                _consume(run, frame, node, apply(run, frame, node, bound, Arguments()), ())
