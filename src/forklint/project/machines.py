"""For which machine a place in the code is meant: by its branch, its names, its neighbours, its program."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from forklint.knowledge import presets
from forklint.project.index import Project, Value
from forklint.project.module import FunctionFacts, Module
from forklint.project.platforms import (
    BY_MACHINE,
    CUDA,
    DARWIN,
    DEPTH,
    EVERYWHERE,
    MPS,
    Conditions,
    Regions,
    World,
    Worlds,
    last_name,
)
from forklint.project.scopes import FUNCTIONS, Kind

QUOTED_MPS = re.compile(rb"""["']mps(:0)?["']""")
PLAINLY_OTHER = re.compile(rb"""torch\.cuda|\.cuda\(|["']cuda""")
"""Holds in almost every file that speaks of CUDA, and saves the parsing."""
OTHER_ACCELERATOR = re.compile(rb"cuda|gpu|xpu|xla|hpu|npu|tpu|rocm|auto|accelerat", re.IGNORECASE)
OTHER_WORDS = frozenset({"cuda", "gpu", "gpus", "xpu", "xla", "hpu", "npu", "tpu", "rocm", "auto", "accelerate", "nvidia"})


@dataclass(frozen=True)
class Place:
    """The worlds that a place is for, and what first said that it is for a Mac alone."""

    worlds: Worlds
    why: str = ""
    """Where that is, to stand in a message: ``in `MAC_LOADER```; empty if the place is for others too."""
    evidence: ast.AST | None = None
    """The node that says so."""


class Machines:
    """Answers for one module."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module
        self.conditions = Conditions(project, module)
        self.regions = Regions(self.conditions)

    def place(self, node: ast.AST) -> Place:
        """For which machines a node is meant, from all that stands around it."""
        worlds, why, evidence = EVERYWHERE, "", None
        for struck, words, said in self._around(node):
            worlds &= struck
            if worlds <= DARWIN and not why:
                why, evidence = words, said
        return Place(worlds, why if worlds and worlds <= DARWIN else "", evidence)

    def _around(self, node: ast.AST) -> Iterator[tuple[Worlds, str, ast.AST | None]]:
        """Give what each step outwards leaves of the worlds, with words and node for it."""
        parents = self.module.parents
        while node in parents:
            above = parents[node]
            yield self.regions.within(above, node), f"in a branch that only a Mac takes{self._words(above)}", above
            if isinstance(node, (ast.stmt, ast.match_case)):
                yield self.regions.before(above, node), "where only a Mac gets", above
            yield from self._named(above, node)
            yield self._beside(above, node), "beside the device `mps`", above
            node = above
        stem = self.module.path.stem
        yield _by_name(stem), f"in `{self.module.path.name}`, named for a Mac", None

    def _words(self, above: ast.AST) -> str:
        test = getattr(above, "test", None) or getattr(above, "subject", None)
        return f" (`{ast.unparse(test)}`)" if isinstance(test, ast.expr) else ""

    def _named(self, above: ast.AST, node: ast.AST) -> Iterator[tuple[Worlds, str, ast.AST]]:
        """What the names say that a node is bound to or keyed by."""
        if isinstance(above, ast.Dict):
            for key, value in zip(above.keys, above.values):
                if value is node and isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield _by_name(key.value), f"under the key `{key.value}`", key
        elif isinstance(above, ast.keyword) and above.arg:
            yield _by_name(above.arg), f"in `{above.arg}`, named for a Mac", above
        elif isinstance(above, (ast.Assign, ast.AnnAssign)) and node is above.value:
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            for target in targets:
                yield _by_name(last_name(target)), f"in `{last_name(target)}`, named for a Mac", target
        elif isinstance(above, ast.arguments):
            for name, default in _defaults(above):
                if default is node:
                    yield _by_name(name), f"in `{name}`, named for a Mac", above
        elif isinstance(above, (*FUNCTIONS, ast.ClassDef)):
            yield _by_name(above.name), f"in `{above.name}`, named for a Mac", above

    def _beside(self, above: ast.AST, node: ast.AST) -> Worlds:
        """The worlds of the device that the same dictionary, call or class names."""
        named: list[tuple[str, ast.expr]] = []
        if isinstance(above, ast.Dict):
            named = [(k.value, v) for k, v in zip(above.keys, above.values) if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        elif isinstance(above, ast.Call) and node is not above.func:
            named = [(keyword.arg, keyword.value) for keyword in above.keywords if keyword.arg]
        elif isinstance(above, ast.ClassDef):
            for statement in above.body:
                if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                    named.append((last_name(target), statement.value))
        for name, value in named:
            if name.lower() in presets.listed("settings", "device"):
                return self._worlds_of_devices(value)
            if presets.machine_of(name) == "mps" and isinstance(value, ast.Constant) and value.value is True:
                return MPS
        return EVERYWHERE

    def _worlds_of_devices(self, value: ast.expr) -> Worlds:
        devices = self.devices(value, DEPTH)
        if devices and devices <= {"mps", "cpu"} and "mps" in devices:
            return MPS
        if devices and devices <= {"cuda", "cpu"} and "cuda" in devices:
            return CUDA
        return EVERYWHERE

    def devices(self, value: ast.expr, depth: int = DEPTH) -> frozenset[str]:
        """Names of the devices that an expression can come to; ``?`` among them for what is unknown."""
        if isinstance(value, ast.Constant):
            return frozenset({value.value.partition(":")[0].lower()} if isinstance(value.value, str) else {"?"})
        if isinstance(value, ast.IfExp):
            return self.devices(value.body, depth) | self.devices(value.orelse, depth)
        if isinstance(value, ast.BoolOp):
            return frozenset().union(*(self.devices(part, depth) for part in value.values))
        if isinstance(value, ast.Call) and last_name(value.func) in {"device", "field", "str"} and depth > 0:
            default = [keyword.value for keyword in value.keywords if keyword.arg in {"default", "type"}]
            given = [*value.args, *default]
            return self.devices(given[0], depth - 1) if given else frozenset("?")
        if isinstance(value, (ast.Name, ast.Attribute, ast.Call)) and depth > 0:
            target = value.func if isinstance(value, ast.Call) else value
            symbol = self.project.resolve(self.module, self.module.scope_at(value), target)
            if isinstance(symbol, Value) and symbol.binding.value is not None and target is value:
                return Machines(self.project, symbol.module).devices(symbol.binding.value, depth - 1)
            if isinstance(symbol, FunctionFacts) and target is not value:
                return Machines(self.project, symbol.module)._returned(symbol, depth - 1)
        return frozenset("?")

    def _returned(self, function: FunctionFacts, depth: int) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for node in ast.walk(function.node):
            if isinstance(node, ast.Return) and node.value is not None:
                found |= self.devices(node.value, depth)
        return found


def _by_name(name: str) -> Worlds:
    machine = presets.machine_of(name)
    return BY_MACHINE[machine] if machine else EVERYWHERE


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    for argument, default in zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults):
        yield argument.arg, default
    for argument, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if keyword_default is not None:
            yield argument.arg, keyword_default


class Programs:
    """Which modules belong to programs whose only accelerator is MPS.

    A program is all that a module's importers and the module itself import, at any depth. It is one
    for MPS alone if some file of it chooses the device ``mps`` and none speaks of another accelerator.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._speaks: dict[Path, bool] = {}
        self._importers: dict[Path, list[Path]] | None = None
        self._choosers: frozenset[Path] | None = None

    @property
    def choosers(self) -> frozenset[Path]:
        """Files that choose the device ``mps`` and speak of no other accelerator."""
        if self._choosers is None:
            self._choosers = frozenset(path for path in self.project.files if self._chooses(path))
        return self._choosers

    def mps_only(self, module: Module) -> Path | None:
        """The file that makes a module's program one for MPS alone; None if it is none."""
        if not self.choosers or self._other(module.path):
            return None
        members = self._reached(self._above(module.path))
        chooser = next((path for path in sorted(members) if path in self.choosers), None)
        if chooser is None or any(self._other(path) for path in members):
            return None
        return module.path if module.path in self.choosers else chooser

    def _above(self, path: Path) -> set[Path]:
        """A file and all that import it, at any depth."""
        if self._importers is None:
            self._importers = {}
            for file in self.project.files:
                for target in self.project.graph.imports(file):
                    self._importers.setdefault(target, []).append(file)
        return closure({path}, lambda file: self._importers.get(file, ()) if self._importers else ())

    def _reached(self, paths: set[Path]) -> set[Path]:
        return closure(paths, self.project.graph.imports)

    def _other(self, path: Path) -> bool:
        """Whether a file speaks of an accelerator that is not MPS, outside comments and docstrings."""
        known = self._speaks.get(path)
        if known is None:
            known = bool(PLAINLY_OTHER.search(self.project.data(path)))
            if not known and OTHER_ACCELERATOR.search(self.project.data(path)):
                module = self.project.module(path)
                known = module is None or any(not OTHER_WORDS.isdisjoint(found) for found in _spoken(module))
            self._speaks[path] = known
        return known

    def _chooses(self, path: Path) -> bool:
        data = self.project.data(path)
        if b"mps" not in data or not QUOTED_MPS.search(data) or self._other(path):
            return False
        module = self.project.module(path)
        return module is not None and any(_is_choice(module, node) for node in ast.walk(module.tree))


def closure(start: set[Path], step: Callable[[Path], Iterable[Path]]) -> set[Path]:
    """Give some files and all that ``step`` leads to from them."""
    seen, waiting = set(start), list(start)
    while waiting:
        for path in step(waiting.pop()):
            if path not in seen:
                seen.add(path)
                waiting.append(path)
    return seen


def _spoken(module: Module) -> Iterator[frozenset[str]]:
    """Give the words of each name and each short string of a module."""
    for node in ast.walk(module.tree):
        name = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None) or getattr(node, "name", None)
        if isinstance(name, str):
            yield frozenset(presets.words(name))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value and len(node.value) < 40:
            yield frozenset(presets.words(node.value))
    for scope in module.all_scopes:
        for bindings in scope.bindings.values():
            for binding in bindings:
                if binding.kind is Kind.IMPORT:
                    yield frozenset(presets.words(f"{binding.module}.{binding.attribute}"))


def _is_choice(module: Module, node: ast.AST) -> bool:
    """Whether a node is the text ``mps`` where a device is chosen, not where one is compared."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in {"mps", "mps:0"}):
        return False
    above: ast.AST = module.parents[node]
    inner: ast.AST = node
    while isinstance(above, (ast.IfExp, ast.BoolOp)):
        inner, above = above, module.parents[above]
    device = presets.listed("settings", "device")
    if isinstance(above, ast.Call):
        return last_name(above.func) in {"device", "to", "set_default_device"} and inner in above.args
    if isinstance(above, ast.keyword):
        return above.arg in device or (above.arg == "default" and "device" in ast.unparse(module.parents[above]))
    if isinstance(above, ast.Assign):
        return any("device" in presets.words(last_name(target)) for target in above.targets)
    if isinstance(above, ast.AnnAssign):
        return "device" in presets.words(last_name(above.target))
    if isinstance(above, ast.Dict):
        return any(v is inner and isinstance(k, ast.Constant) and k.value in device for k, v in zip(above.keys, above.values))
    if isinstance(above, ast.Return):
        scope = module.scope_at(above).node
        return isinstance(scope, FUNCTIONS) and "device" in presets.words(scope.name)
    return False


def is_for_mps(worlds: Worlds) -> bool:
    """Whether MPS is among the worlds of a place, without CUDA having been singled out."""
    return World.MPS in worlds and not worlds <= CUDA
