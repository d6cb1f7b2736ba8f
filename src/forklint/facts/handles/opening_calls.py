"""What definitions may open that stays open, by the names that they call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from forklint.facts.handles.shapes import BOX_VIEWS, UNBOXING
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


class OpeningCalls:
    """Looks for the names of a table of openers.

    Passed over are a call that ``with`` closes on the spot, one whose value is dropped, and one of which nothing is
    used but what a plain method returns (``open(path).read()``). A row for names that end in some suffix counts only
    where that suffix is written in the file, or what is taken from such an object; one for calls with some keyword
    only where such a keyword is passed.
    """

    def __init__(self, table: Mapping[str, Handle]) -> None:
        self._rows: dict[str, list[Handle]] = {}
        for name, row in table.items():
            self._rows.setdefault(name.rpartition(".")[2], []).append(row)

    def of(self, scopes: Sequence[Scope], has: Callable[[re.Pattern[bytes]], bool]) -> Openings:
        """What some scopes of a file open; ``has`` tells whether its text matches a pattern."""
        rows = self._rows_for(scopes, has)
        opening = [scope for scope in scopes if _opens(scope, rows)] if rows else []
        return Openings(bool(opening), any(self._retains(scope, rows) for scope in opening))

    def given(self, scope: Scope, has: Callable[[re.Pattern[bytes]], bool]) -> frozenset[str]:
        """The names that are given what an opener returns, in a scope of a file."""
        rows = self._rows_for((scope,), has)
        values = ((one.target, one.value) for one in scope.given if rows)
        names = (name for name, value in values if value.endswith(CALLED) and last_name(value[:-2]) in rows)
        return frozenset(filter(str.isidentifier, names))

    def _rows_for(self, scopes: Iterable[Scope], has: Callable[[re.Pattern[bytes]], bool]) -> dict[str, list[Handle]]:
        """The openers that scopes name, by their last names, with their rows that are about this file."""
        names = {name for scope in scopes for name in (scope.name, *map(last_name, scope.calls))}
        found = {
            name: [row for row in self._rows[name] if all(map(has, _patterns(row)))]
            for name in self._rows.keys() & names
        }
        return {name: rows for name, rows in found.items() if rows}

    def _retains(self, scope: Scope, named: Mapping[str, list[Handle]]) -> bool:
        """Whether something is opened in a scope that may be open and known by the next statement."""
        for call in scope.retained:
            if _are_asked(scope, named.get(last_name(call), ())):
                return True
        for call in scope.calls:
            if any(not row.with_closes for row in named.get(last_name(call), ())):
                return True
        chains = (call for call in (*scope.calls, *scope.retained) if CALLED in call)
        return any(_derives(chain, named) for chain in chains)


def _opens(scope: Scope, rows: Mapping[str, object]) -> bool:
    """Whether a scope calls something by one of these names, or is called so itself."""
    return scope.name in rows or any(last_name(call) in rows for call in scope.calls)


def _are_asked(scope: Scope, rows: Iterable[Handle]) -> bool:
    """Whether a row speaks of a call in a scope, by the keywords that are passed there."""
    return any(not row.keywords or not scope.passed.isdisjoint(row.keywords) for row in rows)


def _derives(chain: str, named: Mapping[str, list[Handle]]) -> bool:
    """Whether a chain of calls has a method of a handle whose result keeps it open: ``connect().cursor``."""
    parts = chain.split(CALLED)
    for call, rest in pairwise(parts):
        rows = named.get(last_name(call), ())
        method = rest.removeprefix(".").partition(".")[0].partition("[")[0]
        if rows and (not method or method in BOX_VIEWS | UNBOXING or any(method in row.derived for row in rows)):
            return True
    return False


def _patterns(row: Handle) -> Iterator[re.Pattern[bytes]]:
    """Give what the text of a file must match if a row speaks of it."""
    if row.suffix:
        yield _pattern(row.suffix, *(f".{name}" for name in row.shown_by))
    if row.names:
        yield _pattern(*row.names)


@cache
def _pattern(*words: str) -> re.Pattern[bytes]:
    return re.compile(b"|".join(re.escape(word.encode()) for word in words))
