"""For which machines a part of a preset is: by file and folder, by key, by the device beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from forklint.knowledge import presets
from forklint.records import dataclass
from forklint.source.presets.nodes import Entry, Node, Shape
from forklint.values.worlds import BY_MACHINE, CUDA, DARWIN, EVERYWHERE, MPS, Worlds

FOLDERS = 3
"""How many folders above a file are asked for their names."""


@dataclass(frozen=True)
class Place:
    """The worlds for which a part of a preset is, and what says so."""

    worlds: Worlds = EVERYWHERE
    why: str = ""
    """Words for it, set once the worlds are those of a Mac."""
    evidence: Entry | None = None

    @property
    def is_mac(self) -> bool:
        """Whether it is for a Mac alone."""
        return bool(self.worlds) and self.worlds <= DARWIN

    def narrowed(self, worlds: Worlds, why: str, evidence: Entry | None = None) -> Place:
        """What is left of the place where something else speaks as well."""
        left = Place(self.worlds & worlds, self.why, self.evidence)
        return replace(left, why=why, evidence=evidence) if left.is_mac and not self.is_mac else left


def by_name(name: str) -> Worlds:
    """The worlds of a key, a file or a folder; all if its name says nothing. ``apple`` alone is a fruit or a brand."""
    words = set(presets.words(name))
    if words & presets.listed("darwin", "weak") and not words & (
        presets.listed("darwin", "words") | presets.listed("darwin", "models")
    ):
        return EVERYWHERE
    machine = presets.machine_of(name)
    return BY_MACHINE[machine] if machine else EVERYWHERE


def folders_of(path: Path, root: Path) -> tuple[str, ...]:
    """The names of the folders between a project's root and a file, the nearest first."""
    try:
        return tuple(reversed(path.parent.relative_to(root).parts))
    except ValueError:
        return ()


def is_foreign(path: Path, root: Path) -> bool:
    """Whether a file is known, by its name or folder, for something else than the settings of a program."""
    name = path.name.lower()
    if any(folder.lower() in presets.listed("files", "foreign_folders") for folder in folders_of(path, root)):
        return True
    return any(fnmatchcase(name, pattern) for pattern in presets.listed("files", "foreign_names"))


def of_file(path: Path, root: Path, *, hinted: bool = False) -> Place:
    """The place that a file is by its own name and those of its folders; or may be, if hints are enough."""
    read = _by_hint if hinted else by_name
    place = Place().narrowed(read(path.stem), f"in `{path.name}`, named for a Mac")
    for folder in folders_of(path, root)[:FOLDERS]:
        place = place.narrowed(read(folder), f"in the folder `{folder}`, named for a Mac")
    return place


def _by_hint(name: str) -> Worlds:
    machine = presets.machine_hinted(name)
    return BY_MACHINE[machine] if machine else by_name(name)


def within(place: Place, mapping: Node, tree: Node, *, is_row: bool) -> Place:
    """The place of what stands in a mapping, by what it says of its device and platform."""
    told: Worlds | None = None
    for chosen in _chosen(mapping):
        group = text_of(chosen.value)
        place = place.narrowed(by_name(group), f"with `{chosen.key}: {group}`", chosen)
    for key, entry in mapping.effective().items():
        worlds = device_worlds(key, entry.value)
        if worlds is not None:
            told = worlds
            device = text_of(entry.value) or key
            place = place.narrowed(worlds, f"with the device `{device}`", entry)
        elif key.lower() in presets.listed("files", "platform") or (is_row and key in presets.listed("files", "row")):
            place = place.narrowed(by_name(text_of(entry.value)), f"with `{key}: {text_of(entry.value)}`", entry)
    if told is None and not place.is_mac and (found := _device_of_program(mapping, tree)):
        place = place.narrowed(MPS, f"with the device `{text_of(found.value) or found.key}`", found)
    return place


def device_worlds(key: str, value: Node) -> Worlds | None:
    """The worlds of an entry that names a device; None if it names none, all if not one alone."""
    if key.lower() in presets.listed("settings", "device"):
        if value.real.shape is Shape.MAPPING:
            return None
        device = text_of(value).partition(":")[0].lower()
        return {"mps": MPS, "cuda": CUDA}.get(device, EVERYWHERE)
    if value.real.value is True and presets.machine_of(key) == "mps":
        return MPS
    return None


def text_of(value: Node) -> str:
    """The text of a scalar; empty if it is none."""
    return value.real.value if isinstance(value.real.value, str) else ""


def _device_of_program(mapping: Node, tree: Node) -> Entry | None:
    """The device given beside a mapping's other parts (``trainer.accelerator``), if the document has no other."""
    homes = presets.listed("files", "device_homes")
    found = [
        (worlds, inner)
        for entry in mapping.entries
        if entry.key.lower() in homes and entry.value.real.shape is Shape.MAPPING
        for key, inner in entry.value.real.effective().items()
        if (worlds := device_worlds(_device_key(entry.key, key), inner.value)) is not None
    ]
    if not found or any(worlds is not MPS for worlds, _ in found):
        return None
    return found[0][1] if all(entry in (MPS, None) for entry in _all_devices(tree)) else None


def _device_key(outer: str, key: str) -> str:
    """The key by which to judge a part: the ``name`` in ``device: {name: mps}`` is a device."""
    is_device = outer.lower() in presets.listed("settings", "device")
    return outer if is_device and key.lower() in presets.listed("files", "device_names") else key


def _chosen(mapping: Node) -> Iterator[Entry]:
    """The files for a device or platform that Hydra's ``defaults`` choose: ``override /trainer: mps``."""
    groups = presets.listed("files", "device_homes") | presets.listed("files", "platform")
    groups |= presets.listed("settings", "device")
    for entry in mapping.entries:
        if entry.key == "defaults":
            for item in entry.value.real.items:
                for choice in item.real.entries:
                    group = choice.key.removeprefix("override").strip().partition("@")[0].rpartition("/")[2]
                    if group.lower() in groups:
                        yield choice


def _all_devices(tree: Node) -> Iterator[Worlds | None]:
    """Give the worlds of each device that a document names, that of the CPU left out."""
    for node in tree.walk():
        for entry in node.entries:
            if text_of(entry.value).lower() != "cpu":
                yield device_worlds(entry.key, entry.value)


def any_key(nodes: Iterable[Node], keys: frozenset[str]) -> bool:
    """Whether some mapping has one of these keys."""
    return any(entry.key.lower() in keys for node in nodes for entry in node.real.entries)
