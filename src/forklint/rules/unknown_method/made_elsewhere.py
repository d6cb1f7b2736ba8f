"""Which names variables and attributes may lack whose object more than one line, or a function, gives them.

Judged by summaries, for a file at a time. Whatever may be lacking is asked of the evaluator afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.torch_api import RETURN_SELF
from forklint.project.meanings import Definition
from forklint.rules.unknown_method.attributes import EVERY_OBJECT
from forklint.rules.unknown_method.owners import WRAPPERS
from forklint.rules.unknown_method.receivers import SELF

if TYPE_CHECKING:
    from forklint.rules.unknown_method.screened_classes import Named, ScreenedClasses
    from forklint.summaries.summary import Summary

SELVES = frozenset({SELF, "cls"})
PROPERTIES = frozenset({"property", "cached_property", "functools.cached_property"})
DEEPEST = 2
"""So many attributes are followed from an object to one that it holds: ``trainer.model.encoder``."""
MOST_CLASSES = 4
"""A function that makes more kinds of objects does not tell of which kind the one is that it returns."""

Wanted = frozenset[tuple[str, str]]
"""Names, each behind the variable or the ``self.attribute`` that has to have it."""


class MadeElsewhere:
    """Answers for the files of one project."""

    def __init__(self, classes: ScreenedClasses) -> None:
        self._classes = classes
        self._project = classes.project

    def may_lack(self, path: Path) -> Wanted:
        """The names that some object of a file may lack, each with what it is read on."""
        return self._project.answer("what objects may lack", path, lambda: self._find(path), compared=True)

    def _find(self, path: Path) -> Wanted:
        summary = self._project.summary(path)
        if summary is None:
            return frozenset()
        found: set[tuple[str, str]] = set()
        for receiver, names in _used(summary).items():
            for owners in filter(None, self._makers(path, summary, receiver)) if names else ():
                found.update((receiver, name) for name in names if self._lack(owners, name))
        return frozenset(found)

    def _lack(self, owners: list[Named], name: str) -> bool:
        """Whether objects of some classes all lack a name, or one that wraps a model does."""
        lacking = [one for one in owners if self._classes.object_lacks(one, {name})]
        return len(lacking) == len(owners) or not WRAPPERS.isdisjoint(one for one in lacking if isinstance(one, str))

    def _makers(self, path: Path, summary: Summary, receiver: str) -> Iterator[list[Named]]:
        """Give the classes of which a variable or attribute may hold an object, by the scopes that give it one."""
        holder, _, attribute = receiver.rpartition(".")
        if holder and holder not in SELVES:
            yield from self._held(path, summary, holder, attribute)
        elif not holder and receiver in summary.by_alias:
            yield [one for one in self._classes.imported(path, receiver) if isinstance(one, Definition)]
        sources = {receiver, *_behind_property(summary, receiver)}
        callees: dict[int, set[str]] = {}
        for number, value in (pair for one in sources for pair in summary.by_target.get(one, ())):
            home = summary.outermost(number) if holder in SELVES else number
            callees.setdefault(home, set()).add(_callee(value))
        for together in callees.values():
            yield [one for callee in sorted(together - {""}) for one in self._made_by(path, callee)]

    def _held(self, path: Path, summary: Summary, holder: str, attribute: str) -> Iterator[list[Named]]:
        """Give, for each value of an attribute of an object, the classes of which that may be an object."""
        holders = {one for owners in self._makers(path, summary, holder) for one in owners}
        for one in sorted(one for one in holders if isinstance(one, Definition)):
            home = self._project.summary(one.path)
            callees = _kept(home, one.number, attribute) if home is not None else ()
            yield from (self._made_by(one.path, callee) for callee in sorted(callees))

    def _made_by(self, path: Path, callee: str) -> list[Named]:
        """The classes of which a call may give an object: itself one, or what a function or class method makes."""
        found = self._classes.owners(path, callee)
        if found:
            return [one for one in found if one is not None]
        functions = [one for one in self._classes.meant(path, callee) if isinstance(one, Definition)]
        if len(functions) == 1:
            made = self._project.answer(
                "classes that a function calls", functions[0], lambda: self._called(functions[0]), compared=True
            )
            return list(made)
        above, _, name = callee.rpartition(".")
        owners = self._classes.owners(path, above) if above else ()
        return [made for one in owners if isinstance(one, Definition) for made in self._made_in(one, name)]

    def _made_in(self, owner: Definition, name: str) -> Iterable[Named]:
        """The classes of which a method, called on a class, may give an object: one from outside gives its own."""
        method = self._classes.method(owner, name)
        return (owner,) if method is None or self._classes.makes_own(method) else self._called(method)

    def _called(self, function: Definition) -> tuple[Definition, ...]:
        """The classes of the project that a function calls, or that a function calls which it calls."""
        meanings = self._classes.meanings
        called = {one for many in meanings.called(function).values() for one in many}
        further = {one for inner in called for many in meanings.called(inner).values() for one in many}
        for reached in (called, further):
            classes = sorted(one for one in reached if self._classes.is_class(one))
            if classes:
                return tuple(classes) if len(classes) <= MOST_CLASSES else ()
        return ()


def _kept(summary: Summary, number: int, attribute: str) -> set[str]:
    """The dotted names whose call, in a class or its methods, may make what an attribute holds; of a field, any name.

    ``field(default_factory=Settings)`` calls one of those that stand in the body of the class.
    """
    inside = summary.below(number)
    stored = summary.by_target.get(f"{SELF}.{attribute}", ())
    callees = {_callee(value) for at, value in stored if at in inside} - {""}
    is_field = any(at == number for at, _ in summary.by_target.get(attribute, ()))
    return callees | summary.scopes[number].bare if is_field else callees


def _used(summary: Summary) -> dict[str, set[str]]:
    """The names that are read or called, by the variable or ``self.attribute`` in front of them."""
    found: dict[str, set[str]] = {}
    spellings = {one for scope in summary.scopes for one in (*scope.calls, *(scope.dotted - scope.stores))}
    for spelling in spellings:
        parts = spelling.split(".")
        nearest = 2 if parts[0] == SELF else 1
        for length in range(nearest, min(len(parts), nearest + DEEPEST + 1)):
            name = parts[length]
            if not name.isidentifier():
                break
            if name not in EVERY_OBJECT and not name.startswith("__"):
                found.setdefault(".".join(parts[:length]), set()).add(name)
    return found


def _behind_property(summary: Summary, receiver: str) -> set[str]:
    """The attributes of ``self`` that a property of a name reads, in whichever class of the file."""
    me, _, name = receiver.partition(".")
    alike = [summary.scopes[number] for number in summary.by_name.get(name, ())] if me == SELF else []
    return {f"{SELF}.{one}" for scope in alike if PROPERTIES.intersection(scope.decorators) for one in scope.own}


def _callee(value: str) -> str:
    """The dotted name whose call a value is, apart from the methods that give a module itself; empty for another."""
    while value.endswith(")"):
        callee = value[:-2] if value.endswith("()") else value.partition("(")[0]
        owner, _, name = callee.rpartition(".")
        if name in RETURN_SELF and owner.endswith(")"):
            value = owner
            continue
        return callee if callee.replace(".", "").isidentifier() else ""
    return ""
