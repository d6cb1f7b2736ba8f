"""Which parts of a claim are made up: options of a loader, the classes of what it is given."""

from __future__ import annotations

import sys
from typing import Any, Dict

from forklint_harness.imports import after_import
from forklint_harness.tolerance import lacks
from forklint_harness.tolerance.stand_ins import NUMBER, StandIn, is_stand_in, missing_bases, name_of
from forklint_harness.tolerance.tainted import MadeUpInt

PLAIN: Dict[str, Any] = {
    "batch_size": MadeUpInt(NUMBER),
    "num_workers": MadeUpInt(NUMBER),
    "shuffle": False,
    "drop_last": False,
    "pin_memory": False,
    "persistent_workers": False,
    "timeout": 0,
    "prefetch_factor": None,
    "generator": None,
    "multiprocessing_context": None,
    "worker_init_fn": None,
    "collate_fn": None,
    "sampler": None,
    "batch_sampler": None,
}
"""What a loader takes where an option is a stand-in, which it would refuse."""
POSITIONS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory")


def install() -> None:
    """Let loaders take stand-ins as options, and remember which were made up."""
    after_import("torch.utils.data.dataloader", _on_dataloader)


def _on_dataloader(module: Any) -> None:
    kind: Any = module.DataLoader
    make = kind.__init__

    def __init__(loader: Any, *arguments: Any, **keywords: Any) -> None:
        given = dict(zip(POSITIONS, arguments))  # noqa: B905 - Python 3.8 has no strict
        beyond = arguments[len(POSITIONS) :]
        given.update(keywords)
        made_up = {name: name_of(value) for name, value in given.items() if is_stand_in(value)}
        for name in made_up:
            lacks.record("option", "{} of a loader".format(name))
            if name in PLAIN and isinstance(given[name], StandIn):
                given[name] = PLAIN[name]
        first = [given.pop(name) for name in POSITIONS] if beyond else []
        try:
            make(loader, *first, *beyond, **given)
        except ValueError as error:
            if "num_samples" not in str(error) or beyond or not lacks.are_data_missing():
                raise
            made_up["dataset"] = "empty, for its data are missing"  # what is in order needs no samples
            lacks.record("option", "dataset of a loader")
            make(loader, **dict(given, shuffle=False))
        loader.__dict__["_forklint_made_up"] = made_up

    __init__.__wrapped__ = make  # type: ignore[attr-defined]
    kind.__init__ = __init__


def made_up_in(loader: Any) -> Dict[str, str]:
    """By option, what a loader was given that is made up: a stand-in, or an object of a class with a missing base."""
    found: Dict[str, str] = dict(loader.__dict__.get("_forklint_made_up", {}))
    bases = missing_bases(type(loader.dataset))
    if bases and "dataset" not in found:
        found["dataset"] = bases[0]
    return found


def loader_on_stack() -> Any:
    """The loader whose iteration leads to this call; None if there is none."""
    kind = getattr(sys.modules.get("torch.utils.data.dataloader"), "DataLoader", None)
    frame: Any = sys._getframe(1)
    while frame is not None and kind is not None:
        for name in ("loader", "self"):
            if isinstance(frame.f_locals.get(name), kind):
                return frame.f_locals[name]
        frame = frame.f_back
    return None
