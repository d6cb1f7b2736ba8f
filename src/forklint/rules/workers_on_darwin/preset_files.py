"""Worker counts above 0 that a preset in YAML, TOML or JSON gives for a Mac, and what a count of 0 entails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from functools import cache
from pathlib import Path

from forklint.knowledge import presets
from forklint.loading.preset_readers import PresetReaders
from forklint.machines import programs
from forklint.model import Link
from forklint.project.index import Project
from forklint.records import dataclass
from forklint.rules.workers_on_darwin import preset_places
from forklint.rules.workers_on_darwin.preset_places import Place, by_name, text_of
from forklint.source.presets import Preset, format_of
from forklint.source.presets.nodes import MERGE, Address, Entry, Node, Shape
from forklint.values.worlds import DARWIN, EVERYWHERE, MPS, Worlds

WORKERS = re.compile(rb"(?i:workers?)")
OFF = ("no", "off", "false", "none", "null")
"""What readers of YAML take for no, though it be written as text."""
COUNTS = re.compile(rb"(?i)(?<!persistent[_-])workers")
"""A file without a match gives no count of its own."""
LARGEST_BASE = 20_000
"""Bytes of the largest file that may be one which others take over."""
MAC = re.compile(rb"(?i:darwin|mps|mac|osx|apple)")
OTHERS = re.compile(rb"(?i:cuda|gpu|[xt]pu\b|nvidia|auto\b)")
"""What names another accelerator, or leaves the choice to a library."""


def may_hold(project: Project, path: Path, data: bytes) -> bool:
    """Screen: whether a file may be a preset for a Mac, by its bytes, its name, its folders and those who read it."""
    if not WORKERS.search(data):
        return False
    if MAC.search(data) or preset_places.of_file(path, project.root).is_mac:
        return True
    if preset_places.of_file(path, project.root, hinted=True).is_mac:
        return True
    return not OTHERS.search(data) and bool(programs.may_choose(project))


def counts_for_mac(project: Project, preset: Preset) -> Iterator[PresetCount]:
    """Give the counts above 0 of a preset that a loader on a Mac gets."""
    if preset_places.is_foreign(preset.path, project.root):
        return
    sure = list(_counts(project, preset, hinted=False))
    yield from sure
    seen = {id(count.entry) for count in sure}
    for count in (*_counts(project, preset, hinted=True), *_counts_for_program(project, preset)):
        if id(count.entry) not in seen:
            seen.add(id(count.entry))
            yield count


def _counts_for_program(project: Project, preset: Preset) -> Iterator[PresetCount]:
    """Give the counts that programs whose only accelerator is MPS hand to a loader, if no other program reads them."""
    if OTHERS.search(preset.document.code):
        return
    readers = PresetReaders(project, preset.path)
    modules = readers.modules()
    if modules and all(programs.mps_only(project, module) is not None for module in modules):
        for count in PresetCounts(preset, Place(MPS, "in a file for programs whose only accelerator is MPS")).find():
            if count.certain and readers.hands_to_loader(last_part(count.key)):
                yield count


def _counts(project: Project, preset: Preset, *, hinted: bool) -> Iterator[PresetCount]:
    """Give the counts that a loader gets, on a Mac if the file is for one by its name, or if that only hints so.

    A hint is enough beside settings of a training, where the program asks for MPS.
    """
    place = preset_places.of_file(preset.path, project.root, hinted=hinted)
    if place.is_mac and _is_of_a_package(project, preset.path):
        return
    if hinted and not (place.is_mac and programs.asks_for_mps(project)):
        return
    for count in PresetCounts(preset, place).find():
        handed = PresetReaders(project, preset.path).hands_to_loader(last_part(count.key))
        told = count.certain or (count.in_training and not hinted)
        if (handed or (handed is None and told)) and (count.in_training or not hinted):
            yield count


def _is_of_a_package(project: Project, path: Path) -> bool:
    """Whether a folder of settings for a Mac has the name of a package of the project: that of a model, say."""
    packages = {one.parent.name for one in project.files if one.name == "__init__.py"}
    folders = preset_places.folders_of(path, project.root)[: preset_places.FOLDERS]
    return any(name in packages and by_name(name) != EVERYWHERE for name in folders)


@dataclass(frozen=True)
class PresetCount:
    """One number of workers, known to be more than 0 and for a Mac."""

    entry: Entry
    """Where it is written."""
    home: Node
    """The mapping for a Mac that has it, be it by a merge key."""
    address: Address
    """Of that mapping."""
    keys: tuple[str, ...]
    """The keys that lead to it."""
    place: Place
    through: Entry | None = None
    """The merge key by which the mapping gets it."""
    above: tuple[Node, ...] = ()
    """The mappings and sequences around it, the outermost first, its home last."""
    shared: bool = False
    """Whether other machines get it as well, by an alias of it or of what holds it."""
    in_training: bool = True
    """Whether settings of a training stand around it."""

    @property
    def certain(self) -> bool:
        """Whether its name alone says that it is a loader's."""
        return presets.count_kind(last_part(self.key)) == "certain"

    @property
    def key(self) -> str:
        """The key that says that it is a count; of ``num_workers: {darwin: 4}`` the outer one."""
        return self.entry.key if presets.count_kind(last_part(self.entry.key)) else self.keys[-2]

    @property
    def by_key(self) -> bool:
        """Whether its own key says that it is for a Mac, so that what stands beside it is for others too."""
        return by_name(self.entry.key) <= DARWIN

    @property
    def shown_at(self) -> Node:
        """Where a person looks for it: its value, or the merge key."""
        return self.through.value if self.through is not None else self.entry.value

    def links(self, preset: Preset) -> Iterator[Link]:
        """Give what says that it is for a Mac, and where the count is written, if these stand elsewhere."""
        row = preset.place(self.shown_at.start)[0]
        told = [(self.place.evidence, "this is for a Mac")]
        if self.through is not None:
            told.append((self.entry, f"`{self.key}` is set here"))
        for entry, message in told:
            if entry is not None and abs(preset.place(entry.start)[0] - row) > 1:
                yield Link(str(preset.path), *preset.place(entry.start), message)

    def has_options_elsewhere(self, preset: Preset) -> bool:
        """Whether an option that raises without workers stands elsewhere in the document and may reach this mapping.

        One with a count beside it does not, unless it is under a key such as ``base:``, which others take over.
        """
        beside = {id(entry) for entry, _ in self.options()}
        nodes = list(preset.trees[int(self.address[0])].walk())
        entries = (entry for node in nodes for entry in node.entries)
        bases = {id(entry.value.real) for entry in entries if entry.key.lower() in presets.listed("files", "bases")}
        for node in nodes:
            is_apart = node is not self.home and id(node) not in bases
            if is_apart and any(presets.count_kind(last_part(key)) for key in node.effective()):
                continue
            for entry in node.entries:
                name, _ = option_of(entry.key)
                if name and name != "timeout" and id(entry) not in beside and not _is_neutral(entry.value, name):
                    return True
        return False

    def options(self) -> list[tuple[Entry, str]]:
        """The options beside it that raise without workers, each with the source text of its neutral value."""
        found = []
        for entry in self.home.effective().values():
            name, before = option_of(entry.key)
            if not name or (self.by_key and not by_name(before) <= DARWIN):
                continue
            if not _is_neutral(entry.value, name):
                found.append((entry, presets.options()[name]))
        return found


def options_in_other_files(project: Project, preset: Preset) -> bool:
    """Whether a file that this one may be put together with gives an option that raises without workers.

    Judged by bytes. Where this file takes over others (Hydra's ``defaults``) that may be any in its language; else one
    that is named as a base, or that gives such an option and no count.
    """
    inherits = preset_places.any_key(preset.trees, presets.listed("files", "inherits"))
    for path in project.presets:
        if path == preset.path or format_of(path) != preset.format or project.size(path) > LARGEST_BASE:
            continue
        data = project.data(path)
        is_base = inherits or path.stem.lower() in presets.listed("files", "bases") or not COUNTS.search(data)
        if is_base and _given_options().search(data):
            return True
    return False


@cache
def _given_options() -> re.Pattern[bytes]:
    """Finds options that raise when the loader is made without workers, with a value that does not mean none."""
    names = "|".join(name for name in presets.options() if name != "timeout")
    return re.compile(rf"(?:{names})[\"']?\s*[:=]\s*(?!(?i:{'|'.join(OFF)})\b|~)[^\s#]".encode())


@dataclass(frozen=True)
class _Way:
    """The way from the root of a document to a node."""

    steps: Address
    keys: tuple[str, ...] = ()
    above: tuple[Node, ...] = ()

    def into(self, node: Node, step: str | int) -> _Way:
        """The way one step further."""
        keys = (*self.keys, step) if isinstance(step, str) else self.keys
        return _Way((*self.steps, step), keys, (*self.above, node))


@dataclass
class _Walk:
    """What is known on the way down one document."""

    tree: Node
    number: int
    used: dict[int, list[Worlds]] = field(default_factory=dict)
    """For each node that aliases stand for, the worlds of the places where they stand."""
    found: list[PresetCount] = field(default_factory=list)


class PresetCounts:
    """Finds the counts for a Mac in one preset."""

    def __init__(self, preset: Preset, root: Place) -> None:
        self._root = root
        self._walks = [_Walk(tree, number) for number, tree in enumerate(preset.trees)]

    def find(self) -> Iterator[PresetCount]:
        """Give the counts, in the order of the text within a document."""
        for walk in self._walks:
            keys = {entry.key for entry in walk.tree.entries}
            if any(roots <= keys for roots in presets.foreign_roots()):
                continue
            self._look(walk, walk.tree, self._root, _Way((walk.number,)))
            told = {id(count.entry) for count in walk.found if count.through is None}
            for count in walk.found:
                if (count.through is None or id(count.entry) not in told) and _is_loaders(count):
                    yield replace(count, shared=_is_shared(walk, count), in_training=_in_training(count, walk.tree))

    def _look(self, walk: _Walk, node: Node, place: Place, at: _Way) -> None:
        """Go through a node and what is below it."""
        if node.shape is Shape.ALIAS:
            walk.used.setdefault(id(node.real), []).append(place.worlds)
            return
        for number, item in enumerate(node.items):
            self._look(walk, item, place, at.into(node, number))
        if node.shape is not Shape.MAPPING:
            return
        is_row = bool(at.above) and at.above[-1].shape is Shape.SEQUENCE
        place = preset_places.within(place, node, walk.tree, is_row=is_row)
        unrepeated = set(node.unrepeated())
        for entry in node.entries:
            if entry.value.shape is Shape.SCALAR and not _is_count(entry, at.keys):
                continue
            inner = place.narrowed(by_name(last_part(entry.key)), _under(entry), entry)
            way = at.into(node, entry.key)
            if entry.key == MERGE:
                inner = place
            elif inner.is_mac and _is_count(entry, at.keys) and entry in unrepeated:
                walk.found.append(PresetCount(entry, node, at.steps, way.keys, inner, above=way.above))
            self._look(walk, entry.value, inner, way)
        merge = next((entry for entry in node.entries if entry.key == MERGE), None)
        if place.is_mac and merge is not None:
            self._merged(walk, node, merge, place, at)

    def _merged(self, walk: _Walk, node: Node, merge: Entry, place: Place, at: _Way) -> None:
        """Note the counts that a mapping for a Mac takes over from another."""
        own = {entry.key for entry in node.entries}
        for key, entry in node.effective().items():
            if key not in own and _is_count(entry, at.keys):
                way = at.into(node, key)
                walk.found.append(PresetCount(entry, node, at.steps, way.keys, place, merge, way.above))


def _under(entry: Entry) -> str:
    return "" if presets.count_kind(last_part(entry.key)) else f"under the key `{entry.key}`"


def last_part(key: str) -> str:
    """The last part of a key with dots, as overrides of the command line are written."""
    return key.rpartition(".")[2]


def _is_count(entry: Entry, keys: tuple[str, ...]) -> bool:
    """Whether an entry is a number of workers above 0; in ``num_workers: {darwin: 4}`` the inner entry is."""
    value = entry.value.real.value
    if "worker" not in entry.key.lower() and not (keys and "worker" in keys[-1].lower()):
        return False  # no other name is a count's, and there may be thousands of keys
    positive = (
        value > 0
        if type(value) is int
        else isinstance(value, str) and len(value) < 20 and value.isdecimal() and int(value) > 0
    )
    if not positive:
        return False
    by_platform = bool(keys) and bool(presets.count_kind(last_part(keys[-1]))) and bool(presets.machine_of(entry.key))
    return by_platform or bool(presets.count_kind(last_part(entry.key)))


def _is_loaders(count: PresetCount) -> bool:
    """Whether nothing beside a count says that it is for servers or tasks, and that a context was not chosen."""
    if preset_places.any_key([count.home], presets.listed("files", "elsewhere")):
        return False
    for entry in count.home.effective().values():
        name, _ = option_of(entry.key)
        if name == "multiprocessing_context" and not _is_neutral(entry.value, name):
            return False
    return True


def _is_shared(walk: _Walk, count: PresetCount) -> bool:
    """Whether an alias, elsewhere than in a part for a Mac, stands for what holds a count; or one for the count."""
    if count.through is None and walk.used.get(id(count.entry.value)):
        return True
    held = [count.home, *count.above]
    return any(not worlds <= DARWIN for node in held for worlds in walk.used.get(id(node), ()))


def _in_training(count: PresetCount, tree: Node) -> bool:
    """Whether a count stands among settings of a training."""
    around = [*count.above, count.home, *(part for node in count.above for part in node.parts), *tree.parts]
    telling = presets.listed("settings", "telling") | presets.listed("files", "telling")
    return preset_places.any_key(around, telling - presets.listed("settings", "device"))


def option_of(key: str) -> tuple[str, str]:
    """The option of a loader that a key means, and what stands before it: ``mac_prefetch_factor`` gives ``mac`` too."""
    name = last_part(key).lower().replace("-", "_")
    for option in presets.options():
        before = name.removesuffix(option).rstrip("_")
        if name.endswith(option) and (before in {"", "dataloader", "loader"} or by_name(before) <= DARWIN):
            return option, before
    return "", ""


def _is_neutral(value: Node, option: str) -> bool:
    """Whether an option's value is the one that does not raise without workers."""
    written = value.real.value
    if value.real.shape is not Shape.SCALAR:
        return False
    return not written or str(written).lower() in {presets.options()[option].lower(), *OFF}


def is_literal(value: Node) -> bool:
    """Whether a value is plainly that, and no interpolation that something else fills in."""
    return value.shape is Shape.SCALAR and "$" not in text_of(value)
