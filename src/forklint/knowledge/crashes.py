"""Typed reader of crashes.toml: what a log says of a crash, and which hazards make it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from forklint import knowledge
from forklint.records import dataclass

SPECIFICITIES = ("ending", "warning", "area", "cause")
"""How much a row says of the hazard, from least to most."""
SYSTEMS = ("", "darwin", "linux", "windows")
CODE = re.compile(r"FKL\d{3}")
CRASH_KEYS = {"name", "find", "pattern", "signal", "specificity", "means", "rules", "about", "system", "do", "source"}
ENDING_KEYS = {"name", "find", "pattern", "signal", "source"}


class CrashTableError(ValueError):
    """A row of the table is wrong; the message names it."""


@dataclass(frozen=True)
class Text:
    """How a text is recognised in a line."""

    find: tuple[str, ...]
    """Texts of which one must be in the line; searched first, since that is fast."""
    pattern: str = ""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def match(self, line: str) -> re.Match[str] | None:
        """What the pattern matches in a line; where there is no pattern, an empty match at its beginning."""
        if not any(text in line for text in self.find):
            return None
        return self._compiled.search(line)


@dataclass(frozen=True)
class Crash:
    """One row of [[crash]]; its file explains the fields."""

    name: str
    text: Text
    signal: str
    specificity: str
    means: str
    rules: tuple[str, ...]
    about: tuple[str, ...]
    system: str
    do: str
    source: str

    @property
    def weight(self) -> int:
        """How much it says of the hazard: 1 for how a process ended, 4 for an error that names the cause."""
        return SPECIFICITIES.index(self.specificity) + 1


@dataclass(frozen=True)
class Ending:
    """One row of [[ending]]: a line that says how a process ended."""

    name: str
    text: Text
    signal: str
    source: str


@dataclass(frozen=True)
class Crashes:
    """The table."""

    rows: tuple[Crash, ...]
    endings: tuple[Ending, ...]

    @cached_property
    def by_signal(self) -> Mapping[str, Crash]:
        """The rows for signals, by their names."""
        return {row.signal: row for row in self.rows if row.signal}

    @cached_property
    def texts(self) -> frozenset[str]:
        """All that is searched for in a log."""
        texts = [*(row.text for row in self.rows), *(ending.text for ending in self.endings)]
        return frozenset(found for text in texts for found in text.find)


@cache
def crashes() -> Crashes:
    """Read the table once."""
    return read(knowledge.table("crashes.toml"))


def read(table: Mapping[str, Any]) -> Crashes:
    """Check a table and make its rows; raises CrashTableError."""
    rows = tuple(_crash(row) for row in table["crash"])
    endings = tuple(_ending(row) for row in table["ending"])
    _check_once([*(row.name for row in rows), *(ending.name for ending in endings)])
    _check_once([row.signal for row in rows if row.signal])
    return Crashes(rows, endings)


def _crash(row: Mapping[str, Any]) -> Crash:
    name = _name(row, CRASH_KEYS)
    if bool(row.get("find")) == bool(row.get("signal")):
        raise CrashTableError(f"{name}: it needs either `find` or `signal`")
    for key in ("means", "do", "source"):
        if not row.get(key):
            raise CrashTableError(f"{name}: it needs `{key}`")
    if row.get("specificity") not in SPECIFICITIES:
        raise CrashTableError(f"{name}: `specificity` is one of {', '.join(SPECIFICITIES)}")
    if row.get("system", "") not in SYSTEMS:
        raise CrashTableError(f"{name}: `system` is one of {', '.join(filter(None, SYSTEMS))}")
    for code in row.get("rules", ()):
        if not CODE.fullmatch(code):
            raise CrashTableError(f"{name}: '{code}' is no code of a rule")
    return Crash(
        name=name,
        text=_text(name, row),
        signal=row.get("signal", ""),
        specificity=row["specificity"],
        means=row["means"],
        rules=tuple(row["rules"]),
        about=tuple(row.get("about", ())),
        system=row.get("system", ""),
        do=row["do"],
        source=row["source"],
    )


def _ending(row: Mapping[str, Any]) -> Ending:
    name = _name(row, ENDING_KEYS)
    text = _text(name, row)
    groups = set(re.compile(text.pattern).groupindex)
    if not text.find or not (row.get("signal") or groups & {"signal", "status"}):
        raise CrashTableError(
            f"{name}: it needs `find`, and a `signal` or a pattern with a group of that name or `status`"
        )
    return Ending(name, text, row.get("signal", ""), row["source"])


def _name(row: Mapping[str, Any], keys: set[str]) -> str:
    name = str(row.get("name", ""))
    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name):
        raise CrashTableError(f"'{name}' is no name of a row: lower case with hyphens")
    unknown = sorted(row.keys() - keys)
    if unknown:
        raise CrashTableError(f"{name}: unknown key `{unknown[0]}`")
    return name


def _text(name: str, row: Mapping[str, Any]) -> Text:
    find, pattern = row.get("find", ()), row.get("pattern", "")
    if any(len(text) < 4 for text in find):  # a shorter one is in every line
        raise CrashTableError(f"{name}: a text of `find` needs four characters or more")
    try:
        re.compile(pattern)
    except re.error as error:
        raise CrashTableError(f"{name}: `pattern`: {error}") from None
    return Text(tuple(find), pattern)


def _check_once(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise CrashTableError(f"'{name}' stands twice in the table")
