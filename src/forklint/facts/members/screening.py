"""Whether a name may be missing in a file, judged by outlines: what needs no tree is told apart from what does.

It answers no only where `objects.lacking` and `torch_names.misspelt` surely find nothing. So it takes a name for
there only if the class itself binds it, or a base that is followed to its file, and follows only what can be read in
one way: whatever else a name may mean to them, they say nothing then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from forklint.facts.members.attributes import EVERY_OBJECT, missed_on_classes
from forklint.facts.members.suppliers import BASE_NAME
from forklint.facts.members.torch_names import is_misspelt
from forklint.knowledge.torch_api import class_names, torch_class, torch_module
from forklint.project.index import MAX_HOPS, Project
from forklint.records import dataclass
from forklint.source.constructions import called_on, constructions, may_be_alias
from forklint.source.outline import ClassOutline, Import, Outline

ABSTRACT = re.compile(rb"\babstract|\bNotImplemented(?:Error)?\b")
INVENTING = frozenset({"__getattr__", "__getattribute__", "__new__", "__init_subclass__"})


@dataclass(frozen=True)
class Placed:
    """A class of the project and its file."""

    path: Path
    outline: ClassOutline


Named = Placed | str | None
"""A class of the project, the qualified name of something outside it, or None where only a tree can tell."""


class Screening:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def may_lack(self, path: Path) -> bool:
        """Whether a name that is called or taken in a file may be missing where it is looked for."""
        memory = self.project.memory("members that may lack")
        if path not in memory:
            outline = self.project.outline(path)
            memory[path] = outline is None or (
                _may_misspell(outline)
                or self._may_lack_own(path, outline)
                or self._may_lack_made(path, outline)
                or self._may_lack_kept(path, outline)
                or self._may_lack_named(path, outline)
            )
        answer: bool = memory[path]
        return answer

    def _may_lack_own(self, path: Path, outline: Outline) -> bool:
        """Whether a class may lack what is called on ``self``."""
        return any(
            self._lacks(Placed(path, one), one.called)
            for one in outline.classes
            if not one.called <= one.names and not BASE_NAME.search(one.name) and not ABSTRACT.search(one.body)
        )

    def _may_lack_made(self, path: Path, outline: Outline) -> bool:
        """Whether an object that a variable is given may lack what is called on it."""
        made = self._made(path, outline)
        if made is None:
            return True
        owners: dict[str, list[Named]] = {}
        for variable, callees in made.items():
            for callee in callees:
                if callee not in owners:
                    owners[callee] = self._owners(path, outline, callee)
            known = [owner for callee in callees for owner in owners[callee]]
            called = called_on(variable, outline.data) - EVERY_OBJECT if known else None
            if called and any(self._named_lacks(owner, called) for owner in known):
                return True
        return False

    def _made(self, path: Path, outline: Outline) -> dict[str, set[str]] | None:
        """What the variables of a file may be given, as `constructions` has it."""
        memory = self.project.memory("constructions")
        if path not in memory:
            memory[path] = constructions(outline.data, outline.by_name)
        made: dict[str, set[str]] | None = memory[path]
        return made

    def _may_lack_kept(self, path: Path, outline: Outline) -> bool:
        """Whether an object that is kept on ``self`` may lack what is called on it; torch's own are not judged."""
        for one in outline.classes:
            for attribute in one.called_on_kept.keys() & one.kept.keys() if one.called_on_kept else ():
                called = frozenset(one.called_on_kept[attribute])
                owners = (owner for callee in one.kept[attribute] for owner in self._owners(path, outline, callee))
                if any(not isinstance(owner, str) and self._named_lacks(owner, called) for owner in owners):
                    return True
        return False

    def _may_lack_named(self, path: Path, outline: Outline) -> bool:
        """Whether a class of the file, or a class or an object that it imports, may lack what is called on it."""
        for name, classes in outline.by_name.items():
            called = missed_on_classes(called_on(name, outline.data))
            if called and any(self._lacks(Placed(path, one), frozenset(called)) for one in classes):
                return True
        for alias, imports in outline.imports.items():
            ours = [one for one in (self._place(path, bound) for bound in imports) if one is not None]
            called = missed_on_classes(called_on(alias, outline.data) - EVERY_OBJECT) if ours else set()
            owners = (owner for one in ours for owner in self._shared(*one)) if called else ()
            if called and any(self._named_lacks(owner, frozenset(called)) for owner in owners):
                return True
        return False

    def _place(self, path: Path, bound: Import) -> tuple[Path, str] | None:
        """The file of the project, and the name in it, that an import binds; None if it is a module, or not ours."""
        if bound.attribute in {"", "*"}:
            return None
        target = self.project.resolver.find(path, bound.module, bound.level)
        return (target, bound.attribute) if target is not None else None

    def _shared(self, path: Path, name: str) -> tuple[Named, ...]:
        """Classes that a name of a file may be or be an object of: those of which something can be said, or None."""
        memory = self.project.memory("members that are shared")
        if (path, name) not in memory:
            memory[path, name] = tuple(self._find_shared(path, name))
        found: tuple[Named, ...] = memory[path, name]
        return found

    def _find_shared(self, path: Path, name: str) -> Iterator[Named]:
        waiting, seen = [(path, name)], {(path, name)}
        while waiting:
            for at, outline, wanted in self._mentioning(*waiting.pop()):
                if outline is None:
                    yield None
                    continue
                yield from self._defined(at, outline, wanted)
                for one in outline.imports.get(wanted, ()):
                    place = self._place(at, one)
                    if place is not None and place not in seen:
                        seen.add(place)
                        waiting.append(place)

    def _mentioning(self, path: Path, name: str) -> Iterator[tuple[Path, Outline | None, str]]:
        """A file and those under its stars, if their top level has a name; and those that may, without an outline."""
        for at in self.project.stars.giving(path, name):
            outline = self.project.outline(at)
            if outline is None or name in outline.mentioned:
                yield at, outline, name

    def _defined(self, path: Path, outline: Outline, name: str) -> Iterator[Named]:
        """Classes that a name of a file may be, or be an object of, by what that file itself says."""
        yield from (Placed(path, one) for one in outline.by_name.get(name, ()))
        made = self._made(path, outline)
        if made is None or self._may_be_alias(path, outline, name):
            yield None
        for callee in made.get(name, ()) if made else ():
            yield from self._owners(path, outline, callee)

    def _may_be_alias(self, path: Path, outline: Outline, name: str) -> bool:
        memory = self.project.memory("names that may be aliases")
        if (path, name) not in memory:
            memory[path, name] = may_be_alias(name, outline.data)
        answer: bool = memory[path, name]
        return answer

    def _owners(self, path: Path, outline: Outline, callee: str) -> list[Named]:
        """Classes that a callee may be, wherever it is called: those of which something can be said, or None."""
        root, _, rest = callee.partition(".")
        if root in {"self", "cls"}:
            return []
        imports, classes = outline.imports.get(root, ()), outline.by_name.get(root, ())
        is_bound = root in outline.imported or any(not one.column for one in classes)
        if self._may_be_alias(path, outline, root) or (outline.has_star and not is_bound):
            return [None]
        parts = rest.split(".") if rest else []
        found = [self._imported(path, one, parts, MAX_HOPS) for one in imports]
        found += [Placed(path, one) for one in classes if not rest]
        return [one for one in found if not isinstance(one, str) or torch_class(one) is not None]

    def _named_lacks(self, named: Named, called: frozenset[str]) -> bool:
        if isinstance(named, Placed):
            return self._lacks(named, called)
        names = torch_class(named) if named else None
        return named is None or (names is not None and not called <= names.every)

    def _lacks(self, facts: Placed, called: frozenset[str]) -> bool:
        """Whether an object of a class may lack one of the names."""
        left = called - EVERY_OBJECT
        waiting, seen = [facts], set()
        while waiting:
            one = waiting.pop()
            if one.outline in seen:
                continue
            seen.add(one.outline)
            left = left - one.outline.names
            left = left and left - one.outline.stored
            if not left or not INVENTING.isdisjoint(one.outline.names):
                return False
            for base in self._bases(one):
                if isinstance(base, Placed):
                    waiting.append(base)
                elif base is not None:
                    names = class_names(base)
                    if names is None:  # anything may come from there
                        return False
                    left = left - names.every
        return bool(left)

    def _bases(self, facts: Placed) -> list[Named]:
        if facts.outline.bases is None or facts.outline.column:
            return []
        return [self._base(facts.path, base) for base in facts.outline.bases]

    def _base(self, path: Path, written: str) -> Named:
        """What a base of a class at the top level of a file is."""
        outline = self.project.outline(path)
        root, *rest = written.split(".")
        if outline is None:
            return None
        named = self._member(path, outline, root, rest, MAX_HOPS)
        if named is None and not rest and not outline.has_star:
            is_bound = root in outline.assigned or root in outline.imported or root in outline.by_name
            return None if is_bound else f"builtins.{root}"
        return named

    def _member(self, path: Path, outline: Outline, name: str, rest: list[str], hops: int) -> Named:
        """What a name at the top level of a file is, and then its members."""
        if name in outline.imported:
            found = outline.imports[name]
            return self._imported(path, next(iter(found)), rest, hops) if len(found) == 1 else None
        classes = [one for one in outline.by_name.get(name, ()) if not one.column]
        return Placed(path, classes[0]) if len(classes) == 1 and not rest else None

    def _imported(self, path: Path, bound: Import, rest: list[str], hops: int) -> Named:
        """What an import in a file gives, and then its members."""
        parts = [bound.attribute, *rest] if bound.attribute else rest
        target = self.project.resolver.find(path, bound.module, bound.level)
        if target is None:
            is_ours = bound.level or self.project.resolver.is_package(path, bound.module) is not None
            return None if is_ours else ".".join([bound.module, *parts])
        outline = self.project.outline(target) if parts and hops else None
        return self._member(target, outline, parts[0], parts[1:], hops - 1) if outline else None


def _may_misspell(outline: Outline) -> bool:
    """Whether a name that is imported from torch, or read from a module of torch, may be misspelt."""
    for alias, imports in outline.imports.items():
        for one in imports:
            if one.level or one.module.partition(".")[0] != "torch":
                continue
            path = f"{one.module}.{one.attribute}".rstrip(".")
            if one.attribute and is_misspelt(path):
                return True
            if torch_module(path) is not None and any(map(is_misspelt, _read_from(alias, path, outline.data))):
                return True
    return False


def _read_from(alias: str, path: str, data: bytes) -> list[str]:
    tails = {match[1] for match in _tails(alias).finditer(data) if data[match.start() - 1 : match.start()] != b"`"}
    return [f"{path}.{tail.decode(errors='replace')}" for tail in tails]  # no code has a backtick: that is prose


@cache
def _tails(alias: str) -> re.Pattern[bytes]:
    return re.compile(re.escape(alias).encode() + rb"\.([\w\x80-\xff]+(?:\.[\w\x80-\xff]+)*)")
