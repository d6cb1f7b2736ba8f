"""Where a module writes down how many workers its loaders get, and whether a loader gets them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from forklint.knowledge import presets
from forklint.project import scopes, workers
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.platforms import last_name
from forklint.project.scopes import FUNCTIONS, Kind, Scope, parameters
from forklint.project.workers import Workers

@dataclass(frozen=True)
class Count:
    """One expression that is a number of workers, known to be more than 0."""

    key: str
    """The name under which it is given: ``num_workers``, ``MAC_WORKERS``."""
    value: ast.expr
    """The expression itself: one arm of a conditional expression, one row of a table."""
    home: ast.AST
    """What holds it: a Call, Dict, Assign, AnnAssign, arguments, or the function that returns it."""
    entry: ast.AST
    """What holds it there: a keyword, the whole value of the dictionary's entry or of the assignment."""

    @property
    def certain(self) -> bool:
        """Whether the name alone says that it is a loader's."""
        return presets.count_kind(self.key) == "certain"


class WorkerCounts:
    """Finds the counts of one module."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module

    def find(self) -> Iterator[Count]:
        """Give every count of the module that is more than 0 and goes to a loader, in no special order."""
        for node in ast.walk(self.module.tree):
            for key, entry, value in self._entries(node):
                if not presets.count_kind(key):
                    continue
                for leaf in leaves(value):
                    if self.positive(leaf):
                        yield Count(key, leaf, node, entry)

    def _entries(self, node: ast.AST) -> Iterator[tuple[str, ast.AST, ast.expr]]:
        """Give the named values that a node holds: name, what holds the value there, the value."""
        if isinstance(node, ast.Call):
            yield from self._call_entries(node)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value, value
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for name, value in _pairs(target, node.value):
                    yield name, node.value, value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield _target_name(node.target), node.value, node.value
        elif isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            given = [*zip(positional[len(positional) - len(node.defaults) :], node.defaults), *zip(node.kwonlyargs, node.kw_defaults)]
            for argument, default in given:
                if default is not None:
                    yield argument.arg, default, default
        elif isinstance(node, FUNCTIONS) and presets.count_kind(node.name):
            for inner in scopes.statements(node.body):
                if isinstance(inner, ast.Return) and inner.value is not None and not isinstance(inner.value, (ast.Dict, ast.Tuple)):
                    yield node.name, inner.value, inner.value

    def _call_entries(self, call: ast.Call) -> Iterator[tuple[str, ast.AST, ast.expr]]:
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword, keyword.value
        if len(call.args) > 1 and last_name(call.func).endswith("Loader"):
            row = workers.loader_row(self.project, self.module, self.module.scope_at(call), call)
            given = workers.arguments(call, row) if row is not None else None
            if row is not None and given is not None and given.workers in call.args:
                yield row.workers, given.workers, given.workers
        texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        flag = next((text for text in texts if text.startswith("--")), "")
        if flag:
            for keyword in call.keywords:
                if keyword.arg == "default":
                    yield flag.lstrip("-").replace("-", "_"), keyword, keyword.value
        elif last_name(call.func) in {"setdefault", "setattr"} and len(call.args) >= 2 and len(texts) == 1:
            yield texts[0], call.args[-1], call.args[-1]

    def positive(self, value: ast.expr) -> bool:
        """Whether an expression is certainly a number above 0, on a machine with several cores."""
        if isinstance(value, ast.Constant):
            return type(value.value) is int and value.value > 0
        return workers.count(self.project, self.module, self.module.scope_at(value), value) is Workers.SOME

    def _qualified(self, expression: ast.expr) -> str:
        return self.project.qualified(self.module, self.module.scope_at(expression), expression)

    # Where it goes

    def goes_to_loader(self, count: Count) -> bool:
        """Whether a loader gets the count, as far as can be seen; a count of threads or of a pool does not."""
        if isinstance(count.home, ast.Call) and isinstance(count.entry, ast.keyword):
            verdict = self._called(count.home, count)
            if verdict is not None:
                return verdict
        name = self._bound_name(count)
        if name is not None:
            use = self._use_of(name, self.module.scope_at(count.home))
            if use:
                return use == "loader"
        return self._training() or self._told(count) if count.certain else self._read_elsewhere(count.key)

    def _called(self, call: ast.Call, count: Count) -> bool | None:
        """Judge by what is called; None if that says nothing."""
        symbol = self.project.resolve(self.module, self.module.scope_at(call), call.func)
        if isinstance(symbol, External):
            if symbol.name in presets.listed("loaders", "calls"):
                return count.certain
            root = symbol.name.partition(".")[0]
            return count.certain if root in presets.listed("loaders", "packages") else False
        if isinstance(symbol, ClassFacts):
            if presets.listed("loaders", "calls").intersection(self.project.ancestry(symbol).external):
                return count.certain
            found = self.project.method(symbol, "__init__")
            return self._parameter_goes(FunctionFacts(found[0].module, found[1]), count.key) if found else None
        if isinstance(symbol, FunctionFacts):
            return self._parameter_goes(symbol, count.key)
        if last_name(call.func).lower().endswith(tuple(presets.listed("loaders", "other_calls"))):
            return False
        return None

    def _parameter_goes(self, function: FunctionFacts, key: str) -> bool | None:
        if key not in {argument.arg for argument in parameters(function.node)}:
            return None
        use = WorkerCounts(self.project, function.module)._use_of(key, function.scope)
        return use == "loader" if use else None

    def _bound_name(self, count: Count) -> str | None:
        """The bare name that the count is bound to, if it is."""
        if isinstance(count.home, (ast.Assign, ast.AnnAssign)):
            targets = count.home.targets if isinstance(count.home, ast.Assign) else [count.home.target]
            names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
            return count.key if count.key in names else None
        return None

    def _use_of(self, name: str, scope: Scope) -> str:
        """What a name of a scope is used for: ``loader``, ``other`` (a pool, threads) or empty."""
        found = scope.find(name)
        uses = set()
        for node in ast.walk(found[0].node if found else scope.node):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                uses.add(self._use(node))
        return "loader" if "loader" in uses else "other" if "other" in uses else ""

    def _use(self, node: ast.expr) -> str:
        above = self.module.parents[node]
        while isinstance(above, (ast.IfExp, ast.BoolOp, ast.BinOp)) or (isinstance(above, ast.Call) and _is_arithmetic(above)):
            node, above = above, self.module.parents[above]
        if isinstance(above, ast.Dict):
            keys = [key.value for key, value in zip(above.keys, above.values) if value is node and isinstance(key, ast.Constant)]
            return "loader" if any(presets.count_kind(str(key)) == "certain" for key in keys) else ""
        call = self.module.parents[above] if isinstance(above, ast.keyword) else above
        if not isinstance(call, ast.Call) or call.func is node:
            return ""
        if last_name(call.func).lower().endswith(tuple(presets.listed("loaders", "other_calls"))):
            return "other"
        if not isinstance(above, ast.keyword):
            return ""
        if above.arg in presets.listed("loaders", "other_keywords"):
            return "other"
        if above.arg is None or presets.count_kind(above.arg) != "certain":
            return ""
        root = self._qualified(call.func).partition(".")[0]
        return "loader" if not root or root in presets.listed("loaders", "packages") else "other"

    def _training(self) -> bool:
        """Whether the module imports a library whose loaders take workers."""
        packages = presets.listed("loaders", "packages")
        return any(
            binding.kind is Kind.IMPORT and not binding.level and binding.module.partition(".")[0] in packages
            for scope in self.module.all_scopes
            for bindings in scope.bindings.values()
            for binding in bindings
        )

    def _told(self, count: Count) -> bool:
        """Whether the count stands among settings of a training."""
        return bool(presets.listed("settings", "telling").intersection(name for name, _, _ in beside(self.module, count)))

    def _read_elsewhere(self, key: str) -> bool:
        """Whether the project reads ``x.key`` or ``x["key"]`` (or the name itself) as a loader's count."""
        modules = [self.module, *(m for m in self.project.mentioning(key) if m is not self.module)]
        return any(self._reads(module, key) for module in modules)

    def _reads(self, module: Module, key: str) -> bool:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.keyword) and node.arg and presets.count_kind(node.arg) == "certain":
                for part in ast.walk(node.value):
                    named = isinstance(part, (ast.Name, ast.Attribute)) and last_name(part) == key
                    if named or (isinstance(part, ast.Constant) and part.value == key):
                        return True
        return False


def _is_arithmetic(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in {"min", "max", "int"}


def _target_name(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript):
        index = target.slice
        return index.value if isinstance(index, ast.Constant) and isinstance(index.value, str) else ""
    return last_name(target)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            for part, given in zip(target.elts, value.elts):
                yield from _pairs(part, given)
        return
    yield _target_name(target), value


def leaves(value: ast.expr) -> Iterator[ast.expr]:
    """Give what an expression can come to: the arms of a conditional one, the rows of a table, else itself."""
    if isinstance(value, ast.IfExp):
        yield from leaves(value.body)
        yield from leaves(value.orelse)
    elif isinstance(value, ast.Subscript) and isinstance(value.value, ast.Dict):
        yield from leaves(value.value)
    elif isinstance(value, ast.Dict):
        for row in value.values:
            yield from leaves(row)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and isinstance(value.func.value, ast.Dict):
        yield from leaves(value.func.value)
        for default in value.args[1:]:
            yield from leaves(default)
    elif isinstance(value, ast.Call) and last_name(value.func).lower() == "field":
        for keyword in value.keywords:
            if keyword.arg == "default":
                yield from leaves(keyword.value)
    else:
        yield value


def beside(module: Module, count: Count) -> Iterator[tuple[str, ast.expr, ast.AST]]:
    """Give the settings that stand beside a count: name, value, and the node that holds the two."""
    home = count.home
    if isinstance(home, ast.Call):
        for keyword in home.keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword.value, keyword
    elif isinstance(home, ast.Dict):
        for key, value in zip(home.keys, home.values):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value, home
    elif isinstance(home, ast.arguments):
        positional = [*home.posonlyargs, *home.args]
        for argument, default in zip(positional[len(positional) - len(home.defaults) :], home.defaults):
            yield argument.arg, default, home
        for argument, keyword_default in zip(home.kwonlyargs, home.kw_defaults):
            if keyword_default is not None:
                yield argument.arg, keyword_default, home
    elif isinstance(home, (ast.Assign, ast.AnnAssign)):
        yield from _neighbours(module, home)


def _neighbours(module: Module, home: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, ast.expr, ast.AST]]:
    """Give the assignments of the same block to names beside the count's: same object, same dictionary, same scope."""
    above = module.parents[home]
    base = _base(home)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and home in block:
            for statement in block:
                if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None and _base(statement) == base:
                    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                    for key, value in _pairs(target, statement.value):
                        yield key, value, statement


def _base(statement: ast.Assign | ast.AnnAssign) -> str:
    """What the assigned thing belongs to, as text: ``args`` of ``args.num_workers``, nothing of a bare name."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    return ast.unparse(target.value) if isinstance(target, (ast.Attribute, ast.Subscript)) else ""
