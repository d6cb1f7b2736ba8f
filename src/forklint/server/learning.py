"""A process that reads a large project of which nothing is stored yet, and lints its files meanwhile.

Reading thousands of files takes many seconds and, in one process, more memory than a server should hold. So another
process does it, share by share; between shares it lints what the server asks for. At the end it stores the summaries
and goes, and the server looks into the store for what it needs.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from forklint.config import Settings, SettingsFinder
from forklint.engine import Options
from forklint.incremental import gathering
from forklint.incremental.lookup import Lookup
from forklint.linters import Linters
from forklint.model import FileReport
from forklint.project.seen import Seen
from forklint.source import discovery
from forklint.source.digest import digest
from forklint.source.roots import Extent, find_extent
from forklint.store.errors import StoreError
from forklint.store.stamps import content_of

SMALL = 300
"""Python files of a project that are read without further ado: in a second or two, and 60 MB."""
SHARE = 40
"""Files that are read at a time; an edit waits for so many."""
NICE = 5
VARIANT = "server"


class LostError(Exception):
    """The process has ended, or could not be started."""


class Learner:
    """The process, as the server sees it. Not to be used by two threads at once."""

    def __init__(self, overrides: Mapping[str, Any], config: Path | None, path: Path) -> None:
        """Start it for the project of a file; raises LostError."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, dict(overrides), config, path), daemon=True, name="forklint-learner"
        )
        try:
            self._process.start()
        except OSError as error:
            raise LostError(str(error)) from None
        finally:
            theirs.close()

    def lint(self, path: Path, overlay: Mapping[Path, bytes]) -> FileReport:
        """Lint a file, with the contents that some files have in the editor; raises LostError."""
        report = self._ask("lint", path, dict(overlay))
        if isinstance(report, BaseException):
            raise report
        return report  # type: ignore[no-any-return]

    def step(self) -> bool:
        """Read one share more; whether there is more to read. What was read is stored with the last share."""
        return bool(self._ask("step"))

    def end(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.join(0.2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(5)

    def _ask(self, *question: Any) -> Any:
        try:
            self._connection.send(question)
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise LostError(str(error) or "it has ended") from None


def is_large(extent: Extent, settings: Settings) -> bool:
    """Whether it takes long to read a project."""
    return len(discovery.walk(extent, settings.excludes).texts) > SMALL


def _serve(connection: Connection, overrides: Mapping[str, Any], config: Path | None, path: Path) -> None:
    """Answer questions until the other end is closed."""
    import gc  # noqa: PLC0415 - this is the other process
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # it soon ends
    if sys.platform != "win32":
        os.nice(NICE)
    pupil = _Pupil(SettingsFinder(overrides, config=config), path)
    with contextlib.suppress(EOFError, OSError):
        while True:
            name, *arguments = connection.recv()
            try:
                answer: object = pupil.lint(*arguments) if name == "lint" else pupil.step()
            except Exception as error:  # noqa: BLE001 - who asked is told
                answer = error if name == "lint" else False
            connection.send(answer)


class _Pupil:
    """What the process does."""

    def __init__(self, finder: SettingsFinder, path: Path) -> None:
        self._finder = finder
        self._path = path
        self._linters = Linters(finder, Options(with_fixes=False, confirmed=False))
        self._walk = discovery.walk(find_extent(path), finder.for_file(path).excludes)
        self._shares = self._read()

    def lint(self, path: Path, overlay: Mapping[Path, bytes]) -> FileReport:
        """Lint a file."""
        linter = self._linters.of(path)
        for file, data in overlay.items():
            if linter.project.bytes_of(file) != data:
                linter.project.replace(file, data)
        return linter.relint(path)

    def step(self) -> bool:
        """Read one share; whether there is more."""
        return next(self._shares, False)

    def _read(self) -> Iterator[bool]:
        """Read all files, and store what they say."""
        begin = Lookup(self._finder, (), VARIANT, frozenset(), _say_nothing)  # what changes later is compared again
        gathered, contents = [], dict[str, str]()
        for start in range(0, len(self._walk.texts), SHARE):
            share = self._walk.texts[start : start + SHARE]
            contents |= {path: digest(content_of(path)) for path in share}
            gathered.append(gathering.gather(share))
            yield True
        session = begin.session(self._path)
        if session is not None:
            seen = Seen(contents, files=self._walk.texts, left_out=self._walk.left_out)
            with contextlib.suppress(StoreError):
                session.keep({}, seen, gathering.GatheredLibrary(self._walk, gathered))
        begin.close()


def _say_nothing(_: str) -> None:
    pass
