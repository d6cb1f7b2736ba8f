"""Files on a worker, addressed by their content, and the directories that trials and lint see.

Content is stored under its own SHA-256, whatever name the client gave it. Directories are written only from relative
paths that stay inside. If the store exceeds its limit, the least recently used files are removed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from forklint.remote.messages import MessageError
from forklint.source.locking import locked

LIMIT = 2 * 2**30
"""Bytes of content, and of directories."""
LOOKS = 32
"""The size of the store is computed each time that the limit divided by this number has been added."""
MOST_FILES = 20_000
DIGEST = re.compile(r"[0-9a-f]{64}")
LAID = "laid-out.json"
"""Beside a directory that is changed in place: the files that it has."""
ROOT_MARK = ".git"
"""Makes a directory the root of a project, as it was where it comes from."""
Files = Mapping[str, str]
"""Digests of files by their relative paths, with forward slashes."""


class Store:
    """The store of one worker; workers of one user on one machine can share it."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        """Take its directory, which is created."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()
        self._content, self._trees = folder / "content", folder / "trees"
        self._repositories, self.lint_cache = folder / "repositories", folder / "lint-cache"
        self.scratch = folder / "dask"
        self._limit = limit
        self._added = limit  # so that the first one to add something looks
        for path in (self._content, self._trees, self._repositories, self.lint_cache):
            path.mkdir(mode=0o700, exist_ok=True)

    @property
    def trees(self) -> Path:
        """Where the directories of trials lie."""
        return self._trees

    def missing(self, files: Files) -> list[str]:
        """The digests of files whose content is not here; raises MessageError."""
        check(files)
        return sorted({digest for digest in files.values() if not self._place(digest).exists()})

    def put(self, data: bytes) -> str:
        """Store content; returns its digest."""
        digest = hashlib.sha256(data).hexdigest()
        place = self._place(digest)
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            new = place.with_name(f".{secrets.token_hex(8)}")
            new.write_bytes(data)
            new.replace(place)
            self._added += len(data)
        return digest

    def tree(self, files: Files) -> Path:
        """A directory with these files, for reading alone; raises MessageError, and OSError if content is missing."""
        check(files)
        name = hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()
        place = self._trees / name
        if not place.exists():
            new = self._trees / f".{secrets.token_hex(8)}"
            try:
                self._lay(new, files)
                with contextlib.suppress(OSError):  # another worker was faster
                    new.rename(place)
            finally:
                shutil.rmtree(new, ignore_errors=True)
        os.utime(place)
        return place

    @contextlib.contextmanager
    def repository(self, name: str, files: Files) -> Iterator[Path]:
        """The directory of a repository, at the same path each time, so that lint reads only what has changed."""
        check(files)
        home = self._repositories / hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()
        home.mkdir(exist_ok=True)
        with locked(home / "lock"):
            self._update(home, files)
            yield home / "files"

    def trim(self) -> None:
        """Remove the content and directories that have not been used for longest, beyond the limit.

        Looks only when much has been added since the last time.
        """
        if self._added < self._limit / LOOKS:
            return
        self._added = 0
        for folder in (self._content, self._trees, self._repositories):
            found = sorted(_used(folder), reverse=True)
            total = 0
            for _, size, path in found:
                total += size
                if total > self._limit:
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def _place(self, digest: str) -> Path:
        return self._content / digest[:2] / digest

    def _lay(self, folder: Path, files: Files) -> None:
        folder.mkdir()
        for relative, digest in files.items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._read(digest))

    def _read(self, digest: str) -> bytes:
        """Content, found to be what its name says: after a power failure it may not be. Raises OSError."""
        place = self._place(digest)
        data = place.read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            place.unlink(missing_ok=True)
            raise OSError(errno.EIO, "damaged", str(place))
        os.utime(place)
        return data

    def _update(self, home: Path, files: Files) -> None:
        """Write and remove what differs from the last time; a file that is unchanged keeps its time."""
        laid, place = home / LAID, home / "files"
        known: Files = {}
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(laid.read_text(encoding="utf-8"))
        laid.unlink(missing_ok=True)  # if this is cut short, the next one begins anew
        if not known:
            shutil.rmtree(place, ignore_errors=True)
        (place / ROOT_MARK).mkdir(parents=True, exist_ok=True)
        for relative in known.keys() - files.keys():
            (place / relative).unlink(missing_ok=True)
        for relative, digest in files.items():
            if known.get(relative) != digest:
                path = place / relative
                _make_room(path, place)
                path.write_bytes(self._read(digest))
        laid.write_text(json.dumps(dict(files)), encoding="utf-8")


def check(files: Files) -> None:
    """Raise MessageError unless these are digests of files at relative paths that stay inside of a directory."""
    if not isinstance(files, Mapping) or len(files) > MOST_FILES:
        raise MessageError(f"expected at most {MOST_FILES} files by path")
    for relative, digest in files.items():
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
            raise MessageError(f"{relative!r}: not a SHA-256 digest: {digest!r}")
        if not isinstance(relative, str) or not is_inside(relative):
            raise MessageError(f"{relative!r}: not a path inside of the project")


def is_inside(relative: str) -> bool:
    """Whether a relative path names a file below the directory that it is relative to, on any platform."""
    parts = relative.split("/")
    if "\\" in relative or ":" in relative or "\0" in relative or PurePosixPath(relative).is_absolute():
        return False
    return all(part not in {"", ".", ".."} for part in parts) and parts[0] != ROOT_MARK


def _make_room(path: Path, top: Path) -> None:
    """Make the directory of a file, where a file may have been before."""
    for above in reversed(path.relative_to(top).parents):
        if (top / above).is_file():
            (top / above).unlink()
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)


def _used(folder: Path) -> Iterable[tuple[float, int, Path]]:
    """When each part of the store was last used, its size in bytes, and the part."""
    for path in folder.iterdir():
        inside = [path, *path.rglob("*")]
        if folder.name == "content":
            for file in inside:
                with contextlib.suppress(OSError):
                    if file.is_file():
                        yield file.stat().st_mtime, file.stat().st_size, file
            continue
        with contextlib.suppress(OSError):
            size = sum(file.stat().st_size for file in inside if file.is_file())
            yield path.stat().st_mtime, size, path
