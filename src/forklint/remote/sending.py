"""A request that comes with files: content that the worker does not have yet is sent before it is asked again."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forklint.remote.cluster import Cluster, ClusterError, Machine

PIECE = 4 * 2**20
"""Bytes of content in one message, and more only for a larger file."""
SECONDS = 120.0
"""Limit for taking one message."""
ROUNDS = 3
"""Content may be removed by another client's task between two messages; more often than this is an error."""


@dataclass(frozen=True)
class TaskWithFiles:
    """A task with its files."""

    task: str
    request: Mapping[str, Any]
    content: Mapping[str, Callable[[], bytes]]
    """Reads the bytes with a digest. A worker gets what is listed here, and nothing else."""
    seconds: float
    """Limit of the task."""
    with_content: bool = False
    """Whether all content is sent with the task: faster than to ask what is missing, if there is little of it."""

    def run(self, cluster: Cluster, machine: Machine) -> dict[str, Any]:
        """Ask a worker, and send what it lacks. Raises LostError, and ClusterError if the worker refuses."""
        request = self.request
        if self.with_content:
            request = {**request, "content": _encoded(read() for read in self.content.values())}
        for _ in range(ROUNDS):
            reply = cluster.ask(machine, self.task, request, self.seconds)
            request = self.request
            missing = reply.get("missing")
            if not missing:
                return reply
            if not set(missing) <= self.content.keys():
                raise ClusterError(f"{machine.name}: asks for files that are not part of the task")
            for piece in _pieces([self.content[digest]() for digest in missing]):
                cluster.ask(machine, "put", {"content": _encoded(piece)}, SECONDS)
        raise ClusterError(f"{machine.name}: its store does not hold the files of this task")


def _encoded(parts: Iterable[bytes]) -> list[str]:
    return [base64.b64encode(data).decode() for data in parts]


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
