"""Which hook or keyword a name may stand for that is a slip away from it."""

from __future__ import annotations

import builtins
from functools import cache

from forklint.knowledge.hooks import hooks, meant_keywords, words
from forklint.members.slips import is_one_slip
from forklint.project.constructors import AFTER_FIELDS

ENDS = 3
"""So many letters at either end of a long name find those that are near."""
SHORT = 4
"""A shorter keyword is a slip away from too many others."""


@cache
def meant_hook(name: str) -> str | None:
    """The hook that a method's name may stand for; None for one that is right, or means something else."""
    for hook in hooks().values():
        if name in hook.special:
            return hook.name
    if name in _real():
        return None
    plain = name.replace("_", "").lower()
    for hook in hooks().values():
        if name in hook.bare:
            return hook.name
    if not (name.startswith("__") or (name.startswith("_") and name.endswith("_"))):
        return _named_hook(name)
    exact = [hook.name for hook in hooks().values() if plain in hook.written]
    special = [hook for hook in hooks().values() if hook.is_special]
    slips = [hook.name for hook in special if hook.slips and is_one_slip(plain, hook.name.strip("_"))]
    found = exact or slips
    return found[0] if len(found) == 1 or exact else None


def _named_hook(name: str) -> str | None:
    """The hook without underscores that a name is one slip away from, or that says the same in other words."""
    said = _by_words().get(_in_words(name), "")
    if said:
        return said
    near = _by_ends().get((len(name), name[:ENDS]), ()) + _by_ends().get((len(name), name[-ENDS:]), ())
    slips = {hook for hook in near if is_one_slip(name, hook)}
    return slips.pop() if len(slips) == 1 else None


def is_other_form(name: str, hook: str) -> bool:
    """Whether a name is that of a hook with other forms of its words: ``on_training_epoch_end``."""
    return name != hook and _in_words(name) == _in_words(hook)


def _in_words(name: str) -> tuple[str, ...]:
    """The words of a name, of those that say the same always the same one."""
    return tuple(words().get(one, one) for one in name.split("_"))


@cache
def _by_words() -> dict[tuple[str, ...], str]:
    """These hooks by their words."""
    return {_in_words(hook.name): hook.name for hook in hooks().values() if not hook.is_special and "_" in hook.name}


@cache
def _by_ends() -> dict[tuple[int, str], tuple[str, ...]]:
    """These hooks by the lengths that a slip leaves and by either end: one slip does not change both ends."""
    found: dict[tuple[int, str], tuple[str, ...]] = {}
    for hook in hooks().values():
        if not hook.is_special:
            for length in range(len(hook.name) - 1, len(hook.name) + 2):
                for end in {hook.name[:ENDS], hook.name[-ENDS:]}:
                    found[length, end] = (*found.get((length, end), ()), hook.name)
    return found


@cache
def _real() -> frozenset[str]:
    """The special names that Python and torch know."""
    kinds = [value for value in vars(builtins).values() if isinstance(value, type)]
    return frozenset().union(*map(vars, kinds)) | frozenset(hooks()) | {"__aiter__", *AFTER_FIELDS}


def meant_by(name: str, known: frozenset[str]) -> str:
    """The one keyword that a wrong one plainly stands for; empty if that is not plain."""
    listed = meant_keywords().get(name.lower(), "")
    if listed in known:
        return listed
    if len(name) < SHORT:
        return ""
    lower = name.lower()
    slips = [other for other in known if _has_same_end(lower, other) and is_one_slip(lower, other)]
    return slips[0] if len(slips) == 1 else ""


def _has_same_end(name: str, other: str) -> bool:
    """Whether two names begin or end alike, as names of at least four letters do that are one slip apart."""
    plain, known = name.strip("_"), other.strip("_")
    return plain[:1] == known[:1] or plain[-1:] == known[-1:]
