"""Whether a module's top-level code, run as a script, starts worker processes: where, how, and in which cells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forklint.model import Cell, Link
from forklint.project.scopes import FUNCTIONS
from forklint.records import dataclass
from forklint.runs.programs import Program, budget_for
from forklint.runs.trace import Kind
from forklint.runs.walk import trace_of_module
from forklint.starting.methods import DEFAULT_METHOD, UNKNOWN, cells_of
from forklint.starting.starts import SPAWNING, ProcessStarts, SetsMethod, Starts
from forklint.values.model import Constant, Expression
from forklint.values.worlds import EVERYWHERE, PLATFORMS

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import CodeLink, Module
    from forklint.runs.trace import Event, Part
    from forklint.values.worlds import Worlds

STEPS_PER_FILE = 60_000
"""Steps that are played for one script, whatever is in it."""
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
    links: tuple[Link | CodeLink, ...] = ()
    """Where the loader's number of workers is written down, if that is elsewhere."""
    sets_method: bool = False
    """Whether ``node`` is a call of ``set_start_method``, which raises in the children that ``steps`` start."""


def reached(project: Project, module: Module) -> tuple[Reach, ...]:
    """Find the places where a module's top level starts processes in some cell, first in the order of the run.

    That is the first place of all, and if it stands in a branch, the first of each way that does not come through it.
    """
    if _is_quiet(module.tree):
        return ()
    return project.answer("starts of a script", module, lambda: _Search(project, module).run())


class _Search:
    """One run of a module's top level, up to the first start that comes whatever the options are."""

    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._topic = ProcessStarts(project)
        self._found: list[Reach] = []
        self._covered: set[frozenset[ast.AST]] = set()
        """The branches behind which each run has come to a start, by the blocks that these are."""
        self._made: set[ast.AST] = set()
        """What makes the loaders, or else starts the processes, of what was found."""
        self._others: dict[ast.AST, ast.AST] = {}
        """The other block of a condition."""

    def run(self) -> tuple[Reach, ...]:
        budget = budget_for(self._project, self._module, steps=STEPS_PER_FILE)
        program = Program(self._topic, budget, met=self._met)
        program.skips = _is_in_vain
        program.play(trace_of_module(self._topic, self._module.path))
        return tuple(self._found)

    def _met(self, event: Event, program: Program) -> None:
        """Judge a start, with what has been set by then."""
        if not isinstance(event, Starts) or event.way.aside or event.way.if_unset:
            return
        sets = [one for one in program.happened if isinstance(one, SetsMethod)]
        again = _set_again(program)
        if (event.way.guarded and not again) or self._is_default(event.chain[0].node):
            return
        blocks = self._blocks(event.chain[0].node)
        if any(earlier <= blocks for earlier in self._covered) or self._is_again(event):
            return
        cells = tuple(self._cells(event, sets))
        if cells:
            self._made.add(event.made_at.node if event.made_at is not None else event.place.node)
            self._found.append(_conclude(event, cells, again[0] if again else None))
            self._cover(blocks)
            if frozenset() in self._covered or again:
                program.stop()

    def _is_default(self, node: ast.AST) -> bool:
        """Whether a place is the default of a parameter, where nobody starts processes on purpose."""
        return any(isinstance(above, ast.arguments) for above in self._module.above(node))

    def _is_again(self, event: Starts) -> bool:
        """Whether it is of a loader that is known to start where a branch makes it, and here may be another."""
        made = event.made_at
        if made is None or made.node not in self._made:
            return False
        return made.scope is not self._module.scope or bool(self._blocks(made.node))

    def _cover(self, blocks: frozenset[ast.AST]) -> None:
        self._covered.add(blocks)
        for one in blocks:
            other = self._others.get(one)
            if other is not None and (blocks - {one}) | {other} in self._covered:
                self._cover(blocks - {one})

    def _blocks(self, node: ast.AST) -> frozenset[ast.AST]:
        """The blocks around a place that run only if a condition holds, each by its first statement."""
        found = set()
        for above in self._module.above(node):
            if isinstance(above, ast.If) and above.test is not node and not self._is_known(above.test):
                found.add(above.body[0] if node in above.body else above.orelse[0])
                if above.orelse:
                    self._others |= {above.body[0]: above.orelse[0], above.orelse[0]: above.body[0]}
            elif isinstance(above, ast.match_case):
                found.add(above.body[0])
            node = above
        return frozenset(found)

    def _is_known(self, test: ast.expr) -> bool:
        found = self._topic.evaluator.find(Expression(self._module, self._module.scope, test))
        return isinstance(found.value, Constant) and not found.by_default

    def _cells(self, event: Starts, sets: Iterable[SetsMethod]) -> Iterator[Cell]:
        """The cells in which children import the module again."""
        platforms = [name for name, worlds in PLATFORMS.items() if worlds & event.way.worlds]
        if not SPAWNING.intersection(platforms):
            return
        for platform in platforms:
            if event.platforms and platform not in event.platforms:
                continue
            method = event.method
            for one in sets if method == DEFAULT_METHOD else ():
                if one.way.worlds & PLATFORMS[platform] and (event.way.guarded or not one.way.guarded):
                    method = one.method if _is_sure(one, PLATFORMS[platform]) else _either(method, one.method)
            yield from (cell for cell in cells_of(method, self._project.settings) if cell.platform == platform)


def _set_again(program: Program) -> list[SetsMethod]:
    """The start methods that were set so far, and that each child would set again."""
    sets = (one for one in program.happened if isinstance(one, SetsMethod) and not one.forced)
    return [one for one in sets if _is_sure(one) and not (one.way.guarded or one.way.aside)]


def _is_in_vain(part: Part, program: Program) -> bool:
    """Whether a part stands under a main guard and no child would set the start method again that its parent uses."""
    return part.kind is Kind.GUARD and not _set_again(program)


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


def _is_sure(event: SetsMethod, worlds: Worlds = EVERYWHERE) -> bool:
    """Whether the start method is surely set, wherever the program runs of some worlds."""
    return event.way.usual and not event.way.if_unset and not event.way.caught and worlds <= event.way.worlds


def _either(one: str, other: str) -> str:
    """What is sure of the start method when it is the one or the other; spawn bites at least where the default does."""
    if one == other:
        return one
    return DEFAULT_METHOD if {one, other} <= {DEFAULT_METHOD, "spawn", "forkserver"} else UNKNOWN


def _steps(event: Event, what: str) -> list[Step]:
    """The chain of an event, the last of which does ``what``."""
    doing = [*(place.doing for place in event.chain[:-1]), what]
    return [Step(place.module, place.node, text) for place, text in zip(event.chain, doing, strict=True)]


def _conclude(event: Starts, cells: tuple[Cell, ...], again: SetsMethod | None) -> Reach:
    steps, made = _steps(event, event.what), event.made_at
    if made is not None and made.node is not event.place.node:
        steps.append(Step(made.module, made.node, "the loader or process is created here"))
    if again is not None:
        first, *rest = _steps(again, "sets the start method")
        return Reach(first.node, event.what, cells, (*rest, *steps), sets_method=True)
    first, *rest = steps
    return Reach(first.node, event.what, cells, tuple(rest), event.links)
