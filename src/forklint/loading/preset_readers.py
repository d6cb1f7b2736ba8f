"""Which Python files read a preset, and what they do with a number of workers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from forklint.knowledge import presets
from forklint.loading.rows import is_other_call
from forklint.project import entries
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import last_name, text_of
from forklint.records import dataclass

MOST_READERS = 2
"""So many places are shown that read a preset."""


@dataclass(frozen=True)
class Reader:
    """The place in a Python file that names a preset."""

    module: Module
    node: ast.expr


class PresetReaders:
    """The code around one preset."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project = project
        self.path = path

    def find(self) -> list[Reader]:
        """The places that certainly name the file, by its path or, if no other preset has it, by its name alone."""
        return self.project.answer("readers of presets", self.path, self._found)

    def modules(self) -> list[Module]:
        """The modules that certainly name the file."""
        return self.project.answer("modules that read presets", self.path, lambda: list(self._modules()))

    def _found(self) -> list[Reader]:
        return [Reader(module, node) for module in self.modules() for node in self._namings(module)][:MOST_READERS]

    def _modules(self) -> Iterator[Module]:
        name, stem = self.path.name.encode(), self.path.stem.encode()
        containing = self.project.containing
        naming = {*containing(name), *set(containing(stem)).intersection(containing(b"config_name"))}
        for module in self.project.modules(self.project.in_order(naming)):
            if any(True for _ in self._namings(module)):
                yield module

    def _namings(self, module: Module) -> Iterator[ast.expr]:
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and self._is_named(node.value):
                yield node
            elif isinstance(node, ast.Call) and any(key == "config_name" for key, _ in entries.of_call(node)):
                given = {key: text_of(value) for key, value in entries.of_call(node)}
                folder = Path(given.get("config_path") or ".").name
                is_here = folder == self.path.parent.name or ("config_path" not in given and self._is_only())
                if given["config_name"].removesuffix(self.path.suffix) == self.path.stem and is_here:
                    yield next(value for key, value in entries.of_call(node) if key == "config_name")

    def _is_named(self, text: str) -> bool:
        parts = tuple(part for part in text.replace("\\", "/").split("/") if part not in {"", ".", ".."})
        if not parts or parts[-1] != self.path.name or self.path.parts[-len(parts) :] != parts:
            return False
        return len(parts) > 1 or self._is_only()

    def _is_only(self) -> bool:
        """Whether no other preset of the project has the name."""
        return sum(path.name == self.path.name for path in self.project.presets) <= 1

    # What becomes of the count

    def hands_to_loader(self, key: str) -> bool | None:
        """Whether code that knows the file gives what stands under a key to a loader; None if that is not seen."""
        seen = set()
        for module in dict.fromkeys(reader.module for reader in self.find()):
            seen |= {_goes_to_loader(module, node) for node in reads(module, key)}
        return True if True in seen else None if None in seen or not seen else False

    def strict(self, keys: frozenset[str]) -> frozenset[str]:
        """Those keys that code of the project reads as if they were always there, or takes as an argument."""
        return frozenset(
            key
            for key in keys
            for module in self.project.mentioning(key)
            if any(isinstance(node, (ast.Subscript, ast.Attribute)) for node in reads(module, key))
            or any(_takes(node, key) for node in module.nodes)
        )

    def sets_options(self) -> bool:
        """Whether code of the project gives a loader an option that raises without workers."""
        for option, neutral in presets.options().items():
            if option == "timeout":
                continue
            for module in self.project.mentioning(option):
                calls = (node for node in module.nodes if isinstance(node, ast.Call))
                given = (value for call in calls for key, value in entries.of_call(call) if key == option)
                if any(isinstance(value, ast.Constant) and ast.unparse(value) != neutral for value in given):
                    return True
        return False


def reads(module: Module, key: str) -> Iterator[ast.expr]:
    """Give where a module takes something by a key: ``c["key"]``, ``c.key``, ``c.get("key")``."""
    for node in module.nodes:
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found = node.attr == key if isinstance(node, ast.Attribute) else text_of(node.slice) == key
        elif isinstance(node, ast.Call) and last_name(node.func) in {"get", "pop", "getattr"}:
            found = any(text_of(argument) == key for argument in node.args[:2])
        else:
            continue
        if found and isinstance(node, ast.expr):
            yield node


def _takes(node: ast.AST, key: str) -> bool:
    """Whether a node is a parameter or a field of that name, or lists the key: ``for k in ("a", "b"): c[k]``."""
    if isinstance(node, ast.arg):
        return node.arg == key
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name) and node.target.id == key
    return isinstance(node, (ast.Tuple, ast.List, ast.Set)) and any(text_of(item) == key for item in node.elts)


def _goes_to_loader(module: Module, node: ast.expr) -> bool | None:
    """What an expression is given to: a loader, something that is none, or None if that is not seen."""
    for above in module.above(node):
        if isinstance(above, ast.keyword):
            key = (above.arg or "").lower()
            if presets.count_kind(key) == "certain":
                call = module.parents[above]
                return not (isinstance(call, ast.Call) and is_other_call(call))
            if key in presets.listed("loaders", "other_keywords"):
                return False
        if isinstance(above, ast.Call):
            return False if is_other_call(above) else None
        if isinstance(above, (ast.stmt, *FUNCTIONS)):
            break
    return None
