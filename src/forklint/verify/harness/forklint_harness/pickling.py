"""Which part of a dataset cannot be sent to a spawned worker."""

from __future__ import annotations

import io
from itertools import islice
from typing import Any, Dict, Iterator, List, Optional, Tuple

DEEPEST = 6
MOST_CULPRITS = 5


class _Spawning:
    """Stands for the process being spawned: locks and queues pickle only beside one."""

    def duplicate_for_child(self, descriptor: int) -> int:
        """Pretend to hand a descriptor over."""
        return descriptor

    def DupFd(self, descriptor: int) -> int:  # noqa: N802 - as the class that it stands for has it
        """Stand for the descriptor in the child: tensors and queues of multiprocessing are sent by theirs."""
        return descriptor


def error_of(value: Any) -> Optional[Tuple[str, str]]:
    """Type and text of the error with which an object does not pickle; None if it does."""
    from multiprocessing import context, reduction

    before: Any = context.get_spawning_popen()
    spawning: Any = _Spawning()
    context.set_spawning_popen(spawning)
    try:
        reduction.ForkingPickler(io.BytesIO()).dump(value)
    except Exception as error:
        return type(error).__name__, str(error)
    finally:
        context.set_spawning_popen(before)
    return None


def culprits(parts: Dict[str, Any]) -> List[Dict[str, str]]:
    """The smallest parts that fail alone, each as ``path``, ``type`` and ``text``."""
    found: List[Dict[str, str]] = []
    for name, value in parts.items():
        _search(name, value, DEEPEST, found)
    return found[:MOST_CULPRITS]


def _search(path: str, value: Any, depth: int, found: List[Dict[str, str]]) -> None:
    error = error_of(value)
    if error is None or len(found) >= MOST_CULPRITS:
        return
    before = len(found)
    if depth:
        for step, part in _state(value):
            _search(path + step, part, depth - 1, found)
    if len(found) == before:
        found.append({"path": path, "type": error[0], "text": error[1]})


def _state(value: Any) -> Iterator[Tuple[str, Any]]:
    """What pickling an object takes along: elements, or the state that ``__getstate__`` gives, by attribute."""
    if isinstance(value, dict):
        for key in islice(list(value), 200):
            yield "[{!r}]".format(key), value[key]
        return
    if isinstance(value, (list, tuple)):
        for index, part in enumerate(islice(value, 200)):
            yield "[{}]".format(index), part
        return
    try:
        state = value.__reduce_ex__(2)[2]
    except Exception:
        return
    if isinstance(state, tuple) and len(state) == 2:
        state = dict(state[0] or {}, **(state[1] or {}))
    if isinstance(state, dict):
        for key, part in state.items():
            yield ".{}".format(key), part
