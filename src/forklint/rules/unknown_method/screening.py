"""Whether a name may be missing in a file, judged by summaries: what needs no tree is told apart from what does.

It answers no only where `objects.lacking`, `module_names.lacking_names`, `missing_modules.missing_modules` and
`torch_names.misspelt` find nothing. So it takes a name for there only if the class itself binds it, or a base that is
followed to its file, and follows only what can be read in one way: whatever else a name may mean to them, they say
nothing then.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from forklint.knowledge.patches import patches
from forklint.knowledge.torch_api import class_names, torch_class
from forklint.project.index import Project
from forklint.project.meanings import INSIDE, MODULE, Definition, Meanings, Place
from forklint.rules.unknown_method.attributes import EVERY_OBJECT, missed_on_classes
from forklint.rules.unknown_method.made_elsewhere import MadeElsewhere
from forklint.rules.unknown_method.members import INVENTING, REACHING_BACK, REGISTERING, members_of
from forklint.rules.unknown_method.missing_modules import may_lack_modules
from forklint.rules.unknown_method.module_names import may_lack_names
from forklint.rules.unknown_method.receivers import SELF, Calls, made_by
from forklint.rules.unknown_method.removed import may_need
from forklint.rules.unknown_method.supers import SUPER, TEST_HOOKS
from forklint.rules.unknown_method.torch_aliases import torch_aliases
from forklint.rules.unknown_method.torch_modules import is_missing, is_module
from forklint.summaries.parts import BASES, DEFINITION, HEAD, NAMED
from forklint.summaries.summary import CLASS, FUNCTION, Summary, last_name

SELVES = (SELF, "cls")
OPENING = REGISTERING | REACHING_BACK | {"setattr", "__setattr__", "vars"}
"""Last names of what a method calls to give its object names that are not written out."""
UNNAMED = "?"
"""A base that is no dotted name."""
STATIC = "staticmethod"
Named = Definition | str | None
"""A class of the project, the qualified name of something outside it, or None where only a tree can tell."""


class Has(NamedTuple):
    """What a class by itself gives its objects."""

    names: frozenset[str]
    """Those that its body binds and its methods store."""
    bases: tuple[frozenset[Named], ...]
    """What each of its bases may be."""
    is_open: bool
    """Whether something surely may give its objects other names."""


class Screening:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.meanings = Meanings(project)
        self.made_elsewhere = MadeElsewhere(self)

    def may_lack(self, path: Path) -> bool:
        """Whether a name that is called or taken in a file may be missing where it is looked for."""
        return self.project.answer("may lack members", path, lambda: self._may_lack(path), compared=True)

    def _may_lack(self, path: Path) -> bool:
        summary = self.project.summary(path)
        if summary is None or _may_misspell(self.project, path, summary) or may_need(summary):
            return True
        calls = Calls(summary)
        return (
            self._may_lack_own(path, summary, calls)
            or self._may_lack_made(path, summary, calls)
            or self._may_lack_kept(path, summary, calls)
            or self._may_lack_typed(path, summary, calls)
            or self._may_lack_named(path, summary, calls)
            or bool(self.made_elsewhere.may_lack(path))
            or may_lack_names(self.project, path, summary)
            or may_lack_modules(self.project, path, summary)
        )

    # What is called on what

    def _may_lack_own(self, path: Path, summary: Summary, calls: Calls) -> bool:
        """Whether a class may lack what is read or called on ``self``."""
        for number in summary.classes:
            scope, on = summary.scopes[number], calls.on_variables(number)
            called = frozenset(name for me in SELVES for name in on.get(me, ())) | calls.read(number)
            called -= scope.binds
            if called and self._lacks(Definition(path, number), called):
                return True
            above = frozenset(on.get(SUPER, ()))
            if above and self._may_lack_above(Definition(path, number), above):
                return True
        return False

    def _may_lack_above(self, definition: Definition, called: frozenset[str]) -> bool:
        """Whether the bases of a class may lack what is called on ``super()``."""
        has = self._has(definition)
        if has is None or not has.bases:
            return has is not None and not TEST_HOOKS.isdisjoint(called)
        return any(len(base) != 1 or self.named_lacks(next(iter(base)), called) for base in has.bases)

    def _may_lack_made(self, path: Path, summary: Summary, calls: Calls) -> bool:
        """Whether an object that a variable is given may lack what is called on it."""
        for variable, values in summary.by_target.items():
            if not variable.isidentifier():
                continue
            for number, value in values:
                callee = made_by(value, summary) if summary.scopes[number].kind != CLASS else ""
                called = calls.on_variables(number).get(variable, set()) - EVERY_OBJECT if callee else set()
                read = calls.read_on_variables(number).get(variable, set()) if callee else set()
                owners = self.owners(path, callee) if called or read else ()
                if any(self.named_lacks(one, called, read) for one in owners):
                    return True
        return False

    def _may_lack_kept(self, path: Path, summary: Summary, calls: Calls) -> bool:
        """Whether an object that is kept on ``self`` may lack what is called on it."""
        for target, values in summary.by_target.items():
            me, _, attribute = target.partition(".")
            if me != SELF or not attribute.isidentifier():
                continue
            for number, value in values:
                callee = calls.class_given(number, value)
                called = calls.on_kept(number).get(attribute, set()) if callee else set()
                read = calls.read_on_kept(number).get(attribute, set()) if callee else set()
                owners = self.owners(path, callee) if called or read else ()
                if any(self.named_lacks(one, called, read) for one in owners):
                    return True
        return False

    def _may_lack_typed(self, path: Path, summary: Summary, calls: Calls) -> bool:
        """Whether a parameter that is annotated with a known class may lack what is asked of it."""
        for number in summary.functions:
            for parameter, written in summary.scopes[number].typed:
                called = calls.on_variables(number).get(parameter, set())
                read = calls.read_on_variables(number).get(parameter, set())
                owners = self.owners(path, written) if called or read else ()
                if any(one is not None and self.named_lacks(one, called, read) for one in owners):
                    return True
        return False

    def _may_lack_named(self, path: Path, summary: Summary, calls: Calls) -> bool:
        """Whether a class of the file, or a class or an object that it imports, may lack what is called on it."""
        on, read_on = calls.on_variables(0), calls.read_on_variables(0)
        for number in summary.classes:
            name = summary.scopes[number].name
            used = missed_on_classes(on.get(name, set()) | read_on.get(name, set()))
            if used and self._lacks(Definition(path, number), used):
                return True
        for alias in (on.keys() | read_on.keys()) & summary.by_alias.keys():
            if not any(one.attribute for one in summary.by_alias[alias]):
                continue
            called = missed_on_classes(on.get(alias, set()) - EVERY_OBJECT)
            read = missed_on_classes(read_on.get(alias, set()) - EVERY_OBJECT)
            owners = self.imported(path, alias) if called or read else ()
            if any(self.named_lacks(one, called, read) for one in owners):
                return True
        return False

    # Of what class an object is

    def owners(self, path: Path, callee: str) -> list[Named]:
        """Classes that a callee may be, wherever it is called: those of which something can be said, or None."""
        found = self._classes(path, callee)
        return [one for one in found if not isinstance(one, str) or torch_class(one) is not None]

    def _classes(self, path: Path, name: str) -> frozenset[Named]:
        """Classes that a dotted name of a file may be; None among them if that cannot be told."""
        found, _, is_whole = self.meanings.meant(path, name)
        classes = (one for one in found if isinstance(one, str) or self.is_class(one))
        return frozenset((*classes, *(() if is_whole else (None,))))

    def meant(self, path: Path, name: str) -> frozenset[Definition | str]:
        """What a dotted name of a file may mean, if all of that is known; else nothing."""
        found, _, is_whole = self.meanings.meant(path, name)
        return frozenset(found) if is_whole else frozenset()

    def is_class(self, definition: Definition) -> bool:
        """Whether a definition is a class."""

        def find() -> bool:
            summary = self.project.definition(definition.path, HEAD, definition.number)
            return summary is not None and _is_class(summary, definition.number)

        return self.project.answer("is a class", definition, find, compared=True)

    def imported(self, path: Path, alias: str) -> Iterator[Named]:
        """Give the classes that an imported name may be, or be an object of."""
        yield from (one for one in self._classes(path, alias) if not isinstance(one, str))
        for at, names in self.meanings.meant(path, alias).ways:
            if isinstance(at, Place) and at.kind in {INSIDE, MODULE} and len(names) == 1 and at.where != str(path):
                home = Path(at.where)
                for callee in self._makers(home, names[0]):
                    yield from self.owners(home, callee)

    def _makers(self, path: Path, name: str) -> tuple[str, ...]:
        """The dotted names that are called to make what the top level of a file gives a name."""
        return self.project.answer(
            "what makes an object", (path, name), lambda: tuple(self._find_makers(path, name)), compared=True
        )

    def _find_makers(self, path: Path, name: str) -> Iterator[str]:
        self.project.part(path, BASES)  # which names are those of classes
        summary = self.project.part(path, NAMED, name)
        for number, value in summary.by_target.get(name, ()) if summary is not None else ():
            callee = made_by(value, summary) if summary is not None and not number else ""
            if callee:
                yield callee

    # What a class has

    def named_lacks(self, named: Named, called: AbstractSet[str], read: AbstractSet[str] = frozenset()) -> bool:
        """Whether something may lack what is called on it or read."""
        if isinstance(named, Definition):
            return self._lacks(named, called | read)
        names = torch_class(named) if named else None
        return named is None or (names is not None and not called | read <= names.every)

    def _lacks(self, definition: Definition, called: AbstractSet[str]) -> bool:
        """Whether an object of a class may lack one of the names."""
        left = {name for name in called - EVERY_OBJECT if not patches().supply(name)}
        waiting = [definition] if left else []
        for one in waiting:
            has = self._has(one)
            if has is None:
                return False
            left -= has.names
            if not left or has.is_open:
                return False
            for base in has.bases:
                if not base:  # it is not known what that is, so nothing is said of the class
                    return False
                named = next(iter(base)) if len(base) == 1 else None
                if isinstance(named, Definition):
                    waiting += [named] if named not in waiting else []
                elif named is not None:
                    names = class_names(named)
                    if names is None:  # anything may come from there
                        return False
                    left -= names.every
        return bool(left) and not any(map(self._is_surely_open, reversed(waiting)))

    def _is_surely_open(self, definition: Definition) -> bool:
        """Whether a class surely may give its objects any name; a tree is looked at only if a word suggests it."""

        def find() -> bool:
            summary = self.project.definition(definition.path, DEFINITION, definition.number)
            if summary is None or not _may_be_open(summary, definition.number):
                return False
            node = self.project.code(definition.path, definition.number)
            return isinstance(node, ast.ClassDef) and bool(members_of(node).open_because)

        return self.project.answer("is surely open", definition, find, compared=True)

    def _has(self, definition: Definition) -> Has | None:
        """What a class has; None for what is none."""
        find = lambda: self._find_what_it_has(definition)  # noqa: E731 - it is short
        return self.project.answer("what a class has", definition, find, compared=True)

    def _find_what_it_has(self, definition: Definition) -> Has | None:
        path, number = definition
        summary = self.project.definition(path, DEFINITION, number)
        if summary is None or not _is_class(summary, number):
            return None
        bases = (self._base(path, base) for base in summary.scopes[number].bases)
        return Has(_names(summary, number), tuple(bases), is_open=not INVENTING.isdisjoint(summary.methods(number)))

    def _base(self, path: Path, written: str) -> frozenset[Named]:
        """What a base may be; nothing if that is surely not known to the facts."""
        if written == UNNAMED:
            return frozenset()
        found = self._classes(path, written)
        may_be_builtin = "." not in written and (not found or hasattr(builtins, written))
        return found | {f"builtins.{written}"} if may_be_builtin else found


def _is_class(summary: Summary, number: int) -> bool:
    return number < len(summary.scopes) and summary.scopes[number].kind == CLASS


def _names(summary: Summary, number: int) -> frozenset[str]:
    """Names that a class body binds, and that its methods store on what they call their object, or on the class."""
    scope = summary.scopes[number]
    names = set(scope.binds)
    for child in summary.children.get(number, ()):
        method = summary.scopes[child]
        me = method.parameters[0] if method.kind == FUNCTION and method.parameters else "*"
        if me[0] == "*" or STATIC in method.decorators:
            continue
        for at in summary.below(child):
            stores = (store.partition(".") for store in summary.scopes[at].stores)
            names.update(name for owner, _, name in stores if owner in {me, scope.name} and name.isidentifier())
    return frozenset(names)


def _may_be_open(summary: Summary, number: int) -> bool:
    """Whether a class may set attributes of which the names are not written out."""
    scopes = (summary.scopes[at] for at in summary.below(number))
    return any("__dict__" in one.attributes or not OPENING.isdisjoint(map(last_name, one.calls)) for one in scopes)


def _may_misspell(project: Project, path: Path, summary: Summary) -> bool:
    """Whether a name that is imported from torch, or read from a module of torch, may be misspelt."""
    modules: dict[str, set[str]] = {}
    for one in summary.imports:
        if one.level or one.module.partition(".")[0] != "torch":
            continue
        name = f"{one.bound}.{one.attribute}".rstrip(".")
        if one.attribute and is_missing(name):
            return True
        if is_module(name):
            modules.setdefault(one.alias, set()).add(name)
    for alias, name in torch_aliases(project, path):
        modules.setdefault(alias, set()).add(name)
    return bool(modules) and any(is_missing(name) for name in _read_from(modules, summary))


def _read_from(modules: dict[str, set[str]], summary: Summary) -> Iterator[str]:
    """Give what a file reads from modules, by their aliases, or looks up in them by a text."""
    for scope in summary.scopes:
        texts = [text for text in scope.strings if text.isidentifier()] if "getattr" in scope.calls else []
        for name in (*scope.dotted, *scope.calls):
            for root in _heads(name):
                rest = name[len(root) + 1 :]
                if root in modules and rest.replace(".", "").isidentifier():
                    yield from (f"{path}.{rest}" for path in modules[root])
                    yield from (f"{path}.{rest}.{text}" for path in modules[root] for text in texts)
        for root in scope.bare.intersection(modules) if texts else ():
            yield from (f"{path}.{text}" for path in modules[root] for text in texts)


def _heads(name: str) -> Iterator[str]:
    """Give what a dotted name begins with: its first part, and its first two."""
    first, *rest = name.split(".", 2)
    yield first
    if len(rest) > 1:
        yield f"{first}.{rest[0]}"
