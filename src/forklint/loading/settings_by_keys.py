"""Options of a loader from a file of settings that the user of the program names: ``**config["data"]["loader"]``.

Which file is read is not certain, but the files of the project that have a mapping under these keys show what it is
like. Only a number of workers above zero is taken from them, and only where all of them agree on that.
"""

from __future__ import annotations

import ast
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.project.spelling import text_of
from forklint.source.presets.nodes import Node, Shape
from forklint.values import files
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
MAX_NAMES = 3
"""Through how many names an unpacked mapping is followed."""
OWN = frozenset({"self", "cls"})


def completed(evaluator: Evaluator, call: Expression, row: Starter, given: Arguments) -> Arguments:
    """The arguments of a loader, with the number of workers that files of settings have under the keys it unpacks."""
    node, name = call.node, row.workers
    known = given.get(name, row.position(name))
    if not given.open or not name or known is not None or not isinstance(node, ast.Call):
        return given
    unpacked = (one.value for one in node.keywords if one.arg is None)
    for keys in filter(None, (_keys(evaluator, call.part(one), MAX_NAMES) for one in unpacked)):
        found = _setting(evaluator.project, row, keys, call.module.path)
        if found is not None:
            return Arguments(given.positional, {**given.keywords, name: found}, open=True)
    return given


def _keys(evaluator: Evaluator, given: Expression, names: int) -> Keys:
    """The keys by which a mapping is read from settings; none if it is read by others, or is something else."""
    node, keys = given.node, []
    while (step := _step(node)) is not None:
        node, key = step
        keys.append(key)
    if isinstance(node, ast.Name) and node.id in OWN:
        keys = keys[:-1]  # the attribute that holds the settings
    if keys or not names or not isinstance(node, ast.Name):
        return tuple(reversed(keys)) if isinstance(node, (ast.Name, ast.Call)) else ()
    nearer = behind(evaluator, given)
    return _keys(evaluator, nearer[0], names - 1) if len(nearer) == 1 else ()


def _step(node: ast.expr) -> tuple[ast.expr, str] | None:
    """What an expression reads a part of, and under which key; None if it reads none: ``settings.loader``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        key = text_of(node.args[0])
        return (node.func.value, key) if key else None
    if isinstance(node, ast.Subscript):
        return (node.value, text_of(node.slice)) if text_of(node.slice) else None
    return (node.value, node.attr) if isinstance(node, ast.Attribute) else None


def _setting(project: Project, row: Starter, keys: Keys, home: Path) -> Setting | None:
    """The number of workers under the keys, of the first file; None unless it is above zero in all that have them.

    Of files in several folders those count that are nearest to the code.
    """
    found = project.answer("workers in settings", (row, keys), lambda: list(_under(project, row, keys)))
    near = max((_shared(home, one.preset.path) for one in found), default=0)
    nearest = [one for one in found if _shared(home, one.preset.path) == near]
    is_some = all(verdict(one.node.real.value) is Workers.SOME for one in nearest)
    return nearest[0] if nearest and is_some else None


def _shared(one: Path, other: Path) -> int:
    """How many folders two paths have in common."""
    return len(Path(commonpath((one, other))).parts)


def _under(project: Project, row: Starter, keys: Keys) -> Iterator[Setting]:
    """Give the number of workers of each mapping that stands under the keys and could be unpacked into the loader."""
    word = row.workers.encode()
    naming = [path for path in project.presets if files.is_small(project, path) and word in project.data(path)]
    for path in naming if len(naming) <= MOST_FILES else ():
        preset = files.load(project, path)
        for tree in preset.trees if preset is not None else ():
            for node in _at(tree, keys):
                entries = node.effective()
                if row.workers in entries and (not row.arguments or row.arguments.issuperset(entries)):
                    yield Setting(preset, entries[row.workers].value, Setting(preset, tree))  # type: ignore[arg-type]


def _at(tree: Node, keys: Keys) -> Iterator[Node]:
    """Give the mappings that stand under the keys, wherever the first of them stands."""
    for node in tree.walk():
        for key in keys:
            entry = node.effective().get(key) if node.shape is Shape.MAPPING else None
            node = entry.value.real if entry is not None else Node(Shape.SCALAR, 0, 0)  # noqa: PLW2901 - a step down
        if node.shape is Shape.MAPPING:
            yield node
