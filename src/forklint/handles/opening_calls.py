"""What definitions may open that stays open, by the names that they call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from forklint.handles.shapes import BOX_VIEWS, UNBOXING
from forklint.summaries.summary import last_name

if TYPE_CHECKING:
    from forklint.knowledge.handles import Handle
    from forklint.summaries.summary import Scope

CALLED = "()"


class Openings(NamedTuple):
    """What some scopes open."""

    named: bool
    """Whether one calls something by the name of an opener, or is called like one."""
    retained: bool
    """Whether something is opened in one whose handle goes on to somewhere."""


NONE = Openings(named=False, retained=False)


class Source(NamedTuple):
    """What is known of a file besides its scopes."""

    has: Callable[[re.Pattern[bytes]], bool]
    """Whether its text matches a pattern."""
    imported: Callable[[str], frozenset[str]]
    """The qualified names that a dotted name means there, if they are all outside the project; else none."""


class OpeningCalls:
    """Looks for the names of a table of openers.

    Passed over are a call that ``with`` closes on the spot, one whose value is dropped, one of which nothing is used
    but what a plain method returns (``open(path).read()``), and one of something else that is imported
    (``json.load``). A row for names that end in some suffix counts only where that suffix is written in the file, or
    what is taken from such an object; one for calls with some keyword only where such a keyword is passed.
    """

    def __init__(self, table: Mapping[str, Handle]) -> None:
        self._rows: dict[str, list[Handle]] = {}
        for name, row in table.items():
            self._rows.setdefault(name.rpartition(".")[2], []).append(row)
        self.names = frozenset(self._rows)
        """The last parts of their names."""

    def of(self, scopes: Sequence[Scope], source: Source) -> Openings:
        """What some scopes of a file open."""
        rows = _Rows(self._rows, scopes, source)
        opening = [scope for scope in scopes if rows.are_named_in(scope)] if rows else []
        return Openings(bool(opening), any(_retains(scope, rows) for scope in opening))

    def given(self, scope: Scope, source: Source) -> frozenset[str]:
        """The names that are given what an opener returns, in a scope of a file."""
        rows = _Rows(self._rows, (scope,), source)
        values = ((one.target, one.value) for one in scope.given if rows)
        names = (name for name, value in values if value.endswith(CALLED) and rows.of(value[: -len(CALLED)]))
        return frozenset(filter(str.isidentifier, names))


class _Rows:
    """The rows of the table that are about some scopes of one file."""

    def __init__(self, table: Mapping[str, list[Handle]], scopes: Iterable[Scope], source: Source) -> None:
        names = {name for scope in scopes for name in (scope.name, *map(last_name, scope.calls))}
        found = {
            name: [row for row in table[name] if all(map(source.has, _patterns(row)))] for name in table.keys() & names
        }
        self._by_name = {name: rows for name, rows in found.items() if rows}
        self._source = source

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def are_named_in(self, scope: Scope) -> bool:
        """Whether a scope calls something that a row may be about, or is called so itself."""
        return scope.name in self._by_name or any(map(self.of, scope.calls))

    def of(self, call: str) -> list[Handle]:
        """The rows that may be about a call, as spelt."""
        rows = self._by_name.get(last_name(call), [])
        meant = self._source.imported(call) if rows and "." in call else frozenset()
        return [row for row in rows if not meant or not meant.isdisjoint(row.call)]


def _retains(scope: Scope, rows: _Rows) -> bool:
    """Whether something is opened in a scope that may be open and known by the next statement."""
    if any(_are_asked(scope, rows.of(call)) for call in scope.retained):
        return True
    if any(not row.with_closes for call in scope.calls for row in rows.of(call)):
        return True
    return any(_derives(chain, rows) for chain in (*scope.calls, *scope.retained) if CALLED in chain)


def _are_asked(scope: Scope, rows: Iterable[Handle]) -> bool:
    """Whether a row speaks of a call in a scope, by the keywords that are passed there."""
    return any(not row.keywords or not scope.passed.isdisjoint(row.keywords) for row in rows)


def _derives(chain: str, rows: _Rows) -> bool:
    """Whether a chain of calls has a method of a handle whose result keeps it open: ``connect().cursor``."""
    for call, rest in pairwise(chain.split(CALLED)):
        opening = rows.of(call)
        method = rest.removeprefix(".").partition(".")[0].partition("[")[0]
        if opening and (not method or method in BOX_VIEWS | UNBOXING or any(method in row.derived for row in opening)):
            return True
    return False


def _patterns(row: Handle) -> Iterator[re.Pattern[bytes]]:
    """Give what the text of a file must match if a row speaks of it."""
    if row.suffix:
        yield _pattern(row.suffix, *(f".{name}" for name in row.shown_by))
    if row.names:
        yield _pattern(*row.names)
    if row.keywords:
        yield _pattern(*row.keywords)


@cache
def _pattern(*words: str) -> re.Pattern[bytes]:
    return re.compile(b"|".join(re.escape(word.encode()) for word in words))
