"""FKL302 rng-in-init."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.rng_in_init.kept import KeptGenerator, KeptGenerators
    from forklint.rules.rng_in_init.worker_seeds import WorkerSeeds

CALLED = (b"default_rng", b"Random", b"Generator", b"check_random_state")
"""One of these stands in every name of ``CALL``."""
CALL = rb"\b(?:default_rng|RandomState|Random|Generator|check_random_state)\s*\("
MADE = re.compile(CALL + rb"|:[^=\n]*\b(?:RandomState|Random|Generator)\b")
KEEPS = re.compile(rb"(?:^|\r)(?:\w+|[ \t]+self\.\w+)[ \t]*(?::[^=\n]*)?=[^\n]*" + CALL, re.MULTILINE)
WORKED = (b"Dataset", b"__getitem__", b"__iter__", b"__call__")
NAMED = re.compile(rb"\b(\w+)[ \t]*(?::[^=\n]*)?=[^=\n]*" + CALL)
NAMED_HERE = (b"__call__", b"worker_id", b"seed_worker", b"default_rng", b"RandomState")
"""Names of what a file has that knows nothing of torch: a transform, a seeder, a base class that keeps a generator."""
LOADS = (b"dataset", b"transform", b"augment", b"loader")
SEEDS = re.compile(rb"worker_?id|worker_init|seed_worker|init_fn|init_worker|worker_seed_fn")
SEEDING = re.compile(rb"seed\w*[\s)]*\(")


class RngInInit(Rule):
    """Workers draw the same random numbers, or repeat them in every epoch.

    ## What it does
    Looks for a generator of NumPy, `random` or torch that is created before workers start and that workers draw from:
    an attribute of a dataset or of its class, a global variable, the default of a parameter of a function that they
    run, or an attribute of a transform or other object that a dataset holds, directly, in a list, or through a
    function. Functions that a dataset is given as its transform are followed. The rule also checks how `worker_init_fn`
    seeds workers: with a constant, with a seed that depends on the worker but not on the epoch, with torch's 64-bit
    seed passed to `np.random.seed`, or with an integer of NumPy passed to `random.seed`, which Python 3.11 and newer
    refuse. An `__iter__` that seeds with the same number in each worker is reported, too, if nothing in its class or
    module asks for the worker.

    The rule reports nothing if the generator is reseeded in the worker, by the index of the sample or by the worker
    id; if the class uses `get_worker_info()` or the process id; if no loader of the dataset has workers; if a loader
    is named for evaluation; for seeds that depend on the worker, if a script reads the loader only once; and for
    samplers, `random_split` and `DataLoader(generator=...)`, which draw in the parent.

    ## Why is this bad?
    Each worker gets a copy of the generator in the state it has in the parent, by fork or by pickle. With four workers,
    the same numbers are drawn four times. The parent never draws itself, so the workers of the next epoch start in the
    same state again, and each epoch is augmented like the one before: training sees only part of the intended variety,
    without an error. `np.random`, `random` and `torch.rand` do not have this problem: since torch 1.9, workers get new
    seeds for each worker and epoch, unless a `worker_init_fn` overrides them.

    ## Example
    ```python
    class JitteredImages(Dataset):
        def __init__(self, images, labels, strength=0.2, seed=0):
            self.images = images
            self.labels = labels
            self.strength = strength
            self.rng = np.random.default_rng(seed)
    ```

    ## Use instead
    Draw from `np.random`, or from a generator that each process makes for itself:
    ```python
    class JitteredImages(Dataset):
        def __init__(self, images, labels, strength=0.2, seed=0):
            self.images = images
            self.labels = labels
            self.strength = strength

        _rng_generator = _rng_seed = None

        @property
        def rng(self):
            if self._rng_seed != torch.initial_seed():
                self._rng_generator = np.random.default_rng(torch.initial_seed())
                self._rng_seed = torch.initial_seed()
            return self._rng_generator
    ```
    In a `worker_init_fn`: `np.random.seed(torch.initial_seed() % 2**32)`.

    ## Fix safety
    The fix turns the attribute into such a property. It is unsafe, since it changes the numbers: runs are then
    reproduced with `torch.manual_seed` instead of the seed passed to the constructor. There is no automatic fix if
    `__init__` itself draws from the generator, if a caller may pass it in, or if it belongs to a class or a module. A
    seed in a `worker_init_fn` is replaced by the worker's own seed, which is unsafe for the same reason. Adding `%
    2**32` to a seed that is too large is safe, and so is `int(...)` around an integer of NumPy: without them, every
    worker ends with an error.

    ## How it is proved
    Two epochs are read without workers and with several under each start method, and the state of the generator is
    compared after each sample: if two workers reach the same state, or the second epoch reaches a state of the first,
    the same numbers were drawn twice.

    ## Known limits
    A `torch.Generator` of a dataset is reported only for fork; under spawn and forkserver, torch 2.13 on Linux cannot
    send one to a worker at all, see FKL204. With `persistent_workers=True` workers keep running, and numbers do not
    repeat in the next epoch; the message for generators does not consider this. An unseeded generator in a module or a
    class body is created again in each spawned worker, so it is reported only for fork. `np.random.seed(seed +
    worker_id)` is reported only if all options of its loaders are known, the dataset may end, and something may draw
    from the seeded generator.

    Closures, `partial`, lambdas returned by a function, plain functions passed as `collate_fn`, and objects created
    by a registry are not followed. A generator that is passed to an object in another file is seen only if the file
    that creates it deals with data. A class that uses `get_worker_info()` is trusted, even if it only splits files
    with it. A generator that each worker creates from the constructor's seed, other than in `__iter__`, a seed that
    is the time in seconds, and seeds of imgaug and other libraries are missed. See [further
    ways](../recall/FKL302.md).

    ## References
    - [torch.utils.data: randomness in multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading)
    - [torch: reproducibility, DataLoader](https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader)
    - [NumPy: parallel random number generation](https://numpy.org/doc/stable/reference/random/parallel.html)
    """

    code = "FKL302"
    name = "rng-in-init"
    severity = Severity.WARNING
    needs = Needs(here=((*CALLED, b"seed"),), reached=(b"torch",), named=NAMED_HERE)
    """A generator or a seed, and torch, here or in what is reached; or what files that load data may import."""

    @cached_property
    def _generators(self) -> KeptGenerators:
        from forklint.rules.rng_in_init.kept import KeptGenerators

        return KeptGenerators(self.project)

    def may_hold(self, path: Path, data: bytes) -> bool:
        """A generator is made, or a worker is seeded, in a project that trains: NumPy may be all that this needs."""
        return (self._may_keep(data) or self._may_seed(data)) and self._is_for_training(path, data)

    def _is_for_training(self, path: Path, data: bytes) -> bool:
        """Whether torch has to do with a file, or with its project."""
        return b"torch" in data or self.reaches(path, b"torch") or self.trains()

    def _may_keep(self, data: bytes) -> bool:
        """Whether a generator is plainly kept or handed on, or made where something is that workers run."""
        if not any(word in data for word in CALLED):
            return False
        is_worked = any(word in data for word in WORKED)
        return (MADE if is_worked else KEEPS).search(data) is not None or self._may_hand_on(data)

    def _may_hand_on(self, data: bytes) -> bool:
        """Whether a program that loads data makes a generator, and gives it to something by its name."""
        names = {match[1] for match in NAMED.finditer(data)} if any(word in data for word in LOADS) else ()
        return any(re.search(rb"[(,=]\s*%b\s*[,)]" % re.escape(name), data) for name in names)

    def _may_seed(self, data: bytes) -> bool:
        """Whether a function that workers begin with may seed something; a lambda may know a seeder by any name."""
        if b"Iterable" in data and b"def __iter__" in data and (SEEDING.search(data) or MADE.search(data)):
            return True
        if b"seed" not in data or not SEEDS.search(data):
            return False
        return SEEDING.search(data) is not None or b"lambda" in data

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Generators that statements of this module keep, and functions of it that seed workers alike."""
        from forklint.loading.certainty import ONLY_WITH_OPTION, doubt_of, is_idle
        from forklint.rules.rng_in_init.worker_seeds import worker_seeds

        code = module.screened.code
        if not self.may_hold(module.path, code):
            return
        for kept in self._generators.in_module(module) if self._may_keep(code) else ():
            cells = tuple(cell for cell in self.settings.cells if kept.pickled or not cell.pickles)
            dataset = kept.dataset
            if cells and not (dataset is not None and is_idle(self.project, dataset)):
                user, place = kept.drawn
                doubt = doubt_of(self.project, dataset) if dataset is not None else ""
                of_dataset = f" of `{dataset.name}`" if dataset is not None else ""
                where = f"workers{of_dataset} draw from it here"
                yield Suspect(
                    node=kept.statement,
                    subject=kept.name.removeprefix("self."),
                    message=f"{_kept_message(kept)} ({doubt})" if doubt else _kept_message(kept),
                    cells=cells,
                    chain=(self.link(user, place, where),),
                    severity=Severity.INFO if doubt else None,
                    facts=kept,
                )
        for seeds in worker_seeds(self.project, module) if self._may_seed(code) else ():
            severity = Severity.ERROR if seeds.too_large or seeds.refused else None
            yield Suspect(
                node=seeds.place,
                subject="worker_init_fn",
                message=f"{_seeds_message(seeds)} ({ONLY_WITH_OPTION})" if seeds.by_option else _seeds_message(seeds),
                cells=self.settings.cells,
                severity=Severity.INFO if seeds.by_option else severity,
                facts=seeds,
            )

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The dataset and the attribute, or the function that seeds workers and the streams that it seeds."""
        from forklint.project.module import FunctionFacts
        from forklint.rules.rng_in_init.kept import KeptGenerator

        found: KeptGenerator | WorkerSeeds = suspect.facts
        if isinstance(found, KeptGenerator):
            return {
                "dataset": found.dataset.place if found.dataset else None,
                "keeper": found.keeper.place if found.keeper else None,
                "attribute": found.name.rpartition(".")[2],
                "file": str(module.path),
                "kind": found.made.row.kind,
            }
        is_lambda = not isinstance(found.function, FunctionFacts)
        return {
            "function": "<lambda>" if is_lambda else found.function.node.name,  # type: ignore[union-attr]
            "file": str(module.path),
            "row": found.function.lineno if is_lambda else found.function.node.lineno,  # type: ignore[union-attr]
            "streams": found.streams,
            "is_plain": not is_lambda and found.function.scope.parent is module.scope,  # type: ignore[union-attr]
            "too_large": found.too_large,
            "refused": found.refused,
        }

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Give each process a generator of its own, or each worker the seed that torch made for it."""
        from forklint.rules.rng_in_init import own_stream
        from forklint.rules.rng_in_init.kept import KeptGenerator

        if isinstance(suspect.facts, KeptGenerator):
            return own_stream.of_generator(self.project, suspect.facts, module, tree)
        return own_stream.of_seeds(suspect.facts, module, tree)


def _kept_message(kept: KeptGenerator) -> str:
    again = ", and again in every epoch" if kept.every_epoch else ""
    made = f"`{kept.name}` is created before workers start, so each worker gets a copy"
    return f"{made}: all workers draw the same numbers from this {kept.made.row.kind}{again}"


def _seeds_message(seeds: WorkerSeeds) -> str:
    if seeds.too_large:
        return "the worker's seed has 64 bits, but NumPy accepts 32: `np.random.seed` raises ValueError in each worker"
    if seeds.refused:
        return "the seed is an integer of NumPy: from Python 3.11 on, `random.seed` raises TypeError in each worker"
    names = {"python": "`random`", "numpy": "`numpy.random`", "torch": "torch"}
    *most, last = (names.get(stream, stream) for stream in seeds.streams)
    streams = f"{', '.join(most)} and {last}" if most else last
    if seeds.by_worker:
        return f"workers start each epoch with the same seeds: the numbers of {streams} repeat in every epoch"
    again = ", and repeat in every epoch" if seeds.repeats else ""
    return f"all workers start with the same seed: the numbers of {streams} are the same in all workers{again}"
