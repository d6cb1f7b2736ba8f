"""Where processes are forked, by which method, and which code of the project their children run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.forking.screening import NUMBER, STARTERS, names_of_sites
from forklint.knowledge.starters import Starter, starters
from forklint.loading.datasets import class_of
from forklint.loading.loaders import workers_of
from forklint.loading.rows import loader_row, rows_above
from forklint.model import Cell
from forklint.project.graph import word_test
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import argument, last_name
from forklint.records import dataclass
from forklint.starting.methods import DEFAULT_METHOD, Asked, asked_by, asked_of, forked, set_for
from forklint.values.arithmetic import number_of
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Instance, Made
from forklint.values.numbers import Workers, verdict

TASKS = frozenset(
    {"map", "imap", "imap_unordered", "apply", "apply_async", "map_async", "starmap", "starmap_async", "submit"}
)
"""Methods of a pool or executor whose first argument is run by a child."""
READ = ("__getitem__", "__getitems__", "__iter__")
"""What a DataLoader's worker calls on a dataset."""

BY_DEFAULT = Asked(DEFAULT_METHOD)


@dataclass(frozen=True)
class Target:
    """Code that a child runs: a function, or methods of an object."""

    function: ast.expr | None = None
    given: tuple[ast.expr, ...] = ()
    owner: ClassFacts | None = None
    """The class of the object, where there is no ``function``."""
    methods: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """A call from which on children exist that have this process's memory."""

    call: ast.Call
    what: str
    targets: tuple[Target, ...]
    asked: Asked = BY_DEFAULT
    """The start method that the call asks for."""
    is_loader: bool = False
    initializer: Target | None = None
    """What each child of a pool runs before its first task."""

    def cells(self, project: Project, module: Module) -> tuple[Cell, ...]:
        """Where the children are forked; nowhere if another start method may be set for the whole program."""
        found = set_for(project, module) if self.asked.method == DEFAULT_METHOD else {self.asked.method}
        if found == {"fork"}:
            return forked(project.settings)
        return () if found else tuple(cell for cell in project.settings.cells if cell.start_method == "fork")


def started_at(project: Project, module: Module, site: Site) -> ast.Call:
    """The call that starts the process that a site makes; the site itself where none is seen."""
    evaluator = Evaluator(project)
    for node in module.calls_of(frozenset({"start"})):
        if isinstance(node.func, ast.Attribute):
            found = evaluator.find(Expression(module, module.scope_at(node), node.func.value))
            made = (one.value.call for one in found.possible if isinstance(one.value, (Made, Instance)))
            if any(call is not None and call.node is site.call for call in made):
                return node
    return site.call


def sites_in(project: Project, module: Module) -> dict[ast.Call, tuple[Site, tuple[Cell, ...]]]:
    """The calls of a module from which on there are forked children, and the cells where these are forked."""
    # while they are being looked for there are none
    return project.answer("sites of forks", module, lambda: _find_sites(project, module), {})


def _find_sites(project: Project, module: Module) -> dict[ast.Call, tuple[Site, tuple[Cell, ...]]]:
    found: dict[ast.Call, tuple[Site, tuple[Cell, ...]]] = {}
    named = names_of_sites(project)
    for node in module.calls_of(named):
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
        return Site(call, own.name, (Target(owner=own, methods=("run",)),))
    evaluator = Evaluator(project)
    made = evaluator.find(view).value
    row = starters(project.settings.starters).get(made.name) if isinstance(made, Made) else None
    if row is None or row.name not in STARTERS or row.start_method:
        return None
    first = _initializer(call, row)
    tasks = _process_targets(call) if row.name == "Process" else _tasks(evaluator, view, call)
    targets = (*([first] if first is not None else ()), *tasks)
    return Site(call, row.name, targets, asked_of(evaluator, row, view), initializer=first)


def _mapping(project: Project, view: Expression, call: ast.Call) -> Site | None:
    """``map`` of a Hugging Face dataset with several processes."""
    processes = next(keyword.value for keyword in call.keywords if keyword.arg == NUMBER)
    amount = number_of(Evaluator(project).find(view.part(processes)))
    several = verdict(amount) is Workers.SOME and amount != 1
    if not several or not project.graph.any_reached(view.module.path, word_test(b"datasets")):
        return None
    return Site(call, "map", tuple(map(Target, call.args[:1])))


def _own_process(project: Project, view: Expression, call: ast.Call) -> ClassFacts | None:
    """The project class of a process that a call makes."""
    symbol = project.resolve(view.module, view.scope, call.func)
    rows = rows_above(project, symbol) if isinstance(symbol, ClassFacts) else ()
    is_process = any(row.name == "Process" and not row.start_method for row in rows)
    return symbol if is_process and isinstance(symbol, ClassFacts) else None


def _process_targets(call: ast.Call) -> Iterator[Target]:
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if "target" in given:
        arguments = given.get("args")
        values = tuple(arguments.elts) if isinstance(arguments, (ast.Tuple, ast.List)) else ()
        yield Target(given["target"], values)


def _initializer(call: ast.Call, row: Starter) -> Target | None:
    """What each child of the pool that a call makes runs first."""
    function, given = (argument(call, name, row.position(name)) for name in ("initializer", "initargs"))
    values = tuple(given.elts) if isinstance(given, (ast.Tuple, ast.List)) else ()
    return Target(function, values) if function is not None else None


def _tasks(evaluator: Evaluator, view: Expression, call: ast.Call) -> Iterator[Target]:
    """The tasks that a function, or the top level, gives to the pool that a call makes."""
    for node in nodes_below(view.scope.node):
        if not isinstance(node, ast.Attribute) or node.attr not in TASKS:
            continue
        task = view.module.parents.get(node)
        pool = evaluator.find(Expression(view.module, view.module.scope_at(node), node.value)).value
        if isinstance(pool, Made) and pool.call.node is call and isinstance(task, ast.Call) and task.args:
            yield Target(task.args[0], tuple(task.args[1:]) if node.attr == "submit" else ())


def _loader(project: Project, view: Expression, call: ast.Call, row: Starter) -> Site | None:
    """A DataLoader with workers, and what these run."""
    if workers_of(project, view.module, view.scope, call) is not Workers.SOME:
        return None
    context = argument(call, row.context, row.position(row.context))
    source = view.part(context) if context is not None else None
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    dataset = given.get("dataset", call.args[0] if call.args else None)
    facts = class_of(Evaluator(project), view.part(dataset)) if dataset is not None else None
    functions = [given[name] for name in ("collate_fn", "worker_init_fn") if name in given]
    targets = [Target(function) for function in functions]
    if facts is not None:
        targets.append(Target(owner=facts, methods=READ))
    return Site(call, row.name, tuple(targets), asked_by(Evaluator(project), source), is_loader=True)
