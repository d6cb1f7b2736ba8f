"""Which classes a dotted name of a file may stand for, by summaries alone.

It names too many rather than too few: whatever class `Project.resolve` finds is among them. So where one is named, a
name stands for that or for nothing that is known; where none is, for no class at all.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from forklint.summaries.summary import Import, Summary

if TYPE_CHECKING:
    from forklint.project.index import Project


class Placed(NamedTuple):
    """A class of the project."""

    path: Path
    qualname: str


class Written(NamedTuple):
    """A dotted name that stands for what another does."""

    path: Path
    name: str
    anywhere: bool = False
    """Whether it may stand in any scope of its file, not at the top level alone."""


Named = Placed | str | None
"""A class of the project, the qualified name of something outside it, or None where only a tree can tell."""


class Symbols:
    """Answers for the files of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def classes(self, path: Path, name: str, *, anywhere: bool = False) -> frozenset[Named]:
        """What a dotted name may stand for: at the top level of a file, or anywhere in it."""
        return frozenset(one for one in self.ways(path, name, anywhere=anywhere) if not isinstance(one, Written))

    def ways(self, path: Path, name: str, *, anywhere: bool = False) -> tuple[Named | Written, ...]:
        """All that a dotted name may stand for, with the names that lead there, itself the first."""
        ways: dict[Named | Written, None] = {Written(path, name, anywhere): None}
        waiting = list(ways)
        for one in waiting:
            new = [step for step in self._steps(one) if step not in ways] if isinstance(one, Written) else []
            ways.update(dict.fromkeys(new))
            waiting += new
        return tuple(ways)

    def _steps(self, written: Written) -> tuple[Named | Written, ...]:
        """What a name stands for by what its own file says, and the names there that tell more."""
        return self._project.answer(
            "what a name may be", written, lambda: tuple(dict.fromkeys(self._find_steps(written))), compared=True
        )

    def _find_steps(self, written: Written) -> Iterator[Named | Written]:
        path, name, anywhere = written
        summary = self._project.summary(path)
        if summary is None:
            yield None
            return
        root, _, rest = name.partition(".")
        for scope, step in self._bound(path, summary, root, rest):
            if anywhere or not scope:
                yield step._replace(anywhere=anywhere) if isinstance(step, Written) and step.path == path else step
        if not _is_bound(summary, root):
            yield from self._given_elsewhere(path, root, rest)

    def _bound(self, path: Path, summary: Summary, root: str, rest: str) -> Iterator[tuple[int, Named | Written]]:
        """Give what a file itself says of a name, with the scope in which it does."""
        for one in summary.by_alias.get(root, ()):
            yield from ((one.scope, step) for step in self._imported(path, one, rest))
        if not rest:
            for number in summary.by_class.get(root, ()):
                yield summary.scopes[number].parent, Placed(path, summary.qualname(number))
        for scope, value in summary.by_target.get(root, ()):
            if value.replace(".", "").isidentifier():
                yield scope, Written(path, _joined(value, rest))

    def _imported(self, path: Path, one: Import, rest: str) -> Iterator[Named | Written]:
        name = _joined(one.attribute, rest)
        target = self._project.resolver.find(path, one.bound, one.level)
        if target is not None:
            if name:  # a module is no class
                yield Written(target, name)
        elif self._project.resolver.is_package(path, one.bound, one.level) is not None:
            yield None
        elif not one.level:
            yield _joined(one.bound, name)

    def _given_elsewhere(self, path: Path, root: str, rest: str) -> Iterator[Named | Written]:
        """Give what a name is that the top level of a file does not bind: a star's, a module below, or built in."""
        resolver, stars = self._project.resolver, self._project.stars
        targets = [target for target in stars.imported_whole(path) if stars.may_give(target, root)]
        yield from (Written(target, _joined(root, rest)) for target in targets)
        if path.name == "__init__.py":
            below = resolver.find(path, root, level=1)
            if below is not None and rest:
                yield Written(below, rest)
            elif below is None and resolver.is_package(path, root, level=1) is not None:
                yield None
        if not rest and (hasattr(builtins, root) or not targets):
            yield f"builtins.{root}"


def _is_bound(summary: Summary, name: str) -> bool:
    """Whether the top level of a file imports a name, defines a class of it, or gives it a value that has a name."""
    return (
        any(not one.scope for one in summary.by_alias.get(name, ()))
        or any(not summary.scopes[number].parent for number in summary.by_class.get(name, ()))
        or any(not scope for scope, _ in summary.by_target.get(name, ()))
    )


def _joined(*names: str) -> str:
    return ".".join(filter(None, names))
