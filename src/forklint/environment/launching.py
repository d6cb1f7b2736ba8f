"""What starts another program or a child process, for which a variable may be set, and whether that can reach it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from forklint.environment import loaded as execution
from forklint.environment.settings import Setting, is_kernel
from forklint.environment.tables import environment_of
from forklint.knowledge.environment import Launchers
from forklint.project.index import External, Project
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function
from forklint.project.spelling import argument, last_name, text_of
from forklint.records import dataclass
from forklint.starting.methods import METHODS, asked_by
from forklint.summaries.terms import WORD
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression

MOST_FUNCTIONS = 200
"""Through so many functions of other modules it is looked for what a call starts; more may start anything."""
CONTEXTS = frozenset({"multiprocessing_context", "mp_context"})
"""Arguments by which a loader or an executor is told how its processes start."""
FRESH = frozenset({"spawn", "forkserver"})
PREFIX = re.compile(r"^\s*(?:(?:sudo|time|nohup|exec|\S+\s+-m(?=\s+pip\b))\s+)+")
"""What may stand before the name of a program."""


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
    by_kernel = isinstance(call.func, ast.Attribute) and is_kernel(call.func.value)
    if by_kernel or _looks_like_launch(project, module, call):
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


def _looks_like_launch(project: Project, module: Module, call: ast.Call) -> bool:
    """Whether a call is named as what starts programs, and neither opens a web interface nor sets up this process."""
    launchers = environment_of(project).launchers
    last = last_name(call.func).lower()
    if not any(last.startswith(word) or last.endswith(word) for word in launchers.words):
        return False
    symbol = project.resolve(module, module.scope_at(call), call.func)
    if isinstance(symbol, FunctionFacts):
        return False  # what it starts stands in it
    if isinstance(symbol, External) and symbol.name in launchers.in_process:
        return False
    return not (isinstance(call.func, ast.Attribute) and _opens_interface(project, module, call, launchers))


def _opens_interface(project: Project, module: Module, call: ast.Call, launchers: Launchers) -> bool:
    """Whether a method's call opens a web interface: by its arguments, or in a module that has one and no arguments."""
    if not launchers.interface_keywords.isdisjoint({keyword.arg for keyword in call.keywords}):
        return True
    summary = project.summary(module.path)
    imported = {one.module.partition(".")[0] for one in summary.imports} if summary is not None else set()
    return not call.args and not launchers.interfaces.isdisjoint(imported)


def _launch(project: Project, module: Module, call: ast.Call) -> Launch | None:
    """The launch that a call of a library is."""
    launchers = environment_of(project).launchers
    if _looks_like_launch(project, module, call):
        return Launch(call, fresh=True)
    if isinstance(call.func, ast.Attribute) and is_kernel(call.func.value):
        return Launch(call, fresh=True) if _runs_program(call, launchers) else None
    context = next((one.value for one in call.keywords if one.arg in CONTEXTS), None)
    if context is not None and _asked(project, module, call, context) in FRESH:
        return Launch(call, fresh=True, anywhere=True)
    name = project.qualified(module, module.scope_at(call), call.func)
    if name in launchers.forking:
        return Launch(call, fresh=False)
    if name not in launchers.functions or _only_asks(module, call, launchers):
        return None
    if name.endswith(("set_start_method", "get_context")):
        method = _asked(project, module, call, argument(call, "method", 0))
        return None if method == "fork" else Launch(call, fresh=True, anywhere=method in METHODS)
    return Launch(call, fresh=True)


def _asked(project: Project, module: Module, call: ast.Call, given: ast.expr | None) -> str:
    """The start method that an argument of a call names, or has a context of."""
    source = Expression(module, module.scope_at(call), given) if given is not None else None
    return asked_by(Evaluator(project), source).method


def _runs_program(call: ast.Call, launchers: Launchers) -> bool:
    """Whether a line or cell that a notebook gives to a shell starts a program that may read variables."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method not in {"system", "getoutput", "run_cell_magic"}:
        return False
    texts = [str(argument.value) for argument in call.args if isinstance(argument, ast.Constant)]
    if texts[0].startswith("python"):
        return True
    return not _is_harmless(texts[-1].partition("\n")[2] if method == "run_cell_magic" else texts[-1], launchers)


def _is_harmless(script: str, launchers: Launchers) -> bool:
    """Whether all programs that lines for a shell start only tell something, or move, pack and fetch files."""
    lines = [PREFIX.sub("", line).split() for line in re.split(r"[\n;|&]+", script)]
    started = [words for words in lines if words and words[0][0] != "#"]
    programs = {words[0].rpartition("/")[2] for words in started}
    return programs <= launchers.harmless | launchers.shell and not any("run" in words[1:2] for words in started)


def _only_asks(module: Module, call: ast.Call, launchers: Launchers) -> bool:
    """Whether a command is written out, here or where a variable gets it, and no program of it reads what is set."""
    command = call.args[0] if call.args else None
    found = module.scope_at(command).find(command.id) if isinstance(command, ast.Name) else None
    if found is not None and len(found[1]) == 1:
        command = found[1][0].value
    if isinstance(command, (ast.List, ast.Tuple)) and command.elts:
        _, *options = command.elts
        is_module = len(options) > 1 and text_of(options[0]) == "-m"
        command = options[1] if is_module else command.elts[0]  # [sys.executable, "-m", "pip", "install", ...]
    script = _written(command)
    return bool(script.strip()) and _is_harmless(script, launchers)


def _written(command: ast.AST | None) -> str:
    """What is written out of a command, with ``x`` for each part that is not."""
    if isinstance(command, ast.Constant) and isinstance(command.value, str):
        return command.value
    if isinstance(command, ast.JoinedStr):
        return "".join(map(_written, command.values))
    if isinstance(command, ast.BinOp) and isinstance(command.op, ast.Add):
        return _written(command.left) + _written(command.right)
    if isinstance(command, ast.BinOp) and isinstance(command.op, ast.Mod):
        return _written(command.left)  # "gzip %s" % path
    formatted = command.func if isinstance(command, ast.Call) else None
    if isinstance(formatted, ast.Attribute) and formatted.attr == "format":
        return _written(formatted.value)
    return "x"


def serves(project: Project, module: Module, setting: Setting, launch: Launch) -> bool:
    """Whether the program that a call starts may be started after a variable is set."""
    if launch.anywhere:
        return True
    home, place = function_of(module, setting.statement), function_of(module, launch.call)
    if place is home:
        return launch.call.lineno > setting.statement.lineno or _in_loop(module, setting.statement)
    if home is not None and place is not None:
        return _are_related(project, module, home, place)
    if home is not None or place is None:
        return True
    definition = execution.outermost_definition(module, launch.call)
    return execution.is_used_behind(project, module, definition, setting.statement)


def is_handed_over(project: Project, module: Module, function: Function) -> bool:
    """Whether a local function is only handed to methods of objects: they may send it to another process.

    So clusters and executors take it: ``client.run(set_threads)``. A function of a module, as in ``threading.Thread``,
    is known by its name.
    """
    if not isinstance(module.parents.get(function), FUNCTIONS) or isinstance(function, ast.Lambda):
        return False
    home = next(above for above in module.above(function) if isinstance(above, FUNCTIONS))
    uses = [node for node in nodes_below(home) if isinstance(node, ast.Name) and node.id == function.name]
    return bool(uses) and all(_takes_function(project, module, module.parents.get(use), use) for use in uses)


def _takes_function(project: Project, module: Module, call: ast.AST | None, function: ast.Name) -> bool:
    """Whether a node is a call of a method, of an object that is not a module, with a function as argument."""
    if not isinstance(call, ast.Call) or function not in call.args or not isinstance(call.func, ast.Attribute):
        return False
    return not project.qualified(module, module.scope_at(call), call.func)


def _are_related(project: Project, module: Module, first: Function, second: Function) -> bool:
    """Whether one run may come through two functions: one class has both, or something calls both."""
    names = [getattr(execution.outermost_definition(module, node) or node, "name", "") for node in (first, second)]
    if names[0] == names[1]:
        return True
    leading = execution.leading_to(project, module)
    if not ({names[0], *leading.get(names[0], ())}).isdisjoint({names[1], *leading.get(names[1], ())}):
        return True
    users = [set(project.where(WORD, name)) - {module.path} for name in names]
    return not users[0].isdisjoint(users[1])


def function_of(module: Module, node: ast.AST) -> Function | None:
    """The innermost function around a node."""
    return next((above for above in module.above(node) if isinstance(above, FUNCTIONS)), None)


def _in_loop(module: Module, node: ast.AST) -> bool:
    for above in module.above(node):
        if isinstance(above, FUNCTIONS):
            return False
        if isinstance(above, (ast.For, ast.While)):
            return True
    return False
