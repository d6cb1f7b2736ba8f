"""Options in a file of settings that a loader surely gets, and refuses.

Certain is only what ``values`` finds in a loader of a Python file that names the settings file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from forklint.knowledge.loader_options import Refusal, refusals
from forklint.loading.conflicts import is_expected
from forklint.loading.loaders import Loader, loaders_of
from forklint.loading.preset_readers import PresetReaders
from forklint.loading.rows import sure_row
from forklint.model import Link
from forklint.project.index import Project
from forklint.records import dataclass
from forklint.source.presets import Preset
from forklint.source.presets.nodes import Address, Entry, Node, Shape
from forklint.values.model import Constant


@dataclass(frozen=True)
class PresetConflict:
    """An entry of a mapping of settings that the loader refuses that gets the mapping."""

    entry: Entry
    home: Node
    address: Address
    """Of the mapping."""
    refusal: Refusal
    loader: Loader
    options: Mapping[str, object]
    """The constants of the mapping."""


def preset_conflicts(project: Project, preset: Preset) -> Iterator[PresetConflict]:
    """Give the entries of a file of settings that a loader surely refuses beside ``num_workers: 0``."""
    for address, home in _mappings(preset):
        for entry, beside, refusal in _refused(home):
            loader = next((one for one in _loaders(project, preset) if _gets(one, preset, entry, beside)), None)
            if loader is not None:
                options = {one.key: one.value.value for one in home.entries if one.value.shape is Shape.SCALAR}
                yield PresetConflict(entry, home, address, refusal, loader, options)


def _mappings(preset: Preset) -> Iterator[tuple[Address, Node]]:
    """Give each mapping of a preset that is written out, with its address."""
    waiting: list[tuple[Address, Node]] = [((number,), tree) for number, tree in enumerate(preset.trees)]
    while waiting:
        address, node = waiting.pop()
        if node.shape is Shape.MAPPING:
            yield address, node
            waiting += [((*address, entry.key), entry.value) for entry in node.unrepeated()]
        waiting += [((*address, number), item) for number, item in enumerate(node.items)]


def _refused(home: Node) -> Iterator[tuple[Entry, Entry, Refusal]]:
    """Give the options that need workers, of a mapping that says that there are none, each with what says so."""
    workers = home.own("num_workers")
    if workers is None or workers.value.shape is not Shape.SCALAR or type(workers.value.value) is not int:
        return
    for refusal in refusals():
        entry = home.own(refusal.option)
        if workers.value.value == 0 and refusal.beside == "num_workers" and entry is not None:
            value = entry.value.value
            is_plain = entry.value.shape is Shape.SCALAR and not (isinstance(value, str) and "$" in value)
            if is_plain and _is(value, refusal.kind):
                yield entry, workers, refusal


def _is(value: object, kind: str) -> bool:
    if kind == "not none":
        return value is not None and value != "None"
    return isinstance(value, (bool, int, float)) and value > 0


def _loaders(project: Project, preset: Preset) -> Iterator[Loader]:
    """Give the loaders, made where a file of settings is read, whose arguments are all known."""
    for module in dict.fromkeys(reader.module for reader in PresetReaders(project, preset.path).find()):
        for loader in loaders_of(project, module):
            call = loader.call.node
            row = sure_row(project, module, loader.call.scope, call) if isinstance(call, ast.Call) else None
            if row is not None and not row.prefix and not is_expected(module, call):
                yield loader


def _gets(loader: Loader, preset: Preset, *entries: Entry) -> bool:
    """Whether a loader surely gets entries of a file of settings, each as the option of its name."""
    found = [loader.value(entry.key) for entry in entries]
    return all(
        one is not None
        and isinstance(one.value, Constant)
        and not one.by_default
        and any(
            isinstance(link, Link)
            and link.path == str(preset.path)
            and (link.row, link.column) == preset.place(entry.value.start)
            for link in one.links
        )
        for one, entry in zip(found, entries, strict=True)
    )
