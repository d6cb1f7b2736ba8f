"""Which settings of environment variables come after their reader has read them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import field, replace
from functools import cached_property

from forklint.facts.environment import loaded as execution
from forklint.facts.environment.loaded import Event
from forklint.facts.environment.restored import is_put_back
from forklint.facts.environment.settings import Setting, is_kernel, settings_in
from forklint.facts.starting.methods import METHODS, method_of
from forklint.knowledge.environment import Environment, Launchers, Reader, Variable
from forklint.project.index import Project
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS
from forklint.project.spelling import argument, last_name
from forklint.records import dataclass

MOST_FUNCTIONS = 200
"""Through so many functions of other modules it is looked for what a call starts; more may start anything."""


@dataclass(frozen=True)
class Late:
    """A variable that is set too late for one of its readers."""

    setting: Setting
    row: Variable
    reader: Reader
    event: Event | None
    """What made the reader read; None if it reads when the process starts."""
    forked: bool = False
    """Whether it is set for child processes: then it is late only for those that are forked."""
    events: tuple[Event, ...] = field(default=(), compare=False, repr=False)
    """All that had happened by then."""


def late_settings(project: Project, module: Module) -> Iterator[tuple[Setting, list[Late]]]:
    """Give each statement that sets variables too late, once, with all that is late in it, earliest event first."""
    judge = _Judge(project, module)
    groups: dict[ast.stmt, list[Late]] = {}
    for setting in settings_in(project, module):
        groups.setdefault(setting.statement, []).extend(judge.late(setting))
    for statement, late in groups.items():
        if late:
            yield late[0].setting, sorted(late, key=lambda one: judge.moment(statement, one))


class _Judge:
    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._environment = environment_of(project)
        self._before: dict[ast.stmt, tuple[Event, ...]] = {}
        self._number = len({one.statement for one in settings_in(project, module)})

    def late(self, setting: Setting) -> list[Late]:
        rows = [row for row in self._environment.rows(setting.name, setting.literal) if self._judged(row, setting)]
        found = [late for row in rows for reader in row.readers if (late := self._past(setting, row, reader))]
        found = [one for one in found if not self._is_repeated(one)]
        home = _function_of(self._module, setting.statement) or self._module.tree
        if not found or is_put_back(self._project, self._module, setting, home):
            return []
        children = {launch.fresh for launch in launches(self._project, self._module) if self._serves(setting, launch)}
        if True in children:
            return []
        return [replace(late, forked=bool(children)) for late in found]

    def _is_repeated(self, late: Late) -> bool:
        """Whether the variable was set in time further up, for certain, and this leaves it as it is."""
        setting = late.setting
        return any(
            earlier.statement.lineno < setting.statement.lineno
            and (setting.is_default or (setting.literal is not None and earlier.literal == setting.literal))
            and self._past(earlier, late.row, late.reader) is None
            for earlier in self._settings_above.get(setting.name, ())
        )

    @cached_property
    def _settings_above(self) -> dict[str, list[Setting]]:
        """The first settings of each variable in the module's own body, one for each text."""
        found: dict[str, dict[str | None, Setting]] = {}
        for setting in settings_in(self._project, self._module):
            if self._module.parents.get(setting.statement) is self._module.tree:
                found.setdefault(setting.name, {}).setdefault(setting.literal, setting)
        return {name: list(texts.values()) for name, texts in found.items()}

    def moment(self, statement: ast.stmt, late: Late) -> int:
        """When the reader read, as a number to order by."""
        return self._events(statement).index(late.event) if late.event is not None else -1

    def _judged(self, row: Variable, setting: Setting) -> bool:
        if row.threads and self._tells_torch(setting):
            return False
        if row.preview and not self._project.settings.preview:
            return False
        return not (row.spare_seeding and "seed" in self._module.qualname_at(setting.statement).lower())

    def _tells_torch(self, setting: Setting) -> bool:
        """Whether the function sets torch's threads as well: the variable is for what it starts.

        At the top level both are a script's own, and the variable is meant for numpy too, which is not told.
        """
        home = _function_of(self._module, setting.statement)
        if home is None:
            return False
        calls = (node for node in nodes_below(home) if isinstance(node, ast.Call))
        return self._project.answer("sets torch's threads", home, lambda: any(map(self._sets_threads, calls)))

    def _sets_threads(self, call: ast.Call) -> bool:
        if last_name(call.func) != "set_num_threads":
            return False
        scope = self._module.scope_at(call)
        return self._project.qualified(self._module, scope, call.func) == "torch.set_num_threads"

    def _past(self, setting: Setting, row: Variable, reader: Reader) -> Late | None:
        """Whether a reader's deadline has passed when the setting runs."""
        if reader.deadline == "start":
            return Late(setting, row, reader, None)
        if reader.deadline not in {"import", "call"}:
            return None
        loaded: set[str] = set()
        events = self._events(setting.statement)
        for event in events:
            is_new = not event.loaded.isdisjoint(reader.modules)
            loaded |= event.loaded
            is_import = is_new and len(loaded.intersection(reader.modules)) >= reader.needs
            if is_import or (reader.calls in event.calls and "torch" in loaded):
                return Late(setting, row, reader, event, events=events)
        return None

    def _events(self, statement: ast.stmt) -> tuple[Event, ...]:
        if statement not in self._before:
            found = execution.before(self._project, self._environment, self._module, statement, self._number)
            self._before[statement] = tuple(found)
        return self._before[statement]

    def _serves(self, setting: Setting, launch: Launch) -> bool:
        """Whether the program that a call starts may be started after the setting."""
        if launch.anywhere:
            return True
        home, place = _function_of(self._module, setting.statement), _function_of(self._module, launch.call)
        if place is home:
            return launch.call.lineno > setting.statement.lineno or _in_loop(self._module, setting.statement)
        if home is not None or place is None:
            return True
        return (
            execution.first_use(self._project, self._module, execution.outermost_definition(self._module, launch.call))
            is not None
        )


def environment_of(project: Project) -> Environment:
    """The tables with the project's own rows."""
    return project.answer("tables of the environment", "", lambda: Environment(project.settings.env_vars))


@dataclass(frozen=True)
class Launch:
    """A call that starts another program or a child process."""

    call: ast.Call
    fresh: bool
    """Whether the child imports everything anew on every platform."""
    anywhere: bool = False
    """Whether it matters where the call stands: it only chooses how children will start."""


def launches(project: Project, module: Module) -> list[Launch]:
    """The calls of a module that start another program or a child process, or call a function that does."""
    return project.answer("launches", module, lambda: list(_launches_below(project, module, module.tree)))


def _launches_below(project: Project, module: Module, root: ast.AST) -> Iterator[Launch]:
    for node in nodes_below(root):
        if isinstance(node, ast.Call):
            symbol = _called_elsewhere(project, module, node)
            launch = _launch(project, module, node) if symbol is None else _launch_within(project, node, symbol)
            if launch is not None:
                yield launch


def _called_elsewhere(project: Project, module: Module, call: ast.Call) -> FunctionFacts | None:
    """The function of another module that is called; what one of the module itself calls is found by itself."""
    if _looks_like_launch(project, call) or (isinstance(call.func, ast.Attribute) and is_kernel(call.func.value)):
        return None
    symbol = project.resolve(module, module.scope_at(call), call.func)
    return symbol if isinstance(symbol, FunctionFacts) and symbol.module is not module else None


def _launch_within(project: Project, call: ast.Call, function: FunctionFacts) -> Launch | None:
    """The launch that a call is of a function which starts something, itself or through functions of other modules."""
    budget = project.budgets.of("following calls", MOST_FUNCTIONS)
    seen, waiting, fresh = {function.node}, [function], set[bool]()
    while waiting:
        if not budget.spend():
            return Launch(call, fresh=True)
        starts, called = _within(project, waiting.pop())
        fresh |= starts
        new = [one for one in called if one.node not in seen]
        seen.update(one.node for one in new)
        waiting += new
    return Launch(call, fresh=True in fresh) if fresh else None


def _within(project: Project, function: FunctionFacts) -> tuple[frozenset[bool], tuple[FunctionFacts, ...]]:
    """Whether what a function itself starts imports everything anew, for each; and whom it calls in other modules."""

    def find() -> tuple[frozenset[bool], tuple[FunctionFacts, ...]]:
        fresh, called = set[bool](), dict[FunctionFacts, None]()
        for node in nodes_below(function.node):
            symbol = _called_elsewhere(project, function.module, node) if isinstance(node, ast.Call) else None
            if symbol is not None:
                called[symbol] = None
            elif isinstance(node, ast.Call) and (launch := _launch(project, function.module, node)) is not None:
                fresh.add(launch.fresh)
        return frozenset(fresh), tuple(called)

    return project.answer("what a function starts", function.node, find)


def _looks_like_launch(project: Project, call: ast.Call) -> bool:
    """Whether a call is named as what starts programs."""
    last, words = last_name(call.func).lower(), environment_of(project).launchers.words
    return any(last.startswith(word) or last.endswith(word) for word in words)


def _launch(project: Project, module: Module, call: ast.Call) -> Launch | None:
    """The launch that a call of a library is."""
    launchers = environment_of(project).launchers
    if _looks_like_launch(project, call):
        return Launch(call, fresh=True)
    if isinstance(call.func, ast.Attribute) and is_kernel(call.func.value):
        return Launch(call, fresh=True) if _runs_program(call, launchers) else None
    name = project.qualified(module, module.scope_at(call), call.func)
    if name in launchers.forking:
        return Launch(call, fresh=False)
    if name not in launchers.functions or _only_asks(call, launchers):
        return None
    if name.endswith(("set_start_method", "get_context")):
        method = method_of(project, module, module.scope_at(call), argument(call, "method", 0))
        return None if method == "fork" else Launch(call, fresh=True, anywhere=method in METHODS)
    return Launch(call, fresh=True)


def _runs_program(call: ast.Call, launchers: Launchers) -> bool:
    """Whether a line or cell that a notebook gives to a shell starts a program that may read variables."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method not in {"system", "getoutput", "run_cell_magic"}:
        return False
    texts = [str(argument.value) for argument in call.args if isinstance(argument, ast.Constant)]
    if texts[0].startswith("python"):
        return True
    script = texts[-1].partition("\n")[2] if method == "run_cell_magic" else texts[-1]
    lines = [line.split() for line in re.split(r"[\n;|&]+", script)]
    programs = {words[0].rpartition("/")[2] for words in lines if words and words[0][0] != "#"}
    return not programs <= launchers.harmless | launchers.shell


def _only_asks(call: ast.Call, launchers: Launchers) -> bool:
    """Whether a command is written out and only asks for information."""
    command = call.args[0] if call.args else None
    if isinstance(command, (ast.List, ast.Tuple)) and command.elts:
        command = command.elts[0]
    if isinstance(command, ast.JoinedStr) and command.values:
        command = command.values[0]
    text = command.value if isinstance(command, ast.Constant) else None
    return isinstance(text, str) and text.split(" ")[0] in launchers.harmless


def _function_of(module: Module, node: ast.AST) -> ast.AST | None:
    return next((above for above in module.above(node) if isinstance(above, FUNCTIONS)), None)


def _in_loop(module: Module, node: ast.AST) -> bool:
    for above in module.above(node):
        if isinstance(above, FUNCTIONS):
            return False
        if isinstance(above, (ast.For, ast.While)):
            return True
    return False
