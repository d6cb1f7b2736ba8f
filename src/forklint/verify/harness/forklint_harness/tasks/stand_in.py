"""For FKL301 where there is no data: the class is built with stand-ins for what it is given and what it opens.

Run as a program. The order's spec: ``file`` and ``qualname`` of the class, ``keeper`` and ``attributes`` as for the
task ``samples``, ``finding`` (the file of the finding), ``openers``, ``readers`` and ``checks`` (of data that may
not be there).
"""

from __future__ import annotations

import inspect
import json
import os
from functools import reduce
from itertools import islice
from typing import Any, Dict, Iterator, List, Mapping

from forklint_harness import journal, standing
from forklint_harness.__main__ import module_at
from forklint_harness.frames import raised_at
from forklint_harness.holding import held_by

READ = 4
"""Samples that are asked for in each of the workers."""
WORKERS = 2
TEXTS = ("path", "root", "dir", "file", "folder", "name", "split", "mode")


def install(order: Mapping[str, Any]) -> None:
    """Set no hooks: this task is the program itself."""


def run(spec: Mapping[str, Any]) -> None:
    """Build the class, say what it keeps, and let workers read from it: whatever they raise is no evidence."""
    from torch.utils.data import DataLoader, Dataset, IterableDataset

    class Samples(Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return READ * WORKERS

        def __getitem__(self, index: int) -> int:
            attempt(lambda: dataset[index])
            return index

    class Stream(IterableDataset):  # type: ignore[type-arg]
        def __iter__(self) -> Iterator[int]:
            attempt(lambda: list(islice(iter(dataset), READ)))
            return iter(range(READ))

    standing.replace(spec["openers"])
    standing.replace_missing([name for name in spec["readers"] if name not in spec["openers"]], spec["checks"])
    try:
        kind: Any = reduce(getattr, spec["qualname"].split("."), module_at(spec["file"]))
        dataset = kind(**arguments_of(kind))
    except BaseException as error:  # SystemExit of a script included
        frame = raised_at(error.__traceback__)
        journal.record("cannot-build", type=type(error).__name__, text=str(error)[:500], frame=frame)
        return
    for attribute in spec["attributes"]:
        for one in held_by(dataset, spec["keeper"], attribute, spec["finding"]):
            one.record()
    reader: Any = Stream() if isinstance(dataset, IterableDataset) else Samples()
    for _ in DataLoader(reader, num_workers=WORKERS, multiprocessing_context="fork"):
        pass
    journal.record("done")


def attempt(read: Any) -> None:
    """Read; what is wrong with a stand-in is not wrong with the program."""
    try:
        read()
    except Exception as error:
        journal.record("attempt", type=type(error).__name__, text=str(error)[:500])


def arguments_of(kind: Any) -> Dict[str, Any]:
    """Something for each argument that has no default: a text where a name or an annotation speaks for one."""
    given: Dict[str, Any] = {}
    plain: List[Any] = [inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY]
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.default is inspect.Parameter.empty and parameter.kind in plain:
            is_text = parameter.annotation in (str, "str") or any(word in name.lower() for word in TEXTS)
            given[name] = "stand-in" if is_text else standing.argument()
    return given


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
