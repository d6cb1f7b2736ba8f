"""FKL303 unsharded-iterable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.datasets.whole import Whole
    from forklint.edits.tree import Tree
    from forklint.project.module import Module

GIVES = (b"yield", b"return")
"""One of these stands where samples are given."""
SPOKEN_OF = (b"Iterable", b"Dataset")


class UnshardedIterable(Rule):
    """Every worker yields all samples of an iterable dataset, so each sample comes once per worker.

    ## What it does
    Looks for an `IterableDataset` whose `__iter__` goes through all of a finite collection that each worker has: a
    list, a range, the lines of a file, the files of a directory. If a loader with workers uses it, the rule reports the
    statement that yields the samples. If the number of workers is unknown, the severity is info.

    Generator functions, properties and objects of the project that `__iter__` reads from are followed.

    A stream that is split by rank is reported too: the workers of one process have the same rank. The rule reports
    nothing if the class, a base class or a function that gives samples mentions workers or takes a shard, or calls or
    is decorated with a function that asks for the worker; if a `worker_init_fn` assigns each worker its part; if
    `__iter__` passes on another iterable that may split itself, unless the call that makes the dataset shows that it
    is a collection; for infinite streams, such as the frames of a camera, and those that draw each sample at random; if
    accelerate prepares the loader; and for webdataset, torchdata and `split_dataset_by_node`.

    ## Why is this bad?
    A loader distributes indices to its workers, but an iterable dataset has no indices: each worker gets a copy of the
    dataset and runs `__iter__` from the first sample to the last. With four workers, an epoch has each sample four
    times. It takes four times as long, anything counted over an epoch is wrong, and a validation loss looks right but
    is not. There is no error.

    ## Example
    ```python
    class Lines(IterableDataset):
        def __init__(self, path):
            super().__init__()
            self.path = path

        def __iter__(self):
            with open(self.path) as file:
                for line in file:
                    yield line.strip()
    ```

    ## Use instead
    ```python
    class Lines(IterableDataset):
        def __init__(self, path):
            super().__init__()
            self.path = path

        def __iter__(self):
            worker = torch.utils.data.get_worker_info()
            first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
            with open(self.path) as file:
                for line in itertools.islice(file, first, None, step):
                    yield line.strip()
    ```

    ## Fix safety
    The fix wraps the iterable into `islice(..., worker.id, None, worker.num_workers)` if one statement at the top of
    `__iter__` yields all samples; otherwise there is only advice. It is unsafe: an epoch then has fewer batches, so
    everything that depends on their number, such as a learning-rate schedule, changes, and samples come in a different
    order. Every worker still reads all samples and skips those of the others; it is better to split files by name.

    ## How it is proved
    The samples of a loader are counted by their digests, without workers and with several.

    ## Known limits
    Processes of a distributed run must split the samples as well, which the fix does not do. A dataset that reaches its
    loader through a configuration is not followed. `num_workers=1` is not reported, since one worker duplicates
    nothing. A `while` loop is reported only if it reads until nothing is left, with `next`, `readline` or `read`, or
    counts up to a length; readers that take turns are not followed. Datasets with `__next__`, and a loop over epochs
    that draws samples, are not checked. See [further ways](../recall/FKL303.md).

    ## References
    - [torch.utils.data: IterableDataset](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset)
    - [torch.utils.data: iterable-style datasets](https://docs.pytorch.org/docs/stable/data.html#iterable-style-datasets)
    """

    code = "FKL303"
    name = "unsharded-iterable"
    severity = Severity.WARNING
    words = (b"def __iter__",)
    needs = Needs(here=(words, SPOKEN_OF, GIVES), reached=(b"torch",))
    """Something that gives samples, in a file that speaks of datasets, and torch, here or in what is reached."""

    def may_hold(self, path: Path, data: bytes) -> bool:
        """Whether the file, or one that it reaches, has to do with torch."""
        return b"torch" in data or self.reaches(path, b"torch")

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Iterable datasets of this module that every worker gives whole."""
        from forklint.datasets.whole import wholes

        if not _may_give(module.screened.code):
            return
        for whole in wholes(self.project, module):
            sure = whole.loaded.surely
            yield Suspect(
                node=whole.giving,
                subject=whole.dataset.name,
                message=_message(whole, sure=sure),
                cells=self.settings.cells,
                chain=(self.link(whole.loaded.module, whole.loaded.call, "this loader reads it with workers"),),
                severity=None if sure else Severity.INFO,
                facts=whole,
            )

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The class whose object a loader gets."""
        found: Whole = suspect.facts
        return {"dataset": found.dataset.place, "keeper": found.facts.place}

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Share the samples out among workers."""
        from forklint.rules.unsharded_iterable import sharing_out

        return sharing_out.proposals(suspect.facts, module, tree)


def _may_give(data: bytes) -> bool:
    return Needs(here=(SPOKEN_OF, GIVES)).may_be_met(data)


def _message(whole: Whole, *, sure: bool) -> str:
    several = "" if sure else " if there are several"
    return f"every worker yields all samples of `{whole.dataset.name}`: each sample comes once per worker{several}"
