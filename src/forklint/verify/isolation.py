"""How a trial is kept from writing into the project: an overlay, else a copy, else only out of the others' way."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forklint.verify.limits import MIB
from forklint.verify.supervision import copying, files

SUPERVISOR = [sys.executable, "-I", "-S", str(Path(__file__).parent / "supervision")]
PATIENCE = 30.0
"""Seconds for the attempt to lay an overlay."""
LARGEST_COPY = 512 * MIB
MOST_FILES = 20_000
"""A folder with more in it is not copied for each trial."""
THROWN_AWAY = "it is removed afterwards. Files written elsewhere stay."
WORDS = {
    "view": f"Files that it writes in the project go to an overlay: {THROWN_AWAY}",
    "copy": f"It runs in a copy of the project, and files that it writes go there: {THROWN_AWAY}",
    "none": (
        "This system lets no program have a layer of its own over the project, which is too large to copy: "
        "what it writes stays, and trials run one after another."
    ),
}
"""What becomes of what a trial writes."""


@dataclass(frozen=True)
class Isolation:
    """What is done for the trials of some folders."""

    roots: tuple[str, ...] = ()
    """Real paths, none below another."""
    how: str = "none"
    """``view`` or ``view-in-memory`` (overlays at the very paths), ``copy``, or ``none``."""

    @property
    def is_own(self) -> bool:
        """Whether a trial writes where no other trial reads."""
        return self.how != "none" or not self.roots

    @property
    def words(self) -> str:
        """What becomes of what a trial writes, for the reader of the plan."""
        return WORDS[self.how.partition("-")[0]]

    @property
    def view(self) -> Sequence[Any] | None:
        """The fields of the supervisor's ``View``."""
        return (self.roots, self.how == "view-in-memory") if self.how.startswith("view") else None

    def copies(self, folder: Path) -> Copies:
        """Where the copies lie for the trial in this folder; none where there is an overlay."""
        if self.how != "copy":
            return Copies()
        return Copies({root: str(folder / "view" / str(number)) for number, root in enumerate(self.roots)})


@dataclass(frozen=True)
class Copies:
    """Folders and their copies: what a trial is told names the copies, what it tells names the folders."""

    places: Mapping[str, str] = field(default_factory=dict)

    def named(self, told: Any) -> Any:
        """The same with each path of a folder made one of its copy."""
        return _replaced(told, self.places)

    def meant(self, said: Any) -> Any:
        """The same with each path of a copy made one of its folder."""
        return _replaced(said, {copy: folder for folder, copy in self.places.items()})


class Isolations:
    """Finds out what can be done here, once for each set of folders."""

    def __init__(self, workplace: Path) -> None:
        """Take the folder in which trials get theirs."""
        self._workplace = workplace
        self._known: dict[tuple[str, ...], Isolation] = {}
        self._lock = threading.Lock()

    def of(self, folders: Iterable[Path]) -> Isolation:
        """What is done for trials that run in these folders."""
        roots = outermost(folders)
        with self._lock:
            if roots not in self._known:
                self._known[roots] = Isolation(roots, self._way(roots) if roots else "none")
            return self._known[roots]

    def _way(self, roots: Sequence[str]) -> str:
        place = tempfile.mkdtemp(prefix="forklint-view-", dir=self._workplace)
        try:
            kinds = ("view", "view-in-memory") if sys.platform == "linux" else ()
            return next((kind for kind in kinds if _is_possible(kind, place, roots)), None) or self._copy(roots, place)
        finally:
            files.remove(place)  # overlays leave folders that only root can look into

    def _copy(self, roots: Sequence[str], place: str) -> str:
        """Whether copies are small enough, or cost nothing."""
        if any(_is_within(place, root) for root in roots):
            return "none"
        sizes = [copying.size(root, MOST_FILES) for root in roots]
        if None in sizes:
            return "none"
        if all(copying.clones(root, place) for root in roots):
            return "copy"
        with contextlib.suppress(OSError):
            most = min(LARGEST_COPY, shutil.disk_usage(place).free // 8)
            return "copy" if sum(filter(None, sizes)) <= most else "none"
        return "none"


def outermost(folders: Iterable[Path]) -> tuple[str, ...]:
    """Real paths of folders, without those that lie in another and without the root of the file system."""
    paths = sorted({os.path.realpath(folder) for folder in folders} - {os.path.realpath(os.sep)})
    return tuple(path for path in paths if not any(_is_within(path, other) for other in paths if other != path))


def _is_within(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(folder.rstrip(os.sep) + os.sep)


def _is_possible(kind: str, place: str, roots: Sequence[str]) -> bool:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = [*SUPERVISOR, kind, str(Path(place).resolve() / kind), *roots]
        (Path(place) / kind).mkdir()
        done = subprocess.run(  # noqa: S603 - our own interpreter with a folder of ours
            command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
        return done.returncode == 0
    return False


def _replaced(value: Any, places: Mapping[str, str]) -> Any:
    """Replace paths in all texts of a value as JSON holds it."""
    if not places:
        return value
    if isinstance(value, str):
        names = "|".join(re.escape(path) for path in sorted(places, key=len, reverse=True))
        return re.sub(rf"({names})(?=$|[^\w.-]|\.\s|\.$)", lambda match: places[match[1]], value)
    if isinstance(value, Mapping):
        return {_replaced(key, places): _replaced(part, places) for key, part in value.items()}
    return [_replaced(part, places) for part in value] if isinstance(value, (list, tuple)) else value
