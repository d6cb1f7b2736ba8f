"""Which top-level statements of a script can go under a main guard, and what speaks against it.

Moved are the statements from the first that starts processes, and those after it. Definitions and imports stay at
module level, since workers and other modules look them up there; so does a constant that a definition needs. A
refusal says which name would be missing where.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.project.scopes import statements as nested
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import Module

DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
PARENT_ONLY_BASES = {
    "torch.nn.Module",
    "torch.nn.modules.module.Module",
    "lightning.LightningModule",
    "lightning.pytorch.LightningModule",
    "pytorch_lightning.LightningModule",
    "builtins.object",
}
"""Bases of classes whose instances stay in the parent: models, not datasets."""
IMPORT_CHANGERS = {"sys.path", "os.environ", "sys.modules"}
"""What decides how a later import goes; a statement that touches it must stay above that import."""


@dataclass(frozen=True)
class Plan:
    """Top-level statements to put under the guard, in order; all others stay where they are."""

    moved: tuple[ast.stmt, ...]


@dataclass(frozen=True)
class Refusal:
    """Why the statements cannot be moved, in words that end a sentence."""

    reason: str


@dataclass(frozen=True)
class Unit:
    """The statements of one line, which move or stay together."""

    body: tuple[ast.stmt, ...]

    @property
    def is_definition(self) -> bool:
        """Whether all of it defines or imports."""
        return all(
            isinstance(statement, (*DEFINITIONS, *IMPORTS)) or _only_imports(statement) for statement in self.body
        )


def plan(project: Project, module: Module, node: ast.AST) -> Plan | Refusal:
    """Decide what to move so that ``node``, an expression of the module's top level, comes to stand under a guard."""
    if any(isinstance(statement, ast.ClassDef) and node in nodes_below(statement) for statement in module.tree.body):
        return Refusal("it is in the body of a class that workers may need")
    return _Sorting(project, module, node).result()


class _Sorting:
    """Sorts a module's top-level statements, from the first that must move on, into moved and staying."""

    def __init__(self, project: Project, module: Module, node: ast.AST) -> None:
        self.project = project
        self.module = module
        units = list(_units(module.tree.body))
        first = next(i for i, unit in enumerate(units) if any(node in nodes_below(s) for s in unit.body))
        self.tail = units[first:]
        self.before = _bound(statement for unit in units[:first] for statement in unit.body)
        self.outside = _used_elsewhere(project, module)
        self.in_workers = _read_by_workers(project, module)
        self.staying = _stay_from_the_start(self.tail)

    def result(self) -> Plan | Refusal:
        """The plan, or the first objection to it."""
        while self._keep_a_constant():
            pass
        moved = tuple(statement for unit in self.tail if unit not in self.staying for statement in unit.body)
        reason = self._objection(_bound(moved))
        return Refusal(reason) if reason else Plan(moved)

    def _keep_a_constant(self) -> bool:
        """Let one plain assignment stay that a definition or another module needs, if there is one."""
        loose = [unit for unit in self.tail if unit not in self.staying]
        bound = Counter(name for unit in loose for name in _bound(unit.body))
        mentions = {id(unit): {name for statement in unit.body for name in _mentioned(statement)} for unit in loose}
        mentioning = Counter(name for names in mentions.values() for name in names)
        kept = [statement for unit in self.staying for statement in unit.body]
        needed = {*self.outside, *self.in_workers, *(name for s in kept for name in _read_when_defined(s))}
        for unit in loose:
            names = _bound(unit.body)
            once = all(bound[name] == 1 and name not in self.before for name in names)
            if unit is self.tail[0] or not (names & needed and once):
                continue
            own = mentions[id(unit)]
            others = {name for name in own if mentioning[name] > 1} | (mentioning.keys() - own)
            if self._is_plain(unit, others):
                self.staying.append(unit)
                return True
        return False

    def _is_plain(self, unit: Unit, mentioned: set[str]) -> bool:
        """Whether a unit only assigns, calls nothing of the project, and reads no variable that others mention."""
        variables = {name for name in mentioned if not _is_fixed(self.module, name)}
        for statement in unit.body:
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
                return False
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not all(isinstance(target, ast.Name) for target in targets) or _loaded(statement.value) & variables:
                return False
            calls = [node for node in nodes_below(statement.value) if isinstance(node, ast.Call)]
            if not all(_is_library(self.project, self.module, call.func) for call in calls):
                return False
        return True

    def _objection(self, names: set[str]) -> str:
        """What would be missing if ``names`` were bound under the guard; empty if nothing."""
        for name in sorted(names & self.outside.keys()):
            return f"`{name}` is imported by {self.outside[name]}, which would not find it"
        for statement in (statement for unit in self.staying for statement in unit.body):
            late = _read_when_defined(statement) & names
            if late:
                return f"the definition on line {statement.lineno} needs '{min(late)}'"
            imports = isinstance(statement, IMPORTS) or _only_imports(statement)
            again = {name for name in _bound([statement]) if name in names or (name in self.before and not imports)}
            if again:
                return f"`{min(again)}` is assigned more than once"
        for name in sorted(names & self.in_workers):
            return f"`{name}` is used by code that workers may run, which would not find it"
        return ""


def _units(body: list[ast.stmt]) -> Iterator[Unit]:
    line: list[ast.stmt] = []
    for statement in body:
        if line and statement.lineno != line[-1].end_lineno:
            yield Unit(tuple(line))
            line = []
        line.append(statement)
    if line:
        yield Unit(tuple(line))


def _only_imports(statement: ast.stmt) -> bool:
    """Whether a ``try`` or ``if`` holds imports and nothing else."""
    if not isinstance(statement, (ast.Try, ast.If)):
        return False
    inside = list(nested([statement]))[1:]
    return any(isinstance(inner, IMPORTS) for inner in inside) and all(
        isinstance(inner, (*IMPORTS, ast.Pass)) for inner in inside
    )


def _stay_from_the_start(tail: list[Unit]) -> list[Unit]:
    """Definitions and imports stay, except imports after a statement that decides how they go."""
    staying = []
    changed = False
    for unit in tail:
        if unit.is_definition and not (changed and not isinstance(unit.body[0], DEFINITIONS)):
            staying.append(unit)
        else:
            text = {ast.unparse(node) for s in unit.body for node in nodes_below(s) if isinstance(node, ast.Attribute)}
            changed |= bool(text & IMPORT_CHANGERS)
    return staying


def _is_fixed(module: Module, name: str) -> bool:
    """Whether a name stands for a module, function or class, or a builtin, and for nothing else."""
    bindings = module.scope.bound(name)
    return all(binding.kind in {Kind.IMPORT, Kind.FUNCTION, Kind.CLASS} for binding in bindings)


def _is_library(project: Project, module: Module, function: ast.expr) -> bool:
    plain = isinstance(function, ast.Name) and module.scope.find(function.id) is None
    return plain or bool(project.qualified(module, module.scope, function))


def _bound(statements: Iterable[ast.stmt]) -> set[str]:
    """Names that statements bind at module level."""
    names: set[str] = set()
    for statement in nested(list(statements)):
        if isinstance(statement, DEFINITIONS):
            names.add(statement.name)
        elif isinstance(statement, IMPORTS):
            names |= {alias.asname or alias.name.split(".")[0] for alias in statement.names}
        else:
            names |= {
                node.id for node in _own(statement) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
            }
    return names


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """Nodes of a statement apart from the statements in its blocks and from what has a scope of its own."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            scoped = isinstance(child, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda))
            if not scoped and not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                waiting.append(child)


def _mentioned(node: ast.AST) -> set[str]:
    return {inner.id for inner in nodes_below(node) if isinstance(inner, ast.Name)}


def _loaded(node: ast.AST) -> set[str]:
    return {inner.id for inner in nodes_below(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}


def _read_when_defined(statement: ast.stmt) -> set[str]:
    """Names that a definition or assignment reads when it is executed, not when what it defines is called."""
    if isinstance(statement, FUNCTIONS):
        parts: list[ast.AST] = [*statement.decorator_list, *statement.args.defaults]
        parts += [default for default in statement.args.kw_defaults if default is not None]
        return {name for part in parts for name in _loaded(part)}
    if isinstance(statement, ast.ClassDef):
        heads = [
            *statement.decorator_list,
            *statement.bases,
            *(keyword.value for keyword in statement.keywords),
        ]
        inside = {name for inner in statement.body for name in _read_when_defined(inner)}
        return {name for part in heads for name in _loaded(part)} | (inside - _bound(statement.body))
    return _loaded(statement)


def _read_by_workers(project: Project, module: Module) -> set[str]:
    """Globals read by definitions of the module that a worker may run.

    Those are its classes, models apart, and functions that are handed on instead of being called, with all
    functions and classes that these mention.
    """
    definitions = {statement.name: statement for statement in module.tree.body if isinstance(statement, DEFINITIONS)}
    called: set[int] = set()
    loaded: list[ast.Name] = []
    for inner in module.nodes:
        if isinstance(inner, ast.Call):
            called.add(id(inner.func))
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            loaded.append(inner)
    handed_on = {inner.id for inner in loaded if id(inner) not in called}
    waiting = [
        name
        for name, node in definitions.items()
        if (_may_travel(project, module, node) if isinstance(node, ast.ClassDef) else name in handed_on)
    ]
    seen: set[str] = set()
    read: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            free = _free(definitions[name])
            read |= free
            waiting += free & definitions.keys()
    return read


def _may_travel(project: Project, module: Module, node: ast.ClassDef) -> bool:
    ancestry = project.ancestry(module.class_facts(node))
    return not ancestry.complete or not ancestry.external or not set(ancestry.external) <= PARENT_ONLY_BASES


def _free(definition: ast.stmt) -> set[str]:
    """Names that the functions of a definition read and do not bind themselves."""
    if isinstance(definition, ast.ClassDef):
        return {name for inner in definition.body for name in _free(inner)}
    if not isinstance(definition, FUNCTIONS):
        return set()
    loaded: set[str] = set()
    bound: set[str] = set()
    declared: set[str] = set()
    for inner in nodes_below(definition):
        if isinstance(inner, ast.Name):
            (loaded if isinstance(inner.ctx, ast.Load) else bound).add(inner.id)
        elif isinstance(inner, ast.arg):
            bound.add(inner.arg)
        elif isinstance(inner, ast.Global):
            declared.update(inner.names)
    return (loaded - bound) | declared


def _used_elsewhere(project: Project, module: Module) -> dict[str, str]:
    """Names of the module that other project modules use, each with the path of one that does."""
    used: dict[str, str] = {}
    stem = module.path.parent.name if module.path.name == "__init__.py" else module.path.stem
    for other in project.mentioning(stem):
        if other is module:
            continue
        where = other.path.relative_to(project.root).as_posix()
        whole = False
        for node in nodes_below(other.tree):
            if isinstance(node, ast.ImportFrom):
                if project.find_module(other, node.module or "", node.level) is module:
                    used.update({alias.name: where for alias in node.names})
                whole |= any(alias.name == stem for alias in node.names)
            elif isinstance(node, ast.Import):
                whole |= any(project.find_module(other, alias.name) is module for alias in node.names)
        if whole or "*" in used:
            used.update({node.attr: where for node in nodes_below(other.tree) if isinstance(node, ast.Attribute)})
            used.update(dict.fromkeys(_loaded(other.tree), where) if "*" in used else {})
    return used
