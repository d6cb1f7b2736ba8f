"""FKL205 unsafe-worker-env."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.environment.setters import SETTERS
from forklint.knowledge.tokenizers import VARIABLE
from forklint.model import Applicability, Link, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.unsafe_worker_env.tokenizing import Kept

LEAVE_OUT = "or remove it: by default, tokenizers runs in parallel, and uses one thread in forked children"


class UnsafeWorkerEnv(Rule):
    """`TOKENIZERS_PARALLELISM` is set to true in a program that forks workers.

    ## What it does
    Reports the statement that sets `TOKENIZERS_PARALLELISM` to true in a program that creates a fast tokenizer and
    forks child processes: workers of a `DataLoader`, `Process`, `Pool`, `ProcessPoolExecutor`,
    `dataset.map(num_proc=...)`. It is a warning if child processes tokenize several texts at once, and info if that is
    not known: then the value does no harm yet.

    The program consists of the file, the files it imports, and the files that import it. The rule reports nothing if
    the value is not a literal, if it is set in a branch, if it is set to false elsewhere, if child processes are
    spawned, and if they only run code of the project that does not mention tokens.

    ## Why is this bad?
    By default, tokenizers detects a fork and uses one thread in the child ("The current process just got forked, after
    parallelism has already been used. Disabling parallelism to avoid deadlocks..."). Setting the variable to true
    disables this, and brings the deadlock back: a child that tokenizes a batch waits for threads that exist only in the
    parent. Measured with tokenizers 0.23.3: it hangs if the parent has called `encode_batch` before the fork, as
    transformers does even for a single text. A child that tokenizes one text at a time does not wait; unset and false
    are safe.

    ## Example
    ```python
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    ```

    ## Use instead
    ```python
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    ```

    ## Fix safety
    The value is set to false. This is safe if child processes tokenize: the tokens are the same, only batches in the
    parent take longer. If that is not known, it is unsafe, since it would be slower and might solve nothing. A magic
    command of a notebook is not changed.

    ## How it is proved
    The program runs unchanged and, as a control, with the variable set to false, until a forked child has tokenized
    once. A hang in the first run only confirms the finding.

    ## Known limits
    A computed value (`str(True).lower()`), or one in a branch or in a file, is unknown, and so are child processes that
    a trainer forks because of a setting (`dataset_num_proc`), and tokenizers inside a `pipeline`.

    ## References
    - [tokenizers: the variable and the fork, in the source](https://github.com/huggingface/tokenizers/blob/main/bindings/python/src/lib.rs)
    - [transformers: the warning and what it means](https://github.com/huggingface/transformers/issues/5486)
    """

    code = "FKL205"
    name = "unsafe-worker-env"
    severity = Severity.WARNING
    words = (VARIABLE.encode(),)
    needs = Needs(here=(words, SETTERS))
    """The variable, and something that sets one."""

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Statements that set it to true."""
        from forklint.rules.unsafe_worker_env.tokenizing import kept_parallel

        for kept in kept_parallel(self.project, module):
            yield Suspect(
                node=kept.setting.statement,
                subject=VARIABLE,
                message=_message(kept, module),
                cells=kept.cells,
                chain=tuple(self._chain(kept)),
                severity=Severity.WARNING if kept.use is not None else Severity.INFO,
                facts=kept,
            )

    def _chain(self, kept: Kept) -> Iterator[Link]:
        yield self.link(*kept.made, "a fast tokenizer is created here")
        home, site = kept.site
        yield self.link(home, site.call, "children are forked here")
        if kept.use is not None:
            yield self.link(kept.use.module, kept.use.node, "a child tokenizes here")

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The function in which a child tokenizes; nothing where none is known."""
        task = suspect.facts.task
        if task is None:
            return {"function": ""}
        first = min([task.node.lineno, *(decorator.lineno for decorator in task.node.decorator_list)])
        rows = [first, task.node.lineno]
        return {"file": str(task.module.path), "rows": rows, "function": task.node.name, "variable": VARIABLE}

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Set it to false; or leave it out."""
        kept: Kept = suspect.facts
        value = kept.setting.value
        known = isinstance(value, ast.Constant) and value in module.parents
        nodes = tree.at(module.span(value)) if known and value is not None else ()
        node = next((one for one in nodes if isinstance(one, cst.SimpleString)), None)
        if node is not None:
            quote = node.value[-1]
            changed = tree.replace(node, node.with_changes(value=f"{quote}false{quote}"))
            safety = Applicability.SAFE if kept.use is not None else Applicability.UNSAFE
            yield Proposal(f'set `{VARIABLE}` to "false"', safety, changed)
        yield Proposal(LEAVE_OUT, Applicability.DISPLAY)


def _message(kept: Kept, module: Module) -> str:
    home, site = kept.site
    file = "" if home is module else f" of {home.path.name}"
    where = f"the {site.what} on {home.line_named(site.call)}{file}"
    if kept.use is not None and kept.task is not None:
        doing = f"`{kept.use.text}` in `{kept.task.qualname}`, run by children of {where},"
        return f"{VARIABLE} is true: {doing} hangs if this process has tokenized before the fork"
    kept_off = "keeps tokenizers from using one thread after a fork"
    return f"{VARIABLE} is true, which {kept_off}: a child of {where} that tokenizes a batch may hang"
