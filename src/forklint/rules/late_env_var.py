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
    from forklint.environment.late import Late
    from forklint.environment.reading import Reads
    from forklint.knowledge.environment import Environment
    from forklint.project.module import Module


class LateEnvVar(Rule):
    """An environment variable is set after the library that reads it has already read it.

    ## What it does
    Knows which library reads a variable and when: when it is imported, when CUDA is initialized, or when the process
    starts. It follows what has certainly run before the assignment: imports, packages that import others (torchvision
    imports torch), modules of the project, and function calls. `CUDA_VISIBLE_DEVICES` after `import torch` is in time;
    after `torch.cuda.is_available()` it is too late. What runs only where there is CUDA, such as
    `torch.cuda.get_device_name()` under that condition, counts for variables of CUDA: elsewhere nothing reads them.

    In a notebook, cells are checked in their order, and `%env NAME=value` and `%set_env` set a variable, too.

    A function or method that is not called in its own module is checked in the programs that call it, or that create
    the object whose constructor calls it: it is reported if it is too late in all of them. So is the top level of a
    module that the programs of the project import, apart from programs that have set the same variable before.

    The rule reports nothing if the library is never loaded, if the variable is meant for a program that is started in
    the same run, if the variable is reset afterwards, if the library's own constant of that name is set as well
    (`constants.HF_HUB_OFFLINE = True`), or if the order is not certain.

    ## Why is this bad?
    The assignment has no effect, and there is no error. A script that should use one thread uses all of them, in every
    worker; a run that should be offline accesses the network; a process uses a GPU that belongs to someone else.

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
    The fix moves the statement, with its comment and `import os`, above the import that loads the library. It is safe
    at the top of a module if the value depends only on literals, the machine and names that do not change (or, if it
    reads the environment, if only imports and literals are in between), and if the variable cannot break a run once it
    takes effect: a number of threads cannot, an empty cache or a hidden device can. Otherwise the fix is unsafe, or
    only advice: `torch.set_num_threads(n)` has the effect in torch that a late `OMP_NUM_THREADS` does not have.

    ## How it is proved
    The module is run up to the line in a separate process, and the effect is compared with a process in which the
    variable is set before the interpreter starts.

    ## Known limits
    If the programs of a project import torch first and then a module that sets a variable, the variable is late
    regardless of the order in that module. This is not reported if one of these programs imports the module in time,
    is not seen to import it, or starts other programs; if a command of the project leads to the module; or if the
    module is the `__init__.py` of a package that is made to be installed.

    Variables whose names come from a file (`load_dotenv()`, a configuration) or are bytes (`os.environb`) are unknown.
    If a run that sets a variable may also start programs or spawn processes, nothing is reported, since the variable
    may be meant for them, although a spawned rank has imported torch by the time it sets a variable for itself. It is
    reported where the same function goes on to call h5py, or a library of Hugging Face that was imported too early,
    before it starts anything: then it is meant for this process.

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
        from forklint.environment.tables import environment_of

        return "|".join(map(re.escape, _words(environment_of(self.project)))).encode()

    @classmethod
    def needs_under(cls, settings: Settings) -> Needs:
        """A known variable, and something that sets one."""
        from forklint.environment.setters import SETTERS
        from forklint.knowledge.environment import Environment

        return Needs(here=(SETTERS, tuple(word.encode() for word in _words(Environment(settings.env_vars)))))

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Statements that set variables too late."""
        from forklint.environment.late import late_settings

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
        from forklint.environment import moving

        return moving.proposals(self.project, suspect.facts, module, tree)


def _words(environment: Environment) -> list[str]:
    return sorted({word for row in environment.judged for word in (*row.names, row.prefix) if word})


def _bites(late: Late, cell: Cell) -> bool:
    return cell.platform in late.reader.platforms and not (late.forked and cell.pickles)


def _message(late: Sequence[Late], module: Module) -> str:
    from forklint.environment import moving

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
