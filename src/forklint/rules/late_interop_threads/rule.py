"""FKL102 late-interop-threads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Link, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.late_interop_threads.interop import LateCall
    from forklint.runs.trace import Place

SETS = "set_num_interop_threads"


class LateInteropThreads(Rule):
    """`torch.set_num_interop_threads` is called when the number can no longer be set.

    ## What it does
    Finds a call that certainly comes after another one in the same process: later in the code, in a function that is
    called twice, or in a module that is imported. It also finds a call after a scripted function with `torch.jit.fork`
    has run, and a call in a forked worker whose parent has set the number.

    The rule reports nothing if the earlier call is in a branch that may not run, or if the error is caught.

    ## Why is this bad?
    torch sets the number once per process. A second call raises "cannot set number of interop threads after parallel
    work has started or set_num_interop_threads called", even with the same number. A forked worker inherits the setting
    of its parent, so a call in `worker_init_fn` raises there, while the same program works if workers are spawned.

    Other work before the call is fine: matrix products, models, `backward`, optimizers, `torch.compile` and a
    `DataLoader` (measured with torch 2.13).

    ## Example
    ```python
    torch.set_num_interop_threads(2)
    train(model)
    torch.set_num_interop_threads(2)
    ```

    ## Use instead
    ```python
    torch.set_num_interop_threads(2)
    train(model)
    ```

    ## Fix safety
    A second call with the same literal is removed. This is safe if the first one always runs before it, in the same
    function or when the file is imported; otherwise it is unsafe, since another program may reach only the second one.
    A call that is late because of `torch.jit.fork` is moved above it, if everything it needs is available there: safe
    at the top level, unsafe in a function. If the numbers differ, or a function is called twice, there is no automatic
    fix.

    ## How it is proved
    The program runs up to the call, which must raise the error; in the control, the number is set right after torch is
    imported, and the error must not appear.

    ## Known limits
    A call in a loop counts once. Functions behind a variable, a partial or `getattr`, or passed to a thread, are not
    followed, nor are functions that a framework calls repeatedly: request handlers, or plugins that are loaded twice.

    ## References
    - [torch.set_num_interop_threads](https://docs.pytorch.org/docs/stable/generated/torch.set_num_interop_threads.html)
    """

    code = "FKL102"
    name = "late-interop-threads"
    severity = Severity.ERROR
    words = (SETS.encode(),)
    needs = Needs(reached=words)
    """The call, here or in a module that this one reaches."""

    def may_hold(self, path: Path, data: bytes) -> bool:
        """The call is here, or in a module that this one reaches."""
        from forklint.project.graph import Term
        from forklint.summaries.terms import CALL, RENAMED

        return any(self.project.graph.any_reached(path, Term(kind, SETS)) for kind in (CALL, RENAMED))

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Calls that come too late, or what leads to one."""
        from forklint.rules.late_interop_threads.interop import late_calls

        for late in late_calls(self.project, module):
            yield Suspect(
                node=late.node,
                subject="torch.set_num_interop_threads",
                message=_message(late, module),
                cells=late.cells or self.settings.cells,
                chain=tuple(self._chain(late)),
                facts=late,
            )

    def _chain(self, late: LateCall) -> Iterator[Link]:
        first = late.before.place
        words = "the number is set here" if SETS in first.text else "inter-op work starts here"
        yield self.link(first.module, first.node, words)
        last = late.late[-1]
        if last.node is not late.node:
            yield self.link(last.module, last.node, "and set again here" if SETS in first.text else "and set here")

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """Where the call that raises stands, and whether a child makes it."""
        last = suspect.facts.late[-1]
        rows = [last.node.lineno, last.node.end_lineno or last.node.lineno]
        return {"file": str(last.module.path), "rows": rows, "in_child": suspect.facts.site is not None}

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Take the second call away, or move the late one up."""
        late: LateCall = suspect.facts
        if late.site is not None:
            yield Proposal("remove it from the child, which inherits the number of its parent", Applicability.DISPLAY)
            return
        first, last = late.before.place, late.late[-1]
        if SETS not in first.text:
            moved = self._moved(late, module, tree)
            yield moved or Proposal("set it at the top of the program", Applicability.DISPLAY)
        elif last.node is not late.node or first.node is last.node or not _is_same(first.node, last.node):
            yield Proposal("set it once, at the top of the program", Applicability.DISPLAY)
        else:
            safety = Applicability.SAFE if _is_always_before(first, late, module) else Applicability.UNSAFE
            yield _without(late, module, tree, safety)

    def _moved(self, late: LateCall, module: Module, tree: Tree) -> Proposal | None:
        """The call above the work that came before it; None if it cannot go there."""
        from forklint.environment import moving

        work = late.before.chain[0]
        statement = module.statement_of(late.call) if late.late[-1].module is module else None
        if work.module is not module or statement is None or late.node is not late.call:
            return None
        move = moving.plan(self.project, module, statement, module.statement_of(work.node), ())
        moved = moving.apply(move, module, tree, frozenset()) if move is not None else None
        if move is None or moved is None:
            return None
        safety = Applicability.SAFE if move.pure and move.top_level else Applicability.UNSAFE
        return Proposal(f"move it above {module.line_named(work.node)}", safety, moved)


def _message(late: LateCall, module: Module) -> str:
    first = late.before.place
    where = "" if first.module is module else f" of {first.module.path.name}"
    done = "already set the number" if SETS in first.text else "already started inter-op work"
    before = f"`{first.text}` on {first.module.line_named(first.node)}{where} has {done}"
    raises = "raises RuntimeError: cannot set number of interop threads"
    if late.site is not None:
        return f"{before}, and a forked child inherits that: its call `{late.late[-1].text}` {raises}"
    if late.late[-1].node is late.node:
        return f"{before}, so this call {raises}"
    return f"{before}; this leads to another call `{late.late[-1].text}`, which {raises}"


def _is_same(first: ast.AST, second: ast.AST) -> bool:
    """Whether two calls set the same literal number."""
    given = [
        [*call.args, *(one.value for one in call.keywords)] for call in (first, second) if isinstance(call, ast.Call)
    ]
    numbers = [one[0].value for one in given if len(one) == 1 and isinstance(one[0], ast.Constant)]
    return len(numbers) == 2 and numbers[0] == numbers[1]


def _is_always_before(first: Place, late: LateCall, module: Module) -> bool:
    """Whether the number is set before the late call whoever runs that: in the same function, or when the file is."""
    from forklint.project.scopes import FUNCTIONS

    start = late.before.chain[0]
    if start.module is not module or (isinstance(start.node, ast.Call) and start is not first):
        return False
    above = [one for one in module.above(start.node) if isinstance(one, (*FUNCTIONS, ast.If))]
    return not above or (isinstance(above[0], FUNCTIONS) and above[0] in module.above(late.node))


def _without(late: LateCall, module: Module, tree: Tree, safety: Applicability) -> Proposal:
    """The statement taken away, with its line if it is alone on it."""
    statement = module.statement_of(late.node)
    words = "remove it: the number is already set"
    if not isinstance(statement, ast.Expr) or statement.value is not late.node:
        return Proposal(words, Applicability.DISPLAY)
    small = tree.statements[module.ordinals[statement]]
    line, block = tree.line_of(small), tree.block_of(small)
    if (
        not isinstance(line, cst.SimpleStatementLine)
        or len(line.body) > 1
        or any(one.comment for one in line.leading_lines)
    ):
        return Proposal(words, Applicability.DISPLAY)
    if len(getattr(block, "body", ())) == 1:
        return Proposal(words, safety, tree.replace(line, line.with_changes(body=[cst.Pass()])))
    return Proposal(words, safety, tree.replace(line, cst.RemoveFromParent()))
