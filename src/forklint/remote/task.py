"""The only task that a worker runs: a name and a JSON text, as a call of ``perform``. Workers unpickle nothing else."""

from __future__ import annotations

from collections.abc import Callable

Performer = Callable[[str, str], str]
_performers: list[Performer] = []
"""The one of this process, if it is a worker."""


def install(performer: Performer) -> None:
    """Let this process answer tasks; a worker does so once, when it starts."""
    _performers[:] = [performer]


def perform(name: str, body: str) -> str:
    """Do one of the things that ``forklint worker`` offers; the request and the reply are JSON."""
    if not _performers:
        raise RuntimeError("this process is not a forklint worker")
    return _performers[0](name, body)
