"""Whether a name may be missing in a file, judged by summaries: what needs no tree is told apart from what does.

It answers no only where `objects.lacking`, `module_names.lacking_names`, `missing_modules.missing_modules` and
`torch_names.misspelt` find nothing. It follows only what can be read in one way: whatever else a name may mean to them,
they say nothing then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

from forklint.project.index import Project
from forklint.project.meanings import Definition
from forklint.rules.unknown_method.attributes import EVERY_OBJECT, OF_CONTAINERS, missed_on_classes
from forklint.rules.unknown_method.made_elsewhere import MadeElsewhere
from forklint.rules.unknown_method.missing_modules import may_lack_modules
from forklint.rules.unknown_method.module_names import may_lack_names
from forklint.rules.unknown_method.owners import OF_WRAPPERS
from forklint.rules.unknown_method.receivers import SELF, Calls, made_by
from forklint.rules.unknown_method.removed import may_need
from forklint.rules.unknown_method.screened_classes import ScreenedClasses, may_be_slip
from forklint.rules.unknown_method.supers import SUPER, TEST_HOOKS
from forklint.rules.unknown_method.torch_aliases import torch_aliases
from forklint.rules.unknown_method.torch_modules import is_missing, is_module
from forklint.summaries.summary import CLASS, Summary

SELVES = (SELF, "cls")


class Screening:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._classes = ScreenedClasses(project)
        self.made_elsewhere = MadeElsewhere(self._classes)

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
            if called and self._classes.lacks(Definition(path, number), called):
                return True
            above = frozenset(on.get(SUPER, ()))
            if above and self._may_lack_above(Definition(path, number), above):
                return True
        return False

    def _may_lack_above(self, definition: Definition, called: frozenset[str]) -> bool:
        """Whether the bases of a class may lack what is called on ``super()``."""
        has = self._classes.has(definition)
        if has is None or not has.bases:
            return has is not None and not TEST_HOOKS.isdisjoint(called)
        return any(len(base) != 1 or self._classes.named_lacks(next(iter(base)), called) for base in has.bases)

    def _may_lack_made(self, path: Path, summary: Summary, calls: Calls) -> bool:
        """Whether an object that a variable is given may lack what is called on it."""
        for variable, values in summary.by_target.items():
            if not variable.isidentifier():
                continue
            for number, value in values:
                callee = made_by(value, summary) if summary.scopes[number].kind != CLASS else ""
                called = calls.on_variables(number).get(variable, set()) - EVERY_OBJECT if callee else set()
                read = calls.read_on_variables(number).get(variable, set()) if callee else set()
                owners = self._classes.owners(path, callee) if called or read else ()
                if any(self._classes.object_lacks(one, called | read) for one in owners):
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
                owners = self._classes.owners(path, callee) if called or read else ()
                if any(self._classes.object_lacks(one, called | read) for one in owners):
                    return True
        return False

    def _may_lack_typed(self, path: Path, summary: Summary, calls: Calls) -> bool:
        """Whether a parameter that is annotated with a known class may lack what is asked of it."""
        for number in summary.functions:
            for parameter, written in summary.scopes[number].typed:
                called = calls.on_variables(number).get(parameter, set())
                read = calls.read_on_variables(number).get(parameter, set())
                owners = self._classes.owners(path, written) if called or read else ()
                if any(one is not None and self._may_lack_as_said(one, called | read) for one in owners):
                    return True
        return False

    def _may_lack_as_said(self, said: Definition | str, used: AbstractSet[str]) -> bool:
        """Whether what is passed for an object of a class may lack a name: no class derived from it binds that."""
        left = used - OF_WRAPPERS - OF_CONTAINERS
        if isinstance(said, str):
            return any(self._classes.named_lacks(said, {one}) and may_be_slip(said, one) for one in left)
        return any(self._classes.lacks(said, {one}) and not self._classes.is_given_below(said, one) for one in left)

    def _may_lack_named(self, path: Path, summary: Summary, calls: Calls) -> bool:
        """Whether a class of the file, or a class or an object that it imports, may lack what is called on it."""
        on, read_on = calls.on_variables(0), calls.read_on_variables(0)
        for number in summary.classes:
            name = summary.scopes[number].name
            used = missed_on_classes(on.get(name, set()) | read_on.get(name, set()))
            if used and self._classes.lacks(Definition(path, number), used):
                return True
        for alias in (on.keys() | read_on.keys()) & summary.by_alias.keys():
            if not any(one.attribute for one in summary.by_alias[alias]):
                continue
            called = missed_on_classes(on.get(alias, set()) - EVERY_OBJECT)
            read = missed_on_classes(read_on.get(alias, set()) - EVERY_OBJECT)
            owners = self._classes.imported(path, alias) if called or read else ()
            if any(self._classes.object_lacks(one, called | read) for one in owners):
                return True
        return False


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
    if not modules:
        return False
    looks_up = "getattr" in summary.spelt_calls and project.matches(path, _looking_up(frozenset(modules)))
    return any(is_missing(name) for name in _read_from(modules, summary, looks_up=looks_up))


@cache
def _looking_up(aliases: frozenset[str]) -> re.Pattern[bytes]:
    """What a text has where it calls ``getattr`` of one of some modules, of what stands in them, or of a found one."""
    written = "|".join(re.escape(one) for one in sorted(aliases))
    space = r"(?:\s|#[^\n]*\n)*"
    return re.compile(rf"\bgetattr{space}\({space}(?:(?:{written})\b|[\w.]*import_module\()".encode())


def _read_from(modules: dict[str, set[str]], summary: Summary, *, looks_up: bool) -> Iterator[str]:
    """Give what a file reads from modules, by their aliases, or looks up in them by a text, if it does so."""
    for scope in summary.scopes:
        is_asked = looks_up and "getattr" in scope.calls
        texts = [text for text in scope.strings if text.isidentifier()] if is_asked else []
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
