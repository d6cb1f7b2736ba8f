"""Typed reader of starters.toml: what starts worker processes, and what iterates what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache, cached_property
from typing import Any

from forklint import knowledge
from forklint.records import dataclass, field_names

TORCH = "torch.utils.data.DataLoader"


@dataclass(frozen=True)
class Starter:
    """One row of starters.toml; its file explains the fields."""

    call: tuple[str, ...]
    how: str = "called"
    methods: tuple[str, ...] = ()
    handed_to: tuple[str, ...] = ()
    chained: tuple[str, ...] = ()
    least: int = 1
    workers: str = ""
    workers_position: int | None = None
    workers_default: int = 0
    workers_when_made: bool = False
    context: str = ""
    context_position: int | None = None
    start_method: str = ""
    known_as: str = ""
    threads: str = ""
    threads_position: int | None = None
    positions: tuple[str, ...] = ()
    keywords: tuple[str, ...] | None = None
    """None where not all arguments are known."""
    others: tuple[str, ...] = ()
    passes_on: bool = False
    prefix: str = ""
    keeps: tuple[str, ...] = ()
    built_by: str = ""
    platforms: tuple[str, ...] = ()
    off: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    source: str = ""

    def position(self, option: str) -> int | None:
        """Where an option may stand as a positional argument; None for a keyword alone."""
        if option in self.positions:
            return self.positions.index(option)
        special = {
            self.workers: self.workers_position,
            self.context: self.context_position,
            self.threads: self.threads_position,
        }
        return special.get(option) if option else None

    @property
    def name(self) -> str:
        """The name people know it by: ``DataLoader``, ``Pool``."""
        return self.known_as or self.call[0].rpartition(".")[2]

    @property
    def is_loader(self) -> bool:
        """Whether it makes a loader, or the settings of one."""
        return self.how == "iterated"

    @cached_property
    def arguments(self) -> frozenset[str]:
        """Every name that it takes as an argument; empty where not all are known."""
        if self.keywords is None:
            return frozenset()
        own = frozenset((*self.positions, *self.keywords, *self.others))
        return own | starters()[TORCH].arguments if self.passes_on else own

    def option(self, argument: str) -> str:
        """The option of torch's DataLoader that an argument means; empty if it means none."""
        name = argument.removeprefix(self.prefix)
        is_meant = argument.startswith(self.prefix) and (not self.keeps or name in self.keeps)
        return name if is_meant else ""


@dataclass(frozen=True)
class Consumer:
    """Methods of a library class that iterate the loaders they are given."""

    classes: frozenset[str]
    methods: frozenset[str]
    hooks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each method, the methods that make loaders and are called on what it is given."""
    spawning: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Arguments of the class's constructor, each with values by which the methods spawn processes."""
    keeps_arguments: bool = False
    """Whether the loaders may be among what the class's constructor was given."""


@dataclass(frozen=True)
class TrainerCli:
    """Classes that read a command line, make objects of the classes that they are given, and train."""

    classes: frozenset[str]
    trainer: str
    """The class of the attribute ``trainer``."""
    other_trainer: tuple[str, int]
    """The argument that names another class of trainer, and its position."""
    parts: Mapping[str, tuple[str, int]]
    """The same by attribute, for the classes of what else it makes."""
    method: str
    """The method of the trainer that is called unless ``run=False``."""


@dataclass(frozen=True)
class Iteration:
    """What library calls do with a loader or a function that they are given, by qualified name."""

    contexts: frozenset[str]
    setters: frozenset[str]
    locked: frozenset[str]
    """Last names of what has a lock of its context in it, which a process of another method refuses."""
    at_once: frozenset[str]
    when_iterated: frozenset[str]
    lazily: frozenset[str]
    """Of ``at_once``: an item of the first argument is drawn when one of the result is."""
    all_arguments: frozenset[str]
    """They iterate each of their arguments, the others the first."""
    same_items: frozenset[str]
    """Their result gives, when it is iterated, what their first argument gives."""
    passes_through: frozenset[tuple[str, str]]
    consumers: tuple[Consumer, ...]
    calls_its_argument: frozenset[str]
    calls_argument: Mapping[str, tuple[str, int]]
    """Calls that call another argument than the first one, by its name and position."""
    calling_methods: Mapping[str, frozenset[str]]
    """By what makes an object, its methods that call their first argument."""
    groups: frozenset[str]
    awaiting: frozenset[str]
    """Last names of what runs a coroutine that it is given."""
    calling_decorators: frozenset[str]
    transparent_decorators: frozenset[str]
    positive_counts: frozenset[str]


@dataclass(frozen=True)
class Settling:
    """What settles the start method of the process, by qualified name."""

    calls: frozenset[str]
    """It does so when it is called."""
    executors: frozenset[str]
    """They do so unless they are given a context."""
    modules: tuple[str, ...]
    """Where ``set_start_method``, ``get_context`` and the rest stand."""


def _row(row: Mapping[str, Any]) -> Starter:
    names = field_names(Starter)
    known = {key: value for key, value in row.items() if key in names}
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in known.items()}
    values["off"] = {option: tuple(offs) for option, offs in row.get("off", {}).items()}
    return Starter(**values)


@cache
def _own() -> Mapping[str, Starter]:
    rows = (_row(row) for row in knowledge.table("starters.toml")["starter"])
    return {name: row for row in rows for name in row.call}


def starters(extra: tuple[Mapping[str, Any], ...] = ()) -> Mapping[str, Starter]:
    """Map each qualified name that starts processes to its row; ``extra`` rows of a project win."""
    if not extra:
        return _own()
    return {**_own(), **{name: row for row in map(_row, extra) for name in row.call}}


@cache
def iteration() -> Iteration:
    """The rest of starters.toml."""
    table = knowledge.table("starters.toml")
    return Iteration(
        contexts=frozenset(table["contexts"]["names"]),
        setters=frozenset(table["start_method_setters"]["names"]),
        locked=frozenset(table["locked"]["names"]),
        at_once=frozenset(table["iteration"]["at_once"]),
        when_iterated=frozenset(table["iteration"]["when_iterated"]),
        lazily=frozenset(table["iteration"]["lazily"]),
        all_arguments=frozenset(table["iteration"]["all_arguments"]),
        same_items=frozenset(table["iteration"]["when_iterated"]) | frozenset(table["iteration"]["same_items"]),
        passes_through=frozenset(
            (name, method) for row in table["passes_through"] for name in row["class"] for method in row["methods"]
        ),
        consumers=tuple(
            Consumer(
                frozenset(row["class"]),
                frozenset(row["methods"]),
                {method: tuple(hooks) for method, hooks in row.get("hooks", {}).items()},
                {option: frozenset(values) for option, values in row.get("spawning", {}).items()},
                row.get("keeps_arguments", False),
            )
            for row in table["consumer"]
        ),
        calls_its_argument=frozenset(table["entry_points"]["names"]),
        calls_argument={name: (place[0], place[1]) for name, place in table["entry_points"]["arguments"].items()},
        calling_methods={name: frozenset(each) for name, each in table["entry_points"]["methods"].items()},
        groups=frozenset(table["entry_points"]["groups"]),
        awaiting=frozenset(table["entry_points"]["awaiting"]),
        calling_decorators=frozenset(table["entry_points"]["decorators"]),
        transparent_decorators=frozenset(table["entry_points"]["transparent"]),
        positive_counts=frozenset(table["positive_counts"]["names"]),
    )


@cache
def settling() -> Settling:
    """The table of starters.toml about what settles the start method."""
    table = knowledge.table("starters.toml")["settles_start_method"]
    calls = frozenset(f"{module}.{name}" for module in table["modules"] for name in table["names"])
    return Settling(calls, frozenset(table["executors"]), tuple(table["modules"]))


@cache
def trainer_cli() -> TrainerCli:
    """The table of starters.toml about command lines that train."""
    table = knowledge.table("starters.toml")["trainer_cli"]
    parts = {name: (argument, position) for name, (argument, position) in table["parts"].items()}
    other, position = table["other_trainer"]
    return TrainerCli(frozenset(table["classes"]), table["trainer"], (other, position), parts, table["method"])


@cache
def derived_loaders() -> dict[str, list[str]]:
    """Loader classes of other libraries that are derived from torch's DataLoader: what they take by position."""
    return {
        name: list(row.positions)
        for name, row in starters().items()
        if row.is_loader and row.positions[:1] == ("dataset",) and name.rpartition(".")[2][0].isupper()
    }


def passing_methods() -> dict[str, list[str]]:
    """By class, the methods that return what they are given."""
    found: dict[str, list[str]] = {}
    for name, method in sorted(iteration().passes_through):
        found.setdefault(name, []).append(method)
    return found


def consuming_methods() -> dict[str, dict[str, list[str]]]:
    """By class, the methods that iterate the loaders they are given, each with those that it calls to get others."""
    rows = [row for row in iteration().consumers if not row.keeps_arguments]
    return {
        name: {method: list(row.hooks.get(method, ())) for method in sorted(row.methods)}
        for row in rows
        for name in sorted(row.classes)
    }
