"""Remembered answers, and what they rest on (see ``questions``)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import PurePath
from typing import Any

Fact = tuple[str, ...]
"""What was read of the files, as a kind and its details: ``("tree", path)``, ``("entry", folder, name)``."""
RUNNING = object()
GOOD, DOUBTED, STALE, DEAD = range(4)
"""An answer holds; rests on one that may be stale; rests on a fact that changed; was replaced or given up."""


Cuts = Mapping[str, int]
"""What was left unknown since a budget had run out: what was stopped, such as "following calls", and after how many
steps at most."""
UNCUT: Cuts = {}


def joined(one: Cuts, other: Cuts) -> Cuts:
    """What two answers leave unknown together."""
    if not other:
        return one
    return {what: max(one.get(what, 0), other.get(what, 0)) for what in {**one, **other}} if one else other


class Answer:
    """One remembered answer."""

    __slots__ = ("apart", "cuts", "depth", "find", "key", "name", "rests", "state", "value", "within")

    def __init__(self, name: str, key: Hashable, depth: int) -> None:
        self.name = name
        self.key = key
        self.depth = depth
        self.value: Any = RUNNING
        self.rests: Rests = ()
        """Facts and answers that it was found from."""
        self.cuts = UNCUT
        """What it leaves unknown, itself or through another answer."""
        self.find: Callable[[], Any] | None = None
        """How to find it again, if the two can be compared."""
        self.apart = False
        """Whether it rests on facts alone, and holds nothing of them."""
        self.within = 0
        """The depths, as bits, of the questions that came back to themselves below it: it holds while all of them are
        being answered. 0 if it always holds."""
        self.state = GOOD


Rests = tuple[Fact | Answer, ...]
"""What something was found from."""


def is_text(key: Hashable) -> bool:
    """Whether a key names what it asks for by text and numbers alone."""
    if isinstance(key, (tuple, frozenset)):
        return all(map(is_text, key))
    return key is None or isinstance(key, (str, int, bytes, PurePath))


def facts_under(noted: Iterable[Fact | Answer], *, held: bool = False) -> frozenset[Fact]:
    """All facts that some facts and answers rest on; ``held``: of which some of these may hold a part."""
    facts: set[Fact] = set()
    seen: set[Answer] = set()
    waiting = list(noted)
    while waiting:
        one = waiting.pop()
        if isinstance(one, Answer):
            if one not in seen and not (held and one.apart):
                seen.add(one)
                waiting.extend(one.rests)
        else:
            facts.add(one)
    return frozenset(facts)
