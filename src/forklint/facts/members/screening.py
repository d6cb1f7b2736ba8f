"""Whether a name may be missing in a file, judged by outlines: what needs no tree is told apart from what does.

It answers no only where `objects.lacking` and `torch_names.misspelt` surely find nothing. So it takes a name for
there only if the class itself binds it, or a base that is followed to its file, and follows only what can be read in
one way: whatever else a name may mean to them, they say nothing then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forklint.facts.members.attributes import EVERY_OBJECT
from forklint.facts.members.suppliers import BASE_NAME
from forklint.facts.members.torch_names import is_misspelt
from forklint.knowledge.torch_api import class_names, torch_class, torch_module
from forklint.project.index import MAX_HOPS, Project
from forklint.source.constructions import called_on, constructions, may_be_alias
from forklint.source.outline import ClassOutline, Import, Outline

ABSTRACT = re.compile(rb"\babstract|\bNotImplemented(?:Error)?\b")
INVENTING = re.compile(rb"^[ \t]*def (?:__getattr__|__getattribute__|__new__|__init_subclass__)\b", re.MULTILINE)


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
                _may_misspell(outline) or self._may_lack_own(path, outline) or self._may_lack_made(path, outline)
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
        made = constructions(outline.data, outline.by_name)
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

    def _owners(self, path: Path, outline: Outline, callee: str) -> list[Named]:
        """Classes that a callee may be, wherever it is called: those of which something can be said, or None."""
        root, _, rest = callee.partition(".")
        if root in {"self", "cls"}:
            return []
        imports, classes = outline.imports.get(root, ()), outline.by_name.get(root, ())
        if may_be_alias(root, outline.data) or (outline.has_star and not (imports or classes)):
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
            if not left or INVENTING.search(one.outline.body):
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
    return [f"{path}.{tail.decode(errors='replace')}" for tail in set(_tails(alias).findall(data))]


@cache
def _tails(alias: str) -> re.Pattern[bytes]:
    return re.compile(re.escape(alias).encode() + rb"\.([\w\x80-\xff]+(?:\.[\w\x80-\xff]+)*)")
