"""What calls of libraries do in an abstract run: make loaders, start processes, set start methods, iterate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.facts.loading.loaders import UNKNOWN as NOT_KNOWN
from forklint.facts.loading.loaders import set_up_by
from forklint.facts.loading.rows import rows_above
from forklint.facts.starting.running import binding, calling, conditions, containers, evaluation, iterating, names
from forklint.facts.starting.running.values import (
    DEFAULT_METHOD,
    LOADER,
    NONE,
    UNKNOWN,
    Arguments,
    Const,
    Context,
    Dictionary,
    Foreign,
    Instance,
    Lazy,
    Loader,
    Made,
    Method,
    Partial,
    PlatformTest,
    Sequence,
    Spot,
    Startable,
    Stream,
    Super,
    Value,
)
from forklint.knowledge.starters import Starter, iteration, starters
from forklint.values.model import Expression
from forklint.values.numbers import Workers, called, verdict
from forklint.values.worlds import platforms_of

if TYPE_CHECKING:
    from forklint.facts.starting.running.execution import Execution
    from forklint.project.module import ClassFacts

START_METHODS = {"fork", "spawn", "forkserver"}
SPAWNING = frozenset({"darwin", "windows"})
"""Platforms that always spawned: who has workers on others alone has thought of it."""


def call(run: Execution, spot: Spot, name: str, given: Arguments) -> Value:
    """Call a function or class of a library by its qualified name."""
    known = iteration()
    result: Value = UNKNOWN if name.startswith("builtins.") else _made(name, given)
    row = starters(run.project.settings.starters).get(name)
    if row is not None:
        result = _start(run, spot, row, _method_given(row, given), given)
    elif name in known.contexts:
        asked = given.get("method", 0)
        result = Context(run.method if asked is None or asked == NONE else _start_method(asked))
    elif name in known.setters:
        force = given.get("force", 1)
        forced = force is not None and conditions.truth(force) is not False
        run.set_method(spot.place, _start_method(given.get("method", 0)), forced=forced)
    elif name in known.calls_its_argument and given.positional:
        result = calling.apply(run, spot, given.positional[0], Arguments(open=True))
    elif name == "functools.partial" and given.positional:
        result = Partial(given.positional[0], Arguments(given.positional[1:], given.keywords, given.open))
    elif name in known.when_iterated and given.positional:
        result = Lazy(given.positional if name == "itertools.chain" else given.positional[:1])
    elif name == "builtins.setattr" and len(given.positional) == 3:
        attribute = given.positional[1]
        binding.changed(run, given.positional[0], str(attribute.value) if isinstance(attribute, Const) else "")
    elif name in containers.LOOKING and given.positional:
        result = containers.LOOKING[name](given.positional)
    elif name in known.at_once or name in containers.BUILTINS:
        result = containers.call_builtin(run, spot, name.partition(".")[2], given)
    elif name in names.PLATFORM_NAMES or (name == "builtins.hasattr" and _tells_platform(given)):
        result = PlatformTest()
    else:
        count = called(name.removeprefix("builtins."), [evaluation.number_of(value) for value in given.positional])
        result = Const(count) if count is not None else result
    return result


def _tells_platform(given: Arguments) -> bool:
    """Whether ``hasattr`` with these arguments asks what the platform, or a notebook, has."""
    asked = [value.value for value in given.positional if isinstance(value, Const)]
    return Foreign("os") in given.positional or any(name in asked for name in names.NOTEBOOK_NAMES)


def _made(name: str, given: Arguments) -> Made:
    keeps = any(row.keeps_arguments and name in row.classes for row in iteration().consumers)
    return Made(name, given.all if keeps else ())


def _start_method(value: Value | None) -> str:
    """Give the start method that a value names; empty if that is not known."""
    if isinstance(value, Context):
        return value.method
    return str(value.value) if isinstance(value, Const) and value.value in START_METHODS else ""


def _method_given(row: Starter, given: Arguments) -> str:
    """Give the start method that a call's ``context`` argument asks for; empty if that is not known."""
    value = given.get(row.context, row.position(row.context)) if row.context else None
    return (row.start_method or DEFAULT_METHOD) if value is None or value == NONE else _start_method(value)


def loader(run: Execution, row: Starter, given: Arguments, spot: Spot) -> Loader:
    """Make the loader that a call with these arguments makes.

    A number of workers that the run does not know, since it comes from the command line, from a file or from an
    object, is looked for where it is written down.
    """
    threads = given.get(row.threads, row.position(row.threads))
    value = given.get(row.workers, row.position(row.workers))
    workers = Workers.UNKNOWN
    if value is None:
        workers = verdict(row.workers_default)
    elif isinstance(value, Const) and not isinstance(value.value, (bytes, complex)):
        workers = verdict(value.value)
    if threads is not None and conditions.truth(threads) is not False:
        workers = Workers.NONE
    elif workers is Workers.UNKNOWN:
        return _looked_for(run, row, given, spot)
    return Loader(row, workers, _method_given(row, given), spot.place)


def _looked_for(run: Execution, row: Starter, given: Arguments, spot: Spot) -> Loader:
    """The loader of a call, by what is written down of its options anywhere in the project."""
    made = set_up_by(run.project, Expression(spot.frame.module, spot.frame.scope, spot.node), row)
    method = _method_given(row, given)
    if not method and not made.open and made.option(row.context) is None:
        method = row.start_method or DEFAULT_METHOD
    count = made.workers if made.option(row.workers) is not None else NOT_KNOWN
    platforms = platforms_of(count.some_in)
    if SPAWNING.intersection(platforms):
        return Loader(row, Workers.SOME, method, spot.place, platforms=platforms)
    return Loader(row, count.kind, method, spot.place, count.by_default, count.links)


def _start(run: Execution, spot: Spot, row: Starter, method: str, given: Arguments) -> Value:
    """Call what is named in starters.toml."""
    if row.how == "iterated":
        return loader(run, row, given, spot)
    if row.how == "called" and _has_workers(run, spot, row, given):
        run.start(spot.place, f"calls {row.name}(), which starts processes", method, platforms=row.platforms)
    return Startable(row, method, spot.place)


def _has_workers(run: Execution, spot: Spot, row: Starter, given: Arguments) -> bool:
    """Whether a call of what starts processes, but is no loader, starts any with these arguments."""
    for option, values in row.off.items():
        value = given.get(option, row.position(option))
        known = value.value if isinstance(value, Const) else None
        if value is not None and value != NONE and ("*" in values or known is None or known in values):
            return False
    return not row.workers or loader(run, row, given, spot).workers is Workers.SOME


def call_starter(run: Execution, spot: Spot, method: Method, given: Arguments) -> Value:
    """Call a method of a multiprocessing context, a process, an executor, a loader or a generator."""
    owner, name = method.owner, method.name
    if isinstance(owner, Context):
        row = starters(run.project.settings.starters).get(f"multiprocessing.{name}")
        return _start(run, spot, row, owner.method, given) if row is not None else UNKNOWN
    if isinstance(owner, Startable):
        if name in owner.row.methods and _has_workers(run, spot, owner.row, given):
            what = f"calls {name}() of a {owner.row.name}"
            run.start(spot.place, what, owner.method, owner, platforms=owner.row.platforms)
        return owner if name == "__enter__" else UNKNOWN
    if isinstance(owner, (Loader, Stream)) and name in {"__iter__", "__next__", "send"}:
        iterating.draw(run, spot, owner)
    return UNKNOWN


def inherited_row(run: Execution, facts: ClassFacts) -> Starter | None:
    """Find the row of starters.toml for what a project class inherits from."""
    return next(rows_above(run.project, facts), None)


def call_inherited(run: Execution, spot: Spot, method: Method, given: Arguments) -> Value:
    """Call a method that a project class inherits from a library."""
    owner, name = method.owner, method.name
    instance = owner.instance if isinstance(owner, Super) else owner
    row = inherited_row(run, instance.facts) if isinstance(instance, Instance) else None
    if row is None:
        return UNKNOWN
    if row.how == "iterated" and name == "__init__":
        run.put(instance, LOADER, loader(run, row, given, spot))
    elif row.how == "iterated" and name == "__iter__":
        iterating.draw(run, spot, owner)
    elif name in row.methods:
        run.start(spot.place, f"calls {name}() of a {row.name}", row.start_method or DEFAULT_METHOD)
    return UNKNOWN


def call_object(run: Execution, spot: Spot, method: Method, given: Arguments) -> Value:
    """Call a method of a library's object: one that hands a loader on, or one that iterates it."""
    owner = method.owner if isinstance(method.owner, Made) else Made("")
    if (owner.name, method.name) in iteration().passes_through:
        single = len(given.positional) == 1 and not given.open
        return given.positional[0] if single else Sequence(given.positional, not given.open)
    for consumer in iteration().consumers:
        if owner.name in consumer.classes and method.name in consumer.methods:
            for value in (*owner.kept, *given.all):
                _consume(run, spot, value, consumer.hooks.get(method.name, ()))
    return UNKNOWN


def _consume(run: Execution, spot: Spot, value: Value, hooks: tuple[str, ...]) -> None:
    """Iterate every loader that a library is given, alone, in a collection, or made by one of its ``hooks``."""
    inner: tuple[Value, ...] = ()
    if isinstance(value, (Loader, Lazy, Stream)):
        iterating.draw(run, spot, value)
    elif isinstance(value, Sequence):
        inner = value.items
    elif isinstance(value, Dictionary):
        inner = tuple(item for _, item in value.items)
    elif isinstance(value, Instance):
        if run.get(value, LOADER) is not None:
            iterating.draw(run, spot, value)
        made = (run.method_of(value, hook) for hook in hooks)
        inner = tuple(run.invoke(spot, hook, Arguments()) for hook in made if hook is not None)
    for item in inner:
        _consume(run, spot, item, ())
