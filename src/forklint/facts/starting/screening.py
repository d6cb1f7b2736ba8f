"""Whether a script's top level may come to start processes, judged by names: what it mentions, and what that mentions.

Whatever an abstract run enters (see ``running``) is named where it is entered: a function or class by its name, a
method by the class of its object, which was named where the object was made, a global by its own name. So a file can
be passed over if no text that is reached from its top level by such names holds the name of what starts processes.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable, Iterator
from pathlib import Path

from forklint.project.index import Project
from forklint.source.outline import Import
from forklint.source.parts import Part, Parts, parts_of

MOST = 400
"""Definitions looked at for one file; whoever reaches more is not passed over."""
TOP = ""
"""In place of a name: what stands at the top level of a file."""
COMMON = frozenset([*keyword.kwlist, *dir(builtins), "self", "cls"])
"""Words that name nothing of a project, or it would be no project that people write."""
Place = tuple[Path, str]


class UnclearError(Exception):
    """Names alone do not tell what is reached."""


def may_start(project: Project, path: Path, holds_starter: Callable[[bytes], bool]) -> bool:
    """Whether the top level of a file may reach a text that ``holds_starter`` lets through."""
    quiet = project.memory("definitions that start nothing")
    seen: set[Place] = {(path, TOP)}
    waiting = [(path, TOP)]
    try:
        while waiting:
            place = waiting.pop()
            parts = _parts(project, place[0])
            texts = [parts.top] if place[1] == TOP else parts.defined.get(place[1], [])
            if any(holds_starter(part.text) or _takes(parts, part, holds_starter) for part in texts):
                return True
            targets = [target for part in texts for target in _named_in(project, place[0], parts, part)]
            for one in parts.imports.get(place[1], ()):
                if holds_starter(_qualified(one)):
                    return True
                targets += _imported(project, place[0], one, None)
            new = {target for target in targets if target not in seen and target not in quiet}
            seen |= new
            waiting += new
            if len(seen) > MOST:
                return True
    except UnclearError:
        return True
    quiet.update(dict.fromkeys(seen))
    return False


def _parts(project: Project, path: Path) -> Parts:
    memory = project.memory("parts of files")
    if path not in memory:
        memory[path] = parts_of(project.data(path))
    parts: Parts | None = memory[path]
    if parts is None:
        raise UnclearError
    return parts


def _takes(parts: Parts, part: Part, holds_starter: Callable[[bytes], bool]) -> bool:
    """Whether a text names something that is imported from where processes are started."""
    named = part.words & parts.imports.keys()
    return any(holds_starter(_qualified(one)) for name in named for one in parts.imports[name])


def _qualified(one: Import) -> bytes:
    return f"{one.module}.{one.attribute}".encode()


def _named_in(project: Project, path: Path, parts: Parts, part: Part) -> Iterator[Place]:
    """The definitions and top levels that a text of a file names."""
    words = part.words - COMMON
    for name in words:
        if name in parts.defined:
            yield path, name
        for one in parts.imports.get(name, ()):
            yield from _imported(project, path, one, words)
    if part is not parts.top and not words.isdisjoint(parts.top.words):
        yield path, TOP
    yield from _in_stars(project, path, parts, words, {path})


def _imported(project: Project, path: Path, one: Import, words: frozenset[str] | None) -> Iterator[Place]:
    """What an import may give: a name of a file, or a file, of which ``words`` name the members (None: not known)."""
    memory = project.memory("what imports may give")
    if (path, one) not in memory:
        memory[path, one] = _given(project, path, one)
    places, module = memory[path, one]
    yield from places
    if module is not None:
        if words is None or module.name == "__init__.py":
            raise UnclearError
        yield from _members(project, module, words)


def _given(project: Project, path: Path, one: Import) -> tuple[tuple[Place, ...], Path | None]:
    """The names of files that an import may give, and the file that it is itself, if it is one."""
    target = project.resolver.find(path, one.module, one.level)
    if not one.attribute:
        if target is None and project.resolver.is_package(path, one.module, one.level) is not None:
            raise UnclearError
        return (), target
    module = project.resolver.find(path, f"{one.module}.{one.attribute}".strip("."), one.level)
    places = _members(project, target, frozenset({one.attribute})) if target is not None else ()
    return tuple(places), module


def _members(project: Project, path: Path, words: frozenset[str]) -> Iterator[Place]:
    """What a file has under one of these names."""
    yield from _own_members(project, path, words, {path})


def _own_members(project: Project, path: Path, words: frozenset[str], seen: set[Path]) -> Iterator[Place]:
    parts = _parts(project, path)
    yield from ((path, name) for name in words & parts.names)
    if not words.isdisjoint(parts.top.words):
        yield path, TOP
    yield from _in_stars(project, path, parts, words, seen)


def _in_stars(project: Project, path: Path, parts: Parts, words: frozenset[str], seen: set[Path]) -> Iterator[Place]:
    """What ``from module import *`` may give under one of these names."""
    for star in parts.imports.get("*", ()):
        target = project.resolver.find(path, star.module, star.level)
        if target is not None and target not in seen:
            seen.add(target)
            yield from _own_members(project, target, words, seen)
