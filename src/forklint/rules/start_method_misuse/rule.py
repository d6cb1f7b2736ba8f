"""FKL202 start-method-misuse."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Cell, Link, Severity
from forklint.rules.base import Rule, Suspect

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.start_method_misuse.misuse import Misuse

ADVICE = {
    "twice": "keep one of the two calls, as the first line under the main guard; `force=True` hides which one counts",
    "settled": "move it above the first use of multiprocessing, or use `get_context(...)` there",
    "locked": "move it above the first use of multiprocessing",
    "import": "leave it to the script: call it as the first line under its main guard, or use `get_context(...)`",
    "environment": "set it before the first process starts, or pass the value to the process as an argument",
    "fork": 'use spawn, or use fork only where it is needed: `get_context("fork")`',
}


class StartMethodMisuse(Rule):
    """The start method is set twice, too late, on import, or to fork on platforms where that is unsafe.

    ## What it does
    Follows the code of a script or a function in the order in which it runs, into functions and methods of the project
    and imported modules. It reports `set_start_method`

    - without `force=True` after another `set_start_method`,
    - without `force=True` after something that fixes the start method: a `Queue`, `Lock`, `Manager`, `Pool` or `Value`
      of multiprocessing, a `ProcessPoolExecutor`, `get_context()`, `get_start_method()`,
    - with `force=True` and spawn or forkserver, after a `Queue`, `Lock` or `Value` and before a process starts,
    - at the top level of a module that others import,
    - with `"fork"`, if macOS or Windows are among the platforms and no branch excludes them; the default of a parameter
      counts, unless every call passes another value;

    and a variable of `os.environ` that is set between two starts of processes by a fork server.

    ## Why is this bad?
    The first two raise "context has already been set". A lock that was made for fork cannot be sent to a process
    that is spawned: "A SemLock created in a fork context is being shared with a process in a spawn context". A
    module that sets the method on import decides for every program that imports it, or raises an error in those
    that have set it already. Fork can crash child processes on macOS, since system libraries use threads, and
    Windows has no fork: the call raises `ValueError`. The fork server keeps the environment that it was started
    with, so later changes never reach its workers (measured: a variable that is set after the first process started
    is None in the next; with fork and spawn it is set).

    ## Example
    ```python
    if __name__ == "__main__":
        results = multiprocessing.Queue()
        multiprocessing.set_start_method("spawn")
    ```

    ## Use instead
    ```python
    if __name__ == "__main__":
        multiprocessing.set_start_method("spawn")
        results = multiprocessing.Queue()
    ```

    ## Fix safety
    Unsafe: a second call with the same value is removed; `"fork"` becomes `"spawn"`, which needs picklable arguments
    and a main guard. For the others there is only advice.

    ## How it is proved
    The script runs, and each call of `set_start_method` is observed: does the one in question raise an error? A module
    is imported by a program that has set its own method. For variables, the workers of the fork server are asked for
    the value. For fork, the verdict on Linux is `unsupported here: needs darwin or windows`.

    ## Known limits
    Code in conditions is skipped, except for the main guard and platform checks, and so is code in loops, exception
    handlers, and methods of unknown objects. Libraries that fix the start method (the workers of a loader,
    `load_dataset`) are not considered. `set_start_method` at the top level of a script that starts processes is
    reported by FKL201.

    ## References
    - [multiprocessing: contexts and start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
    """

    code = "FKL202"
    name = "start-method-misuse"
    severity = Severity.WARNING
    tokens = rb"\bset_start_method\b|[\"']forkserver[\"']"
    words = (b"set_start_method", b"forkserver")

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Each misuse, in the cells where it bites."""
        from forklint.rules.start_method_misuse.misuse import misuses

        if not self.holds_tokens(module.screened.code):
            return
        for misuse in misuses(self.project, module):
            chain = tuple(self._before(misuse))
            severity = Severity.ERROR if misuse.kind in {"twice", "settled"} else None
            subject = misuse.event.method if misuse.kind == "environment" else "set_start_method"
            yield Suspect(misuse.event.node, subject, _message(misuse), self._cells(misuse), chain, severity, misuse)

    def _cells(self, misuse: Misuse) -> tuple[Cell, ...]:
        from forklint.values.worlds import platforms_of

        where = [platform for platform in self.settings.platforms if platform in platforms_of(misuse.worlds)]
        if misuse.kind == "fork":
            return tuple(Cell(platform, "fork") for platform in where)
        if misuse.kind == "locked":
            from forklint.starting.methods import forked

            return tuple(cell for cell in forked(self.settings) if cell.platform in where)
        if misuse.kind == "environment":
            return tuple(Cell(platform, "forkserver") for platform in where if platform != "windows")
        return tuple(cell for cell in self.settings.cells if cell.platform in where)

    def _before(self, misuse: Misuse) -> Iterator[Link]:
        first = misuse.first
        if first is not None:
            what = {"set": "it is set here", "start": "the fork server starts here"}.get(
                first.kind, "the start method is fixed here"
            )
            yield self.link(first.module, first.node, what)
        if misuse.importer is not None:
            yield self.link(misuse.importer, misuse.importer.tree, "this module imports it")

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The kind, and for a variable its name."""
        misuse: Misuse = suspect.facts
        return {"kind": misuse.kind, "method": misuse.event.method, "forced": misuse.event.forced}

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterator[Proposal]:
        """Take a repeated call out, or use spawn; then words."""
        misuse: Misuse = suspect.facts
        if misuse.kind == "fork":
            yield _spawning(misuse, module, tree)
        elif misuse.kind == "twice" and _is_repeated(misuse) and _stands_beside_others(suspect.node, module):
            line = tree.line_of(tree.statements[module.ordinals[module.statement_of(suspect.node)]])
            import libcst

            removed = tree.replace(line, libcst.RemovalSentinel.REMOVE)
            yield Proposal("remove the second call", Applicability.UNSAFE, removed)
        yield Proposal(ADVICE[misuse.kind], Applicability.DISPLAY)


def _message(misuse: Misuse) -> str:
    event, first = misuse.event, misuse.first
    name = ast.unparse(first.node.func) if first is not None and isinstance(first.node, ast.Call) else ""
    return {
        "twice": "set_start_method() is called a second time and raises 'context has already been set'",
        "settled": f"set_start_method() raises 'context has already been set': {name}() has fixed the start method",
        "locked": f"{name}() has made a lock for fork before: processes started by {event.method} refuse to get it",
        "import": "importing this module sets the start method of the whole program"
        + ("" if event.forced or event.way.caught else ", or raises if it is already set"),
        "fork": f"the start method is set to fork, which is {_where_it_harms(misuse)}",
        "environment": f"{event.method} is set after the fork server has started, so later workers never see it",
    }[misuse.kind]


def _where_it_harms(misuse: Misuse) -> str:
    from forklint.values.worlds import platforms_of

    words = {"darwin": "unsafe on macOS", "windows": "not available on Windows"}
    return " and ".join(text for platform, text in words.items() if platform in platforms_of(misuse.worlds))


def _is_repeated(misuse: Misuse) -> bool:
    """Whether it asks for what another call has asked for; a function that runs twice has only the one call."""
    first, event = misuse.first, misuse.event
    return first is not None and first.node is not event.node and event.method == first.method != ""


def _stands_beside_others(node: ast.AST, module: Module) -> bool:
    """Whether the call is a statement of its own, and not the only one of its block."""
    from forklint.project.bindings import block_of

    statement = module.statement_of(node)
    return isinstance(statement, ast.Expr) and statement.value is node and len(block_of(module, statement)) > 1


def _spawning(misuse: Misuse, module: Module, tree: Tree) -> Proposal:
    from forklint.edits.places import Places
    from forklint.project.spelling import argument

    call = misuse.event.node
    given = argument(call, "method", 0) if isinstance(call, ast.Call) else None
    if not isinstance(given, ast.Constant):
        return Proposal("use spawn", Applicability.DISPLAY)
    old = Places(tree, module).expression(given)
    text = tree.module.code_for_node(old)
    changed = tree.replace(old, cst.SimpleString(text.replace("fork", "spawn")))
    return Proposal('use "spawn"', Applicability.UNSAFE, changed)
