"""How an abstract run ends, and the places that it notes on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.facts.starting.running.values import DEFAULT_METHOD, Loader, Place, Startable
from forklint.records import dataclass

if TYPE_CHECKING:
    from forklint.model import Cell


class OutOfStepsError(Exception):
    """The run took too long; nothing is concluded."""


@dataclass(frozen=True)
class Site:
    """A call on the way to a start."""

    place: Place
    what: str


class StartedError(Exception):
    """Processes start at ``place``, reached through ``sites``."""

    def __init__(
        self,
        place: Place,
        what: str,
        cells: tuple[Cell, ...],
        sites: tuple[Site, ...],
        made: Loader | Startable | None,
    ) -> None:
        super().__init__(what)
        self.place = place
        self.what = what
        self.cells = cells
        self.sites = sites
        self.made_at = made.made_at if made is not None else None
        self.links = made.links if isinstance(made, Loader) else ()


@dataclass(frozen=True)
class MethodSet:
    """A call of ``set_start_method`` without force."""

    place: Place
    sites: tuple[Site, ...]
    method: str


def either(one: str, other: str) -> str:
    """What is sure of the start method when it is the one or the other; spawn bites at least where the default does."""
    if one == other:
        return one
    return DEFAULT_METHOD if {one, other} <= {DEFAULT_METHOD, "spawn", "forkserver"} else ""
