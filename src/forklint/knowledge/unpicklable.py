"""Typed reader of unpicklable.toml: what pickle refuses, what keeps it, and the calls that send it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from forklint import knowledge
from forklint.records import dataclass

Row = TypeVar("Row")


@dataclass(frozen=True)
class Refused:
    """A kind of object that pickle refuses."""

    kind: str
    error: str
    platforms: tuple[str, ...] = ()
    """Where that is so; empty: everywhere."""
    late: str = ""
    """Words of the error, where it pickles and only the process that reads it fails."""


@dataclass(frozen=True)
class Keeper:
    """Which arguments the result of a call holds; None stands for all."""

    keeps: frozenset[str] | None
    positions: frozenset[int] | None
    attribute: str = "args"
    """The attribute for those that have no name in the call."""
    copies: frozenset[int] = frozenset()
    """Indices of the positional arguments of which it holds what is in them, but not them."""

    def holds(self, position: int) -> bool:
        """Whether it holds the positional argument that stands at an index."""
        return self.positions is None or position in self.positions


KEEPS_NOTHING = Keeper(frozenset(), frozenset())


@dataclass(frozen=True)
class Stream:
    """The methods by which what a call makes comes to hold functions."""

    adding: frozenset[str]
    """Their result holds their arguments."""
    setting: frozenset[str]
    """The object itself does."""
    chains: bool = False
    """Whether all its other methods give the stream, too."""
    streaming: frozenset[str] = frozenset()
    """Those whose result holds their arguments where the call is given ``streaming=True``."""


@dataclass(frozen=True)
class Launcher:
    """A call that sends some of its arguments to processes: their names and positions."""

    positions: Mapping[str, int]
    piped: bool
    """Whether they are pickled even where processes are forked."""


@dataclass(frozen=True)
class Senders:
    """The calls by which something is sent to processes."""

    loader: Mapping[str, int]
    placed_loaders: frozenset[str]
    """Loaders whose arguments stand at those positions; others are read by keyword alone, but for the dataset."""
    processes: Mapping[str, Launcher]
    pools: Mapping[str, Launcher]
    pool_methods: frozenset[str]
    calling_methods: frozenset[str]
    """Those of the methods whose further arguments are sent as they are, not one by one."""
    launchers: Mapping[str, Launcher]


def _table() -> Any:
    return knowledge.table("unpicklable.toml")


@cache
def refused() -> dict[str, Refused]:
    """Map the qualified name of each call to what is known of its result."""
    return {
        name: Refused(row["kind"], row["error"], tuple(row.get("platforms", ())), row.get("late", ""))
        for row in _table()["kind"]
        for name in row["call"]
    }


@cache
def memoizers() -> dict[str, Refused]:
    """Map the qualified name of each decorator to what is known of the function that it returns."""
    row = _table()["memoizer"]
    return dict.fromkeys(row["call"], Refused(row["kind"], row["error"]))


@cache
def naming_decorators() -> frozenset[str]:
    """The qualified names of decorators that give a function what has its name."""
    return frozenset(_table()["naming"]["decorators"])


@cache
def modules() -> frozenset[str]:
    """The qualified names of modules of libraries that code reaches as attributes of a package."""
    return frozenset(_table()["module"]["names"])


@cache
def have_views() -> frozenset[str]:
    """The qualified names of the calls that make a mapping whose keys, values and items pickle refuses."""
    return frozenset(_table()["view"]["of"])


@cache
def _keepers() -> dict[str, Keeper]:
    def some(values: Any) -> Any:
        return None if values is None else frozenset(values)

    return {
        name: Keeper(
            some(row.get("keeps")),
            some(row.get("positions")),
            row.get("attribute", Keeper.attribute),
            frozenset(row.get("copies", ())),
        )
        for row in _table()["keeper"]
        for name in row["call"]
    }


def keeper(name: str) -> Keeper:
    """What a call keeps of its arguments, by its qualified name; of a class of which nothing is known, by theirs."""
    rows, last = _keepers(), name.rpartition(".")[2]
    makes = last[:1].isupper() or _makers().search(last) is not None
    return _row(rows, name) or rows.get(f"*.{last}") or (rows["*"] if makes else KEEPS_NOTHING)


@cache
def _makers() -> re.Pattern[str]:
    return re.compile(_table()["makers"]["words"])


def keepers_told() -> dict[str, list[Any]]:
    """By the name of a call, the names and positions of the arguments that its result holds; None stands for all."""
    return {name: [_listed(row.keeps), _listed(row.positions)] for name, row in _keepers().items()}


def _listed(values: frozenset[Any] | None) -> list[Any] | None:
    return None if values is None else sorted(values)


@cache
def _streams() -> dict[str, Stream]:
    return {
        name: Stream(
            frozenset(row["adding"]),
            frozenset(row.get("setting", ())),
            row.get("chains", False),
            frozenset(row.get("streaming", ())),
        )
        for row in _table()["stream"]
        for name in row["call"]
    }


def streams_told() -> dict[str, list[Any]]:
    """By the name of a call: methods that add to what its result holds, methods that set it, whether others chain."""
    return {name: [sorted(row.adding), sorted(row.setting), row.chains] for name, row in _streams().items()}


def stream(name: str) -> Stream | None:
    """The methods of what a call makes that add to it, by the call's qualified name; None if it is no stream."""
    return _row(_streams(), name)


def _row(rows: Mapping[str, Row], name: str) -> Row | None:
    """The row of a name, or of all names that begin as it does."""
    return rows.get(name) or rows.get(f"{name.rpartition('.')[0]}.*")


@cache
def senders() -> Senders:
    """The calls that send something to processes."""
    table = _table()
    process, pool = table["process"], table["pool"]
    executors = frozenset(pool["executors"])
    return Senders(
        loader=table["loader"]["positions"],
        placed_loaders=frozenset(table["loader"]["positional"]),
        processes={name: Launcher(process["positions"], piped=False) for name in process["call"]},
        pools={
            name: Launcher(pool["executor_positions"] if name in executors else pool["positions"], piped=False)
            for name in pool["call"]
        },
        pool_methods=frozenset(pool["methods"]),
        calling_methods=frozenset(pool["calls"]),
        launchers={name: Launcher(row["positions"], row["piped"]) for row in table["launcher"] for name in row["call"]},
    )
