"""A request that comes with files: content that the worker does not have yet is sent before it is asked again."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from forklint.remote.cluster import Cluster, ClusterError, Machine

PIECE = 4 * 2**20
"""Bytes of content in one message, and more only for a larger file."""
SECONDS = 120.0
"""Limit for taking one message."""
ROUNDS = 3
"""Content may be removed by another client's task between two messages; more often than this is an error."""


def ask(
    cluster: Cluster,
    machine: Machine,
    name: str,
    request: Mapping[str, Any],
    content: Callable[[str], bytes],
    seconds: float,
) -> dict[str, Any]:
    """Ask a worker, and send what it lacks; ``content`` returns the bytes with a digest.

    Raises LostError, and ClusterError if the worker refuses.
    """
    for _ in range(ROUNDS):
        reply = cluster.ask(machine, name, request, seconds)
        missing = reply.get("missing")
        if not missing:
            return reply
        for piece in _pieces([content(str(digest)) for digest in missing]):
            cluster.ask(machine, "put", {"content": [base64.b64encode(data).decode() for data in piece]}, SECONDS)
    raise ClusterError(f"{machine.name}: its store does not hold the files of this task")


def _pieces(parts: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Parts in groups of about one piece."""
    group: list[bytes] = []
    for part in parts:
        if group and sum(map(len, group)) + len(part) > PIECE:
            yield group
            group = []
        group.append(part)
    if group:
        yield group
