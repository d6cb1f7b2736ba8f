"""Many repositories, linted by the workers: what is sent of each, who lints it, and what is written down."""

from __future__ import annotations

import hashlib
import os
import tarfile
import threading
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from forklint.remote.cluster import Cluster, ClusterError, LostError, Machine
from forklint.remote.lint_process import SECONDS
from forklint.remote.messages import MessageError, finding_from_json
from forklint.remote.remote_runner import COMING_BACK, MOST_RETRIES
from forklint.remote.sending import TaskWithFiles
from forklint.remote.store import is_inside
from forklint.source.discovery import IGNORE_FILES, NEVER
from forklint.source.kinds import LINTED_SUFFIXES

LARGEST_FILE = 4 * 2**20
"""Bytes; larger files are data, not code."""
LARGEST_REPOSITORY = 512 * 2**20
"""Bytes of all files; an archive of a few kilobytes can hold any number of them."""
SMALL = 256 * 2**10
"""Bytes of a repository that is sent in one message, even if the worker has some of its files."""
TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
AHEAD = 2
"""Repositories that one worker is given at a time: it need not wait for the next one."""


class RepositoryError(Exception):
    """A repository cannot be read; the message is one line."""


@dataclass(frozen=True)
class Repository:
    """A repository with the files that lint reads."""

    name: str
    content: Mapping[str, bytes]
    """By relative path."""

    @cached_property
    def files(self) -> dict[str, str]:
        """Digests by relative path."""
        return {path: hashlib.sha256(data).hexdigest() for path, data in self.content.items()}

    @property
    def digest(self) -> str:
        """Stands for all that is in it."""
        return hashlib.sha256(repr(sorted(self.files.items())).encode()).hexdigest()


@dataclass(frozen=True)
class Linted:
    """What became of one repository."""

    name: str
    digest: str = ""
    findings: Sequence[Mapping[str, Any]] = ()
    failures: Sequence[str] = ()
    """What could not be linted."""
    machine: str = ""
    error: str = ""
    """Why there is nothing."""


def read(name: str) -> Repository:
    """The files of a directory or an archive; raises RepositoryError."""
    path = Path(name)
    try:
        if path.is_dir():
            found = _of_folder(path)
        elif name.endswith(".zip"):
            found = _of_zip(path)
        elif name.endswith(TAR):
            found = _of_tar(path)
        else:
            raise RepositoryError(
                f"{name}: neither a directory nor an archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz)"
            )
        return Repository(name, _limited(name, found))
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, RuntimeError) as error:
        raise RepositoryError(f"{name}: {error}") from None


def _limited(name: str, found: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """All files, unless they are too large together; raises RepositoryError."""
    content, left = {}, LARGEST_REPOSITORY
    for relative, data in found:
        left -= len(data)
        if left < 0:
            raise RepositoryError(f"{name}: more than {LARGEST_REPOSITORY // 2**20} MiB of code")
        content[relative] = data
    return content


def _is_wanted(relative: str, size: int) -> bool:
    """Whether lint reads a file: code, notebooks, settings, and files that say what is ignored."""
    *folders, last = relative.split("/")
    is_read = last.lower().endswith(LINTED_SUFFIXES) or last in IGNORE_FILES
    return is_read and size <= LARGEST_FILE and is_inside(relative) and NEVER.isdisjoint(folders)


def _of_folder(top: Path) -> Iterator[tuple[str, bytes]]:
    for folder, names, files in os.walk(top):
        names[:] = sorted(name for name in names if name not in NEVER)
        for name in sorted(files):
            path = Path(folder, name)
            relative = path.relative_to(top).as_posix()
            if path.is_file() and not path.is_symlink() and _is_wanted(relative, path.stat().st_size):
                yield relative, path.read_bytes()


def _of_zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        members = [one for one in archive.infolist() if not one.is_dir()]
        top = _top([one.filename for one in members])
        for one in members:
            relative = one.filename[len(top) :]
            if _is_wanted(relative, one.file_size):
                yield relative, archive.read(one)


def _of_tar(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        members = [one for one in archive.getmembers() if one.isfile()]
        top = _top([one.name for one in members])
        for one in members:
            file = archive.extractfile(one) if _is_wanted(one.name[len(top) :], one.size) else None
            if file is not None:
                yield one.name[len(top) :], file.read()


def _top(names: Sequence[str]) -> str:
    """The directory that holds all members, as in archives of GitHub; empty if there is none."""
    tops = {name.partition("/")[0] for name in names}
    is_one = len(tops) == 1 and all("/" in name for name in names)
    return f"{next(iter(tops))}/" if is_one else ""


class Queues:
    """Which worker lints which repository: the one that most likely has its store, unless that has more to do."""

    def __init__(self, names: Sequence[str], machines: Sequence[Machine]) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[str]] = {one.token: deque() for one in machines}
        for name in names:
            best = max(machines, key=lambda one: hashlib.sha256(f"{one.name}\0{name}".encode()).digest())
            self._waiting[best.token].append(name)

    def take(self, token: str) -> str | None:
        """The next repository for a worker; from the longest queue if its own is empty; None if there are no more."""
        with self._lock:
            own = self._waiting.get(token) or max(self._waiting.values(), key=len)
            return own.popleft() if own else None


@dataclass(frozen=True)
class Linting:
    """One run of ``lint-many``."""

    cluster: Cluster
    options: Sequence[str]
    """Of lint: ``select=FKL301,FKL302``, ``isolated``."""
    write: Callable[[Linted | None], None]
    """Called for each repository, one at a time; with None for one that has not changed."""

    def run(self, names: Sequence[str], machines: Sequence[Machine], skip: Mapping[str, str]) -> None:
        """Lint all; ``skip`` has the digests of repositories that are done already, unless they have changed."""
        queues, lock = Queues(names, machines), threading.Lock()

        def work(token: str, machine: Machine) -> None:
            while (name := queues.take(token)) is not None:
                done, machine = self._one(name, machine, skip.get(name))
                with lock:
                    self.write(done)

        with ThreadPoolExecutor(len(machines) * AHEAD, thread_name_prefix="lint") as threads:
            for future in [threads.submit(work, machine.token, machine) for machine in machines for _ in range(AHEAD)]:
                future.result()

    def _one(self, name: str, machine: Machine, known: str | None) -> tuple[Linted | None, Machine]:
        """Lint one repository, on another worker if this one is lost; None if it is as it was.

        Also returns the worker for the next repository, so that one that is lost is waited for only once.
        """
        try:
            found = read(name)
        except RepositoryError as error:
            return Linted(name, error=str(error)), machine
        if found.digest == known:
            return None, machine
        losses: list[str] = []
        where: Machine | None = machine
        while where is not None:
            machine = where
            done = self._on(found, machine, losses)
            if done is not None:
                return done, machine
            where = self.cluster.wait_for(lambda _: True, COMING_BACK) if len(losses) <= MOST_RETRIES else None
        return Linted(name, found.digest, error=f"{name}: lost {len(losses)} times: {'; '.join(losses)}"), machine

    def _on(self, found: Repository, machine: Machine, losses: list[str]) -> Linted | None:
        """Lint a repository on a worker; None if that is lost."""
        content = {found.files[path]: partial(bytes, data) for path, data in found.content.items()}
        request = {"name": found.name, "files": found.files, "options": list(self.options)}
        try:
            is_small = sum(map(len, found.content.values())) <= SMALL
            reply = TaskWithFiles("lint", request, content, SECONDS, is_small).run(self.cluster, machine)
            rows = [finding_from_json(row) for row in reply.get("findings", ())]
        except (ClusterError, MessageError) as error:
            return Linted(found.name, found.digest, error=f"{found.name}: {error}")
        except LostError as error:
            losses.append(f"{machine.name}: {error}")
            return None
        failures = [str(text) for text in reply.get("failures", ())]
        return Linted(found.name, found.digest, rows, failures, machine.name)
