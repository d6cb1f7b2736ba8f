"""What gives objects an attribute from outside their class: assignments, ``setattr``, patches.

What a method stores on its own object says nothing of objects of other classes, so it does not count here.
"""

from __future__ import annotations

from collections.abc import Iterator

from forklint.summaries.summary import CLASS, FUNCTION, Summary

REGISTERING = frozenset({"register_buffer", "register_parameter"})
SETTERS = frozenset({"setattr", "__setattr__", "patch", "object"}) | REGISTERING
"""Last names of what sets an attribute that a text names: ``monkeypatch.setattr``, ``model.head.register_buffer``."""
STATIC = "staticmethod"


def given_names(summary: Summary) -> Iterator[str]:
    """Give the attributes that a file stores on other objects, or may set by texts."""
    for number in range(len(summary.scopes)):
        yield from given_in(summary, number)


def given_in(summary: Summary, number: int) -> Iterator[str]:
    """The same for what stands in one scope."""
    scope = summary.scopes[number]
    for store in scope.stores:
        owner, _, attribute = store.rpartition(".")
        if not is_own_object(summary, number, owner):
            yield attribute
    yield from set_in(summary, number)


def set_in(summary: Summary, number: int) -> Iterator[str]:
    """Give the attributes that a scope may set by texts on what is not the object of the method around it."""
    scope = summary.scopes[number]
    if any(_sets_by_text(summary, number, call) for call in scope.calls):
        yield from (text.rpartition(".")[2] for text in scope.strings)


def _sets_by_text(summary: Summary, number: int, call: str) -> bool:
    owner, _, name = call.rpartition(".")
    return name in SETTERS and not (owner and is_own_object(summary, number, owner))


def is_own_object(summary: Summary, number: int, owner: str) -> bool:
    """Whether a name, in a scope, is the object of the method around it, or the class itself."""
    while number > 0:
        scope = summary.scopes[number]
        above = summary.scopes[scope.parent]
        if scope.kind == FUNCTION and owner in scope.binds:
            return above.kind == CLASS and STATIC not in scope.decorators and scope.parameters[:1] == (owner,)
        if scope.kind == CLASS and scope.name == owner:
            return True
        number = scope.parent
    return False
