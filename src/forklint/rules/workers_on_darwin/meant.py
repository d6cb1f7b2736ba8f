"""For which machine a place in the code is meant: by its branch, its names and its neighbours."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.knowledge import presets
from forklint.project import entries
from forklint.project.entries import Entry
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.values.devices import devices
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression
from forklint.values.worlds import BY_MACHINE, CUDA, DARWIN, EVERYWHERE, MPS, Conditions, Regions, Worlds


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
        self.regions = Regions(Conditions(project, module))

    def place(self, node: ast.AST) -> Place:
        """For which machines a node is meant, from all that stands around it."""
        worlds, why, evidence = EVERYWHERE, "", None
        for left, words, said in self._around(node):
            worlds &= left
            if worlds <= DARWIN and not why:
                why, evidence = words, said
        return Place(worlds, why, evidence) if worlds and worlds <= DARWIN else Place(worlds)

    def _around(self, node: ast.AST) -> Iterator[tuple[Worlds, str, ast.AST | None]]:
        """Give what each step outwards leaves of the worlds, with words and node for it."""
        parents = self.module.parents
        while node in parents:
            above = parents[node]
            yield self.regions.within(above, node), f"in a branch for macOS only{_test_of(above)}", above
            if isinstance(node, (ast.stmt, ast.match_case)):
                yield self.regions.before(above, node), "in code for macOS only", above
            for name, words in _names_of(above, node):
                yield _by_name(name), words, above
            worlds, device = self._beside(above, node)
            yield worlds, "with the device `mps`", device
            node = above
        yield _by_name(self.module.path.stem), f"in `{self.module.path.name}`, named for a Mac", None

    def _beside(self, above: ast.AST, node: ast.AST) -> tuple[Worlds, ast.AST | None]:
        """The worlds of the device that the same dictionary, call or class names, and where."""
        for name, value in _neighbours(above, node):
            if name.lower() in presets.listed("settings", "device"):
                return self._worlds_of(value), value
            if presets.machine_of(name) == "mps" and isinstance(value, ast.Constant) and value.value is True:
                return MPS, value
        return EVERYWHERE, None

    def _worlds_of(self, device: ast.expr) -> Worlds:
        found = devices(Evaluator(self.project), Expression(self.module, self.module.scope_at(device), device))
        names = {name for name, _ in found.names} - {"cpu"}
        known = {frozenset({"mps"}): MPS, frozenset({"cuda"}): CUDA}
        return known.get(frozenset(names), EVERYWHERE) if found.is_all else EVERYWHERE


def _test_of(above: ast.AST) -> str:
    test = getattr(above, "test", None) or getattr(above, "subject", None)
    return f" (`{ast.unparse(test)}`)" if isinstance(test, ast.expr) else ""


def _names_of(above: ast.AST, node: ast.AST) -> Iterator[tuple[str, str]]:
    """Give the names that a node is bound to or keyed by, each with words for it."""
    if isinstance(above, ast.Dict):
        yield from ((name, f"under the key `{name}`") for name, value in entries.of_dict(above) if value is node)
        return
    if isinstance(above, ast.keyword):
        names = [above.arg or ""]
    elif isinstance(above, (ast.Assign, ast.AnnAssign)) and node is above.value:
        names = [last_name(target) for target in entries.targets(above)]
    elif isinstance(above, ast.arguments):
        names = [name for name, value in entries.of_arguments(above) if value is node]
    else:
        names = [above.name] if isinstance(above, (*FUNCTIONS, ast.ClassDef)) else []
    yield from ((name, f"in `{name}`, named for a Mac") for name in names)


def _neighbours(above: ast.AST, node: ast.AST) -> Iterator[Entry]:
    """Give the settings that stand beside a node in a dictionary, call or class."""
    if isinstance(above, ast.Dict):
        yield from entries.of_dict(above)
    elif isinstance(above, ast.Call) and node is not above.func:
        yield from entries.of_call(above)
    elif isinstance(above, ast.ClassDef):
        yield from entries.of_block(above.body)


def _by_name(name: str) -> Worlds:
    machine = presets.machine_of(name)
    return BY_MACHINE[machine] if machine else EVERYWHERE
