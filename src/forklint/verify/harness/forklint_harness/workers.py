"""What goes on in a worker of a trial's loader: samples are seeded by their index and their digests written down."""

from __future__ import annotations

import random
import re
import sys
import zlib
from types import ModuleType
from typing import Any, Callable, List, Optional

from forklint_harness import journal, stacks
from forklint_harness.digest import digest
from forklint_harness.frames import raised_at
from forklint_harness.holding import begin_uses
from forklint_harness.imports import after_import


def seed(key: Any) -> None:
    """Make what is random from here on a function of ``key``."""
    number = zlib.crc32(repr(key).encode())
    random.seed(number)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(number)
    if torch is not None:
        torch.default_generator.manual_seed(number)


def begin_alike() -> None:
    """Let every process begin with the same random streams, so that a random split is the same in each trial.

    A program that seeds them itself does so later and is heard.
    """
    random.seed(0)
    after_import("numpy.random", lambda module: module.seed(0))
    after_import("torch", lambda module: module.default_generator.manual_seed(0))


class Seeding:
    """A dataset that seeds before it gives a sample; all else is the dataset's own."""

    def __init__(self, dataset: Any) -> None:
        self._forklint_dataset = dataset
        if getattr(dataset, "__getitems__", None) and not only_passes_on(dataset):
            self.__getitems__ = self._getitems

    def __getitem__(self, index: Any) -> Any:
        seed(index)
        return self._forklint_dataset[index]

    def _getitems(self, indices: Any) -> Any:
        seed(indices)
        return self._forklint_dataset.__getitems__(indices)

    def __len__(self) -> int:
        return len(self._forklint_dataset)

    def __getattr__(self, name: str) -> Any:
        if name == "__getitems__":  # set above where it is wanted
            raise AttributeError(name)
        return getattr(self.__dict__["_forklint_dataset"], name)


def only_passes_on(dataset: Any) -> bool:
    """Whether its ``__getitems__`` is that of torch's Subset, over a dataset that gives samples one by one.

    Then each sample can be seeded by itself; seeded as a batch, it would depend on the others of that batch.
    """
    subset = getattr(sys.modules.get("torch.utils.data"), "Subset", None)
    while subset is not None and getattr(type(dataset), "__getitems__", None) is getattr(subset, "__getitems__", 0):
        dataset = dataset.dataset
        if not getattr(dataset, "__getitems__", None):
            return True
    return False


def key_of(index: Any) -> Any:
    """An index as JSON holds it."""
    try:
        return int(index.__index__())
    except (AttributeError, TypeError):
        return repr(index)


def digests_of(data: Any, known: Optional[List[Any]]) -> List[Optional[str]]:
    """Digests of the samples of a batch, as ``__getitems__`` may give it; None where they cannot be told apart."""
    if isinstance(data, (list, tuple)):
        return [digest(sample) for sample in data]
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    is_array = (torch is not None and isinstance(data, torch.Tensor)) or (
        numpy is not None and isinstance(data, numpy.ndarray)
    )
    if is_array and data.ndim and known is not None and len(data) == len(known):
        return [digest(sample) for sample in data]
    return [None for _ in known or ()]  # a generator would be used up, a dict has no order of samples


def watch_fetches() -> None:
    """Hook the fetchers of this process; once."""
    from torch.utils.data._utils import fetch

    _watch(fetch, "_MapDatasetFetcher", _indices)
    _watch(fetch, "_IterableDatasetFetcher", _no_indices)


def _indices(fetcher: Any, index: Any) -> List[Any]:
    return [key_of(one) for one in index] if fetcher.auto_collation else [key_of(index)]


def _no_indices(_fetcher: Any, _index: Any) -> None:
    """An iterable's samples have no index."""


def _watch(module: ModuleType, name: str, indices: Callable[[Any, Any], Optional[List[Any]]]) -> None:
    kind = getattr(module, name)
    fetch = kind.fetch
    if getattr(fetch, "_forklint", False):
        return

    def fetch_and_note(fetcher: Any, index: Any) -> Any:
        known = indices(fetcher, index)
        if known is not None and not isinstance(fetcher.dataset, Seeding):
            fetcher.dataset = Seeding(fetcher.dataset)
        collate = fetcher.collate_fn

        def note(data: Any) -> Any:
            digests = digests_of(data, known) if fetcher.auto_collation else [digest(data)]
            journal.record("samples", indices=known, digests=digests)
            try:
                return collate(data)
            except StopIteration:  # a trial's own way to end a stream that does not end
                raise
            except Exception as error:  # these samples may never stand in one batch of the program's own
                tell_of(error, "collating", known)
                return None

        fetcher.collate_fn = note
        try:
            return fetch(fetcher, index)
        except StopIteration:
            raise
        except Exception as error:
            tell_of(error, "worker" if journal.role() == "worker" else "main", known)
            raise
        finally:
            fetcher.collate_fn = collate

    fetch_and_note._forklint = True  # type: ignore[attr-defined]
    kind.fetch = fetch_and_note


def tell_of(error: BaseException, phase: str, indices: Any = None) -> None:
    """Write an exception down, with the project's own frame."""
    journal.record(
        "error",
        phase=phase,
        type=type(error).__name__,
        text=(_original(str(error)) or str(error))[:2000],
        frame=raised_at(error.__traceback__),
        indices=indices,
    )


def _original(text: str) -> str:
    """What an error said in the worker from which torch has brought it; empty if it was raised here."""
    _, _, trace = text.partition("Original Traceback")
    said = re.findall(r"^[A-Za-z_][\w.]*: (.*)$", trace, re.MULTILINE)
    return str(said[-1]) if said else ""


class WorkerStart:
    """The loader's ``worker_init_fn``: sets the hooks in whatever process it finds itself, then runs the program's."""

    def __init__(self, program: Optional[Callable[[int], Any]]) -> None:
        self.program = program

    def __call__(self, number: int) -> None:
        """Begin in a worker."""
        stacks.catch_crashes()
        watch_fetches()
        journal.record("worker", number=number)
        begin_uses()
        seed("worker")
        if self.program is not None:
            self.program(number)
