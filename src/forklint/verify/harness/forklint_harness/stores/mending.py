"""The least change that takes a handle out of what workers share: each process gets one of its own.

For findings whose rule has no fix. In a worker the keeper's class is built once more, and the attributes that hold the
handle, or were made of it, are taken from there; all else of the dataset stays what it was.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Dict, List, Mapping

from forklint_harness.holding import attribute_of
from forklint_harness.loaders import attributes_of, find
from forklint_harness.pickling import error_of
from forklint_harness.stores import building, making
from forklint_harness.stores.values import scratch
from forklint_harness.stores.world import World

_donors: Dict[int, Any] = {}
Wanted = Mapping[str, Any]


def mend(dataset: Any, spec: Mapping[str, Any]) -> None:
    """Let each object that keeps the handle get its own in every other process, forked or spawned."""
    keeper = spec.get("keeper")
    if keeper is None:
        return
    for path, holder in find(dataset, keeper):
        names = names_of(holder, spec)
        if names:
            _on_fork(path, holder, names, keeper)
            _on_pickling(path, holder, names, keeper)


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


def _donor(path: str, keeper: Wanted) -> Any:
    """The object in a dataset that was built anew in this process."""
    if os.getpid() not in _donors:
        _donors.clear()
        with open(os.path.join(scratch(), making.FILE), encoding="utf-8") as file:
            world = World.of_json(json.load(file))
        _donors[os.getpid()] = building.build(world.dataset)
    return dict(find(_donors[os.getpid()], keeper)).get(path)


def _transplant(path: str, holder: Any, names: List[str], keeper: Wanted) -> None:
    for name in names:  # LMDB opens no environment twice in a process, the one that came by fork included
        for part in _parts(attributes_of(holder).get(name)):
            with contextlib.suppress(Exception):
                part.close()
    donor = _donor(path, keeper)
    for name in names:
        object.__setattr__(holder, name, attribute_of(donor, name))


def _on_fork(path: str, holder: Any, names: List[str], keeper: Wanted) -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _transplant(path, holder, names, keeper))


def _on_pickling(path: str, holder: Any, names: List[str], keeper: Wanted) -> None:
    kind: Any = type(holder)
    plain: Any = kind.__reduce_ex__

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        if self is not holder:
            return plain(self, protocol)
        state = getattr(self, "__getstate__", None)
        held = state() if "__getstate__" in _own_names(kind) and state is not None else dict(attributes_of(self))
        if isinstance(held, dict):
            held = {name: value for name, value in held.items() if name not in names}
        return restored, (kind, held, path, names, dict(keeper))

    kind.__reduce_ex__ = __reduce_ex__


def _own_names(kind: type) -> List[str]:
    return [name for one in kind.__mro__[:-1] for name in one.__dict__]


def restored(kind: Any, state: Any, path: str, names: List[str], keeper: Wanted) -> Any:
    """The object in a process that was sent it."""
    made = kind.__new__(kind)
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    _transplant(path, made, names, keeper)
    return made
