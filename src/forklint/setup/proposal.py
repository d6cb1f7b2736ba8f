"""A proposed change to one file, and where it belongs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from forklint.config import ConfigError
from forklint.source.paths import from_root
from forklint.source.regular import read_regular
from forklint.source.roots import ROOT_MARKS, Roots

PROJECT_MARKS = (*ROOT_MARKS, "setup.py", "setup.cfg")


@dataclass(frozen=True)
class Proposal:
    """The new content of a file, or why it is not changed."""

    path: Path
    before: bytes | None = None
    """The current content of the file; None if it does not exist."""
    after: bytes | None = None
    """The new content; None if the file is not changed."""
    note: str = ""
    """Why the file is not changed."""
    by_hand: str = ""
    """What the user has to add by hand, if forklint cannot."""


@dataclass(frozen=True)
class Project:
    """The folder of a project, and the repository that it lies in."""

    folder: Path
    repository: Path | None


def find_project(folder: Path) -> Project | None:
    """Find the project that a folder belongs to: the nearest folder, here or above, that looks like one.

    A folder that is never a root ends the search: a section or a hook in the home folder would be nobody's.
    """
    here, roots = from_root(folder), Roots()
    around = list(takewhile(lambda one: not roots.is_never_root(str(one)), (here, *here.parents)))
    found = next((parent for parent in around if any((parent / mark).exists() for mark in PROJECT_MARKS)), None)
    if found is None:
        return None
    above = around[around.index(found) :]
    return Project(found, next((parent for parent in above if (parent / ".git").exists()), None))


def read(path: Path) -> tuple[bytes, str] | None:
    """The bytes and the text of a file; None if there is none; raises ConfigError if it cannot be read."""
    if not path.exists() and not path.is_symlink():
        return None
    try:
        data = read_regular(path)
        return data, data.decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8") from None


def line_end(text: str) -> str:
    """How the lines of a text end: as the first one does."""
    line, found, _ = text.partition("\n")
    return "\r\n" if found and line.endswith("\r") else "\n"
