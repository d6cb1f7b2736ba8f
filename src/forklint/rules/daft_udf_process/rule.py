"""FKL602 daft-udf-process."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Severity
from forklint.rules.base import Rule, Suspect

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.daft_udf_process.classes import Undecided


class DaftUdfProcess(Rule):
    """A Daft class loads a torch model without saying in which process it runs.

    ## What it does
    Looks at classes with `@daft.cls` (or the deprecated `@daft.udf`) that load a model: with `from_pretrained`,
    `torch.load`, `torch.hub.load`, `SentenceTransformer`, `timm.create_model`, or an `nn.Module` of the project. It
    reports those that set none of `use_process`, `max_concurrency`, `gpus` and `ray_options`.

    ## Why is this bad?
    By default, Daft measures while the query runs and then chooses (according to its documentation): the class runs in
    a thread of the calling process, or in a separate process, which imports torch and loads the model again, with one
    thread per CPU core. Memory use and run time then depend on the number of rows. A class with `@daft.udf` was created
    twice when its rows came in several batches (measured on two cores).

    ## Example
    ```python
    @daft.cls
    class Encoder:
        def __init__(self, name):
            self.model = AutoModel.from_pretrained(name).eval()
    ```

    ## Use instead
    ```python
    @daft.cls(use_process=False)
    class Encoder:
        def __init__(self, name):
            self.model = AutoModel.from_pretrained(name).eval()
    ```

    ## Fix safety
    Unsafe: `use_process=False` keeps the class in the calling process, which is slower if the class holds the GIL. If
    the class should have its own process, set `max_concurrency=1`: measured with daft 0.7.26, any `max_concurrency`
    uses processes, with or without `use_process=False`.

    ## How it is proved
    With daft installed, the program runs, and the processes that create the class are counted. Without a script to run,
    a small class is used instead, with `use_process=False` and without it.

    ## Known limits
    Classes whose options are unpacked from a dict, or that are decorated elsewhere, are not checked, nor are plain
    functions with `daft.func`, and models from a table. The start method of multiprocessing does not matter: daft
    0.7.26 starts the processes of its classes as separate programs. See [further ways](../recall/FKL602.md).

    ## References
    - [Daft: classes as user-defined functions](https://docs.daft.ai/en/stable/custom-code/)
    """

    code = "FKL602"
    name = "daft-udf-process"
    severity = Severity.WARNING
    preview = True
    tokens = (
        rb"\bdaft\.(?:cls|udf)\b|\bdaft[ \t]+as\b"
        rb"|from[ \t]+daft(?:\.udf)?[ \t]+import[ \t]*(?:\([^)]*|[^\n]*)(?:\b(?:cls|udf)\b|\*)"
    )
    words = (b"daft",)

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Each such class, at its decorator."""
        from forklint.rules.daft_udf_process.classes import undecided

        if not self.holds_tokens(module.screened.code):
            return
        for found in undecided(self.project, module):
            link = self.link(found.home, found.loads, "the model is loaded here")
            yield Suspect(found.decorator, found.facts.name, _message(found), self.settings.cells, (link,), facts=found)

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The class, and its decorator."""
        found: Undecided = suspect.facts
        return {"class": found.facts.qualname, "decorator": found.name}

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterator[Proposal]:
        """Keep the class in the calling process."""
        from forklint.edits.places import Places

        found: Undecided = suspect.facts
        old = Places(tree, module).expression(found.decorator)
        option = cst.Arg(
            keyword=cst.Name("use_process"),
            value=cst.Name("False"),
            equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        )
        if isinstance(found.decorator, ast.Call) and isinstance(old, cst.Call):
            new = old.with_changes(args=[*old.args, option])
        else:
            new = cst.Call(func=old, args=[option])
        yield Proposal("run it in this process: `use_process=False`", Applicability.UNSAFE, tree.replace(old, new))


def _message(found: Undecided) -> str:
    name = found.facts.name
    if found.name == "daft.udf":
        return (
            f"`{name}` loads a torch model, but lets Daft choose how many instances to create, and in which processes"
        )
    return f"`{name}` loads a torch model, but lets Daft choose at run time whether to use a separate process"
