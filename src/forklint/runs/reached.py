"""Whether code may come to run something, judged by names: what it mentions, and what that mentions.

Whatever an abstract run enters is named where it is entered: a function or class by its name, a method by the class of
its object, which was named where the object was made, a global by its own name. So code can be passed over if nothing
that is reached from it by such names holds the name of what is sought. An object that it is given is named elsewhere:
who asks about a call looks at what the call gives.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from forklint.project.constructors import CONSTRUCTORS
from forklint.project.index import Project
from forklint.summaries import parts
from forklint.summaries.summary import STAR, Import, Scope, Summary
from forklint.summaries.text_imports import IMPORTING

MOST = 4_000
"""Definitions looked at for one file; whoever reaches more is not passed over."""
TOP = ""
"""In place of a name: what runs at the top level of a file when it is imported."""
BY_TEXT = "getattr"
"""Gives what a text names."""
COMMON = frozenset([*dir(builtins), "self", "cls"]) - IMPORTING - {BY_TEXT}
"""Names of nothing that a project defines, or it would be no project that people write."""
QUIET = "definitions that reach nothing that is sought"
MAKING = ("__new__", *CONSTRUCTORS)
"""The methods that run when an object is made ..."""
UNNAMED = ("__call__", "__enter__", "__exit__", "__getitem__", "__iter__", "__len__", "__next__")
"""... and those that these may run without a name."""


class Place(NamedTuple):
    """What a name of a file stands for there."""

    path: Path
    name: str
    """``Net.__init__`` for what making an object of a class runs; the class has no bases of the project."""


class Names(NamedTuple):
    """The names in some code."""

    bare: frozenset[str]
    """Those that stand for themselves."""
    attributes: frozenset[str]
    """Those behind a dot."""
    passed: frozenset[str] | None = None
    """The keywords of its calls; None where these are not known."""


class UnclearError(Exception):
    """Names alone do not tell what is reached."""


class Sought(NamedTuple):
    """What code is searched for.

    Answers are found again by the functions that they were first found by. So these ask the project when they are
    called, and keep nothing that depends on the files.
    """

    name: str
    """By which answers are remembered."""
    in_code: Callable[[Names], bool]
    """Whether it is among names that stand in code."""
    in_import: Callable[[Import, Names | None], bool]
    """Whether an import may give it to code with some names; None where these are not known."""
    by_import: bool = False
    """Whether the import of a file of the project may be what is sought, where that runs in a function."""


def may_reach(project: Project, place: Place, sought: Sought) -> bool:
    """Whether what a name of a file stands for, or its top level, may reach code that names what is sought."""
    key = (sought.name, place)
    return project.answer("may reach what is sought", key, lambda: _may_reach(project, place, sought), compared=True)


def may_hold(project: Project, path: Path, text: Names, sought: Sought) -> bool:
    """Whether code at the top level of a file names what is sought, or what it imports or defines may reach that.

    What its other names are bound to there is looked up by whoever asks.
    """
    summary = project.part(path, parts.TOP)
    if summary is None or _holds(summary, text, sought):
        return True
    _rest_on_names(project, path, (*text.bare, STAR))
    try:
        asked = list(_imported_in(project, path, summary, text))
    except UnclearError:
        return True
    defined = (Place(path, name) for name in text.bare if name in summary.by_name)
    others = text.bare - summary.top.binds - summary.by_alias.keys() if summary.stars else ()
    starred = (found for name in others for found in _members(project, path, name))
    given = (found for members in asked for found in _given(project, members))
    return any(may_reach(project, place, sought) for place in dict.fromkeys((*defined, *starred, *given)))


def _may_reach(project: Project, start: Place, sought: Sought) -> bool:
    found = {start: None}
    waiting = list(found)
    while waiting:
        place = waiting.pop()
        targets = _targets(project, place, sought)
        if targets is None or len(found) > MOST:
            return True
        for target in targets:
            if target not in found and not project.questions.known(QUIET, (sought.name, target), default=False):
                found[target] = None
                waiting.append(target)
    for place in found:
        project.questions.give(QUIET, (sought.name, place), value=True)
    return False


def _targets(project: Project, place: Place, sought: Sought) -> tuple[Place, ...] | None:
    key = (sought.name, place)
    return project.answer("what is named at", key, lambda: _named(project, place, sought), compared=True)


def _named(project: Project, place: Place, sought: Sought) -> tuple[Place, ...] | None:
    """What is named at a place and may be entered; None if what is sought may be there, or that is unclear."""
    summary = project.part(place.path, parts.TOP)
    if summary is None:
        return () if place.name == TOP else None
    _rest_on_names(project, place.path, (place.name, STAR))
    imports = summary.by_alias.get(place.name, ())
    try:
        texts = [_top(summary)] if place.name == TOP else list(_under(project, place, summary, sought))
        _rest_on_names(project, place.path, (name for text in texts for name in text.bare))
        if any(_holds(summary, text, sought) for text in texts) or any(sought.in_import(one, None) for one in imports):
            return None
        asked = [found for one in imports for found in _imported(project, place.path, one, None)]
        asked += [found for text in texts for found in _imported_in(project, place.path, summary, text)]
    except UnclearError:
        return None
    given = (found for members in asked for found in _given(project, members))
    own = (found for text in texts for found in _named_in(project, place, summary, text))
    return tuple(dict.fromkeys((*own, *given)))


def _top(summary: Summary) -> Names:
    """What runs when a child imports a file: its statements but for the guard, and the bodies of its classes."""
    texts = [(one.bare, one.attributes) for one in summary.statements if not one.is_guard]
    bodies = (summary.scopes[number] for number in parts.classes_at_top(summary))
    return _joined([*texts, *((body.bare, body.attributes) for body in bodies if body.runs)])


def _rest_on_names(project: Project, path: Path, names: Iterable[str]) -> None:
    """Rest on what some names of a file are bound to, and on nothing else of it."""
    for name in names:
        project.part(path, parts.NAMED, name)


def _under(project: Project, place: Place, summary: Summary, sought: Sought) -> Iterator[Names]:
    """The definitions of a name at the top level, and the statements there that give it a value or mention it.

    A decorator that mentions it may register what it decorates: ``@group.command()``.
    """
    path, (name, _, method) = place.path, place.name.partition(".")
    project.part(path, parts.DECORATORS)
    defined = [summary.scopes[number] for number in summary.children.get(0, ())]
    registered = frozenset(one.name for one in defined for mark in one.decorators if mark.startswith(f"{name}."))
    if registered:
        yield Names(registered - COMMON - {name}, frozenset())
    for number in summary.by_name.get(name, ()):
        if not summary.scopes[number].parent:
            project.definition(path, parts.DEFINITION, number)
            scopes = _making(summary, number) if method else [summary.scopes[below] for below in summary.below(number)]
            texts = [_of_scope(scope, sought) for scope in scopes]
            spelt = [name for scope in scopes for name in scope.bases]
            marks = map(_of_decorator, scopes[0].decorators)
            names = _joined([*texts, *marks, *map(_of_base, spelt)])
            yield names._replace(passed=frozenset[str]().union(*(scope.passed for scope in scopes)))
            if sought.by_import and _imports_project(project, path, summary, number):
                raise UnclearError
    is_imported = name in summary.by_alias
    for one in summary.statements:
        if name in one.binds or (name in one.bare and not is_imported and not one.is_guard):
            yield Names(one.bare - COMMON, one.attributes)


def _of_scope(scope: Scope, sought: Sought) -> tuple[frozenset[str], frozenset[str]]:
    """The names in a definition, but for what imports a module of which nothing is called."""
    passed_over = IMPORTING if scope.looks and not sought.by_import else frozenset[str]()
    return scope.bare - passed_over, scope.attributes - passed_over


def _making(summary: Summary, number: int) -> list[Scope]:
    """The scopes of a class that run when an object is made: what its constructor calls on ``self``, too."""
    methods = summary.methods(number)
    found, waiting = [summary.scopes[number]], [name for name in (*MAKING, *UNNAMED) if name in methods]
    while waiting:
        scopes = [summary.scopes[below] for name in waiting for below in summary.below(methods.pop(name))]
        found += scopes
        named = frozenset[str]().union(*(scope.attributes | scope.bare for scope in scopes))
        waiting = list(methods) if BY_TEXT in named else [name for name in methods if name in named]
    return found


def _of_base(spelling: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names in a base of a class; raises UnclearError if it is no dotted name."""
    if spelling == "?":
        raise UnclearError
    first, *rest = spelling.split(".")
    return frozenset({first}), frozenset(rest)


def _of_decorator(spelling: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names in a decorator: ``numba`` and ``njit`` of ``numba.njit()``."""
    first, *rest = re.findall(r"\w+", spelling) or [""]
    return frozenset({first}), frozenset(rest)


def _imports_project(project: Project, path: Path, summary: Summary, number: int) -> bool:
    """Whether a definition imports a file of the project itself, or something in it does."""
    inside = set(summary.below(number))
    imports = [one for one in summary.imports if one.scope in inside]
    _rest_on_names(project, path, (one.alias for one in imports))
    return any(project.resolver.find(path, one.module.partition(".")[0], one.level) is not None for one in imports)


def _joined(parts: Iterable[tuple[frozenset[str], frozenset[str]]]) -> Names:
    every = list(parts)
    bare = frozenset[str]().union(*(names for names, _ in every))
    return Names(bare - COMMON, frozenset[str]().union(*(names for _, names in every)))


def _holds(summary: Summary, text: Names, sought: Sought) -> bool:
    """Whether code names what is sought, or something that is imported from where it comes from, or nobody knows."""
    if sought.in_code(text) or not IMPORTING.isdisjoint(text.bare | text.attributes):
        return True
    names = text.bare & summary.by_alias.keys()
    return any(sought.in_import(one, text) for name in names for one in summary.by_alias[name])


def _named_in(project: Project, place: Place, summary: Summary, text: Names) -> Iterator[Place]:
    """The definitions and the statements of a top level that code of a file names, without what it imports."""
    own = text.bare & summary.top.binds - summary.by_alias.keys()
    if place.name != TOP:
        own |= text.bare & frozenset().union(*(one.binds for one in summary.statements))
    yield from (Place(place.path, name) for name in sorted(own))
    if summary.stars:
        for name in sorted(text.bare - own - summary.by_alias.keys()):
            yield from _members(project, place.path, name)


class Members(NamedTuple):
    """What is asked of a file: what it has under some names."""

    path: Path
    names: tuple[str, ...]
    below: bool = False
    """Whether a module of a package counts, too, with what that has under the other names."""


def _imported_in(project: Project, path: Path, summary: Summary, text: Names) -> Iterator[Members]:
    """What is asked of the files that code of a file imports from; raises UnclearError before any is looked into."""
    for name in sorted(text.bare & summary.by_alias.keys()):
        for one in summary.by_alias[name]:
            yield from _imported(project, path, one, text)


def _imported(project: Project, path: Path, one: Import, text: Names | None) -> Iterator[Members]:
    """What an import may give: a name of a file, or a file, of which code names the members (None: not known)."""
    target = project.resolver.find(path, one.bound, one.level)
    if not one.attribute:
        if target is None and project.resolver.is_package(path, one.bound, one.level) is not None:
            raise UnclearError
        module = target
    else:
        module = project.resolver.find(path, f"{one.module}.{one.attribute}".strip("."), one.level)
        if target is not None and one.attribute != STAR:
            yield Members(target, (one.attribute,))
    if module is not None:
        if text is None:
            raise UnclearError
        yield Members(module, tuple(sorted(text.attributes | _by_text(project, module, text))), below=True)


def _by_text(project: Project, module: Path, text: Names) -> frozenset[str]:
    """The names of a module that code may ask for by a text."""
    summary = project.part(module, parts.TOP) if BY_TEXT in text.bare else None
    return frozenset(summary.top.binds) if summary is not None else frozenset()


def _given(project: Project, asked: Members) -> Iterator[Place]:
    """What a file has under some names, and what those modules of a package have that the names stand for."""
    for word in asked.names:
        yield from _members(project, asked.path, word)
        if asked.below and asked.path.name == "__init__.py":
            below = project.resolver.find(asked.path, word, level=1)
            if below is not None:
                others = tuple(name for name in asked.names if name != word)
                yield from _given(project, Members(below, others, below=True))


def _members(project: Project, path: Path, name: str) -> Iterator[Place]:
    """What a file has under a name, through stars as well."""
    yield from (Place(home, name) for home in project.stars.giving(path, name))
