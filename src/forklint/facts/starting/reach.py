"""Whether a module's top-level code, run as a script, starts worker processes: where, how, and in which cells."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.facts.starting.running.execution import Execution
from forklint.facts.starting.running.starts import MethodSet, OutOfStepsError, StartedError
from forklint.facts.starting.running.values import DEFAULT_METHOD
from forklint.model import Cell, Link
from forklint.project.scopes import FUNCTIONS
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.config import Settings
    from forklint.project.index import Project
    from forklint.project.module import Module

STIRRING = (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.comprehension, ast.Starred)
QUIET_CALLS = {"getLogger", "get_logger", "TypeVar", "ParamSpec", "NewType", "namedtuple"}


@dataclass(frozen=True)
class Step:
    """One call on the way from the top level to the start, or the place where the loader was made."""

    module: Module
    node: ast.AST
    what: str


@dataclass(frozen=True)
class Reach:
    """Top-level code that starts processes, or sets a start method that a child cannot set again."""

    node: ast.AST
    """The expression of the module's own top level."""
    what: str
    """What starts the processes, as a verb phrase."""
    cells: tuple[Cell, ...]
    steps: tuple[Step, ...]
    """The way there, when it is not the expression itself."""
    links: tuple[Link, ...] = ()
    """Where the loader's number of workers is written down, if that is elsewhere."""
    sets_method: bool = False
    """Whether ``node`` is a call of ``set_start_method``, which raises in the children that ``steps`` start."""


def reached(project: Project, module: Module) -> Reach | None:
    """Find the first place where a module's top level surely starts processes in some cell; None if there is none."""
    if _is_quiet(module.tree):
        return None
    run = Execution(project, module, lambda method: cells_of(method, project.settings))
    try:
        run.run()
    except StartedError as started:
        return _conclude(run, started)
    except (OutOfStepsError, RecursionError):
        return None
    return None


def _is_quiet(tree: ast.Module) -> bool:
    """Whether nothing at the top level loops, enters or calls anything but what makes a logger or a type."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, STIRRING) or (
            isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn))
        ):
            return False
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name not in QUIET_CALLS:
                return False
        if isinstance(node, ast.ClassDef):
            waiting.extend(node.body)
        elif not isinstance(node, (*FUNCTIONS, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return True


def cells_of(method: str, settings: Settings) -> tuple[Cell, ...]:
    """Cells where a start method makes children import the main module; an empty method is one not known."""
    if method == DEFAULT_METHOD:
        return tuple(cell for cell in settings.cells if cell.start_method != "fork")
    if method == "spawn":
        return tuple(Cell(platform, method) for platform in settings.platforms)
    if method == "forkserver":
        return tuple(Cell(platform, method) for platform in settings.platforms if platform != "windows")
    return ()


def _conclude(run: Execution, started: StartedError) -> Reach:
    steps = [Step(site.place.module, site.place.node, site.what) for site in started.sites]
    steps.append(Step(started.place.module, started.place.node, started.what))
    if started.made_at is not None and started.made_at.node is not started.place.node:
        steps.append(Step(started.made_at.module, started.made_at.node, "the loader or process is made here"))
    if run.methods_set:
        return _method_set(run.methods_set[0], started, tuple(steps))
    first, *rest = steps
    return Reach(first.node, started.what, started.cells, tuple(rest), started.links)


def _method_set(first: MethodSet, started: StartedError, steps: tuple[Step, ...]) -> Reach:
    sites = tuple(Step(site.place.module, site.place.node, site.what) for site in first.sites)
    way = (*sites, Step(first.place.module, first.place.node, "sets the start method"))
    return Reach(way[0].node, started.what, started.cells, (*way[1:], *steps), sets_method=True)
