"""Typed reader of env_vars.toml and loads.toml: who reads an environment variable when, and what loads the reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Any

from forklint import knowledge
from forklint.model import PLATFORMS, Severity
from forklint.records import dataclass


@dataclass(frozen=True)
class Calls:
    """Calls that make a reader read, one table of [calls]; its file explains the fields."""

    functions: frozenset[str]
    on_cuda: bool = False
    unless_set: str = ""
    unless_functions: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reader:
    """What reads a variable, and by when it has."""

    what: str
    deadline: str
    """import, call, start or use."""
    modules: tuple[str, ...] = ()
    needs: int = 1
    """How many of the modules must be loaded."""
    calls: str = ""
    platforms: tuple[str, ...] = PLATFORMS


@dataclass(frozen=True)
class Variable:
    """One row of [[variable]]: the names or the prefix it speaks of, and what is known of them."""

    names: tuple[str, ...]
    prefix: str
    readers: tuple[Reader, ...]
    severity: Severity
    effect: str = ""
    preview: bool = False
    match: str = ""
    unless_match: str = ""
    can_break: bool = False
    threads: bool = False
    spare_seeding: bool = False
    value: str = ""
    """Differs from the default on an ordinary machine: what an experiment sets."""
    probes: tuple[tuple[str, str], ...] = ()
    """How the effect is seen, by what a reader is called."""
    needs: str = ""
    """What it takes to see the effect on the other readers."""

    def fits(self, value: str | None) -> bool:
        """Whether the row applies to an assignment of this literal (None: the value is not known)."""
        if self.match:
            return value is not None and self.match in value
        return not self.unless_match or (value is not None and self.unless_match not in value)


@dataclass(frozen=True)
class Launchers:
    """Calls that start another program or a fresh interpreter."""

    functions: frozenset[str]
    forking: frozenset[str]
    words: tuple[str, ...]
    harmless: frozenset[str]
    shell: frozenset[str]
    in_process: frozenset[str]
    interfaces: frozenset[str]
    interface_keywords: frozenset[str]


class Environment:
    """The tables, with the rows that a project adds: ``name`` and ``modules``, and ``effect`` and ``severity``."""

    def __init__(self, extra: tuple[Mapping[str, Any], ...] = ()) -> None:
        own = knowledge.table("env_vars.toml")
        readers = {name: _reader(row) for name, row in own["reader"].items()}
        self._added = tuple(_added(row) for row in extra)
        self.variables = (*self._added, *(_variable(row, readers) for row in own["variable"]))
        self.calls = {name: _calls(row) for name, row in own["calls"].items()}
        self.used_alone = frozenset(own["used_alone"]["libraries"])
        """Libraries whose use by a process tells that a variable is meant for it."""
        rows = own["launchers"]
        self.launchers = Launchers(
            functions=frozenset(rows["functions"]),
            forking=frozenset(rows["forking"]),
            words=tuple(rows["words"]),
            harmless=frozenset(rows["harmless"]),
            shell=frozenset(rows["shell"]),
            in_process=frozenset(rows["in_process"]),
            interfaces=frozenset(rows["interfaces"]),
            interface_keywords=frozenset(rows["interface_keywords"]),
        )

    @cached_property
    def reader_modules(self) -> frozenset[str]:
        """Every module whose import makes some reader read."""
        return frozenset(name for row in self.variables for reader in row.readers for name in reader.modules)

    @cached_property
    def judged(self) -> tuple[Variable, ...]:
        """The rows that can have a finding."""
        return tuple(row for row in self.variables if any(reader.deadline != "use" for reader in row.readers))

    def rows(self, name: str, value: str | None) -> list[Variable]:
        """The rows that judge an assignment of ``value`` to ``name``, by its name, else by its prefix.

        A row that a project adds hides the table's own rows of that name.
        """
        added = [row for row in self._added if name in row.names]
        exact = [row for row in self.variables if name in row.names]
        prefixed = [row for row in self.variables if row.prefix and name.startswith(row.prefix)]
        return [row for row in (added or exact or prefixed) if row.fits(value)]


def _reader(row: Mapping[str, Any]) -> Reader:
    return Reader(
        what=row["what"],
        deadline=row["deadline"],
        modules=tuple(row.get("modules", ())),
        needs=row.get("needs", 1),
        calls=row.get("calls", ""),
        platforms=tuple(row.get("platforms", PLATFORMS)),
    )


def _variable(row: Mapping[str, Any], readers: Mapping[str, Reader]) -> Variable:
    flags = ("preview", "can_break", "threads", "spare_seeding")
    texts = ("effect", "match", "unless_match", "value", "needs")
    return Variable(
        names=tuple(row.get("names", ())),
        prefix=row.get("prefix", ""),
        readers=tuple(readers[name] for name in row["readers"]),
        severity=Severity(row["severity"]),
        probes=tuple((readers[name].what, probe) for name, probe in row.get("probe", {}).items()),
        **{name: row.get(name, False) for name in flags},
        **{name: row.get(name, "") for name in texts},
    )


def _added(row: Mapping[str, Any]) -> Variable:
    modules = tuple(row["modules"])
    return Variable(
        names=(row["name"],),
        prefix="",
        readers=(Reader(modules[0] if modules else "its reader", "import", modules),),
        severity=Severity(row.get("severity", "warning")),
        effect=row.get("effect", "it goes on with what it read"),
        can_break=True,
    )


def _calls(row: Mapping[str, Any]) -> Calls:
    return Calls(
        functions=frozenset(row["functions"]),
        on_cuda=row.get("on_cuda", False),
        unless_set=row.get("unless_set", ""),
        unless_functions=frozenset(row.get("unless_functions", ())),
    )


@cache
def _loads() -> tuple[dict[str, tuple[str, ...]], tuple[tuple[str, tuple[str, ...]], ...]]:
    """loads.toml as exact keys and as keys with a star."""
    tables = knowledge.table("loads.toml")
    rows = {key: tuple(value) for part in ("measured", "read") for key, value in tables[part].items()}
    return (
        {key: value for key, value in rows.items() if "*" not in key},
        tuple((key, value) for key, value in rows.items() if "*" in key),
    )


def loaded_by(module: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Everything that importing a third-party module loads for certain, itself and its packages included.

    ``names`` are those of ``from module import names``; they may be modules too.
    """
    parts = module.split(".")
    waiting = [".".join(parts[: length + 1]) for length in range(len(parts))]
    waiting += [f"{module}.{name}" for name in names]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _direct(name)
    return frozenset(found)


def loaded_with() -> dict[str, list[str]]:
    """By each third-party package of the table, all that importing it loads for certain beside itself."""
    names = sorted({key.partition(".")[0] for key in _loads()[0]})
    return {name: sorted(loaded_by(name) - {name}) for name in names}


def _direct(name: str) -> list[str]:
    exact, starred = _loads()
    found = list(exact.get(name, ()))
    for key, modules in starred:
        head, tail = key.split("*")
        if name.startswith(head) and name.endswith(tail) and len(name) > len(head) + len(tail):
            found += modules
    return found
