"""The workers of a loader from a file of settings that the user of the program names.

``**config["data"]["loader"]``, or ``num_workers=settings.num_workers``: which file is read is not certain, but the
files of the project that have something under these keys show what it is like. Only a number of workers above zero is
taken from them, and only where all of them agree on that.
"""

from __future__ import annotations

import ast
import re
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from forklint.project.module import FunctionFacts
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.project.spelling import part_read
from forklint.source.presets.nodes import Node, Shape
from forklint.summaries.terms import CALL
from forklint.values import callers, files, names, parameters
from forklint.values.model import Arguments, Expression, Setting
from forklint.values.numbers import Workers, verdict
from forklint.values.origins import behind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forklint.knowledge.starters import Starter
    from forklint.project.index import Project
    from forklint.values.evaluator import Evaluator

Keys = tuple[str, ...]
MOST_FILES = 200
"""Of so many files that name the option at most the settings are read."""
MAX_HOPS = 4
"""Through how many names and calls what is read is followed."""
OWN = frozenset({"self", "cls"})
WORKER = "worker"
"""What is in a key that alone says what it is for."""
OPTION = rb"""["']--?(?:[\w-]*-)?%s["']"""
"""An option of a command line."""


def completed(evaluator: Evaluator, call: Expression, row: Starter, given: Arguments) -> Arguments:
    """The arguments of a loader, with the number of workers that files of settings have under the keys it unpacks."""
    node, name = call.node, row.workers
    known = given.get(name, row.position(name))
    if not given.open or not name or known is not None or not isinstance(node, ast.Call):
        return given
    unpacked = (one.value for one in node.keywords if one.arg is None)
    for keys in filter(None, (_keys(evaluator, call.part(one), MAX_HOPS) for one in unpacked)):
        found = _nearest(_unpacked(evaluator.project, row, keys), call.module.path)
        if found is not None:
            return Arguments(given.positional, {**given.keywords, name: found}, open=True)
    return given


def read_there(evaluator: Evaluator, source: Expression) -> Setting | None:
    """The number of workers that an expression reads from settings of which nothing else is known."""
    project = evaluator.project
    keys = _keys(evaluator, source, MAX_HOPS)
    if not keys or (len(keys) == 1 and WORKER not in keys[0].lower()) or _is_option(project, keys[-1]):
        return None
    found = _nearest(_values(project, keys), source.module.path)
    is_set = found is not None and names.is_set_elsewhere(evaluator, source.module, keys[-1])
    return found if not is_set else None


def _is_option(project: Project, name: str) -> bool:
    """Whether a program of the project has an option of a name: then it is no file that says it."""
    written = re.compile(OPTION % re.escape(name.encode()).replace(b"_", b"[_-]"))
    find = lambda: any(project.matches(path, written) for path in project.where(CALL, "add_argument"))  # noqa: E731
    return project.answer("an option of a name", name, find, compared=True)


def _keys(evaluator: Evaluator, given: Expression, hops: int) -> Keys:
    """The keys by which a mapping is read from settings; none if it is read by others, or is something else."""
    node, keys = given.node, []
    while (step := part_read(node)) is not None:
        node, key = step
        keys.append(key)
    if isinstance(node, ast.Name) and node.id in OWN:
        keys = keys[:-1]  # the attribute that holds the settings
    if keys or not hops or not isinstance(node, ast.Name):
        is_read = isinstance(node, (ast.Name, ast.Call)) and not _is_known(evaluator, given.part(node))
        return tuple(reversed(keys)) if is_read else ()
    nearer = behind(evaluator, given) or _by_callers(evaluator, given)
    each = {_keys(evaluator, one, hops - 1) for one in nearer}
    return each.pop() if len(each) == 1 else ()


def _is_known(evaluator: Evaluator, root: Expression) -> bool:
    """Whether it is known which file is read: what stands there is known without a guess."""
    return isinstance(evaluator.find(root).value, Setting)


def _by_callers(evaluator: Evaluator, given: Expression) -> list[Expression]:
    """What every call of a function gives to a parameter of it; nothing unless all of that is seen."""
    bound = given.scope.find(given.node.id) if isinstance(given.node, ast.Name) else None
    if bound is None or bound[1][0].kind is not Kind.PARAMETER or not isinstance(bound[0].node, FUNCTIONS):
        return []
    function, name = FunctionFacts(given.module, bound[0].node), bound[1][0].name
    known = callers.of(evaluator, function)
    found = [one.get(name, parameters.position(function, name)) for one in known.calls]
    seen = [one for one in found if isinstance(one, Expression)]
    return seen if len(seen) == len(found) and not known.escapes else []


def _nearest(found: list[Setting], home: Path) -> Setting | None:
    """The number of workers in the first of some files; None unless it is above zero in all of them.

    Of files in several folders those count that are nearest to the code.
    """
    near = max((_shared(home, one.preset.path) for one in found), default=0)
    nearest = [one for one in found if _shared(home, one.preset.path) == near]
    is_some = all(verdict(one.node.real.value) is Workers.SOME for one in nearest)
    return nearest[0] if nearest and is_some else None


def _shared(one: Path, other: Path) -> int:
    """How many folders two paths have in common."""
    return len(Path(commonpath((one, other))).parts)


def _unpacked(project: Project, row: Starter, keys: Keys) -> list[Setting]:
    """The number of workers of each mapping that stands under the keys and could be unpacked into the loader."""
    return [
        setting
        for setting, mapping in _under(project, (*keys, row.workers))
        if not row.arguments or row.arguments.issuperset(mapping.effective())
    ]


def _values(project: Project, keys: Keys) -> list[Setting]:
    """What stands under the keys in each file of settings."""
    return [setting for setting, _ in _under(project, keys)]


class _Read(NamedTuple):
    """A value in a file of settings."""

    setting: Setting
    mapping: Node
    """What it is an entry of."""


def _under(project: Project, keys: Keys) -> tuple[_Read, ...]:
    """What stands under the keys, wherever the first of them stands."""
    return project.answer("settings by keys", keys, lambda: tuple(_find(project, keys)))


def _find(project: Project, keys: Keys) -> Iterator[_Read]:
    *above, name = keys
    word = name.encode()
    naming = [path for path in project.presets if files.is_small(project, path) and word in project.data(path)]
    for path in naming if len(naming) <= MOST_FILES else ():
        preset = files.load(project, path)
        for tree in preset.trees if preset is not None else ():
            for node in _at(tree, tuple(above)):
                entry = node.effective().get(name)
                if entry is not None:
                    yield _Read(Setting(preset, entry.value, Setting(preset, tree)), node)  # type: ignore[arg-type]


def _at(tree: Node, keys: Keys) -> Iterator[Node]:
    """Give the mappings that stand under the keys, wherever the first of them stands."""
    for node in tree.walk():
        for key in keys:
            entry = node.effective().get(key) if node.shape is Shape.MAPPING else None
            node = entry.value.real if entry is not None else Node(Shape.SCALAR, 0, 0)  # noqa: PLW2901 - a step down
        if node.shape is Shape.MAPPING:
            yield node
