"""What a supervisor is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Order(NamedTuple):
    """One trial to run and the limits that it must keep; sizes in bytes. Sent as one line of JSON."""

    command: list[str]
    environment: dict[str, str]
    directory: str
    """Working directory."""
    folder: str
    """The trial's own folder, made and removed by the supervisor: ``order.json``, ``journal/``, ``tmp/``, ``view/``."""
    trial: Mapping[str, Any]
    """Content of ``order.json``, which the harness reads."""
    prefix: str
    """Beginning of the names of shared memory and semaphores that the trial makes."""
    seconds: float
    memory: int
    processes: int
    scratch: int
    output: int
    view: Sequence[Any] | None = None
    """The fields of a ``View``: folders that the trial sees through overlays."""
    copies: Mapping[str, str] = {}
    """Folders that are copied before the trial begins, each with the name of its copy."""
    texts: Mapping[str, str] = {}
    """Files that the trial finds with another text, by their paths in its view or in its copies."""
    streams: Sequence[int] = ()
    """Descriptors of this process for the command's input, output and errors; without them its output is kept here.

    With them the command runs as its user would run it: with the user's priority and limits.
    """
    grace: float = 1.0
    """Seconds that the other processes have to end by themselves once the first one has."""
