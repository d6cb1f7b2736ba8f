"""Which of the names that exist may be meant by one that does not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from forklint.members.guards import WRAPPED
from forklint.members.slips import is_one_slip
from forklint.records import dataclass

#: Below this likeness a name is not offered at all.
ALIKE = 0.55

#: By so much the best must lead before it is offered alone.
LEAD = 0.12

#: By so much where the two share no more than their first word.
FAR = 0.16

#: First words that say nothing of what follows.
GENERAL = frozenset({"get", "set", "is", "has", "do", "init", "make", "compute", "load", "save", "to", "from", "on"})

#: From this likeness on, letters alone show that two names speak of the same thing.
SAME_LETTERS = 0.8

#: From this likeness on, letters alone show that a name was misspelt.
MISSPELT = 0.85

#: A misspelling has at most so many letters that the name has not, or the other way round.
MISSPELT_LETTERS = 5

#: A shorter name is a slip away from too many others to be called misspelt, but for its case.
SHORT = 5

#: How many names a message lists.
LISTED = 3

#: Of so many names it is remembered what they are made of.
NAMES = 4096

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Nearest:
    """The names alike, best first; `outstanding` is the one that leads clearly, or ""."""

    names: tuple[str, ...]
    outstanding: str = ""
    misspelt: bool = False


def nearest(wanted: str, known: Iterable[str]) -> Nearest:
    """The names of `known` that `wanted` may stand for.

    Alike means: the same letters (difflib's ratio, case and underscores aside),
    or the same words. The words of `generate_synthetic_data` and of
    `generate_sample` begin with the same verb, which their letters hardly show.
    """
    candidates = (name for name in known if not name.startswith("__") and _is_as_public(wanted, name))
    scored = _best(wanted, candidates)
    near = [(score, name) for score, name in scored if score >= ALIKE]
    if not near or wanted == WRAPPED:
        return Nearest(())
    best, name = near[0]
    others = [(score, other) for score, other in scored[1:]]
    lead = best - max((score for score, _ in others), default=0.0)
    clear = (
        lead >= LEAD
        or (lead > 0 and best == 1.0)
        or (is_one_slip(wanted, name) and not any(is_one_slip(wanted, other) for _, other in others))
    )
    outstanding = name if clear and _speaks_of_the_same(wanted, name, lead) else ""
    return Nearest(tuple(name for _, name in near[:LISTED]), outstanding, is_slip(wanted, name))


def _best(wanted: str, candidates: Iterable[str]) -> list[tuple[float, str]]:
    """The likeness of the LISTED + 1 names that are most alike, best first: the others' letters are not compared."""
    best: list[tuple[float, str]] = []
    for most, name in sorted((-_at_most(wanted, name), name) for name in candidates):
        if len(best) > LISTED and best[-1][0] > -most:
            break
        best = sorted([*best, (likeness(wanted, name), name)], key=lambda pair: (-pair[0], pair[1]))[: LISTED + 1]
    return best


def _is_as_public(wanted: str, name: str) -> bool:
    """Whether a call of ``wanted`` may mean ``name``: a public name stands for no other private one than its own."""
    return wanted.startswith("_") or not name.startswith("_") or name.lstrip("_") == wanted


def _speaks_of_the_same(wanted: str, name: str, lead: float) -> bool:
    """Whether letters are nearly all shared, one name's words are among the other's, or a telling first word is.

    `from_config` is the name most like `load_config` in many a class, and does something else.
    """
    words, others = _words(wanted), _words(name)
    if _letters(wanted, name) >= SAME_LETTERS or set(words) <= set(others) or set(others) <= set(words):
        return True
    return words[:1] == others[:1] and words[0] not in GENERAL and lead >= FAR


def is_slip(wanted: str, name: str) -> bool:
    """Whether letters alone show that ``wanted`` is a misspelling of ``name``."""
    if len(wanted) < SHORT or not 0.7 < len(wanted) / len(name) < 1.4:
        return _plain(wanted) == _plain(name)
    if len(set(wanted) ^ set(name)) > MISSPELT_LETTERS:
        return _plain(wanted) == _plain(name)
    return is_one_slip(wanted, name) or _letters(wanted, name) >= MISSPELT


def likeness(wanted: str, name: str) -> float:
    """From 0 to 1; 1 for names that differ in case and underscores alone."""
    return _with_words(wanted, name, _letters(wanted, name))


def _at_most(wanted: str, name: str) -> float:
    """What their likeness cannot exceed, in whatever order their letters stand."""
    mine, its = _letters_in(wanted), _letters_in(name)
    shared = sum(min(number, its.get(letter, 0)) for letter, number in mine.items())
    return _with_words(wanted, name, 2 * shared / (sum(mine.values()) + sum(its.values()) or 1))


def _with_words(wanted: str, name: str, letters: float) -> float:
    """The likeness of two names of which so much of the letters is the same."""
    if wanted[:1].isupper() != name[:1].isupper():
        letters -= 0.1  # a class for a function is the rarer slip
    words, others = _words(wanted), _words(name)
    if letters == 1.0 or len(words) < 2 or len(others) < 2:
        return letters
    overlap = 2 * len(set(words) & set(others)) / (len(set(words)) + len(set(others)))
    same_verb = 0.15 if words[0] == others[0] else 0.0
    return max(letters, min(0.9, (letters + overlap) / 2 + same_verb))


@lru_cache(NAMES)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(name.replace("_", " ")))


@lru_cache(NAMES)
def _letters_in(name: str) -> dict[str, int]:
    """How often each letter is in a name."""
    plain = _plain(name)
    return {letter: plain.count(letter) for letter in set(plain)}


def _letters(wanted: str, name: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, _plain(wanted), _plain(name), autojunk=False).ratio()


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()
