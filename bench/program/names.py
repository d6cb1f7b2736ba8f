"""Names of records, as they stand in an index file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PATTERN = re.compile(r"(?P<stem>\w+)-(?P<number>\d+)\.bin")


@dataclass(frozen=True)
class Name:
    """The parts of one name."""

    stem: str
    number: int

    def __str__(self) -> str:
        return f"{self.stem}-{self.number:05}.bin"


def parse(text: str) -> Name:
    """Read one name; raises ValueError."""
    match = PATTERN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no name of a record: {text!r}")
    return Name(match["stem"], int(match["number"]))


def read_index(path: Path) -> dict[str, list[Name]]:
    """The names of an index file, by stem, in the order of their numbers."""
    names: dict[str, list[Name]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name = parse(line)
            names.setdefault(name.stem, []).append(name)
    return {stem: sorted(some, key=lambda name: name.number) for stem, some in names.items()}


def gaps(names: list[Name]) -> list[int]:
    """Numbers that are missing between the first name and the last."""
    there = {name.number for name in names}
    return [number for number in range(min(there), max(there)) if number not in there]
