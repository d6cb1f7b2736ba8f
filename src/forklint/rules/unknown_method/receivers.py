"""What a file asks objects for, called or not, and what makes these objects, by its summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from forklint.knowledge.torch_api import RETURN_SELF
from forklint.project.spelling import is_class_name
from forklint.summaries.summary import CLASS, Summary

SELF = "self"
Called = dict[str, set[str]]
"""The names that are called as methods, or that are read, by the variable or attribute that has to have them."""


class Calls:
    """The calls of methods in one file, and the reads of attributes."""

    def __init__(self, summary: Summary | None) -> None:
        """``summary``: None for a file that cannot be read, which calls nothing."""
        self._summary = summary
        self._known: dict[int, Called] = {}
        self._known_reads: dict[int, Called] = {}

    def on_variables(self, number: int) -> Called:
        """What is called on each variable, in a scope and in those below it."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = _by_owner(self._below(number))
        return known

    def read_on_variables(self, number: int) -> Called:
        """What is read on each variable and not called, in a scope and in those below it; no special names."""
        known = self._known_reads.get(number)
        if known is None:
            known = self._known_reads[number] = _plain(_by_owner(self._read_below(number), inner=True))
        return known

    def read(self, number: int) -> set[str]:
        """What is read on ``self``, called or not, in a scope and in those below it; no special names."""
        below = self._summary.below(number) if self._summary is not None else ()
        read = set().union(*(self._summary.scopes[at].own for at in below if self._summary is not None))
        return {name for name in read if not name.startswith("__")}

    def on_kept(self, number: int) -> Called:
        """What is called on each attribute of ``self``, in the outermost class or function around a scope."""
        return _by_owner(_on_self(self._below(self._outermost(number))))

    def read_on_kept(self, number: int) -> Called:
        """What is read on each attribute of ``self`` and not called, as ``on_kept`` gives what is called."""
        return _plain(_by_owner(_on_self(self._read_below(self._outermost(number))), inner=True))

    def _outermost(self, number: int) -> int:
        scopes = self._summary.scopes if self._summary is not None else ()
        while scopes and scopes[number].parent > 0:
            number = scopes[number].parent
        return number

    def made(self) -> set[str]:
        """The attributes of ``self`` that some line gives what may be an object of a known class."""
        targets = self._summary.by_target if self._summary is not None else {}
        own = {target: values for target, values in targets.items() if target.startswith(f"{SELF}.")}
        return {
            target[len(SELF) + 1 :]
            for target, values in own.items()
            if any(self.class_given(number, value) for number, value in values)
        }

    def class_given(self, number: int, value: str) -> str:
        """The dotted name of the class of which a value in a scope may be an object; empty if there is none.

        It is called, or the parameter that the value is says so.
        """
        if self._summary is None:
            return ""
        typed = self._summary.scopes[number].typed if value.isidentifier() else ()
        return next((one.value for one in typed if one.target == value), "") or made_by(value, self._summary)

    def _below(self, number: int) -> set[str]:
        if self._summary is None:
            return set()
        return set().union(*(self._summary.scopes[at].calls for at in self._summary.below(number)))

    def _read_below(self, number: int) -> set[str]:
        if self._summary is None:
            return set()
        scopes = [self._summary.scopes[at] for at in self._summary.below(number)]
        longer = (call for scope in scopes for call in scope.calls if call.count(".") > 1 + call.startswith(f"{SELF}."))
        return set().union(longer, *(scope.dotted - scope.stores for scope in scopes))


def _by_owner(spellings: Iterable[str], *, inner: bool = False) -> Called:
    """Names by what stands before their first dot; of longer ones the second part, if that is asked for."""
    found = Called()
    for spelling in spellings:
        owner, _, name = spelling.partition(".")
        name = name.partition(".")[0] if inner else name
        if name.isidentifier():
            found.setdefault(owner, set()).add(name)
    return found


def _on_self(spellings: Iterable[str]) -> Iterator[str]:
    return (one[len(SELF) + 1 :] for one in spellings if one.startswith(f"{SELF}."))


def _plain(read: Called) -> Called:
    return {owner: {name for name in names if not name.startswith("__")} for owner, names in read.items()}


def made_by(value: str, summary: Summary) -> str:
    """The dotted name whose call may make an object that a value is, moved or set on the way: ``zoo.Net().to()``.

    It has a capital, or is that of a class of the file; empty if there is none.
    """
    while value.endswith(")"):
        callee = value[:-2] if value.endswith("()") else value.partition("(")[0]
        owner, _, name = callee.rpartition(".")
        if name in RETURN_SELF and owner.endswith(")"):
            value = owner
            continue
        alike = summary.by_name.get(callee, ())
        is_class = is_class_name(name) or any(summary.scopes[number].kind == CLASS for number in alike)
        return callee if is_class and callee.replace(".", "").isidentifier() else ""
    return ""
