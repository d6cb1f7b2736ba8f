"""Typed reader of loader_options.toml: what loaders take, and which combinations they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from forklint import knowledge

TORCH = "torch.utils.data.DataLoader"


@dataclass(frozen=True)
class Loader:
    """One row of a loader; loader_options.toml explains the fields."""

    call: tuple[str, ...]
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    others: tuple[str, ...] = ()
    passes_on: bool = False
    prefix: str = ""
    keeps: tuple[str, ...] = ()
    built_by: str = ""
    source: str = ""

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.call[0].rpartition(".")[2]

    @property
    def known(self) -> frozenset[str]:
        """Every name that it takes as an argument."""
        own = frozenset((*self.positional, *self.keywords, *self.others))
        return own | loaders()[TORCH].known if self.passes_on else own

    def option(self, argument: str) -> str:
        """The option of torch's DataLoader that an argument means; empty if it means none."""
        name = argument.removeprefix(self.prefix)
        is_meant = argument.startswith(self.prefix) and (not self.keeps or name in self.keeps)
        return name if is_meant else ""


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
    source: str = ""


def _row(kind: type[Any], row: Mapping[str, Any]) -> Any:
    names = {item.name for item in fields(kind)}
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key in names}
    return kind(**values)


@cache
def loaders() -> Mapping[str, Loader]:
    """Map each qualified name of a loader to its row."""
    rows: list[Loader] = [_row(Loader, row) for row in knowledge.table("loader_options.toml")["loader"]]
    return {name: row for row in rows for name in row.call}


@cache
def refusals() -> tuple[Refusal, ...]:
    """The combinations that are refused; of two for the same option the one that is told comes first."""
    return tuple(_row(Refusal, row) for row in knowledge.table("loader_options.toml")["refusal"])
