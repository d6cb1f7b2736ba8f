"""Settings that the project reads from YAML, TOML and JSON, and those that Hydra composes of several files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from forklint.project import entries
from forklint.project.spelling import last_name, text_of
from forklint.source import document, presets
from forklint.source.kinds import PRESET_SUFFIXES
from forklint.source.presets.nodes import Entry, Node, Shape
from forklint.values.model import (
    NOTHING,
    Arguments,
    Constant,
    Expression,
    Found,
    Setting,
    Table,
)

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.source.presets import Preset
    from forklint.values.evaluator import Evaluator

REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")
MOST_NESTED = 4
"""How deep the default lists of Hydra are followed."""
GLOBAL = re.compile(r"^#\s*@package\s+(\S+)", re.MULTILINE)


# Reading


def read_by(evaluator: Evaluator, call: Expression, name: str) -> Found:
    """The settings that a call reads from a file of the project; NOTHING if it is not certain which."""
    node = call.node
    assert isinstance(node, ast.Call)  # noqa: S101 - the caller says so
    if name.endswith(".compose"):
        overridden = any(key == "overrides" for key, _ in entries.of_call(node))
        return NOTHING if overridden else _named(evaluator, call, _named_folder(evaluator, call), by_default=False)
    first = node.args[0] if node.args else None
    path = evaluator.find(call.part(first)) if first is not None else NOTHING
    if not isinstance(path.value, Constant) or not isinstance(path.value.value, str):
        return NOTHING
    found = locate(evaluator.project, call.module.path, path.value.value)
    preset = load(evaluator.project, found) if found is not None else None
    if preset is None or len(preset.trees) != 1:
        return NOTHING
    return Found(Setting(preset, preset.trees[0], by_default=path.by_default), by_default=path.by_default)


def path_of(evaluator: Evaluator, call: Expression) -> Found:
    """The path that ``open``, ``Path`` or ``os.path.join`` is about, as far as its last parts are known."""
    node = call.node
    assert isinstance(node, ast.Call)  # noqa: S101 - the caller says so
    name = last_name(node.func)
    parts = node.args[:1] if name == "open" else node.args
    text, default = "", False
    for part in reversed(parts):
        found = evaluator.find(call.part(part))
        if not isinstance(found.value, Constant) or not isinstance(found.value.value, str):
            break
        text, default = str(PurePosixPath(found.value.value) / text), default or found.by_default
    return Found(Constant(text), by_default=default) if text else NOTHING


def locate(project: Project, importer: Path, text: str) -> Path | None:
    """The file of settings that a path in the code means: from the root, beside the code, or the only one so named.

    A path from the top of somebody's disk may end in the name of a file that the project has as well.
    """
    parts = tuple(part for part in text.replace("\\", "/").split("/") if part not in {"", ".", ".."})
    if not parts or Path(parts[-1]).suffix.lower() not in PRESET_SUFFIXES:
        return None
    named = [path for path in project.presets if path.parts[-len(parts) :] == parts]
    for folder in (project.root, importer.parent):
        if folder.joinpath(*parts) in named:
            return folder.joinpath(*parts)
    if not named and text.startswith(("/", "~")):
        named = [path for path in project.presets if path.name == parts[-1]]
    return named[0] if len(named) == 1 else None


def load(project: Project, path: Path) -> Preset | None:
    """Read a file of settings of the project; None if it cannot be read, or is too large for one."""
    return project.answer("preset read", path, lambda: _load(project, path))


def _load(project: Project, path: Path) -> Preset | None:
    if not is_small(project, path):
        return None
    try:
        return presets.read(document.decode(path, project.data(path)))
    except (document.UnreadableError, presets.PresetError):
        return None


def is_small(project: Project, path: Path) -> bool:
    """Whether a file is as small as settings that people write."""
    return 0 <= project.size(path) <= presets.LARGEST[presets.format_of(path)]


# Values


def is_scalar(setting: Setting) -> bool:
    """Whether a setting is a single value."""
    return setting.node.real.shape is Shape.SCALAR


def held(evaluator: Evaluator, setting: Setting) -> Found:
    """What a setting holds: a constant with its place, or the part of the file that it is."""
    node = setting.node.real
    if node.shape is not Shape.SCALAR:
        return Found(setting, by_default=setting.by_default)
    if isinstance(node.value, str) and "${" in node.value:
        return _referred(evaluator, setting, node.value)
    if not (node.value is None or isinstance(node.value, (str, int, float))):
        return NOTHING
    key = _key_of(setting)
    return Found(Constant(node.value), (setting.link(f"`{key}` is {node.value} here"),), setting.by_default)


def _referred(evaluator: Evaluator, setting: Setting, text: str) -> Found:
    """What ``${data.workers}`` refers to."""
    match = REFERENCE.fullmatch(text.strip())
    found = Found(setting.root or setting)
    for name in match[1].split(".") if match else ():
        found = evaluator.member(found, name)
    return found if match and isinstance(found.value, Constant) else NOTHING


def _key_of(setting: Setting) -> str:
    for node in (setting.root or setting).preset.trees if setting.root is None else setting.preset.trees:
        for mapping in node.walk():
            for entry in mapping.entries:
                if entry.value is setting.node:
                    return entry.key
    return "it"


def member(evaluator: Evaluator, setting: Setting, name: str) -> Found:
    """What stands under a key."""
    child = child_of(setting, name)
    return held(evaluator, child) if child is not None else NOTHING


def child_of(setting: Setting, name: str) -> Setting | None:
    """The setting under a key of a mapping, with those that it covers."""
    layers = [setting, *setting.under]
    found = [child for layer in layers if (child := _own_child(layer, name)) is not None]
    if not found:
        return None
    first, *rest = found
    covered = tuple(child for child in rest if child.node.real.shape is Shape.MAPPING)
    root = setting.root or setting
    return replace(first, root=root, under=(*first.under, *covered), by_default=setting.by_default)


def _own_child(setting: Setting, name: str) -> Setting | None:
    node = setting.node.real
    entry = node.effective().get(name) if node.shape is Shape.MAPPING else None
    return Setting(setting.preset, entry.value) if entry is not None else None


def item(evaluator: Evaluator, setting: Setting, index: int) -> Found:
    """What stands in a list."""
    items = setting.node.real.items
    if not -len(items) <= index < len(items):
        return NOTHING
    return held(evaluator, Setting(setting.preset, items[index], setting.root or setting, (), setting.by_default))


def table(setting: Setting) -> Table | None:
    """The entries of a mapping; None for anything else."""
    if setting.node.real.shape is not Shape.MAPPING:
        return None
    names = dict.fromkeys(name for layer in (setting, *setting.under) for name in layer.node.real.effective())
    children = {name: child_of(setting, name) for name in names}
    return Table({name: child for name, child in children.items() if child is not None})


# Hydra


def composed(evaluator: Evaluator, mark: Expression) -> Found:
    """The settings that ``hydra.main(config_path=..., config_name=...)`` composes."""
    return _named(evaluator, mark, _named_folder(evaluator, mark), by_default=True)


def _named_folder(evaluator: Evaluator, call: Expression) -> Path | None:
    given = dict(entries.of_call(call.node)) if isinstance(call.node, ast.Call) else {}
    positional = call.node.args if isinstance(call.node, ast.Call) else []
    path = given.get("config_path") or (positional[0] if positional else None)
    if path is None:
        return _initialized(call)
    text = evaluator.find(call.part(path)).value
    if isinstance(text, Constant) and isinstance(text.value, str):
        return Path(*_normal((call.module.path.parent / text.value).parts))
    return call.module.path.parent if isinstance(text, Constant) and text.value is None else None


def _initialized(call: Expression) -> Path | None:
    """The folder that ``initialize(config_path=...)`` names in the same module, for ``compose``."""
    for node in call.module.nodes:
        if isinstance(node, ast.Call) and last_name(node.func) == "initialize":
            texts = [text_of(value) for key, value in entries.of_call(node) if key == "config_path"]
            if texts and texts[0]:
                return Path(*_normal((call.module.path.parent / texts[0]).parts))
    return None


def _normal(parts: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for part in parts:
        if part == ".." and len(found) > 1:
            found.pop()
        elif part != ".":
            found.append(part)
    return found


def _named(evaluator: Evaluator, call: Expression, folder: Path | None, *, by_default: bool) -> Found:
    given = dict(entries.of_call(call.node)) if isinstance(call.node, ast.Call) else {}
    name = evaluator.find(call.part(given["config_name"])).value if "config_name" in given else None
    if folder is None or not isinstance(name, Constant) or not isinstance(name.value, str):
        return NOTHING
    layers = _layers(evaluator.project, folder, name.value, "", MOST_NESTED)
    if not layers:
        return NOTHING
    first, *rest = (replace(layer, by_default=by_default) for layer in layers)
    return Found(replace(first, under=tuple(rest)), by_default=by_default)


def _layers(project: Project, folder: Path, name: str, package: str, depth: int) -> list[Setting]:
    """The mappings that are put on top of each other, the one that counts first."""
    short = name.removesuffix(".yaml").removesuffix(".yml")
    candidates = [folder / f"{stem}{suffix}" for stem in (name, short) for suffix in (".yaml", ".yml")]
    name, path = short, next(filter(project.has_file, candidates), None)
    preset = load(project, path) if path is not None else None
    if path is None or preset is None or not preset.trees or depth <= 0:
        return []
    said = GLOBAL.search(preset.text)
    if said and said[1] != "_global_":
        return []
    package = "" if said else package
    tree = preset.trees[0]
    own = _placed(Setting(preset, tree), package)
    below: list[Setting] = []
    above: list[Setting] = []
    for group, chosen in _defaults(tree):
        if group == "_self_":
            below, above = above + below, []  # what was listed before is covered by the file itself
            continue
        inner = f"{package}.{group}".strip(".").replace("/", ".") if group else package
        above = _layers(project, path.parent / group, chosen, inner, depth - 1) + above
    return [*above, own, *below]


def _defaults(tree: Node) -> Iterator[tuple[str, str]]:
    """Give each entry of a list of defaults: its group and the file chosen; ``_self_`` as a group of its own."""
    listed = tree.effective().get("defaults") if tree.shape is Shape.MAPPING else None
    for node in listed.value.real.items if listed is not None else ():
        if node.shape is Shape.SCALAR and isinstance(node.value, str):
            yield ("_self_", "") if node.value == "_self_" else ("", node.value)
        for entry in node.entries:
            if isinstance(entry.value.real.value, str) and not entry.key.startswith("override "):
                yield entry.key.removeprefix("optional "), entry.value.real.value


def _placed(setting: Setting, package: str) -> Setting:
    """A mapping as it stands below a package: ``data`` makes ``{data: mapping}``."""
    node = setting.node
    for name in reversed(package.split(".") if package else []):
        node = Node(Shape.MAPPING, node.start, node.end, entries=[Entry(name, node.start, node)])
    return replace(setting, node=node)


# Objects that files describe

NAMED_BESIDE = "_target_"
"""A class by its name, with what it is given beside it, as Hydra's ``instantiate`` reads it."""
NAMED, GIVEN = "type", "args"
"""A class by its name, and the mapping of what it is given: ``getattr(module, c["type"])(**c["args"])``. The code that
reads it may give it more."""
BY_PATH, ALL_GIVEN = "class_path", "init_args"
"""The same as jsonargparse and Lightning's command line read it, which give it nothing else but what is linked."""


def targets(evaluator: Evaluator, words: frozenset[str]) -> list[Arguments]:
    """What files give to classes that they name."""
    return [
        given
        for setting, name, is_all in _all_targets(evaluator.project)
        if name.rpartition(".")[2] in words
        if (given := _arguments(setting, is_all=is_all)) is not None
    ]


def is_named(project: Project, path: Path, name: str) -> bool:
    """Whether a file says that an object of a class, which a module defines, is to be made."""
    inside = {path.stem, *path.parts}
    named = (one.split(".") for _, one, _ in _all_targets(project))
    return any(last == name and (not above or above[-1] in inside) for *above, last in named)


def _all_targets(project: Project) -> list[tuple[Setting, str, bool]]:
    return project.answer("classes that files name", None, lambda: list(_find_targets(project)))


def _find_targets(project: Project) -> Iterator[tuple[Setting, str, bool]]:
    """Give what is given, the class's name, and whether the file alone gives it."""
    for path in project.presets:
        if path.suffix.lower() not in {".yaml", ".yml", ".json"} or not is_small(project, path):
            continue
        data = project.data(path)
        pairs = ((NAMED_BESIDE, NAMED_BESIDE), (NAMED, GIVEN), (BY_PATH, ALL_GIVEN))
        if not any(name.encode() in data and given.encode() in data for name, given in pairs):
            continue
        preset = load(project, path)
        for tree in preset.trees if preset is not None else ():
            for node in tree.walk():
                found = _described(node) if node.shape is Shape.MAPPING else None
                if preset is not None and found is not None:
                    given, name, is_all = found
                    setting = Setting(preset, given, Setting(preset, tree), by_default=True)
                    yield setting, name, is_all


def _described(node: Node) -> tuple[Node, str, bool] | None:
    """The mapping of what a class is given, its name, and whether it is given nothing else."""
    beside = node.own(NAMED_BESIDE)
    if beside is not None and isinstance(beside.value.value, str):
        return node, beside.value.value, True
    for key, below, is_all in ((NAMED, GIVEN, False), (BY_PATH, ALL_GIVEN, True)):
        named, given = node.own(key), node.own(below)
        if named is not None and given is not None and given.value.shape is Shape.MAPPING:
            return (given.value, named.value.value, is_all) if isinstance(named.value.value, str) else None
    return None


def _arguments(setting: Setting, *, is_all: bool) -> Arguments | None:
    found = table(setting)
    if found is None:
        return None
    own = {name: value for name, value in found.entries.items() if not name.startswith("_")}
    return Arguments((), own, open=not is_all)
