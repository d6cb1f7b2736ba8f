"""Typed reader of loader_options.toml: which combinations of arguments a loader refuses."""

from __future__ import annotations

from functools import cache

from forklint import knowledge
from forklint.records import dataclass


@dataclass(frozen=True)
class Refusal:
    """A combination that is refused; loader_options.toml explains the fields."""

    option: str
    kind: str
    beside: str
    beside_kind: str
    error: str
    when: str
    words: str
    neutral: str
    plain: bool = False
    since: tuple[int, int] = (0, 0)
    before: int | None = None
    source: str = ""


@cache
def refusals() -> tuple[Refusal, ...]:
    """The combinations that are refused; of two for the same option the one that is told comes first."""
    rows = knowledge.table("loader_options.toml")["refusal"]
    return tuple(Refusal(**{**row, "since": tuple(row.get("since", (0, 0)))}) for row in rows)
