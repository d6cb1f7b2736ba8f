"""What a process that uses Dask may unpickle: a call of ``task.perform``, and nothing else.

Dask sends tasks, plugins, exceptions and results as pickles, and a pickle can call any function that it can name. All
unpicklers of CPython raise the audit event ``pickle.find_class`` before they look a name up, so a hook that refuses
all names but a few covers every place where Dask unpickles, or may do so in another version. An audit hook cannot be
removed. The names that are left build a task or its graph; none of them runs a function that the sender chooses, but
for ``task.perform``. msgpack, which holds the messages, can name attributes of modules ("enums"): that is limited to
Dask's ``Status``.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping
from typing import Any

Name = tuple[str, str]
"""Module and qualified name."""
TASK: frozenset[Name] = frozenset({("dask._task_spec", "Task"), ("forklint.remote.task", "perform")})
GRAPH: frozenset[Name] = frozenset({("dask._expr", "Expr._reconstruct"), ("dask._expr", "LLGExpr")})
ON_WORKER = TASK
ON_SCHEDULER = TASK | GRAPH
ON_CLIENT: frozenset[Name] = frozenset({("builtins", "str")})
"""A client learns of a result that it is a text."""
STATUS = ("distributed.core", "Status")


class RefusedError(pickle.UnpicklingError):
    """A pickle names something that this process does not unpickle."""


def restrict(allowed: frozenset[Name]) -> None:
    """Refuse all other names in pickles from now on, in the whole process; import Dask before."""
    from distributed.protocol import core, serialize  # noqa: PLC0415 - forklint[dask]

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "pickle.find_class" and tuple(arguments) not in allowed:
            raise RefusedError("refused to unpickle {}.{}: forklint runs no functions of others".format(*arguments))

    core.msgpack_decode_default = serialize.msgpack_decode_default = _decoded
    sys.addaudithook(refuse)


def _decoded(value: Mapping[str, Any]) -> Any:
    """A value of a message that msgpack has no type for; takes the place of Dask's ``msgpack_decode_default``."""
    from distributed.core import Status  # noqa: PLC0415 - forklint[dask]
    from distributed.protocol.serialize import Serialized  # noqa: PLC0415

    if "__Enum__" in value:
        if (value["__module__"], value["__name__"]) != STATUS:
            raise RefusedError(f"refused to look up {value['__module__']}.{value['__name__']}")
        return Status[value["name"]]
    if "__Set__" in value:
        return set(value["as-list"])
    if "__Serialized__" in value:
        return Serialized(*value["data"])
    return value
