"""What a file calls methods on, and what makes these objects, by its summary."""

from __future__ import annotations

from forklint.knowledge.torch_api import RETURN_SELF
from forklint.summaries.summary import CLASS, Summary

SELF = "self"
Called = dict[str, set[str]]
"""The names that are called as methods, by the variable or attribute that they are called on."""


class Calls:
    """The calls of methods in one file."""

    def __init__(self, summary: Summary | None) -> None:
        """``summary``: None for a file that cannot be read, which calls nothing."""
        self._summary = summary
        self._known: dict[int, Called] = {}

    def on_variables(self, number: int) -> Called:
        """What is called on each variable, in a scope and in those below it."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = {}
            for call in self._below(number):
                variable, _, name = call.partition(".")
                if name.isidentifier():
                    known.setdefault(variable, set()).add(name)
        return known

    def read(self, number: int) -> set[str]:
        """What is read on ``self``, called or not, in a scope and in those below it; no special names."""
        below = self._summary.below(number) if self._summary is not None else ()
        read = set().union(*(self._summary.scopes[at].own for at in below if self._summary is not None))
        return {name for name in read if not name.startswith("__")}

    def on_kept(self, number: int) -> Called:
        """What is called on each attribute of ``self``, in the outermost class or function around a scope."""
        found = Called()
        scopes = self._summary.scopes if self._summary is not None else ()
        while scopes and scopes[number].parent > 0:
            number = scopes[number].parent
        for call in self._below(number):
            if call.startswith("self."):
                attribute, _, name = call[len("self.") :].partition(".")
                if name.isidentifier():
                    found.setdefault(attribute, set()).add(name)
        return found

    def made(self) -> set[str]:
        """The attributes of ``self`` that some line gives what may be a new object."""
        targets = self._summary.by_target if self._summary is not None else {}
        own = {target: values for target, values in targets.items() if target.startswith(f"{SELF}.")}
        return {
            target[len(SELF) + 1 :]
            for target, values in own.items()
            if self._summary is not None and any(made_by(value, self._summary) for _, value in values)
        }

    def _below(self, number: int) -> set[str]:
        if self._summary is None:
            return set()
        return set().union(*(self._summary.scopes[at].calls for at in self._summary.below(number)))


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
        is_class = name.lstrip("_")[:1].isupper() or any(summary.scopes[number].kind == CLASS for number in alike)
        return callee if is_class and callee.replace(".", "").isidentifier() else ""
    return ""
