"""Whether a script's top level may come to start processes, judged by names: what it mentions, and what that mentions.

Whatever an abstract run enters (see ``running``) is named where it is entered: a function or class by its name, a
method by the class of its object, which was named where the object was made, a global by its own name. So a file can
be passed over if no text that is reached from its top level by such names holds the name of what starts processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import cast

from forklint.project.index import Project
from forklint.source.outline import Import
from forklint.source.parts import Part, Parts, UnclearTextError

MOST = 4_000
"""Definitions looked at for one file; whoever reaches more is not passed over."""
MOST_STARS = 64
"""Files from which one gets names by ``from module import *``; of one with more no name is looked up."""
MODULE = "multiprocess"
"""In the name of a module: it starts processes, whatever is called."""
TOP = ""
"""In place of a name: what stands at the top level of a file."""
Place = tuple[Parts, str]


class UnclearError(Exception):
    """Names alone do not tell what is reached."""


def may_start(project: Project, path: Path, starters: frozenset[str]) -> bool:
    """Whether the top level of a file may reach a text that names one of ``starters`` or multiprocessing."""
    quiet = project.memory("definitions that start nothing")
    loud = project.memory("definitions that may start something")
    known = project.memory("what definitions name")
    first: Place = (_parts(project, path), TOP)
    above: dict[Place, Place | None] = {first: None}
    waiting = [first]
    while waiting:
        place = waiting.pop()
        if place not in known:
            known[place] = _named(project, place, starters)
        targets = known[place]
        if targets is None or len(above) > MOST or not loud.keys().isdisjoint(targets):
            way: Place | None = place
            while way is not None:
                loud[way] = None
                way = above[way]
            return True
        for target in targets:
            if target not in above and target not in quiet:
                above[target] = place
                waiting.append(target)
    quiet.update(dict.fromkeys(above))
    return False


def _named(project: Project, place: Place, starters: frozenset[str]) -> frozenset[Place] | None:
    """What a definition, or a top level, names that may be entered; None if it may start something itself."""
    parts, name = place
    try:
        texts = [parts.top] if name == TOP else parts.under(name)
        imports = parts.imports.get(name, ())
        if any(_starts(parts, part, starters) for part in texts) or any(_takes(one, starters) for one in imports):
            return None
        targets = set[Place]()
        for part in texts:
            targets.update(_named_in(project, parts, part))
        for one in imports:
            targets.update(_imported(project, parts, one, None))
    except (UnclearError, UnclearTextError):
        return None
    return frozenset(targets)


def _parts(project: Project, path: Path) -> Parts:
    memory = project.memory("parts of files")
    parts: Parts | None = memory.get(path)
    if parts is None:
        parts = memory[path] = Parts(path, project.data(path))
    return parts


def _starts(parts: Parts, part: Part, starters: frozenset[str]) -> bool:
    """Whether a text names a starter, or something that is imported from where processes are started."""
    if MODULE.encode() in part.text or not (starters.isdisjoint(part.bare) and starters.isdisjoint(part.attributes)):
        return True
    return any(_takes(one, starters) for name in part.bare & parts.imports.keys() for one in parts.imports[name])


def _takes(one: Import, starters: frozenset[str]) -> bool:
    return MODULE in one.module or MODULE in one.attribute or one.attribute in starters


def _named_in(project: Project, parts: Parts, part: Part) -> Iterator[Place]:
    """The definitions, and the statements of a top level, that a text of a file names."""
    own = part.bare & parts.defined
    if part is not parts.top:
        own |= part.bare & parts.mentioning.keys()
    yield from ((parts, name) for name in own)
    for name in part.bare & parts.imports.keys():
        for one in parts.imports[name]:
            yield from _imported(project, parts, one, part)
    for home in _under_stars(project, parts):
        yield from _members(project, home, part.bare)


def _imported(project: Project, parts: Parts, one: Import, part: Part | None) -> Iterable[Place]:
    """What an import may give: a name of a file, or a file, of which a text names the members (None: not known)."""
    known = project.memory("what imports of a file may give").setdefault(parts, {})
    if one not in known:
        known[one] = _given(project, parts.path, one)
    places, module = known[one]
    if module is None:
        return cast("Iterable[Place]", places)
    if part is None:
        raise UnclearError
    return chain(places, _of_module(project, module, part.attributes))


def _given(project: Project, path: Path, one: Import) -> tuple[tuple[Place, ...], Parts | None]:
    """The names of files that an import may give, and the file that it is itself, if it is one."""
    target = project.resolver.find(path, one.module, one.level)
    if not one.attribute:
        if target is None and project.resolver.is_package(path, one.module, one.level) is not None:
            raise UnclearError
        return (), _parts(project, target) if target is not None else None
    module = project.resolver.find(path, f"{one.module}.{one.attribute}".strip("."), one.level)
    places: Iterable[Place] = ()
    if target is not None:
        places = _members(project, _parts(project, target), frozenset({one.attribute}))
    return tuple(places), _parts(project, module) if module is not None else None


def _of_module(project: Project, parts: Parts, words: frozenset[str]) -> Iterator[Place]:
    """What a module has under one of these names, and what those of a package's modules have that they name."""
    yield from _members(project, parts, words)
    if parts.path.name == "__init__.py":
        for name in words:
            below = project.resolver.find_from(str(parts.path.parent), name, relative=True)
            if below is not None:
                yield from _of_module(project, _parts(project, below), words - {name})


def _members(project: Project, parts: Parts, words: frozenset[str]) -> Iterator[Place]:
    """What a file has under one of these names, through stars as well."""
    homes = _homes(project, parts)
    if len(homes) == 1:
        yield from ((parts, name) for name in words & parts.names)
        return
    memory = project.memory("what a file with stars gives")
    for word in words:
        known = memory.get((parts, word))
        if known is None:
            known = memory[parts, word] = [(home, word) for home in homes if word in home.names]
        yield from known


def _homes(project: Project, parts: Parts) -> tuple[Parts, ...]:
    """A file, and those from which it may get names by ``from module import *``."""
    memory = project.memory("what stars lead to")
    if parts not in memory:
        found = {parts: None}
        waiting = [parts]
        for home in waiting:
            new = [target for target in _under_stars(project, home) if target not in found]
            found.update(dict.fromkeys(new))
            waiting += new
            if len(found) > MOST_STARS:
                break
        memory[parts] = tuple(found)
    homes: tuple[Parts, ...] = memory[parts]
    if len(homes) > MOST_STARS:
        raise UnclearError
    return homes


def _under_stars(project: Project, parts: Parts) -> list[Parts]:
    """The files that one names in ``from module import *``."""
    return [_parts(project, target) for target in project.stars.imported_whole(parts.path)]
