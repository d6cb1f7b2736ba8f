"""FKL304 accelerator-in-worker."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Cell, Link, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.accelerator_in_worker.workers import WorkerUse, WorkerUses

RUN_BY_WORKERS = re.compile(r"Dataset|Loader|collate|__getitem__|__iter__|__call__|worker_init")
MOVING = frozenset({"cuda", "mps", "xpu", "hpu", "to"})
OPTIONS = frozenset({"device", "map_location"})
PLATFORMS = {"mps": ("darwin",)}
"""Where an accelerator is, if not on Linux and Windows."""
ELSEWHERE = ("linux", "windows")
NAMES = {"cuda": "CUDA", "mps": "MPS", "xpu": "XPU", "hpu": "HPU"}
MOVE_LATER = "return CPU tensors, and move each batch in the training loop: `batch.to(device, non_blocking=True)`"
ASK_FOR_IT = "leave the default as it is, and give `device=` where the model makes tensors"
BY_DEFAULT = b"set_default_"


class AcceleratorInWorker(Rule):
    """Worker processes put tensors on an accelerator.

    ## What it does
    Looks for `.cuda()`, `.to(device)` and `device=...` in code that the workers of a loader run: `__getitem__` and
    `__iter__` of its dataset, `collate_fn`, `worker_init_fn`, and all functions and methods of the project that these
    call. It also reports tensors that a dataset puts on an accelerator in `__init__`, or a module at its top level, if
    a worker reads them, and those that a `TensorDataset`, a dataset of the project or a loader with workers is given.
    It follows the transforms that a dataset calls, and what these call. The device must be known to be an accelerator,
    or be chosen by `is_available()`, possibly in another function, or by the default of an option. `set_device` and
    `pin_memory()` count as well. The loader must be known, and must have workers.

    `torch.set_default_device("cuda")` and `torch.set_default_tensor_type` are reported if forked workers of a loader
    in the same program make batches with `default_collate`, which makes a tensor of each label.

    The rule reports nothing if the user chooses the device, if the number of workers is 0 or unknown, or in functions
    that call `get_worker_info()`.

    ## Why is this bad?
    A forked worker cannot use CUDA if its parent has used it: `RuntimeError: Cannot re-initialize CUDA in forked
    subprocess`. A spawned worker can, but creates its own CUDA context, which takes several seconds and several hundred
    MB of GPU memory. Its tensors are sent to the parent as handles that become invalid when the worker ends, and that
    Windows and MPS do not support. Nothing is gained: the training loop can move batches while the accelerator is busy.

    ## Example
    ```python
    def __getitem__(self, index):
        return torch.load(self.paths[index]).cuda()
    ```

    ## Use instead
    ```python
    def __getitem__(self, index):
        return torch.load(self.paths[index])


    for batch in DataLoader(dataset, num_workers=4, pin_memory=True):
        batch = batch.to("cuda", non_blocking=True)
    ```

    ## Fix safety
    There is no automatic fix: batches should be moved in the training loop, which only its author can change.

    ## How it is proved
    On a machine with CUDA, the loader is read without workers, and then with workers and each start method, after the
    parent has used CUDA, as in training. On other machines, the verdict is `unsupported here: needs CUDA`.

    ## Known limits
    The collators of transformers' Trainer are not followed, nor what wrappers of datasets call.
    `with torch.device(...)` is not considered. See [further ways](../recall/FKL304.md).

    ## References
    - [CUDA in multiprocessing](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing)
    - [torch.utils.data: multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
    """

    code = "FKL304"
    name = "accelerator-in-worker"
    severity = Severity.WARNING
    tokens = (
        rb"\.(?:cuda|mps|xpu|hpu|to)\s*\(|\b(?:device|map_location)\s*=|cupy|cuda\.\w+Tensor|pin_memory\(\)|set_device"
        rb"|set_default_(?:device|tensor_type)"
    )
    words = (
        b"device",
        b".to",
        b"map_location",
        b"cuda",
        b"mps",
        b"xpu",
        b"hpu",
        b"cupy",
        b"pin_memory",
        b"set_device",
        b"set_default_",
    )
    needs = Needs(here=(words,))
    """A use of a device, in a file whose functions workers may run."""

    @cached_property
    def _uses(self) -> WorkerUses:
        from forklint.rules.accelerator_in_worker.workers import WorkerUses

        return WorkerUses(self.project)

    def may_hold(self, path: Path, data: bytes) -> bool:
        """A use of a device, where something stands that workers run, or in a function that what they run calls."""
        if not self.holds_tokens(data):
            return False
        if BY_DEFAULT in data and self._loads():
            return True
        if RUN_BY_WORKERS.search(data.decode("latin-1")) and self._names_what_workers_run(path):
            return True
        return self._helps(path) and self._uses.may_stand_in(path)

    def _loads(self) -> bool:
        """Whether the project makes a loader at all."""
        from forklint.loading.loaders import files_with_loaders

        return bool(files_with_loaders(self.project))

    def _names_what_workers_run(self, path: Path) -> bool:
        """Whether the code of a file, rather than its comments and strings, names something that workers run."""
        summary = self.project.summary(path)
        if summary is None:
            return False
        names = summary.reads.union(summary.bound, *(scope.passed for scope in summary.scopes))
        return any(map(RUN_BY_WORKERS.search, names))

    def _helps(self, path: Path) -> bool:
        """Whether the top level of a file, or a function there, may use a device; other methods are not followed."""
        from forklint.summaries.summary import FUNCTION

        summary = self.project.summary(path)
        scopes = summary.scopes if summary is not None else ()
        plain = (scope for scope in scopes if scope.parent < 0 or (scope.parent == 0 and scope.kind == FUNCTION))
        return any(scope.attributes & MOVING or scope.passed & OPTIONS for scope in plain)

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Find the uses in what workers run."""
        for use in self._uses.in_module(module):
            cells = tuple(cell for cell in self._cells(use) if cell.platform in PLATFORMS.get(use.kind, ELSEWHERE))
            if cells:
                subject = use.attribute or NAMES[use.kind]
                yield Suspect(use.node, subject, _message(use, cells), cells, tuple(self._chain(use)), facts=use)

    def _cells(self, use: WorkerUse) -> tuple[Cell, ...]:
        from forklint.starting.methods import DEFAULT_METHOD, cells_for, forked

        module, method, settings = use.loading.module, use.loading.method, self.settings
        if use.by_default:
            return tuple(cell for cell in forked(settings) if cell.platform == "linux")
        if method == DEFAULT_METHOD:
            asked = cells_for(self.project, module, method)
            default = set(asked) <= set(settings.cells)
            return settings.cells if asked and default else asked or forked(settings)
        return forked(settings) if method == "fork" else cells_for(self.project, module, method)

    def _chain(self, use: WorkerUse) -> Iterator[Link]:
        loading = use.loading
        doing = "make tensors in" if use.by_default else "run it through"
        yield self.link(loading.module, loading.call, f"workers of this loader {doing} `{loading.part}`")

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Say where it belongs."""
        advice = ASK_FOR_IT if suspect.facts.by_default else MOVE_LATER
        return (Proposal(advice, Applicability.DISPLAY),)

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The loader's call, the dataset, the line, and the kind of accelerator."""
        use: WorkerUse = suspect.facts
        span = use.loading.module.span(use.loading.call)
        line = module.span(use.node)
        dataset = use.loading.dataset
        return {
            "call": {"file": str(use.loading.module.path), "first": span.row, "last": span.end_row},
            "dataset": dataset.place if dataset is not None else None,
            "line": {"file": str(module.path), "first": line.row, "last": line.end_row},
            "kept": use.attribute or ("dataset" if use.given else "default" if use.by_default else ""),
            "kind": use.kind,
        }


def _message(use: WorkerUse, cells: tuple[Cell, ...]) -> str:
    name = NAMES[use.kind]
    text = ast.unparse(use.node)
    what = f"`{text if len(text) <= 50 else text[:47] + '...'}`"
    where = (
        f"`self.{use.attribute}` is put on {name} and used in worker processes"
        if use.attribute
        else (f"{what} uses {name} in worker processes")
    )
    if use.given:
        where = f"{what} puts on {name} what worker processes read"
    if use.by_default:
        where = f"{what} has worker processes make tensors on {name}, too"
    effects = []
    if any(not cell.pickles for cell in cells):
        effects.append(f"under fork, a worker cannot re-initialize {name}")
    if any(cell.pickles for cell in cells):
        methods = " and ".join(sorted({cell.start_method for cell in cells if cell.pickles}))
        effects.append(f"under {methods}, each worker creates its own {name} context")
    return f"{where}: {'; '.join(effects)}"
