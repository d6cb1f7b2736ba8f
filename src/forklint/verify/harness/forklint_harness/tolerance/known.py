"""Missing classes of which it is known what they do: loaders, trainers, objects that keep what they get.

The order's spec says so under ``known``, an object with

- ``loaders``: by name of a class derived from torch's DataLoader, the names of its arguments that have a position,
- ``keepers``: by name of a call, the arguments that its result holds, by name and by position; null stands for all,
- ``passing``: by name of a class, the methods of its objects that give back what they are given,
- ``consumers``: by name of a class, the methods of its objects that iterate the loaders they are given, each with the
  methods that they call on what they are given to get further loaders,
- ``streams``: by name of a call, the methods of its result that give it further arguments to hold: those which give a
  new object, and those which change it; and whether all others give the same object.

A name that ends with ``.*`` stands for all that begin as it does, one that begins with ``*.`` for all that end so.
"""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from forklint_harness.tolerance import lacks

LOADERS: Dict[str, Sequence[str]] = {}
KEEPERS: Dict[str, Any] = {}
STREAMS: Dict[str, Any] = {}
PASSING: Dict[str, Sequence[str]] = {}
CONSUMERS: Dict[str, Mapping[str, Sequence[str]]] = {}
_classes: Dict[str, type] = {}


def install(spec: Mapping[str, Any]) -> None:
    """Take the tables of an order."""
    known = spec.get("known", {})
    LOADERS.update(known.get("loaders", {}))
    KEEPERS.update(known.get("keepers", {}))
    STREAMS.update(known.get("streams", {}))
    PASSING.update(known.get("passing", {}))
    CONSUMERS.update(known.get("consumers", {}))


def loader_class(name: str) -> Any:
    """The class for a missing loader that is derived from torch's, with its arguments; None if it is none of these."""
    if name not in LOADERS:
        return None
    if name not in _classes:
        _classes[name] = _derived(name)
        lacks.record("class", "{} as torch's DataLoader".format(name))
    return _classes[name]


def _derived(name: str) -> type:
    from torch.utils.data import DataLoader

    plain: Any = inspect.unwrap(DataLoader.__init__)
    taken = [one for one in inspect.signature(plain).parameters if one != "self"]

    class Loader(DataLoader):  # type: ignore[type-arg]
        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            given = dict(zip(LOADERS[name], arguments))  # noqa: B905 - Python 3.8 has no strict
            given.update(keywords)
            options = {key: value for key, value in given.items() if key in taken}
            options.setdefault("collate_fn", as_they_are)
            super().__init__(**options)

    Loader.__name__ = Loader.__qualname__ = name.rpartition(".")[2]
    return Loader


def as_they_are(samples: List[Any]) -> List[Any]:
    """Collate by leaving the samples in a list: the library's own way is missing."""
    return samples


def kept_by(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Dict[str, Any]:
    """What the result of a missing call holds of its arguments, by attribute; empty if that is not known."""
    row = _row(KEEPERS, name)
    is_stream = row is None and _row(STREAMS, name) is not None
    if row is None and not is_stream:
        return {}
    names, positions = row if row is not None else ((), ())
    held = {
        "_{}".format(position): value
        for position, value in enumerate(arguments)
        if positions is None or position in positions
    }
    held.update((key, value) for key, value in keywords.items() if names is None or key in names)
    return held


def is_kept(name: str) -> bool:
    """Whether it is known what the result of a missing call holds."""
    return _row(KEEPERS, name) is not None or _row(STREAMS, name) is not None


def effect(name: str, method: str) -> str:
    """What a method of a stream does: ``adds``, ``sets`` or ``chains``; empty if that is not known."""
    adding, setting, chains = _row(STREAMS, name) or ((), (), False)
    return "adds" if method in adding else "sets" if method in setting else "chains" if chains else ""


def passes_on(name: str) -> bool:
    """Whether a method of a missing object, ``accelerate.Accelerator().prepare``, gives back what it is given."""
    kind, method = _method(name)
    return method in PASSING.get(kind, ())


def hooks_of(name: str) -> Optional[Sequence[str]]:
    """The methods by which a method of a missing object gets the loaders that it iterates; None if it iterates none."""
    kind, method = _method(name)
    return CONSUMERS.get(kind, {}).get(method)


def _method(name: str) -> Tuple[str, str]:
    """The class and the method of a name such as ``Trainer().fit``; the class is empty if it is none."""
    made_by, _, method = name.rpartition(".")
    return (made_by[:-2], method) if made_by.endswith("()") else ("", method)


def _row(table: Mapping[str, Any], name: str) -> Any:
    home, _, last = name.rpartition(".")
    return table.get(name) or table.get(home + ".*") or table.get("*." + last)
