"""What the conclusions of a project rest on: what was read, what was looked for, which files there were."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path

from forklint.records import dataclass
from forklint.source.digest import digest

CONTRADICTORY = ""
"""The digest of what was seen in two states: no state agrees with it."""
PYTHON, PRESETS, OTHERS = "python", "presets", "others"


@dataclass(frozen=True)
class Evidence:
    """What some conclusions rest on. Who finds the same again, in every part, would conclude the same."""

    contents: dict[str, str] = field(default_factory=dict)
    """Files and the digests of what was in them; a file that cannot be read counts as an empty one."""
    listings: dict[str, str] = field(default_factory=dict)
    """Folders in which modules were looked for, and the digests of the names that can be modules or packages."""
    answers: dict[str, int] = field(default_factory=dict)
    """Questions about one path, as ``asked`` writes them, and what they were answered with."""
    walks: dict[str, str] = field(default_factory=dict)
    """Which walks over the project were made (PYTHON, PRESETS), and the digests of what they found.

    OTHERS is the answer of ``Resolver.has_others``.
    """

    def add(self, other: Evidence) -> None:
        """Take in what else was seen; where that is something else, nothing will agree with it."""
        for mine, theirs in (
            (self.contents, other.contents),
            (self.listings, other.listings),
            (self.walks, other.walks),
        ):
            for key, found in theirs.items():
                mine[key] = found if mine.get(key, found) == found else CONTRADICTORY
        for question, answer in other.answers.items():
            if self.answers.setdefault(question, answer) != answer:
                self.contents[question] = CONTRADICTORY

    @property
    def is_consistent(self) -> bool:
        """Whether nothing changed while it was gathered."""
        return all(CONTRADICTORY not in part.values() for part in (self.contents, self.listings, self.walks))


def asked(what: str, path: Path | str) -> str:
    """A question about a path (``file``: is it one; ``folder``: is it one; ``size``) as a key."""
    return f"{what}:{path}"


def size(path: str | Path) -> int:
    """How many bytes a file has; -1 if there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


def names_digest(names: Iterable[str]) -> str:
    """What stands for the listing of a folder, as far as modules and packages are concerned."""
    return digest("\0".join(sorted(filter(is_importable, names))).encode(errors="surrogatepass"))


def is_importable(name: str) -> bool:
    """Whether an entry of a folder can be a module or a package of it."""
    return ("." not in name or name.endswith(".py")) and name != "__pycache__"


def paths_digest(paths: Iterable[Path]) -> str:
    """What stands for the files that a walk found, in their order."""
    return digest("\0".join(map(str, paths)).encode(errors="surrogatepass"))
