"""The least change that takes a handle out of what workers share: each process gets one of its own.

For findings whose rule has no fix. In a worker the keeper's class is built once more, and the attributes that hold the
handle, or were made of it, are taken from there; all else of the dataset stays what it was.
"""

from __future__ import annotations

import contextlib
import copyreg
import json
import os
from functools import partial
from typing import Any, Dict, List, Mapping, Tuple

from forklint_harness.holding import Cache, attribute_of, held_by
from forklint_harness.loaders import attributes_of, find, parts_of
from forklint_harness.pickling import error_of
from forklint_harness.stores import building, making
from forklint_harness.stores.values import scratch
from forklint_harness.stores.world import World

_donors: Dict[int, Any] = {}
Chosen = Tuple[str, Any, List[str]]
"""An object that keeps handles: its path below the dataset, itself, and the names of what is made anew."""


def mend(dataset: Any, spec: Mapping[str, Any]) -> None:
    """Let each object that keeps the handle get its own in every other process, forked or spawned.

    So do those that keep handles which are to be ``apart``, each given by its path: ``dataset.captions.file``.
    """
    told, keeper = spec["dataset"], spec.get("keeper")
    chosen: Dict[str, Chosen] = {}
    for path, holder in find(dataset, keeper) if told.get("mend") and keeper is not None else ():
        chosen[path] = (path, holder, names_of(holder, spec))
    for full in told.get("apart", ()):
        path, _, attribute = full[len("dataset") :].rpartition(".")
        holder = at(dataset, path)
        if holder is not None:
            known = chosen.get(path, (path, holder, []))[2]
            chosen[path] = (path, holder, list(dict.fromkeys(known + names_of(holder, {"attributes": [attribute]}))))
    all_chosen = [one for one in chosen.values() if one[2]]
    if all_chosen and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _transplant(all_chosen))
    for one in all_chosen:
        _on_pickling(*one)
    if told.get("mend") and spec.get("lasting") and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _forget(dataset, spec))


def _forget(dataset: Any, spec: Mapping[str, Any]) -> None:
    """Take out of a module what its functions keep there, so that this process opens its own."""
    for one in (held for name in spec["attributes"] for held in held_by(dataset, None, name, spec["file"])):
        for part in _parts(one.value):
            with contextlib.suppress(Exception):
                part.close()
        if isinstance(one.holder, Cache):
            one.holder.function.cache_clear()
        elif isinstance(one.value, (dict, list)):
            one.value.clear()
        else:
            setattr(one.holder, one.attribute, None)


def at(root: Any, path: str) -> Any:
    """What lies at a path such as ``.reader.parts[0]`` in what hangs on an object; None if nothing does."""
    if not path:
        return root
    for step, part in parts_of(root):
        if path == step or path.startswith((step + ".", step + "[")):
            return at(part, path[len(step) :])
    return None


def names_of(holder: Any, spec: Mapping[str, Any]) -> List[str]:
    """The attributes that hold the handle, and others of its library that cannot be pickled, such as a transaction."""
    own = attributes_of(holder)
    named = [name for name in (*spec["attributes"], spec.get("attribute")) if name in own]
    values = [value for name in named for value in _parts(own[name])]
    packages = {type(value).__module__.partition(".")[0] for value in values}
    packages |= {"lmdb"} if packages & {"lmdb", "builtins", "Environment"} and _is_lmdb(values) else set()
    return named + [
        name
        for name, value in own.items()
        if name not in named and any(_is_made_of(part, packages) for part in _parts(value))
    ]


def _parts(value: Any) -> List[Any]:
    if isinstance(value, dict):
        return list(value.values())[:8]
    return list(value)[:8] if isinstance(value, (list, tuple)) else [value]


def _is_lmdb(values: List[Any]) -> bool:
    return any(type(value).__name__ == "Environment" for value in values)


def _is_made_of(value: Any, packages: Any) -> bool:
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    if "lmdb" in packages and kind.__name__ in ("Transaction", "Cursor", "_Database"):
        return True
    return package in packages - {"builtins"} and error_of(value) is not None


def _donor() -> Any:
    """The dataset that was built anew in this process."""
    if os.getpid() not in _donors:
        _donors.clear()
        with open(os.path.join(scratch(), making.FILE), encoding="utf-8") as file:
            world = World.of_json(json.load(file))
        _donors[os.getpid()] = building.build(world.dataset)
    return _donors[os.getpid()]


def _transplant(chosen: List[Chosen]) -> None:
    for _, holder, names in chosen:
        for name in names:  # LMDB opens no environment twice in a process, the one that came by fork included
            for part in _parts(attributes_of(holder).get(name)):
                with contextlib.suppress(Exception):
                    part.close()
    for path, holder, names in chosen:
        donor = at(_donor(), path)
        for name in names if donor is not None else ():
            object.__setattr__(holder, name, attribute_of(donor, name))


def _on_pickling(path: str, holder: Any, names: List[str]) -> None:
    kind: Any = type(holder)
    plain: Any = kind.__reduce_ex__

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        if self is not holder:
            return plain(self, protocol)
        state = getattr(self, "__getstate__", None)
        held = state() if "__getstate__" in _own_names(kind) and state is not None else dict(attributes_of(self))
        if isinstance(held, dict):
            held = {name: value for name, value in held.items() if name not in names}
        make = copyreg.__newobj__  # type: ignore[attr-defined] # as object.__reduce_ex__ has it
        return make, (kind,), held, None, None, partial(restore, path, names)

    kind.__reduce_ex__ = __reduce_ex__


def _own_names(kind: type) -> List[str]:
    return [name for one in kind.__mro__[:-1] for name in one.__dict__]


def restore(path: str, names: List[str], made: Any, state: Any) -> None:
    """Fill the object in a process that was sent it."""
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    _transplant([(path, made, names)])
