"""FKL306 lost-dataset-update."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.lost_dataset_update.lost import Lost, LostUpdates

LOOPS = (b"for ", b"while ")


class LostDatasetUpdate(Rule):
    """An attribute of a dataset is changed in a loop, but persistent workers never see the change.

    ## What it does
    Looks for a loader with workers and `persistent_workers=True` that is created once and iterated in a loop, in which
    an attribute of its dataset is changed: by `dataset.epoch = epoch`, by `loader.dataset.epoch = epoch`, by a method
    of the class, or by `append` and similar methods of a list. The class must be defined in the project, and the
    methods that workers run must read the attribute. The rule reports nothing for properties, for shared values
    (`share_memory_`, `multiprocessing.Value`), if the loader holds the dataset inside another one, and if workers are
    started again for each epoch, since they then see the change.

    ## Why is this bad?
    Each worker has a copy of the dataset from when it was started. With `persistent_workers=True` it is started once,
    so a curriculum, an image size or the epoch of a random seed never changes after the first epoch, and there is no
    error.

    ## Example
    ```python
    loader = DataLoader(crops, batch_size=32, num_workers=4, persistent_workers=True)
    for epoch in range(90):
        crops.size = 96 + 32 * (epoch // 30)
        for batch in loader:
            step(batch)
    ```

    ## Use instead
    Keep the value where all processes see it, for example `self.size = multiprocessing.Value("i", 96)`, read and
    changed by its `value`; or leave `persistent_workers` out.

    ## Fix safety
    There is no automatic fix: starting workers for each epoch takes time, and sharing a value changes the class.

    ## How it is proved
    The loader is read for an epoch, the attribute is changed, and the loader is read again to see which value workers
    have. The control does the same without workers.

    ## Known limits
    The loader must be assigned to a name or an attribute in the file that changes the dataset, and the loop must
    read it itself or in a function that it calls. Options in a mapping, changes of a transform, a collator or a part
    (`Subset`), and hooks of trainers are not followed. A change within an epoch, which workers see only in the next
    one, is not reported. See [further ways](../recall/FKL306.md).

    ## References
    - [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
    """

    code = "FKL306"
    name = "lost-dataset-update"
    severity = Severity.WARNING
    words = (b"persistent_workers",)
    needs = Needs(here=(words, LOOPS))
    """A loader with persistent workers, and a loop."""

    @cached_property
    def _updates(self) -> LostUpdates:
        from forklint.rules.lost_dataset_update.lost import LostUpdates

        return LostUpdates(self.project)

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Find the changes that are lost, each statement once."""
        seen = set()
        for lost in self._updates.in_module(module):
            if lost.node not in seen and self.settings.cells:
                seen.add(lost.node)
                chain = (self.link(module, lost.loader.call, "the workers of this loader are started only once"),)
                yield Suspect(lost.node, lost.attribute, _message(lost), self.settings.cells, chain, facts=lost)

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Say what helps."""
        words = "store it in a `multiprocessing.Value` or a shared tensor, or remove `persistent_workers`"
        return (Proposal(words, Applicability.DISPLAY),)

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The loader's call, the dataset and the attribute."""
        lost: Lost = suspect.facts
        span = module.span(lost.loader.call)
        return {
            "call": {"file": str(module.path), "first": span.row, "last": span.end_row},
            "dataset": lost.dataset.place,
            "attribute": lost.attribute,
        }


def _message(lost: Lost) -> str:
    what = f"`{lost.attribute}` of `{lost.dataset.name}`"
    return f"{what} is changed here, but the persistent workers of `{lost.loader.name}` keep their old copy"
