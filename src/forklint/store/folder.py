"""The folder in which findings are kept: where it lies, how it is made, and how it is removed."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from forklint.config import Settings
from forklint.source.digest import digest
from forklint.source.discovery import NEVER
from forklint.source.paths import from_root
from forklint.source.regular import read_regular
from forklint.source.roots import Extent
from forklint.source.writing import replace
from forklint.store.lock import PATIENCE

NAME = ".forklint_cache"
VERSION = 1
"""Part of the name of a store: raised when other tables are in it, or something else in them."""
STORE = re.compile(r"(store-[0-9a-f]{16}-\d+\.sqlite)(?:-wal|-shm|-journal|-lock)?")
SUFFIX = ".cache"
BOOK = re.compile(r"\d[\w.+]*-[a-z]+-\d+-[0-9a-f]{32}\.cache|\..*\.forklint")
"""Files of version 0.1, and what it left half-written when it was killed."""
TAG = "CACHEDIR.TAG"
TAG_TEXT = """Signature: 8a477f597d28d172789f06886806bc55
# A cache of forklint. Such folders are left out by programs that make backups: https://bford.info/cachedir/
"""
IGNORE_TEXT = "# Made by forklint.\n*\n"
LONGEST_UNUSED = 30 * 24 * 3600.0
"""Seconds after which a file that nobody wrote anew is removed when another is written."""


def folder_of(extent: Extent, settings: Settings) -> Path | None:
    """Where the findings of a project are kept; None where no settings say so and nothing marks its root.

    A file outside any project leaves nothing behind in the folder that it happens to lie in.
    """
    if settings.cache_dir:
        return from_root(settings.base / settings.cache_dir)
    if extent.is_marked and not (extent.root / NAME).is_symlink():
        return extent.root / NAME
    return None


def store_of(extent: Extent, settings: Settings, program: str) -> Path | None:
    """The file in which the results for a project are stored; None if nothing is, as ``folder_of`` says.

    ``program`` stands for the forklint and the Python that run: each has a store of its own, since a summary by
    another version, or of a tree that another Python made, may differ for the same content.
    """
    folder = folder_of(extent, settings)
    if folder is None:
        return None
    owner = digest(f"{program} {extent.walked} {settings.exclude!r}".encode(errors="surrogatepass"))
    return folder / f"store-{owner[:16]}-{VERSION}.sqlite"


def make(folder: Path) -> None:
    """Make a folder for what is stored, if it is none yet; raises OSError."""
    if not (folder / TAG).exists():
        folder.mkdir(parents=True, exist_ok=True)
        if all(BOOK.fullmatch(path.name) for path in folder.iterdir()):  # what is not ours is not ignored
            replace(folder / ".gitignore", IGNORE_TEXT.encode())
        replace(folder / TAG, TAG_TEXT.encode())


def tidy(folder: Path, own: Path) -> None:
    """Remove what nobody has used for long, all but the file ``own``."""
    latest = time.time() - LONGEST_UNUSED
    for path in _books(folder):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < latest:
                path.unlink()
    for path, last in _stores(folder).items():
        if path != own and last < latest:
            with contextlib.suppress(OSError):
                _remove_store(path, 0)


def below(folder: Path) -> Iterator[Path]:
    """Give the caches of the projects in a folder and below."""
    for path, names, _ in os.walk(folder):
        if NAME in names and not Path(path, NAME).is_symlink():
            yield Path(path, NAME)
        names[:] = [name for name in names if name not in NEVER]


def remove(folder: Path) -> int:
    """Remove what forklint wrote into a folder, and the folder if nothing else is in it.

    Gives how many files with findings there were; raises OSError.
    """
    if not is_cache(folder):
        return 0
    stores, books = _stores(folder), _books(folder)
    for store in stores:
        if not _remove_store(store, PATIENCE):
            raise OSError(errno.EBUSY, "it is in use by another run")
    for path in books:
        path.unlink(missing_ok=True)
    for name, text in ((".gitignore", IGNORE_TEXT), (TAG, TAG_TEXT)):
        path = folder / name
        if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
            path.unlink()
    with contextlib.suppress(OSError):  # there is more in it
        folder.rmdir()
    return len(stores) + sum(path.suffix == SUFFIX for path in books)


def _books(folder: Path) -> list[Path]:
    """The files of version 0.1."""
    return [path for path in folder.iterdir() if BOOK.fullmatch(path.name) and not _is_folder(path)]


def _stores(folder: Path) -> dict[Path, float]:
    """The stores in a folder, of which only a lock may be left, and when they were last used."""
    found: dict[Path, float] = {}
    for path in folder.iterdir():
        match = STORE.fullmatch(path.name)
        if match is not None:
            store = folder / match.group(1)
            with contextlib.suppress(FileNotFoundError):  # another run has removed it
                found[store] = max(found.get(store, 0.0), path.lstat().st_mtime)
    return {store: last for store, last in found.items() if not _is_folder(store)}


def _remove_store(path: Path, patience: float) -> bool:
    from forklint.store.disk import remove  # noqa: PLC0415 - imports SQLite

    return remove(path, patience)


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder itself, not a link to one."""
    return path.is_dir() and not path.is_symlink()


def is_cache(folder: Path) -> bool:
    """Whether forklint made a folder its cache."""
    try:
        return read_regular(folder / TAG) == TAG_TEXT.encode()
    except OSError:
        return False
