"""What an expression is found to hold, and the places from which that is known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from forklint.model import Link
from forklint.project.module import ClassFacts, CodeLink, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Scope
from forklint.records import dataclass
from forklint.source.presets import Preset
from forklint.source.presets.nodes import Node
from forklint.values.numbers import POSITIVE, Positive
from forklint.values.worlds import EVERYWHERE, Worlds


@dataclass(frozen=True)
class Expression:
    """An expression of the code and where it stands."""

    module: Module
    scope: Scope
    node: ast.expr
    frame: Frame | None = None
    """The call that the function around it is looked at from; None for any call of it."""

    def part(self, node: ast.expr) -> Expression:
        """Give another expression of the same place."""
        return Expression(self.module, self.scope, node, self.frame)

    def by_anyone(self, receiver: Instance | None = None) -> Expression:
        """Give it as it stands, asking nothing of who calls the function around it."""
        node = self.scope.node
        function = FunctionFacts(self.module, node) if isinstance(node, FUNCTIONS) else None
        return replace(self, frame=Frame(function, NOT_KNOWN, receiver) if function is not None else None)

    def link(self, message: str) -> CodeLink:
        """Make a step of a chain that points here."""
        return CodeLink(self.module, self.node, message)


@dataclass(frozen=True)
class Setting:
    """A value of a file of settings, or several put on top of each other."""

    preset: Preset = field(compare=False)
    node: Node
    root: Setting | None = field(default=None, compare=False)
    """All that it is a part of, for what it refers to; None if that is itself."""
    under: tuple[Setting, ...] = ()
    """Mappings whose entries hold where it has none of that name, the first that counts first."""
    by_default: bool = False
    """Whether the user may give it otherwise: on the command line, or by naming another file."""

    def link(self, message: str) -> Link:
        """Make a step of a chain that points here."""
        row, column = self.preset.place(self.node.start)
        return Link(str(self.preset.path), row, column, message)


@dataclass(frozen=True)
class Either:
    """One of several, and the text does not say which: what was there, or what a branch put in its place."""

    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Case:
    """What is written down for some kinds of machine alone: in a branch that asks for an accelerator, say."""

    source: Source
    worlds: Worlds


@dataclass(frozen=True)
class Absent:
    """Nothing: what may be given is not given here."""


ABSENT = Absent()
Source = Expression | Setting | Either | Case | Absent
"""Where a value is written down."""


@dataclass(frozen=True, eq=False)
class Arguments:
    """What a call gives; compared by identity, for the arguments of one call are read once."""

    positional: tuple[Source, ...] = ()
    keywords: Mapping[str, Source] = field(default_factory=dict)
    open: bool = False
    """Whether ``*args`` or ``**kwargs`` may give more of which nothing is known."""

    def get(self, name: str, position: int | None = None) -> Source | None:
        """The argument of a name or position; None where it is not given, as far as can be seen."""
        if name in self.keywords:
            return self.keywords[name]
        return self.positional[position] if position is not None and position < len(self.positional) else None

    @cached_property
    def without_first(self) -> Arguments:
        """The arguments behind the first: of a method called with its object, of a partial behind its function."""
        return Arguments(self.positional[1:], self.keywords, self.open)

    def then(self, more: Arguments) -> Arguments:
        """The arguments of a partial followed by those of its call, which win."""
        if not self.positional and not self.keywords and (more.open or not self.open):
            return more
        if more not in self._followed:
            keywords = {**self.keywords, **more.keywords}
            self._followed[more] = Arguments((*self.positional, *more.positional), keywords, self.open or more.open)
        return self._followed[more]

    @cached_property
    def _followed(self) -> dict[Arguments, Arguments]:
        """What it gives together with others: made once as well, so that a frame stays what it is."""
        return {}


NO_ARGUMENTS = Arguments()
NOT_KNOWN = Arguments(open=True)
"""What a call gives of which nothing is known."""


@dataclass(frozen=True)
class Frame:
    """One call of a function of the project."""

    function: FunctionFacts
    given: Arguments
    receiver: Instance | None = None
    """What ``self`` is."""
    within: Frame | None = field(default=None, hash=False)
    """The call in whose function this one stands."""

    def enters(self, function: FunctionFacts) -> bool:
        """Whether it is a call of a function, or stands within one: a function that calls itself tells nothing."""
        frame: Frame | None = self
        while frame is not None:
            if frame.function.node is function.node:
                return True
            frame = frame.within
        return False


@dataclass(frozen=True)
class Unknown:
    """Nothing is known."""


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Constant:
    """A constant, or a number that is surely positive."""

    value: str | int | float | bytes | bool | Positive | None


@dataclass(frozen=True)
class Text:
    """A text of which only the beginning is known: ``f"cuda:{rank}"``."""

    start: str


@dataclass(frozen=True)
class Table:
    """A mapping with texts as keys; when not complete there may be more."""

    entries: Mapping[str, Source] = field(hash=False)
    complete: bool = True
    others: tuple[Source, ...] = ()
    """Values whose keys are not known."""

    @property
    def values(self) -> tuple[Source, ...]:
        """The values of all entries that are known."""
        return (*self.entries.values(), *self.others)


@dataclass(frozen=True)
class Row:
    """A list, tuple or set; when not complete its length and order are not known, and there may be more."""

    items: tuple[Source, ...]
    complete: bool = True


@dataclass(frozen=True)
class Instance:
    """An object of a project class; with ``made``, the one that a certain call makes."""

    facts: ClassFacts
    made: Arguments | None = None
    call: Expression | None = field(default=None, compare=False)
    """The call that makes it, where that is known."""


@dataclass(frozen=True)
class Stream:
    """A generator of the project: the call of its function, which runs when it is drawn from."""

    frame: Frame


@dataclass(frozen=True)
class Ref:
    """A class, function or module of the project itself."""

    symbol: ClassFacts | FunctionFacts | Module


@dataclass(frozen=True)
class Lambda:
    """A lambda of the project."""

    place: Expression


@dataclass(frozen=True)
class Made:
    """What a call of a library's function or class gave, by its qualified name."""

    name: str
    call: Expression


Value = Unknown | Absent | Constant | Text | Table | Row | Instance | Stream | Ref | Lambda | Made | Setting


@dataclass(frozen=True)
class Stored:
    """What code stores in a mapping, list or object after it was made, as far as that is seen."""

    entries: Mapping[str, Source] = field(default_factory=dict, hash=False)
    """By key or attribute, with dots where it is stored in something stored: ``LOADER.WORKERS``."""
    places: frozenset[ast.AST] = frozenset()
    """The targets of the assignments that were taken into account."""

    def below(self, name: str) -> Stored:
        """What is stored in one entry."""
        start = name + "."
        inner = {key[len(start) :]: value for key, value in self.entries.items() if key.startswith(start)}
        return Stored(inner, self.places) if inner else NOT_STORED


NOT_STORED = Stored()


@dataclass(frozen=True)
class Found:
    """What a source holds."""

    value: Value = UNKNOWN
    links: tuple[Link | CodeLink, ...] = ()
    """The places from which it is known, the nearest to the loader first; none where it is written on the spot."""
    by_default: bool = False
    """Whether it holds unless the user of the program, or of the library, says otherwise."""
    options: tuple[Found, ...] = ()
    """What else it may be, where more than one answer is known; it is none of them surely."""
    stored: Stored = field(default=NOT_STORED, compare=False)
    """What code stores in it after it was made."""
    worlds: Worlds = EVERYWHERE
    """The kinds of machine on which it may hold, where it is one of several."""
    is_all: bool = False
    """Whether it is surely one of ``options``."""
    in_turn: bool = False
    """Whether it is each of ``options``, one after the other: the variable of a loop."""

    @property
    def possible(self) -> tuple[Found, ...]:
        """All that it is known to be, surely or perhaps."""
        return (self,) if self.known else self.options

    @property
    def known(self) -> bool:
        """Whether anything is known."""
        return not isinstance(self.value, Unknown)

    def after(self, *links: Link | CodeLink, by_default: bool = False) -> Found:
        """Give it as found by way of other places."""
        options = tuple(one.after(*links, by_default=by_default) for one in self.options)
        if not self.known:
            return replace(self, options=options) if options or self.stored.entries else NOTHING
        new = tuple(link for link in links if link not in self.links)
        return replace(self, links=(*new, *self.links), by_default=self.by_default or by_default, options=options)

    def holding(self, stored: Stored) -> Found:
        """Give it with what code stores in it."""
        return replace(self, stored=stored)

    def within(self, worlds: Worlds) -> Found:
        """Give it as what holds on some kinds of machine alone."""
        if worlds == EVERYWHERE:
            return self
        options = tuple(inner for one in self.options if (inner := one.within(worlds)).worlds)
        if self.is_all and len(options) == 1:
            return options[0]
        return replace(self, worlds=self.worlds & worlds, options=options)


NOTHING = Found()


MOST_OPTIONS = 24
"""So many answers to one question are kept beside each other."""


def agreed(found: Iterable[Found]) -> Found:
    """Give what holds whichever of several is the case; where they differ it is nothing for sure, and any of them.

    Numbers that differ but are all above zero are together a positive number.
    """
    known: list[Found] = []
    options: dict[Found, list[Stored]] = {}
    unclear = False
    for one in found:
        for option in one.possible:
            options.setdefault(option, []).append(option.stored)
        unclear |= not one.known and not one.is_all
        if unclear and len(options) >= MOST_OPTIONS:
            break
        known.append(one)
    if len(known) == 1 and known[0].in_turn:
        return known[0]
    if not known or unclear or not all(one.known for one in known):
        return _any_of(_merged(options), is_all=not unclear)
    first = known[0]
    default = any(one.by_default for one in known)
    if all(_same(one.value, first.value) for one in known):
        return Found(first.value, first.links, default, stored=_any_stored([one.stored for one in known]))
    numbers = [one.value.value for one in known if isinstance(one.value, Constant)]
    if len(numbers) == len(known) and all(_is_positive(number) for number in numbers):
        return Found(Constant(POSITIVE), first.links, default)
    return _any_of(_merged(options), is_all=True)


def _merged(options: Mapping[Found, Sequence[Stored]]) -> list[Found]:
    """Give each of several answers once, with what is stored in it by any of the ways to it."""
    return [one.holding(_any_stored(stored)) for one, stored in options.items()]


def _any_stored(each: Sequence[Stored]) -> Stored:
    """What is stored in something by one of several ways; an entry that is ABSENT in one is there as it was made."""
    if all(one == each[0] for one in each):
        return each[0]
    entries: dict[str, Source] = {}
    for name in dict.fromkeys(name for one in each for name in one.entries):
        sources = tuple(dict.fromkeys(one.entries.get(name, ABSENT) for one in each))
        entries[name] = sources[0] if len(sources) == 1 else Either(sources)
    return Stored(entries, frozenset().union(*(one.places for one in each)))


def of_each(owner: Found, part: Callable[[Found], Found]) -> Found:
    """Give a part of one of several; reading a part of None raises, so that is none of them."""
    options = [one for one in owner.options if one.value != Constant(None) or one.worlds != EVERYWHERE]
    return agreed(map(part, options)) if owner.is_all else perhaps(map(part, options))


def perhaps(found: Iterable[Found]) -> Found:
    """Give what is one of several, and of which the text does not say that it is nothing else."""
    return _any_of(dict.fromkeys(option for one in found for option in one.possible))


def _any_of(options: Iterable[Found], *, is_all: bool = False) -> Found:
    known = tuple(options)
    some = known[:MOST_OPTIONS]
    return Found(options=some, is_all=is_all and len(some) == len(known)) if some else NOTHING


def _same(first: Value, second: Value) -> bool:
    if isinstance(first, Constant) and isinstance(second, Constant):
        return type(first.value) is type(second.value) and first.value == second.value
    return first == second


def _is_positive(number: object) -> bool:
    if isinstance(number, Positive):
        return True
    return isinstance(number, (int, float)) and not isinstance(number, bool) and number > 0


def told(found: Found, place: Expression, name: str, *, by_default: bool = False) -> Found:
    """Give a value with a link to the place, in code, where it is written down under a name, if it has none yet."""
    if found.options:
        return replace(found, options=tuple(told(one, place, name, by_default=by_default) for one in found.options))
    if not found.known or found.links:
        return found.after(by_default=by_default)
    text = ast.unparse(place.node)
    what = text if len(text) <= 40 else "set"
    return found.after(
        place.link(f"`{name}` is {what} {'by default' if by_default else 'here'}"), by_default=by_default
    )
