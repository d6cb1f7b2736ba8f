"""FKL203 poisoned-fork."""

from __future__ import annotations

import re
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
    from forklint.forking.poisoned import Poisoned
    from forklint.forking.uses import Use
    from forklint.project.module import Module

MET = (b"polars", b"jax", b"numba")
"""Libraries whose threads a DataLoader's workers meet, too."""
IMPORTED = re.compile(rb"(?:import|from|\\\r?\n)[^\n]*?(?:polars|jax|numba)\b")
"""One of them in a line that imports, or that goes on from the line above."""
STARTS = (b"Process", b"Pool", b"num_proc", b"oader", b"TrainingArguments")


class PoisonedFork(Rule):
    """A process is forked after a library has started threads or CUDA that the child needs but does not have.

    ## What it does
    Follows a script or a function up to a `Process`, `Pool`, `ProcessPoolExecutor` or `DataLoader` whose child
    processes are forked, and then the function that they run. It reports the fork if the same library computes before
    it and again in the child: torch models, scikit-learn's clustering and histogram boosting, polars, jax, numba
    functions with `parallel=True`, CUDA. The calls that start threads, and those that need them, are listed in
    `poisons.toml`.

    This concerns only forked processes: on Linux up to Python 3.13, and wherever the code asks for fork. The rule
    reports nothing if the program sets another start method, or if the start method is unknown.

    The workers of a `DataLoader` are limited to one OpenMP thread by torch before they run any code, so models and
    scikit-learn are safe there (measured); polars, jax and numba are not.

    ## Why is this bad?
    A fork copies the memory, but only one thread. The threads of a pool exist only in the parent, while the memory of
    the child says that they are running: the child gives them work and waits forever. Nothing is printed, and no CPU is
    busy. With numba's OpenMP threads, the child is killed; CUDA raises "Cannot re-initialize CUDA in forked
    subprocess".

    ## Example
    ```python
    validate(model, images)  # starts torch's threads
    with multiprocessing.Pool(4) as pool:
        scores = pool.map(score, paths)  # `score` calls the model in a forked child
    ```

    ## Use instead
    ```python
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        scores = pool.map(score, paths)
    validate(model, images)
    ```

    ## Fix safety
    Unsafe, and only available if the start method is named by a literal or by the module: it becomes spawn. A spawned
    child imports the script again, which needs a main guard, and receives its function and arguments by pickle; global
    variables that the parent has changed are not available, and what the script draws at random outside of functions,
    such as the weights of a model, is drawn again. Alternatives: start the child processes before the first use in the
    parent, or call `torch.set_num_threads(1)` in the child, so that torch and scikit-learn need no threads.

    ## How it is proved
    The program runs under fork and, as a control, under spawn, until the child has finished its task once. A hang or
    crash under fork that does not occur under spawn confirms the finding. Without a GPU, the verdict for CUDA is
    `unsupported here: needs CUDA`.

    ## Known limits
    The parent must certainly have computed before the fork: at the top level of the file, in the same function, or in a
    program that calls it from another file, of which eight are followed. A branch counts only for the code in it. In
    torch, the size of an operation decides whether threads are used, which is only estimated for models of small
    `Linear` layers: findings there are warnings, and all others errors. Products and sums of plain tensors are not
    checked.

    `os.fork`, joblib's `multiprocessing` backend and computations of a library's trainer are not seen. LightGBM and
    tensorstore are documented not to survive a fork; they have not been measured, and are not in the table.

    ## References
    - [torch: multiprocessing best practices](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html)
    - [polars: multiprocessing](https://docs.pola.rs/user-guide/misc/multiprocessing/)
    - [scikit-learn: why does my job freeze under Linux?](https://scikit-learn.org/stable/faq.html)
    """

    code = "FKL203"
    name = "poisoned-fork"
    severity = Severity.ERROR
    words = (b"torch", b"sklearn", b"polars", b"jax", b"numba", b"timm", b"transformers")
    needs = Needs(here=(STARTS,), reached=words)
    """What starts processes, and here or in what is reached what starts threads."""

    def may_hold(self, path: Path, data: bytes) -> bool:
        """Something here starts processes, and something here or in what is reached starts threads."""
        from forklint.forking.screening import may_start
        from forklint.loading.screening import may_make_loader
        from forklint.project.graph import Words

        if may_start(self.project, path):
            return self.reaches_tokens(path)
        return (
            (b"oader" in data or b"TrainingArguments" in data)
            and may_make_loader(self.project, path)
            and self.project.graph.any_reached(path, Words(IMPORTED, MET))
        )

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Forks of this module that come too late."""
        from forklint.forking.poisoned import poisoned
        from forklint.forking.sites import started_at

        for found in poisoned(self.project, module):
            yield Suspect(
                node=started_at(self.project, module, found.site),
                subject=found.target.qualname,
                message=_message(found, module),
                cells=found.cells,
                chain=tuple(self._chain(found)),
                severity=Severity.WARNING if found.poison.name == "openmp" else Severity.ERROR,
                facts=found,
            )

    def _chain(self, found: Poisoned) -> Iterator[Link]:
        what = found.poison.what.format(who=found.before.who)
        yield from self._way(found.before, f"starts {what}")
        yield from self._way(
            found.within, "the child needs them here" if found.poison.name != "cuda" else "the child uses CUDA here"
        )

    def _way(self, use: Use, words: str) -> Iterator[Link]:
        *way, last = use.chain
        for place in way:
            yield self.link(place.module, place.node, "on the way there")
        yield self.link(last.module, last.node, words)

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The program to run, the function that a child begins at, and what it uses there."""
        found: Poisoned = suspect.facts
        node = found.target.node
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        return {
            "program": str(found.program.path),
            "file": str(found.target.module.path),
            "rows": [first, node.lineno],
            "function": node.name,
            "poison": found.poison.name,
            "what": found.poison.what.format(who=found.before.who),
        }

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Spawn the children, where that is one word; else say so."""
        found: Poisoned = suspect.facts
        spawned = _spawned(found, module, tree)
        if spawned is not None:
            words = "use spawn, which needs a main guard and picklable arguments"
            yield Proposal(words, Applicability.UNSAFE, spawned)
        else:
            how = 'multiprocessing_context="spawn"' if found.site.is_loader else 'multiprocessing.get_context("spawn")'
            yield Proposal(f"use spawn: `{how}`", Applicability.DISPLAY)
        if found.poison.name == "openmp":
            yield Proposal("call `torch.set_num_threads(1)` first in the child", Applicability.DISPLAY)


def _message(found: Poisoned, module: Module) -> str:
    before, within = found.before.place, found.within.place
    where = "" if before.module is module else f" of {before.module.path.name}"
    what = found.poison.what.format(who=found.before.who)
    started = f"`{before.text}` on {before.module.line_named(before.node)}{where} has started {what}"
    return f"fork after {started}: in the child, `{within.text}` in `{found.target.qualname}` {found.poison.effect}"


def _spawned(found: Poisoned, module: Module, tree: Tree) -> Tree | None:
    """The tree with the one word changed that says how children start; None if there is no such word here."""
    literal = found.site.asked.literal
    if literal is None or literal not in module.parents:
        return None
    node = next((one for one in tree.at(module.span(literal)) if isinstance(one, cst.SimpleString)), None)
    return (
        tree.replace(node, node.with_changes(value=node.value.replace("fork", "spawn"))) if node is not None else None
    )
