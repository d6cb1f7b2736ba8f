"""Whether a number of workers goes to a loader, or to a pool or threads, as far as can be seen."""

from __future__ import annotations

import ast
from enum import Enum

from forklint.knowledge import presets
from forklint.knowledge.loading import names
from forklint.loading.rows import is_other_call
from forklint.project import entries
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Kind, Scope, parameters
from forklint.project.spelling import last_name, text_of
from forklint.rules.workers_on_darwin.worker_counts import Count, beside
from forklint.summaries.terms import WORD

SIGNS = (b"DataLoader", b"dataloader_num_workers", b"import torch", b"from torch")
"""Words of a project that has loaders."""
ARITHMETIC = frozenset({"min", "max", "int"})


class Use(Enum):
    """What a number is used for."""

    LOADER = "loader"
    OTHER = "a pool, threads, another library"
    UNKNOWN = "not seen"


class WorkerFlow:
    """Follows the counts of one module."""

    def __init__(self, project: Project, module: Module, depth: int = 4) -> None:
        self.project = project
        self.module = module
        self.depth = depth
        """How many functions are entered after a parameter."""

    def goes_to_loader(self, count: Count) -> bool:
        """Whether a loader gets a count.

        A name that can mean nothing else (``num_workers``) is believed where settings of a training stand beside
        it, or where the project has loaders; any other must be seen to get there.
        """
        use = Use.UNKNOWN
        if isinstance(count.home, ast.Call) and any(key == count.key for key, _ in entries.of_call(count.home)):
            use = self._called(count.home, count.key)
        name = _bound_name(count)
        if use is Use.UNKNOWN and name:
            use = self.use_of(name, self.module.scope_at(count.home))
        if use is not Use.UNKNOWN:
            return use is Use.LOADER
        if not count.certain:
            return self._read_elsewhere(count.key)
        return self._training or self.in_training(count) or self.project.shows(SIGNS)

    def is_read(self, count: Count) -> bool:
        """Whether the name for a Mac that a count or its dictionary is bound to is read; True where it has none.

        Other names may be read by what runs the file, as scripts with settings to override do.
        """
        if isinstance(count.home, ast.Call) and last_name(count.home.func) == "add_argument":
            return self._is_option_read(count.key)
        home = self.module.parents.get(count.home) if isinstance(count.home, ast.Dict) else count.home
        targets = entries.targets(home) if isinstance(home, (ast.Assign, ast.AnnAssign)) else []
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            return True
        name, scope = targets[0].id, self.module.scope_at(targets[0])
        if not presets.machine_of(name) or isinstance(scope.node, ast.ClassDef) or self.module.reads(name):
            return True
        if any(isinstance(node, ast.expr) and text_of(node) == name for node in self.module.nodes):
            return True  # in `__all__`, or by `globals()`
        return any(path != self.module.path for path in self.project.where(WORD, name))

    def _is_option_read(self, name: str) -> bool:
        """Whether an option of the command line is named again, here or in a file of the same program."""
        for node in self.module.nodes:
            if isinstance(node, ast.Attribute) and node.attr in {name, "__dict__"}:
                return True
            if isinstance(node, ast.expr) and (text_of(node) == name or last_name(node) in {"vars", "asdict"}):
                return True
        path, graph = self.module.path, self.project.graph
        near = {*graph.reached(path), *graph.reaching([path])} - {path}
        summaries = map(self.project.summary, near.intersection(self.project.where(WORD, name)))
        scopes = (scope for summary in summaries if summary is not None for scope in summary.scopes)
        return any(name in scope.attributes or name in scope.strings for scope in scopes)

    def _called(self, call: ast.Call, key: str) -> Use:
        """What the callable does that gets a count by keyword."""
        symbol = self.project.resolve(self.module, self.module.scope_at(call), call.func)
        if isinstance(symbol, External):
            return Use.UNKNOWN if symbol.name in names("objects", "tables") else self._outside(symbol.name, key)
        if isinstance(symbol, FunctionFacts):
            return self._parameter(symbol, key)
        if isinstance(symbol, ClassFacts):
            bases = [self._outside(base, key) for base in self.project.ancestry(symbol).external]
            found = self.project.method(symbol, "__init__")
            if Use.LOADER in bases or found is None:
                return Use.LOADER if Use.LOADER in bases else Use.UNKNOWN
            return self._parameter(FunctionFacts(found[0].module, found[1]), key)
        return Use.OTHER if is_other_call(call) else Use.UNKNOWN

    def _outside(self, name: str, key: str) -> Use:
        known = name.partition(".")[0] in presets.listed("loaders", "packages")
        return Use.LOADER if known and presets.count_kind(key) == "certain" else Use.OTHER

    def _parameter(self, function: FunctionFacts, key: str) -> Use:
        """What a function of the project does with its parameter."""
        if self.depth <= 0 or key not in {argument.arg for argument in parameters(function.node)}:
            return Use.UNKNOWN
        return WorkerFlow(self.project, function.module, self.depth - 1).use_of(key, function.scope)

    def use_of(self, name: str, scope: Scope) -> Use:
        """What a name of a scope is used for."""
        found = scope.find(name)
        root = found[0].node if found else scope.node
        named = (node for node in nodes_below(root) if isinstance(node, ast.Name) and node.id == name)
        uses = {self._use(node) for node in named if isinstance(node.ctx, ast.Load)}
        return next((use for use in (Use.LOADER, Use.OTHER) if use in uses), Use.UNKNOWN)

    def _use(self, node: ast.expr) -> Use:
        above = self.module.parents[node]
        while isinstance(above, (ast.IfExp, ast.BoolOp, ast.BinOp)) or (
            isinstance(above, ast.Call) and (above.func is node or last_name(above.func) in ARITHMETIC)
        ):
            node, above = above, self.module.parents[above]
        if isinstance(above, ast.Dict):
            named = [name for name, value in entries.of_dict(above) if value is node]
            return Use.LOADER if any(presets.count_kind(name) == "certain" for name in named) else Use.UNKNOWN
        call = self.module.parents[above] if isinstance(above, ast.keyword) else above
        if not isinstance(call, ast.Call):
            return Use.UNKNOWN
        key = (above.arg or "") if isinstance(above, ast.keyword) else ""
        if is_other_call(call) or key in presets.listed("loaders", "other_keywords"):
            return Use.OTHER
        if presets.count_kind(key) != "certain":
            return Use.UNKNOWN
        use = self._called(call, key)
        return Use.LOADER if use is Use.UNKNOWN and self._training else use

    @property
    def _training(self) -> bool:
        """Whether the module imports a library whose loaders take workers."""
        packages = presets.listed("loaders", "packages")
        return any(
            binding.kind is Kind.IMPORT and not binding.level and binding.module.partition(".")[0] in packages
            for scope in self.module.all_scopes
            for bindings in scope.bindings.values()
            for binding in bindings
        )

    def in_training(self, count: Count) -> bool:
        """Whether a count stands among settings of a training."""
        return not presets.listed("settings", "telling").isdisjoint(name for name, _ in beside(self.module, count))

    def _read_elsewhere(self, key: str) -> bool:
        """Whether the project reads ``x.key`` or ``x["key"]`` (or the name itself) as a loader's count."""
        return _reads(self.module, key) or any(_reads(module, key) for module in self.project.mentioning(key))


def _reads(module: Module, key: str) -> bool:
    return any(
        mentions(node.value, key)
        for node in module.nodes
        if isinstance(node, ast.keyword) and node.arg and presets.count_kind(node.arg) == "certain"
    )


def mentions(value: ast.expr, key: str) -> bool:
    """Whether an expression names a setting: ``key``, ``x.key`` or ``x["key"]``."""
    parts = [part for part in nodes_below(value) if isinstance(part, ast.expr)]
    return any(key in {last_name(part), text_of(part)} for part in parts)


def _bound_name(count: Count) -> str:
    """The bare name that the count is bound to or returned under; empty if there is none."""
    if isinstance(count.home, FUNCTIONS):
        return count.home.name
    if not isinstance(count.home, (ast.Assign, ast.AnnAssign)):
        return ""
    names = (n.id for target in entries.targets(count.home) for n in nodes_below(target) if isinstance(n, ast.Name))
    return count.key if count.key in names else ""
