"""Which parts of a claim are made up: options of a loader, the classes of what it is given."""

from __future__ import annotations

import os
import sys
import types
from typing import Any, Dict, List, Mapping, Sequence

from forklint_harness.imports import after_import
from forklint_harness.loaders import LEAVES, parts_of
from forklint_harness.tolerance import lacks
from forklint_harness.tolerance.keeping import Keeper
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
MOST_LOOKED_AT = 200
_NOTHING = object()
POSITIONS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory")


def install() -> None:
    """Let loaders take stand-ins as options, and remember which were made up."""
    after_import("torch.utils.data.dataloader", _on_dataloader)
    after_import("torch.utils.data._utils.collate", _on_collate)


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
            if lacks.are_data_missing() and not given.get("batch_sampler") and hasattr(loader.sampler, "__len__"):
                len(loader.sampler)  # a dataset of fewer rows than it wants fails here, too
        except ValueError as error:
            has_none = "num_samples" in str(error) or "__len__()" in str(error)
            if not has_none or beyond or not lacks.are_data_missing():
                raise
            made_up["samples"] = "none, for the data are missing"
            lacks.record("option", "samples of a loader")
            loader.__dict__.clear()  # one that has begun takes no other sampler
            make(loader, **dict(given, shuffle=None, sampler=range(NUMBER)))
        loader.__dict__["_forklint_made_up"] = made_up

    __init__.__wrapped__ = make  # type: ignore[attr-defined]
    kind.__init__ = __init__


def _on_collate(module: Any) -> None:
    """Batches of stand-ins are stand-ins."""
    known: Any = getattr(module, "default_collate_fn_map", None)
    if isinstance(known, dict):
        known[StandIn] = lambda batch, **_: batch[0]


def made_up_in(loader: Any) -> Dict[str, str]:
    """By option, what a loader was given that is made up: a stand-in, or an object of a class with a missing base."""
    found: Dict[str, str] = dict(loader.__dict__.get("_forklint_made_up", {}))
    bases = missing_bases(type(loader.dataset))
    if bases and "dataset" not in found:
        found["dataset"] = bases[0]
    return found


def made_up_part(loader: Any, part: str, path: Sequence[str]) -> List[str]:
    """What of one option of a loader, or of an attribute below it, is made up, in words.

    A missing object of which it is known what it keeps is not: what it keeps is what is sent.
    """
    found = made_up_in(loader)
    value = getattr(loader, part, None)
    if part in found and not path and not isinstance(value, Keeper):
        return ["the loader's {} is a stand-in ({})".format(part, found[part])]
    held = held_at(value, path) if path else []
    made_up = [one for one in held if is_stand_in(one) and not isinstance(one, Keeper)]
    return ["`{}` is a stand-in ({})".format(".".join(path), name_of(one)) for one in made_up]


def another(loader: Any, part: str, path: Sequence[str], sought: Mapping[str, Any]) -> str:
    """What a loader has in the place of the function that a claim is about; empty if it is that, or cannot be told.

    Sought is a function of a ``name`` in a ``file``, of which the ``row`` may be known.
    """
    value = getattr(loader, part, None)
    held = [_function_of(one) for one in (held_at(value, path) if path else [value])]
    if any(not isinstance(one, (types.FunctionType, type(None))) or _is_sought(one, sought) for one in held):
        return ""
    return ", ".join("nothing" if one is None else "`{}`".format(one.__qualname__) for one in held)


def _function_of(value: Any) -> Any:
    """The function in a partial or a method."""
    for name in ("func", "__func__"):
        value = getattr(value, name, value)
    return value


def _is_sought(function: Any, sought: Mapping[str, Any]) -> bool:
    code = getattr(function, "__code__", None)
    if code is None or os.path.realpath(code.co_filename) != os.path.realpath(sought["file"]):
        return False
    return bool(function.__name__ == sought["name"] and sought.get("row") in (None, code.co_firstlineno))


def held_at(root: Any, path: Sequence[str]) -> List[Any]:
    """What hangs on an object by these attributes, of it or of what it wraps."""
    if not path:
        return []
    waiting, seen = [root], 0
    while waiting and seen < MOST_LOOKED_AT:
        value = waiting.pop(0)
        seen += 1
        found = value
        for name in path:
            found = getattr(found, "__dict__", {}).get(name, _NOTHING)
        if found is not _NOTHING:
            return [found]
        waiting += [part for _, part in parts_of(value) if not isinstance(part, LEAVES)]
    return []


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
