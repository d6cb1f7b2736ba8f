"""The parts of a summary that an answer may rest on by themselves, so that an edit of another part leaves it alone.

What a part says is compared for the two states of a file that was edited. It holds no numbers, but keys: so a
definition that is added above others changes none of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from forklint.summaries.summary import CLASS, Summary
from forklint.summaries.top_level import ALL

ORDER, NUMBERS = "order", "numbers"
"""Whether a file has a summary, and the order of its definitions; and the numbers of these."""
CODE = "code"
"""By the key of a definition: its tree, of which a summary says only what names it holds."""


class Part(NamedTuple):
    """What a summary says of one thing: of a name, of a definition, or of the file."""

    name: str
    of: Callable[[Summary, str], object]
    """What a summary says, for a key."""
    keys: Callable[[Summary], Iterable[str]]
    """The keys for which it says anything."""


def _named(summary: Summary, name: str) -> object:
    keys = summary.keys
    return (
        [one._replace(scope=bool(one.scope)) for one in summary.by_alias.get(name, ())],
        [(keys[number], not summary.scopes[number].parent) for number in summary.by_name.get(name, ())],
        [(keys[number], value) for number, value in summary.by_target.get(name, ())],
        name in summary.top.binds,
    )


def _names(summary: Summary) -> Iterable[str]:
    return summary.by_alias.keys() | summary.by_name.keys() | summary.by_target.keys() | summary.top.binds


def _definition(summary: Summary, key: str) -> object:
    number = summary.by_key.get(key)
    if number is None:
        return None
    first, *below = summary.scopes_of(number)
    return first._replace(parent=0), [scope._replace(parent=scope.parent - number) for scope in below]


def _head(summary: Summary, key: str) -> object:
    number = summary.by_key.get(key)
    scope = summary.scopes[number] if number is not None else None
    return scope and (scope.kind, scope.name, scope.gives, summary.scopes[scope.parent].kind)


def _methods(summary: Summary, key: str) -> object:
    number = summary.by_key.get(key)
    if number is None or summary.scopes[number].kind != CLASS:
        return None
    return [(name, summary.keys[method]) for name, method in summary.methods(number).items()]


def _bases(summary: Summary, _: str) -> object:
    return [(summary.keys[number], summary.scopes[number].bases) for number in summary.classes]


def _decorators(summary: Summary, _: str) -> object:
    defined = (summary.scopes[number] for number in summary.children.get(0, ()))
    return [(scope.name, scope.decorators) for scope in defined if scope.decorators]


def _exports(summary: Summary, _: str) -> object:
    return summary.exports, ALL in summary.top.binds, ALL in summary.top.bare


def _top(summary: Summary, _: str) -> object:
    bodies = [summary.scopes[number] for number in classes_at_top(summary)]
    return summary.statements, [(body.bare, body.attributes, body.runs) for body in bodies]


def classes_at_top(summary: Summary) -> Iterator[int]:
    """Give the classes whose bodies run when a file is imported."""
    waiting = [0]
    while waiting:
        for number in summary.children.get(waiting.pop(), ()):
            if summary.scopes[number].kind == CLASS:
                waiting.append(number)
                yield number


def _keys(summary: Summary) -> Iterable[str]:
    return summary.keys


def _reads(summary: Summary, name: str) -> object:
    return name in summary.reads


def _read(summary: Summary) -> Iterable[str]:
    return summary.reads


def _calls(summary: Summary, name: str) -> object:
    return name in summary.called


def _called(summary: Summary) -> Iterable[str]:
    return summary.called


def _all_calls(summary: Summary, _: str) -> object:
    return summary.spelt_calls, summary.called


def _bound(summary: Summary, name: str) -> object:
    top = summary.top
    return name in summary.bound, name in top.binds, name in top.bare, name in top.calls


def _bound_names(summary: Summary) -> Iterable[str]:
    return summary.bound | summary.top.bare | summary.top.calls


def _stored(summary: Summary, name: str) -> object:
    return [summary.keys[number] for number in summary.by_attribute.get(name, ())]


def _stored_names(summary: Summary) -> Iterable[str]:
    return summary.by_attribute


def _whole(_: Summary) -> Iterable[str]:
    return ("",)


NAMED = Part("named", _named, _names)
"""By a name: the imports that bind it, the definitions that are called so, the values that it is given anywhere, and
whether the top level binds it."""
DEFINITION = Part("definition", _definition, _keys)
"""By the key of a scope: it, and all scopes in it; of the top level itself alone."""
HEAD = Part("head", _head, _keys)
"""By the key of a scope: its kind, name and whether it returns a value, and the kind of scope that it stands in."""
METHODS = Part("methods", _methods, _keys)
"""By the key of a class: its methods."""
BASES = Part("bases", _bases, _whole)
"""Which classes there are, and their bases as they are spelt."""
DECORATORS = Part("decorators", _decorators, _whole)
"""The decorators of what the top level defines."""
READS = Part("reads", _reads, _read)
"""By a name: whether it is read anywhere in the file, alone or behind a dot."""
CALLS = Part("calls", _calls, _called)
"""By a last name: whether it is called anywhere in the file, or may be, as a partial."""
ALL_CALLS = Part("all calls", _all_calls, _whole)
"""All that is called anywhere in the file, as spelt, or may be, as a partial."""
BOUND = Part("bound", _bound, _bound_names)
"""By a name: whether it is bound anywhere, and whether the top level itself binds, reads or calls it."""
STORED = Part("stored", _stored, _stored_names)
"""By the name of an attribute: the keys of the scopes that store it on something, or hold a text that ends in it."""
EXPORTS = Part("exports", _exports, _whole)
"""What ``__all__`` lists, and whether there is one."""
TOP = Part("top", _top, _whole)
"""The statements of the top level, and the bodies of the classes there."""
PARTS = (NAMED, DEFINITION, HEAD, METHODS, BASES, DECORATORS, READS, CALLS, ALL_CALLS, BOUND, STORED, EXPORTS, TOP)


def changed_parts(before: Summary, after: Summary) -> Iterator[tuple[str, ...]]:
    """Give the parts of which two summaries of one file say different things, each with its key, if it has keys."""
    for part in PARTS:
        for key in dict.fromkeys((*part.keys(before), *part.keys(after))):
            if part.of(before, key) != part.of(after, key):
                yield part.name, key
    common = [key for key in before.keys if key in after.by_key]
    if [after.by_key[key] for key in common] != sorted(after.by_key[key] for key in common):
        yield (ORDER,)
    if any(before.by_key[key] != after.by_key[key] for key in common):
        yield (NUMBERS,)
