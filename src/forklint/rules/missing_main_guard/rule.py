"""FKL201: a script's top level starts worker processes without a main guard."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs, Words, last_names

if TYPE_CHECKING:
    from forklint.config import Settings
    from forklint.edits.tree import Tree
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.rules.missing_main_guard import guarding
    from forklint.starting.reach import Reach

    Line = cst.SimpleStatementLine | cst.If | cst.For | cst.With | cst.While | cst.Try | cst.FunctionDef | cst.ClassDef

SHAPE = re.compile(
    rb"""\n(?!def\ |class\ |import\ |from\ |async\ def|[@#\s)\]}]|__all__\b|_?logger\ =|\"""\w)"""
    rb"""(?!if\ (?:__name__\ ==\ ["']__main__["']|(?:typing\.)?TYPE_CHECKING):)"""
    rb"""(?:[^\n]*[(\[{\\]|(?:for|with|while|if|elif|else|try|except|match|async)\b)""",
    re.VERBOSE,
)
"""A line at the left margin from which a call, a loop or a comprehension may begin that no guard protects. It begins
with the end of the one above, since a plain byte is looked for faster than the beginning of a line."""
IN_CLASS = re.compile(
    rb"""\nclass\b[^\n]*(?:\n(?:[\ \t\r\#][^\n]*)?)*?\n(?:\ {1,4}|\t)
    (?:(?:for|while|with|if|try)\b[^\n]*:[\ \t]*(?:\#[^\n]*)?(?:\r?\n|\Z)|[A-Za-z_][\w.]*\()""",
    re.VERBOSE,
)
"""A compound statement or a call that stands alone in the body of a class, which runs as the file does."""
RUNNER = re.compile(r"^\s*(?:import|from)\s+(?:pytest|unittest)\b", re.MULTILINE)
"""An import of what runs tests."""
TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
NAMES_METHODS = re.compile(
    r"""^[ \t]*(?:import[ ](?:torch[.])?multiprocessing\b|from[ ](?:torch[.])?multiprocessing\b
    |from[ ]torch[ ]import[ ][^\n]*\bmultiprocessing\b)|\bset_start_method\b""",
    re.MULTILINE | re.VERBOSE,
)
"""A script that has to do with start methods; to others, which spawn on macOS anyhow, a word about them is a riddle."""
MACOS = (
    'on macOS, `multiprocessing.set_start_method("spawn", force=True)` as the first line under the guard keeps '
    "workers off fork, whatever started the script"
)
IN_SCRIPT, IN_PACKAGE = "add the guard by hand", "start it on first use, inside a function"
FORCE = "`force=True` lets a child that imports this file set its start method again"


class MissingMainGuard(Rule):
    """Top-level code of a script starts worker processes without a main guard.

    ## What it does
    Finds top-level code that iterates a `DataLoader` with workers, starts a `Process` or a `Pool`, or calls a function
    that does, in this file or in other modules of the project. It reports the first such place; if that stands in a
    branch, also the first of each other way through the script. It also finds `set_start_method` at the top level of a
    script that starts processes.

    ## Why is this bad?
    A child process that is spawned (macOS, Windows) or started by the fork server (Linux from Python 3.14 on) imports
    the script again before it does its work. It would start everything again that the top level starts, so Python
    raises "An attempt has been made to start a new process before the current process has finished its bootstrapping
    phase", and the parent reports "DataLoader worker exited unexpectedly", waits, or replaces workers forever.
    `set_start_method` without `force=True` raises "context has already been set" in the child.

    Creating a loader starts no processes; iterating it does. A package's `__main__.py` and notebooks are not reported,
    since child processes do not import them again. Neither do forked processes import the script, so it works on Linux
    up to Python 3.13, unless it uses spawn.

    The number of workers is traced to where it is set: a constant, the default of an option, a field of a settings
    class, a file that the project reads. Where the user names the file (`config["loader"]["num_workers"]`), it counts
    if all settings files of the project that have this key have a number above zero there. An option with a default
    above zero counts, since the script fails when it is run without options; the message then says "by default". A
    number that is only known at run time is not reported.

    `multiprocessing.parent_process() is None` is no replacement for a guard: it is also true in a child while it
    imports the script (measured with Python 3.10 to 3.13).

    On macOS, where Python spawns by default, `set_start_method("spawn", force=True)` as the first line under the guard
    makes sure that workers are not forked; scripts that set start methods get this advice.

    ## Example
    ```python
    loader = DataLoader(dataset, batch_size=16, num_workers=2)
    for batch in loader:
        train_step(batch)
    ```

    ## Use instead
    ```python
    loader = DataLoader(dataset, batch_size=16, num_workers=2)

    if __name__ == "__main__":
        for batch in loader:
            train_step(batch)
    ```

    ## Fix safety
    Always unsafe. The first statement that starts processes and the statements after it move under the guard;
    definitions, imports and the constants they need stay. A tool that imports the script in order to run it would no
    longer run it. There is no automatic fix if another module imports a name that would move, or if code that workers
    run reads one.

    ## How it is proved
    The script runs under spawn, also on Linux, and under fork. The finding is confirmed if "bootstrapping phase"
    appears in the first run and not in the second.

    ## Known limits
    Processes that vLLM starts for tensor parallelism are not seen, nor are those started by a function that a decorator
    calls itself, a thread runs or a library calls back. A command of a click group is found in the file of its group.

    ## References
    - [multiprocessing: safe importing of main module](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
    - [torch.utils.data: platform-specific behaviors](https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors)
    """

    code: ClassVar[str] = "FKL201"
    name: ClassVar[str] = "missing-main-guard"
    severity: ClassVar[Severity] = Severity.ERROR

    @cached_property
    def starters(self) -> frozenset[str]:
        """The names that start processes, those that the project adds included, and what makes a guard matter less."""
        return frozenset(name.decode() for name in _starting(self.settings))

    @classmethod
    def needs_under(cls, settings: Settings) -> Needs:
        """The name of something that starts processes, here or in what is reached."""
        return Needs(reached=(b"multiprocess",), named=_starting(settings))

    def may_hold(self, path: Path, data: bytes) -> bool:
        """Screen: something may run at the top level, and what starts processes is named here or in what is reached."""
        if not runs_something(data):
            return False
        from forklint.starting.screening import may_start

        return may_start(self.project, path, self.starters)

    def suspects(self, module: Module) -> Iterable[Suspect]:
        """The first place where the top level starts processes, and those of other branches: one guard mends all."""
        from forklint.starting.reach import reached

        if module.is_notebook or module.path.name == "__main__.py" or _is_test(module):
            return
        for reach in reached(self.project, module):
            chain = tuple(self.link(step.module, step.node, step.what) for step in reach.steps)
            yield Suspect(
                reach.node, _subject(reach), _message(reach, module), reach.cells, (*chain, *reach.links), facts=reach
            )

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Put the statements from the first start on under a guard, or say why not; then what else would help."""
        from forklint.rules.missing_main_guard import guarding
        from forklint.starting.reach import reached

        first = reached(self.project, module)[0].node
        plan = _made_for_others(self.project, module, suspect) or guarding.plan(self.project, module, first)
        if isinstance(plan, guarding.Refusal):
            advice = IN_PACKAGE if _is_in_package(self.project, module) else IN_SCRIPT
            yield Proposal(f"{advice}: {plan.reason}", Applicability.DISPLAY)
            if advice == IN_PACKAGE:
                return
        else:
            message = 'move it and the statements after it under `if __name__ == "__main__":`'
            yield Proposal(message, Applicability.UNSAFE, _guard(module, tree, plan.moved))
        if suspect.facts.sets_method:
            yield Proposal(FORCE, Applicability.DISPLAY)
        elif NAMES_METHODS.search(module.document.text) and any(cell.platform == "darwin" for cell in suspect.cells):
            yield Proposal(MACOS, Applicability.DISPLAY)


def _subject(reach: Reach) -> str:
    """The name of what the top level calls, or that of what it goes through."""
    node = reach.node
    if isinstance(node, ast.Call):
        node = node.func
    return ast.unparse(node).partition("(")[0] or ast.unparse(node)


def runs_something(data: bytes) -> bool:
    """Whether the top level of a file may do more than import and define."""
    text = b"\n" + (data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data)
    return SHAPE.search(text) is not None or IN_CLASS.search(text) is not None


def _starting(settings: Settings) -> Words:
    from forklint.knowledge.starters import starters

    names = (name for name in starters(settings.starters) if "multiprocess" not in name)
    return last_names((*names, "set_start_method"))  # once a method is set, what the guard's block starts counts too


def _is_test(module: Module) -> bool:
    """Whether pytest, not Python, runs the file: then a child imports pytest's main module."""
    if not TEST_FILE.fullmatch(module.path.name):
        return False
    classes = (one for one in module.tree.body if isinstance(one, ast.ClassDef) and "Test" in one.name)
    defined = (*module.tree.body, *(method for one in classes for method in one.body))
    if any(getattr(one, "name", "").startswith("test_") for one in defined):
        return True
    return RUNNER.search(module.document.text) is not None


def _is_in_package(project: Project, module: Module) -> bool:
    return project.has_file(module.path.with_name("__init__.py"))


def _made_for_others(project: Project, module: Module, suspect: Suspect) -> guarding.Refusal | None:
    """Refuse in a module of a package that keeps what it starts, such as a manager, in a variable for others."""
    from forklint.project.nodes import nodes_below
    from forklint.rules.missing_main_guard import guarding

    if not _is_in_package(project, module) or not suspect.facts.what.startswith("calls"):
        return None
    for statement in module.tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and suspect.node in nodes_below(statement):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            return guarding.Refusal(
                f"modules that import this one would not find `{ast.unparse(target)}` under a guard"
            )
    return None


def _message(reach: Reach, module: Module) -> str:
    methods = " or ".join(sorted({cell.start_method for cell in reach.cells}, reverse=True))
    if reach.sets_method:
        return (
            f"set_start_method() is called without a main guard: a child started by {methods} imports this file "
            "again and raises 'context has already been set'"
        )
    text = ast.get_source_segment(module.document.text, reach.node) or ""
    subject = f"`{text}`" if text and len(text) <= 40 and "\n" not in text else "this statement"
    doing = f"{subject if reach.steps else 'top-level code'} {reach.what}"
    return f"{doing} without a main guard: a child started by {methods} imports this file again and fails here"


def _guard(module: Module, tree: Tree, moved: Sequence[ast.stmt]) -> Tree:
    """Move statements of the module's body under a guard at its end."""
    from forklint.edits.tree import Tree
    from forklint.project.guard import is_main_guard

    lines: dict[cst.CSTNode, ast.stmt] = {}
    for statement in moved:
        lines.setdefault(tree.line_of(tree.statements[module.ordinals[statement]]), statement)
    kept = [line for line in tree.module.body if line not in lines]
    body: list[Line] = []
    footer: list[cst.EmptyLine] = []
    for line, statement in lines.items():
        test = statement.test if isinstance(statement, ast.If) and not statement.orelse else None
        if isinstance(line, cst.If) and test is not None and is_main_guard(test):
            body += _inside(line)
            footer = list(line.body.footer) if isinstance(line.body, cst.IndentedBlock) else []
        else:
            body.append(_trimmed(line))
    body[0] = body[0].with_changes(leading_lines=[line for line in body[0].leading_lines if line.comment])
    blanks = 2 if kept and isinstance(kept[-1], (cst.FunctionDef, cst.ClassDef)) else min(len(kept), 1)
    guard = cst.If(
        test=cst.parse_expression('__name__ == "__main__"'),
        body=cst.IndentedBlock(body=body, footer=footer),
        leading_lines=[cst.EmptyLine(indent=False) for _ in range(blanks)],
    )
    return Tree(tree.module.with_changes(body=[*kept, guard]))


def _inside(guard: cst.If) -> list[Line]:
    """The statements of a guard that is already there, with the comments that stand above and beside it."""
    above = [line for line in guard.leading_lines if line.comment]
    if isinstance(guard.body, cst.IndentedBlock):
        if guard.body.header.comment is not None:
            above.append(cst.EmptyLine(comment=guard.body.header.comment))
        inside = list(guard.body.body)
    else:
        suite = cast("cst.SimpleStatementSuite", guard.body)
        inside = [cst.SimpleStatementLine(suite.body, trailing_whitespace=suite.trailing_whitespace)]
    first, *rest = cast("list[Line]", inside)
    spaced = [cst.EmptyLine(indent=False), *above, *first.leading_lines]
    return [first.with_changes(leading_lines=spaced), *rest]


def _trimmed(line: cst.CSTNode) -> Line:
    """A statement ready for a block: no spaces on blank lines, and at most one blank line above it."""
    import libcst

    class Unindent(libcst.CSTTransformer):
        def leave_EmptyLine(  # noqa: N802 - LibCST calls it by this name
            self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine
        ) -> cst.EmptyLine:
            return updated_node if updated_node.comment else updated_node.with_changes(indent=False)

    trimmed = cast("Line", line.visit(Unindent()))
    above = list(trimmed.leading_lines)
    while len(above) > 1 and not above[0].comment and not above[1].comment:
        del above[0]
    return trimmed.with_changes(leading_lines=above)
