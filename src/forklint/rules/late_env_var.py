"""FKL101 late-env-var."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Cell, Link, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.config import Settings
    from forklint.edits.tree import Tree
    from forklint.facts.environment.late import Late
    from forklint.facts.environment.reading import Reads
    from forklint.knowledge.environment import Environment
    from forklint.project.module import Module


class LateEnvVar(Rule):
    """An environment variable is set after the library that reads it has read it.

    ## What it does
    Knows which library reads a variable and when: as it is imported, when CUDA is initialised, or when the
    process starts. Follows what has certainly run before the assignment: imports, packages that import others
    (torchvision imports torch), modules of the project, functions called. `CUDA_VISIBLE_DEVICES` after
    `import torch` is in time; after `torch.cuda.is_available()` it is not.

    In a notebook the cells count in their order, and `%env NAME=value` and `%set_env` set a variable, too.

    A function or method that its own module does not run is looked at from the programs that call it, or that make
    the object whose constructor runs it: all that are known must come to it too late.

    It is silent where the reader is never loaded, where the variable is for a program that is started in the same run,
    where it is put back afterwards, and where the order is not certain.

    ## Why is this bad?
    Nothing happens, and nothing says so. The script that was to use one thread uses all, on every worker; the
    run that was to stay offline goes to the network; the process takes a card that belongs to someone else.

    ## Example
    ```python
    import os

    import numpy as np
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset

    # The cluster bills by the core, so every pool gets one thread.
    os.environ["OMP_NUM_THREADS"] = "1"
    ```

    ## Use instead
    ```python
    import os

    # The cluster bills by the core, so every pool gets one thread.
    os.environ["OMP_NUM_THREADS"] = "1"

    import numpy as np
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset
    ```

    ## Fix safety
    The statement moves, with its comment and with `import os`, above the import that loads the reader. That is
    safe at the top of a module when its right side depends only on literals, on the machine and on names that
    stay as they are (one that reads the environment: when only imports and literals stand between), and when the
    variable, once it takes effect, can break no run: a thread count cannot, an empty cache or a hidden device can.
    Otherwise it is unsafe, or words only: `torch.set_num_threads(n)` does for torch what comes too late for
    `OMP_NUM_THREADS`.

    ## How it is proved
    The module is run up to that line in a process of its own and the effect is read there, against the same with
    the variable set before the interpreter starts.

    ## Known limits
    The top level of a file is judged by what it runs itself. Where a program imports torch first and this module after
    it, the variable is late however this module is ordered: the order in the importing program is not judged, and the
    fix within this module changes nothing there. Set the variable at the top of the program.

    Variables whose names stand in a file (`load_dotenv()`, a configuration) or are bytes (`os.environb`) are not known.
    Where a run that sets a variable may also start programs or spawn processes, it is left alone, since what it sets
    may be for them, although a spawned rank has imported torch by the time it sets a variable for itself.

    ## References
    - [threadpoolctl: setting the maximum size of thread pools](https://github.com/joblib/threadpoolctl#readme)
    - [torch: CUDA semantics](https://docs.pytorch.org/docs/stable/notes/cuda.html)
    - [torch: CPU threading](https://docs.pytorch.org/docs/stable/notes/cpu_threading_torchscript_inference.html)
    """

    code = "FKL101"
    name = "late-env-var"
    severity = Severity.WARNING

    @cached_property
    def tokens(self) -> bytes:  # type: ignore[override]
        """The names and prefixes of all variables of which something is known."""
        from forklint.facts.environment.tables import environment_of

        return "|".join(map(re.escape, _words(environment_of(self.project)))).encode()

    @classmethod
    def needs_under(cls, settings: Settings) -> Needs:
        """A known variable, and something that sets one."""
        from forklint.facts.environment.setters import SETTERS
        from forklint.knowledge.environment import Environment

        return Needs(here=(SETTERS, tuple(word.encode() for word in _words(Environment(settings.env_vars)))))

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Statements that set variables too late."""
        from forklint.facts.environment.late import late_settings

        for setting, found in late_settings(self.project, module):
            cells = tuple(cell for cell in self.settings.cells if any(_bites(one, cell) for one in found))
            late = [one for one in found if any(_bites(one, cell) for cell in cells)]
            if late:
                yield Suspect(
                    node=setting.statement,
                    subject=", ".join(dict.fromkeys(one.setting.name for one in late)),
                    message=_message(late, module),
                    cells=cells,
                    chain=tuple(self._chain(late[0])),
                    severity=max((one.row.severity for one in late), key=lambda severity: severity.rank),
                    facts=late,
                )

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The variable, the value if it is written out, and who has read it by then."""
        late: list[Late] = suspect.facts
        setting = late[0].setting
        readers = tuple(dict.fromkeys(one.reader.what for one in late))
        return {"variable": setting.name, "value": setting.literal, "readers": readers}

    def _chain(self, late: Late) -> Iterator[Link]:
        event = late.event
        if event is None:
            return
        for place, following in zip(event.chain, event.chain[1:], strict=False):
            verb = "imports" if isinstance(place.node, (ast.Import, ast.ImportFrom)) else "calls into"
            path = following.module.path
            name = f"{path.parent.name}/{path.name}" if path.stem == "__init__" else path.name
            yield self.link(place.module, place.node, f"{verb} `{name}`")
        last = event.chain[-1]
        loaded = next((name for name in late.reader.modules if name in event.loaded), "")
        words = f"imports `{event.cause}`" if event.loaded else f"calls `{event.cause}`"
        is_plain = not loaded or event.cause.startswith(loaded)
        yield self.link(last.module, last.node, words if is_plain else f"{words}, which loads {loaded}")

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Move it above what made it late; where that cannot be done safely, say what else helps."""
        from forklint.edits import moving

        return moving.proposals(self.project, suspect.facts, module, tree)


def _words(environment: Environment) -> list[str]:
    return sorted({word for row in environment.judged for word in (*row.names, row.prefix) if word})


def _bites(late: Late, cell: Cell) -> bool:
    return cell.platform in late.reader.platforms and not (late.forked and cell.pickles)


def _message(late: Sequence[Late], module: Module) -> str:
    from forklint.edits import moving

    first = late[0]
    names = [one.setting.name for one in late]
    several = len(set(names)) > 1
    if first.event is None:
        effect = f"if it is set in Python, {first.row.effect}"
        return f"{moving.listed(names)} is read by {first.reader.what} when the process starts: {effect}"
    verb, pronoun = ("are", "them") if several else ("is", "it")
    when = _when(first.event, first.reader.modules, module)
    reader = first.reader.what
    return f"{moving.listed(names)} {verb} set too late: {reader} read {pronoun} {when}, so {first.row.effect}"


def _when(event: Reads, modules: Sequence[str], module: Module) -> str:
    """Say what happened in the file at hand, or in the program that comes to it, and what that led to."""
    start = event.chain[0]
    home = "" if start.module is module else f" of `{start.module.path.name}`"
    place = start.module.line_named(start.node) + home
    if len(event.chain) == 1:
        done, what = ("imported", event.cause) if event.loaded else ("called", event.cause)
    elif isinstance(start.node, ast.Import):
        done, what = "imported", start.node.names[0].name
    elif isinstance(start.node, ast.ImportFrom):
        done, what = "imported", "." * start.node.level + (start.node.module or start.node.names[0].name)
    else:
        done, what = "run", ast.unparse(start.node).partition("\n")[0]
    loaded = next((name for name in modules if name in event.loaded), "")
    calls = f", which calls `{event.cause}`" if len(event.chain) > 1 else ""
    led = f", which loads {loaded}" if loaded else calls
    return f"when `{what}` was {done} on {place}{'' if loaded and what.startswith(loaded) else led}"
