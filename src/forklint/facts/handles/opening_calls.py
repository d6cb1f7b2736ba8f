"""Which definitions of a file may open something that stays open, by the names that they call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from forklint.facts.handles.shapes import BOX_VIEWS, UNBOXING
from forklint.summaries.terms import last_name

if TYPE_CHECKING:
    from forklint.knowledge.handles import Handle
    from forklint.summaries.summary import Scope, Summary

CALLED = "()"


class Openings(NamedTuple):
    """The scopes of a file by their numbers, those around them included; 0 is the top level by itself."""

    named: frozenset[int]
    """Those that call something by the name of an opener, or are called like one."""
    retained: frozenset[int]
    """Those in which something is opened whose handle goes on to somewhere."""
    names: frozenset[str]
    """Names of the top level that are given what an opener returns."""


NONE = Openings(frozenset(), frozenset(), frozenset())


class OpeningCalls:
    """Looks for the names of a table of openers.

    Passed over are a call that ``with`` closes on the spot, one whose value is dropped, and one of which nothing is
    used but what a plain method returns (``open(path).read()``). A row for names that end in some suffix counts only
    where that suffix is written in the file, one for calls with some keyword only where such a keyword is passed.
    """

    def __init__(self, table: Mapping[str, Handle]) -> None:
        self._rows: dict[str, list[Handle]] = {}
        for name, row in table.items():
            self._rows.setdefault(name.rpartition(".")[2], []).append(row)

    def of(self, summary: Summary, has: Callable[[re.Pattern[bytes]], bool]) -> Openings:
        """The openings of a file; ``has`` tells whether its text matches a pattern."""
        rows = dict(self._named(summary, has))
        if not rows:
            return NONE
        named, retained = set[int](), set[int]()
        for number, scope in enumerate(summary.scopes):
            if scope.name in rows or any(last_name(call) in rows for call in scope.calls):
                named |= around(summary, number)
                if self._retains(scope, rows):
                    retained |= around(summary, number)
        values = ((given.target, given.value) for given in summary.top.given)
        names = (name for name, value in values if value.endswith(CALLED) and last_name(value[:-2]) in rows)
        return Openings(frozenset(named), frozenset(retained), frozenset(name for name in names if name.isidentifier()))

    def _named(self, summary: Summary, has: Callable[[re.Pattern[bytes]], bool]) -> Iterator[tuple[str, list[Handle]]]:
        """Give the openers that a file names, by their last names, with their rows that are about this file."""
        names = {last_name(call) for scope in summary.scopes for call in scope.calls}
        names |= summary.by_name.keys()
        for name in sorted(names & self._rows.keys()):
            rows = [row for row in self._rows[name] if all(map(has, _patterns(row)))]
            if rows:
                yield name, rows

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


def around(summary: Summary, number: int) -> set[int]:
    """A scope and the definitions around it; the top level only for itself."""
    found = {number}
    while (number := summary.scopes[number].parent) > 0:
        found.add(number)
    return found


def _patterns(row: Handle) -> Iterator[re.Pattern[bytes]]:
    """Give what the text of a file must match if a row speaks of it."""
    if row.suffix:
        yield _pattern(row.suffix)
    if row.names:
        yield _pattern(*row.names)


@cache
def _pattern(*words: str) -> re.Pattern[bytes]:
    return re.compile(b"|".join(re.escape(word.encode()) for word in words))
