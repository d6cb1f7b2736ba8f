"""What happens when something is iterated: generators and ``__iter__`` run, and of the rest a topic knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint.knowledge.starters import Consumer, iteration, trainer_cli
from forklint.records import dataclass
from forklint.runs.calls import method
from forklint.runs.trace import AT_ONCE, Enters, Place, Step, behind, maybe
from forklint.values import arguments, calls
from forklint.values.model import (
    NO_ARGUMENTS,
    Arguments,
    Expression,
    Found,
    Frame,
    Instance,
    Made,
    Row,
    Source,
    Stream,
    Table,
)
from forklint.values.trainer_cli import given_to_trainer

if TYPE_CHECKING:
    from forklint.project.module import FunctionFacts
    from forklint.runs.walk import Topic

DEPTH = 6
"""How many wrappers are taken off what is iterated."""
NEXT, METHOD = "builtins.next", "__next__"


@dataclass(frozen=True)
class Drawing:
    """One way to iterate something at a place."""

    topic: Topic
    place: Expression
    begins: bool = True
    """Whether ``iter()`` of it is called."""
    advances: bool = True
    """Whether ``next()`` of that is."""
    depth: int = DEPTH

    def of(self, found: Found) -> Iterator[Step]:
        """What it does, for something that was found to be iterated."""
        if not self.depth:
            return
        if self.begins:
            events = self.topic.of_iteration(self.place, found)
            yield from (behind(one, (self._place(""),), AT_ONCE) for one in events)
        for one in found.possible:
            steps = tuple(self._of_value(one))
            yield from steps if found.known else maybe(steps)

    def of_source(self, source: Source) -> Iterator[Step]:
        """What it does for what a source holds."""
        yield from self.of(self.topic.evaluator.find(source))

    def _of_value(self, found: Found) -> Iterator[Step]:
        value = found.value
        if isinstance(value, Stream) and self.advances:
            function = value.frame.function
            yield Enters(function, value.frame, self._place(f"draws from {function.qualname}()"))
        elif isinstance(value, Made):
            yield from self._of_wrapper(value)
        elif isinstance(value, Instance):
            yield from self._of_object(value)

    def _of_wrapper(self, made: Made) -> Iterator[Step]:
        """What iterates its arguments: when it is itself iterated, or, as ``enumerate``, from when it was made."""
        known, node = iteration(), made.call.node
        given = node.args if isinstance(node, ast.Call) else []
        if made.name in known.when_iterated and self.advances:
            inner = replace(self, begins=True, depth=self.depth - 1)
        elif made.name in known.at_once:
            inner = replace(self, begins=False, depth=self.depth - 1)
        else:
            return
        for one in given if made.name in known.all_arguments else given[:1]:
            if not isinstance(one, ast.Starred):
                yield from inner.of_source(made.call.part(one))

    def _of_object(self, owner: Instance) -> Iterator[Step]:
        """An object of the project, whose ``__iter__`` runs, and whose ``__next__`` may."""
        if not self.begins:
            yield from self._calling(owner, "__next__")
            return
        found = method(self.topic.project, owner, "__iter__")
        if found is None:
            return
        evaluator = self.topic.evaluator
        if calls.is_generator(self.topic.project, found[0].node):
            if self.advances:
                yield from self._calling(owner, "__iter__")
            return
        yield from self._calling(owner, "__iter__")
        given = calls.result_of(evaluator, found[0], NO_ARGUMENTS, owner)
        if isinstance(given.value, Instance):
            yield from self._calling(given.value, "__next__") if self.advances else ()
        elif isinstance(given.value, Stream):
            yield from replace(self, depth=self.depth - 1).of(given)

    def _calling(self, owner: Instance, name: str) -> Iterator[Step]:
        found = method(self.topic.project, owner, name)
        if found is not None:
            yield self._enters(*found)

    def _enters(self, function: FunctionFacts, owner: Instance | None) -> Enters:
        frame = Frame(function, NO_ARGUMENTS, owner, self.place.frame)
        return Enters(function, frame, self._place(f"calls {function.qualname}()"))

    def _place(self, doing: str) -> Place:
        return Place(self.place.module, self.place.node, doing)

    def each(self, found: Found, hooks: tuple[str, ...] = ()) -> Iterator[Step]:
        """Iterate every loader that a library is given, alone, in a collection, or made by one of its ``hooks``."""
        value, evaluator = found.value, self.topic.evaluator
        if isinstance(value, (Row, Table)) and self.depth:
            inner = replace(self, depth=self.depth - 1)
            for source in value.items if isinstance(value, Row) else value.values:
                yield from inner.each(evaluator.find(source))
            return
        yield from self.of(found)
        made = [method(self.topic.project, value, hook) for hook in hooks] if isinstance(value, Instance) else []
        for one in made:
            if one is not None:
                yield self._enters(*one)
                yield from replace(self, depth=self.depth - 1).each(
                    calls.result_of(evaluator, one[0], NO_ARGUMENTS, one[1])
                )


def by_call(topic: Topic, call: Expression, name: str) -> Iterator[Step]:
    """What a call iterates: its arguments, or what the object of a library was given whose method it calls."""
    node, known = call.node, iteration()
    assert isinstance(node, ast.Call)  # noqa: S101 - the walk says so
    if name in known.at_once or name == NEXT:
        given = node.args if name in known.all_arguments else node.args[:1]
        for one in given:
            place = call.part(one.value if isinstance(one, ast.Starred) else one)
            drawing = Drawing(topic, place, begins=name != NEXT, advances=name not in known.lazily)
            yield from drawing.of_source(place)
    elif name in trainer_cli().classes:
        yield from _trained(topic, Made(name, call))
    elif isinstance(node.func, ast.Attribute) and node.func.attr == METHOD:
        place = call.part(node.func.value)
        found = topic.evaluator.find(place)
        if not isinstance(found.value, Instance):  # whose method is entered as others are
            yield from Drawing(topic, place, begins=False).of(found)
    elif isinstance(node.func, ast.Attribute):
        for consumer in known.consumers:
            if node.func.attr in consumer.methods:
                yield from _consumed(topic, call, node.func, consumer)


def _trained(topic: Topic, made: Made) -> Iterator[Step]:
    """What Lightning's command line trains with."""
    table = trainer_cli()
    hooks = {hook for one in iteration().consumers if table.trainer in one.classes for hook in one.hooks[table.method]}
    for given in given_to_trainer(topic.evaluator, made):
        yield from Drawing(topic, made.call).each(given, tuple(sorted(hooks)))


def _consumed(topic: Topic, call: Expression, func: ast.Attribute, consumer: Consumer) -> Iterator[Step]:
    """What a method of a library iterates that gets loaders, or got them when its object was made."""
    evaluator = topic.evaluator
    for one in evaluator.find(call.part(func.value)).possible:
        kept = _made_with(topic, one, func.attr, consumer)
        if kept is None:
            continue
        given = arguments.of_call(evaluator, call)
        hooks, drawing = consumer.hooks.get(func.attr, ()), Drawing(topic, call)
        for source in (*(_all(kept) if consumer.keeps_arguments else ()), *_all(given)):
            yield from drawing.each(evaluator.find(source), hooks)


def _made_with(topic: Topic, owner: Found, name: str, consumer: Consumer) -> Arguments | None:
    """What an object of one of a consumer's classes was made with; None for another object."""
    value = owner.value
    if isinstance(value, Made) and value.name in consumer.classes:
        return arguments.of_call(topic.evaluator, value.call)
    if isinstance(value, Instance) and consumer.classes.intersection(topic.project.ancestry(value.facts).external):
        return (value.made or NO_ARGUMENTS) if method(topic.project, value, name) is None else None
    return None


def _all(given: Arguments) -> tuple[Source, ...]:
    return (*given.positional, *given.keywords.values())
