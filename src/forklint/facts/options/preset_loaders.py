"""Options in a file of settings that a loader surely gets, and refuses.

Certain is only: a Python file names the settings file where it reads it into a name, nothing in that file puts anything
into what was read, and a loader gets the mapping as ``**config["loader"]``, or its entries one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from forklint.facts.loading.rows import sure_row
from forklint.facts.machines.preset_readers import PresetReaders
from forklint.facts.options.conflicts import is_expected
from forklint.facts.options.mappings import uses
from forklint.knowledge.loader_options import Refusal, refusals
from forklint.knowledge.starters import Starter
from forklint.project.index import Project, Value
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Kind, Scope
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.source.presets import Preset
from forklint.source.presets.nodes import Address, Entry, Node, Shape

MAX_HOPS = 4
ALL = "**"
"""Stands for all entries of a mapping."""


@dataclass(frozen=True)
class PresetConflict:
    """An entry of a mapping of settings that the loader refuses that gets the mapping."""

    entry: Entry
    home: Node
    address: Address
    """Of the mapping."""
    refusal: Refusal
    row: Starter
    module: Module
    call: ast.Call
    """What makes the loader."""
    options: Mapping[str, object]
    """The constants of the mapping."""


def preset_conflicts(project: Project, preset: Preset) -> Iterator[PresetConflict]:
    """Give the entries of a file of settings that a loader surely refuses beside ``num_workers: 0``."""
    for address, home in _mappings(preset):
        refused = list(_refused(home))
        if not refused:
            continue
        found = next(_users(project, preset, address), None)
        if found is None:
            continue
        module, call, row, names = found
        options = {entry.key: entry.value.value for entry in home.entries if entry.value.shape is Shape.SCALAR}
        for entry, refusal in refused:
            if ALL in names or {entry.key, refusal.beside} <= names:
                yield PresetConflict(entry, home, address, refusal, row, module, call, options)


def _mappings(preset: Preset) -> Iterator[tuple[Address, Node]]:
    """Give each mapping of a preset that is written out, with its address."""
    waiting: list[tuple[Address, Node]] = [((number,), tree) for number, tree in enumerate(preset.trees)]
    while waiting:
        address, node = waiting.pop()
        if node.shape is Shape.MAPPING:
            yield address, node
            waiting += [((*address, entry.key), entry.value) for entry in node.entries if node.own(entry.key) is entry]
        waiting += [((*address, number), item) for number, item in enumerate(node.items)]


def _refused(home: Node) -> Iterator[tuple[Entry, Refusal]]:
    """Give the options that need workers, of a mapping that says that there are none."""
    workers = home.own("num_workers")
    if workers is None or workers.value.shape is not Shape.SCALAR or type(workers.value.value) is not int:
        return
    for refusal in refusals():
        entry = home.own(refusal.option)
        if workers.value.value == 0 and refusal.beside == "num_workers" and entry is not None:
            value = entry.value.value
            is_plain = entry.value.shape is Shape.SCALAR and not (isinstance(value, str) and "$" in value)
            if is_plain and _is(value, refusal.kind):
                yield entry, refusal


def _is(value: object, kind: str) -> bool:
    if kind == "not none":
        return value is not None and value != "None"
    return isinstance(value, (bool, int, float)) and value > 0


def _users(
    project: Project, preset: Preset, address: Address
) -> Iterator[tuple[Module, ast.Call, Starter, frozenset[str]]]:
    """Give the calls that make a loader of the mapping at an address, with what they take of it: names, or ALL."""
    for reader in PresetReaders(project, preset.path).find():
        module = reader.module
        for call in module.nodes:
            if isinstance(call, ast.Call) and call.keywords and not is_expected(module, call):
                taken = frozenset(_taken(project, module, call, address[1:], reader.node))
                row = sure_row(project, module, module.scope_at(call), call) if taken else None
                if row is not None and not row.prefix:
                    yield module, call, row, taken


def _taken(project: Project, module: Module, call: ast.Call, keys: Address, naming: ast.expr) -> Iterator[str]:
    """Give what a call takes of the mapping that stands under some keys of the file that ``naming`` names."""
    names = {keyword.arg for keyword in call.keywords}
    for keyword in call.keywords:
        root, path = _chain(keyword.value)
        if root is None or path[: len(keys)] != keys or not _is_read_from(project, module, root, naming):
            continue
        if keyword.arg is None and path == keys and "num_workers" not in names:
            yield ALL
        elif keyword.arg is not None and path == (*keys, keyword.arg):
            yield keyword.arg


def _chain(expression: ast.expr) -> tuple[ast.Name | None, Address]:
    """The name that ``config["train"]["loader"]`` begins with, and the keys that follow; no name for another shape."""
    keys: list[str | int] = []
    while isinstance(expression, (ast.Subscript, ast.Attribute)):
        if isinstance(expression, ast.Attribute):
            keys.insert(0, expression.attr)
        elif isinstance(expression.slice, ast.Constant) and isinstance(expression.slice.value, (str, int)):
            keys.insert(0, expression.slice.value)
        else:
            return None, ()
        expression = expression.value
    return (expression, tuple(keys)) if isinstance(expression, ast.Name) else (None, ())


def _is_read_from(project: Project, module: Module, name: ast.Name, naming: ast.expr) -> bool:
    """Whether a name is bound once, to what is read from the file that ``naming`` names, and nothing is put into it."""
    symbol = project.lookup(module, module.scope_at(name), name.id)
    if not isinstance(symbol, Value) or symbol.module is not module or symbol.binding.value is None:
        return False
    if not isinstance(symbol.binding.value, ast.Call) or not _holds(module, symbol.scope, symbol.binding.value, naming):
        return False
    return all(_only_reads(module, node) for node in uses(symbol, name.id))


def _holds(module: Module, scope: Scope, value: ast.AST, naming: ast.expr, hops: int = MAX_HOPS) -> bool:
    """Whether an expression names a file, or uses a name that is bound to one that does."""
    for part in nodes_below(value):
        if part is naming:
            return True
        found = scope.find(part.id) if isinstance(part, ast.Name) and hops > 0 else None
        if found is None or len(found[1]) != 1:
            continue
        binding = found[1][0]
        sources: list[ast.AST] = [binding.value] if binding.kind is Kind.VALUE and binding.value is not None else []
        if isinstance(binding.node, ast.With):
            sources = [item.context_expr for item in binding.node.items]
        if any(_holds(module, found[0], source, naming, hops - 1) for source in sources):
            return True
    return False


def _only_reads(module: Module, node: ast.expr) -> bool:
    """Whether a name, with the keys that follow it, is read, unpacked or printed, so that it stays as it was."""
    above = module.parents[node]
    while isinstance(above, (ast.Subscript, ast.Attribute)) and above.value is node:
        if not isinstance(above.ctx, ast.Load):
            return False
        node, above = above, module.parents[above]
    if isinstance(above, ast.Call) and above.func is node:
        return isinstance(node, ast.Attribute) and node.attr in {"get", "items", "keys", "values", "copy"}
    return isinstance(above, ast.keyword) or not isinstance(node, ast.Name) or _is_harmless(above)


def _is_harmless(above: ast.AST) -> bool:
    """Whether what a bare name is given to cannot change it: a comparison, a test, ``print``."""
    if isinstance(above, ast.Call):
        return last_name(above.func) in {"print", "len", "dumps", "info", "dict"}
    return isinstance(above, (ast.Compare, ast.FormattedValue, ast.BoolOp, ast.UnaryOp))
