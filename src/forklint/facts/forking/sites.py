"""Where processes are forked, by which method, and which code of the project their children run."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from forklint.facts.loading.datasets import class_of
from forklint.facts.loading.loaders import workers_of
from forklint.facts.loading.rows import loader_row, rows_above
from forklint.facts.loading.screening import loader_names
from forklint.facts.starting.methods import DEFAULT_METHOD, asked_by, set_for
from forklint.knowledge.starters import Starter, starters
from forklint.model import Cell
from forklint.project.graph import word_test
from forklint.project.index import External, Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Binding
from forklint.project.spelling import argument, last_name
from forklint.records import dataclass
from forklint.values.arithmetic import number_of
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression
from forklint.values.numbers import Workers, verdict

STARTERS = frozenset({"Process", "Pool", "ProcessPoolExecutor"})
TASKS = frozenset(
    {"map", "imap", "imap_unordered", "apply", "apply_async", "map_async", "starmap", "starmap_async", "submit"}
)
"""Methods of a pool or executor whose first argument is run by a child."""
READ = ("__getitem__", "__getitems__", "__iter__")
"""What a DataLoader's worker calls on a dataset."""
NUMBER = "num_proc"
"""The keyword by which ``map`` of a dataset is told how many processes to start."""
UNKNOWN, DEFAULT = "?", ""


@dataclass(frozen=True)
class Target:
    """Code that a child runs: a function, or methods of an object."""

    function: ast.expr | None = None
    given: tuple[ast.expr, ...] = ()
    keywords: tuple[ast.keyword, ...] = ()
    owner: ClassFacts | None = None
    """The class of the object, where there is no ``function``."""
    methods: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """A call from which on children exist that have this process's memory."""

    call: ast.Call
    what: str
    targets: tuple[Target, ...]
    method: str
    """``fork`` where the call asks for it, or DEFAULT."""
    asks: ast.Constant | None = None
    """The literal that asks for fork."""
    is_loader: bool = False

    def cells(self, project: Project, module: Module) -> tuple[Cell, ...]:
        """Where the children are forked; nowhere if another start method may be set for the whole program."""
        settings = project.settings
        method = self.method or _set_method(project, module)
        if method == "fork":
            return tuple(Cell(platform, "fork") for platform in settings.platforms if platform != "windows")
        return tuple(cell for cell in settings.cells if cell.start_method == "fork") if method == DEFAULT else ()


def may_start(project: Project, path: Path) -> bool:
    """Whether a file may start processes in another way than by a loader."""
    return project.hierarchy.may_call(STARTERS, path) or project.answer(
        "gives a number of processes", path, lambda: _gives_number(project, path), compared=True
    )


def _gives_number(project: Project, path: Path) -> bool:
    summary = project.summary(path)
    return summary is not None and any(NUMBER in scope.passed for scope in summary.scopes)


def names_of_sites(project: Project) -> frozenset[str]:
    """Last names of the calls that may be a site."""
    return loader_names(project) | project.hierarchy.heirs(STARTERS) | {"map"}


def sites_in(project: Project, module: Module) -> dict[ast.Call, tuple[Site, tuple[Cell, ...]]]:
    """The calls of a module from which on there are forked children, and the cells where these are forked."""
    # while they are being looked for there are none
    return project.answer("sites of forks", module, lambda: _find_sites(project, module), {})


def _find_sites(project: Project, module: Module) -> dict[ast.Call, tuple[Site, tuple[Cell, ...]]]:
    found: dict[ast.Call, tuple[Site, tuple[Cell, ...]]] = {}
    named = names_of_sites(project)
    calls = [node for node in module.nodes if isinstance(node, ast.Call) and last_name(node.func) in named]
    for node in calls:
        site = _site(project, Expression(module, module.scope_at(node), node), node)
        cells = site.cells(project, module) if site is not None else ()
        if site is not None and cells:
            found[node] = (site, cells)
    return found


def _site(project: Project, view: Expression, call: ast.Call) -> Site | None:
    """The site that a call is; None if it is none, or if its children are not forked for certain."""
    if last_name(call.func) == "map" and any(keyword.arg == NUMBER for keyword in call.keywords):
        return _mapping(project, view, call)
    row = loader_row(project, view.module, view.scope, call)
    if row is not None:
        return _loader(project, view, call, row)
    own = _own_process(project, view, call)
    if own is not None:
        return Site(call, own.name, (Target(owner=own, methods=("run",)),), DEFAULT)
    started = _starter(project, view, call)
    if started is None or started[0] not in STARTERS or started[1] == UNKNOWN:
        return None
    name, method, asks = started
    targets = tuple(_process_targets(view, call) if name == "Process" else _pool_targets(view, call))
    return Site(call, name, targets, method, asks)


def _mapping(project: Project, view: Expression, call: ast.Call) -> Site | None:
    """``map`` of a Hugging Face dataset with several processes."""
    processes = next(keyword.value for keyword in call.keywords if keyword.arg == NUMBER)
    amount = number_of(Evaluator(project).find(view.part(processes)))
    several = verdict(amount) is Workers.SOME and amount != 1
    if not several or not project.graph.any_reached(view.module.path, word_test(b"datasets")):
        return None
    return Site(call, "map", tuple(_unwrapped(view, one) for one in call.args[:1]), DEFAULT)


def _own_process(project: Project, view: Expression, call: ast.Call) -> ClassFacts | None:
    """The project class of a process that a call makes."""
    symbol = project.resolve(view.module, view.scope, call.func)
    rows = rows_above(project, symbol) if isinstance(symbol, ClassFacts) else ()
    is_process = any(row.name == "Process" and not row.start_method for row in rows)
    return symbol if is_process and isinstance(symbol, ClassFacts) else None


def _starter(project: Project, view: Expression, call: ast.Call) -> tuple[str, str, ast.Constant | None] | None:
    """What a call starts, by which method, and the literal that says so; None if it starts nothing."""
    symbol = project.resolve(view.module, view.scope, call.func)
    known = starters(project.settings.starters)
    if isinstance(symbol, External) and symbol.name in known:
        row = known[symbol.name]
        if row.start_method:
            return row.name, UNKNOWN, None
        context = argument(call, row.context, row.position(row.context))
        return (row.name, *_context(project, view, context))
    if isinstance(call.func, ast.Attribute) and call.func.attr in STARTERS and symbol is None:
        found = _context(project, view, call.func.value)
        return (call.func.attr, *found) if found[0] != UNKNOWN else None
    return None


def _context(project: Project, view: Expression, node: ast.expr | None) -> tuple[str, ast.Constant | None]:
    """What asks for fork, DEFAULT or UNKNOWN, with the literal that says so."""
    asked = asked_by(project, view.module, view.scope, node)
    if asked.method == "fork":
        return "fork", asked.literal
    return (DEFAULT if asked.method == DEFAULT_METHOD else UNKNOWN), None


def _process_targets(view: Expression, call: ast.Call) -> Iterator[Target]:
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if "target" in given:
        arguments = given.get("args")
        values = tuple(arguments.elts) if isinstance(arguments, (ast.Tuple, ast.List)) else ()
        yield _unwrapped(view, given["target"], values)


def _pool_targets(view: Expression, call: ast.Call) -> Iterator[Target]:
    """The tasks of a pool: of the call itself, or of the name that it is kept under."""
    for keyword in call.keywords:
        if keyword.arg == "initializer":
            yield _unwrapped(view, keyword.value)
    for above in view.module.above(call):
        if isinstance(above, ast.Attribute) and above.value is call and above.attr in TASKS:
            yield from _tasks(view, above)
        elif isinstance(above, (ast.With, ast.AsyncWith)):
            named = [one.optional_vars for one in above.items if one.context_expr is call]
            yield from _tasks_of(view, named, above, call.lineno, math.inf)
        elif isinstance(above, ast.Assign) and above.value is call:
            later = [b.node.lineno for b in _bindings(view, above.targets) if b.node.lineno > above.lineno]  # type: ignore[attr-defined]
            yield from _tasks_of(view, above.targets, view.scope.node, call.lineno, min(later, default=math.inf))
        if isinstance(above, FUNCTIONS):
            return


def _bindings(view: Expression, targets: Sequence[ast.expr]) -> list[Binding]:
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return [binding for name in names for binding in view.scope.bindings.get(name, ())]


def _tasks_of(
    view: Expression, names: Sequence[ast.expr | None], home: ast.AST, first: int, last: float
) -> Iterator[Target]:
    """The tasks that are given to a pool by its name, from one line on and before another."""
    known = {name.id for name in names if isinstance(name, ast.Name)}
    for node in nodes_below(home) if known else ():
        is_task = isinstance(node, ast.Attribute) and node.attr in TASKS and first <= node.lineno < last
        if is_task and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            yield from _tasks(view, node)


def _tasks(view: Expression, method: ast.Attribute) -> Iterator[Target]:
    call = view.module.parents.get(method)
    if isinstance(call, ast.Call) and call.func is method and call.args:
        yield _unwrapped(view, call.args[0], tuple(call.args[1:]) if method.attr == "submit" else ())


def _unwrapped(view: Expression, function: ast.expr, given: tuple[ast.expr, ...] = ()) -> Target:
    """A target, with the arguments that ``functools.partial`` gives to it, be it by a name."""
    made = function
    if isinstance(function, ast.Name):
        _, bindings = view.scope.find(function.id) or (view.scope, [])
        made = bindings[0].value or function if len(bindings) == 1 else function
    if isinstance(made, ast.Call) and made.args and last_name(made.func) == "partial":
        return Target(made.args[0], (*made.args[1:], *given), tuple(made.keywords))
    return Target(function, given)


def _loader(project: Project, view: Expression, call: ast.Call, row: Starter) -> Site | None:
    """A DataLoader with workers, and what these run."""
    if workers_of(project, view.module, view.scope, call) is not Workers.SOME:
        return None
    context = argument(call, row.context, row.position(row.context))
    method, asks = _context(project, view, context)
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    dataset = given.get("dataset", call.args[0] if call.args else None)
    facts = class_of(Evaluator(project), view.part(dataset)) if dataset is not None else None
    functions = [given[name] for name in ("collate_fn", "worker_init_fn") if name in given]
    targets = [_unwrapped(view, function) for function in functions]
    if facts is not None:
        targets.append(Target(owner=facts, methods=READ))
    if method == UNKNOWN:
        return None
    return Site(call, row.name, tuple(targets), method, asks, is_loader=True)


def _set_method(project: Project, module: Module) -> str:
    """The start method that is set for the programs of a module; DEFAULT if none is, UNKNOWN if it is not told."""
    found = set_for(project, module)
    if not found:
        return DEFAULT
    return (next(iter(found)) or UNKNOWN) if len(found) == 1 else UNKNOWN
