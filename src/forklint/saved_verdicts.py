"""Verdicts of ``forklint verify`` that are saved in a file, and whether they are still up to date.

A verdict belongs to a finding (by its fingerprint), the files that were run (by their content) and the versions of the
libraries. If any of these has changed, the verdict is shown as outdated, with the reason. The file is untrusted input:
everything in it is validated, and no file outside of its own directory is read because of it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.records import dataclass
from forklint.source.locking import locked
from forklint.source.writing import replace as replace_file

NAME = "forklint-verdicts.json"
VERSION = 1
VERDICTS = ("confirmed", "refuted", "not reproduced", "unsupported here", "inconclusive")
CONFIRMED = "confirmed"
REWRITE = "to write a new one, delete it and run `forklint verify --save-verdicts`"
LARGEST_FILE, LARGEST_CONTENT = 32 * 2**20, 16 * 2**20
"""Largest size in bytes of the file with the verdicts, and of a file whose content is hashed."""
MOST_ROWS, MOST_FILES, LONGEST = 20_000, 5_000, 2_000
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


class VerdictsError(Exception):
    """A file with verdicts cannot be read or written; the message is one line that names it."""


@dataclass(frozen=True)
class Kept:
    """A saved verdict."""

    path: str
    """Of the finding's file, relative to the directory of the verdicts, with forward slashes."""
    code: str
    fingerprint: str
    verdict: str
    evidence: str
    date: str
    """Day of the run, as YYYY-MM-DD."""
    libraries: Mapping[str, str]
    """Versions by import name."""
    content: Mapping[str, str]
    """Digests of the files that were run, by path, written like ``path``."""

    @property
    def key(self) -> tuple[str, str]:
        """What a finding is matched by."""
        return self.path, self.fingerprint


@dataclass(frozen=True)
class Shown:
    """A verdict as lint shows it."""

    kept: Kept
    stale: str
    """What has changed since; empty if the verdict is up to date."""

    @property
    def is_confirmed(self) -> bool:
        """Whether the finding was confirmed, and nothing has changed since."""
        return self.kept.verdict == CONFIRMED and not self.stale

    @property
    def words(self) -> str:
        """The verdict in a line."""
        return f"{self.kept.verdict} on {self.kept.date}" + (f", outdated: {self.stale}" if self.stale else "")

    def as_json(self) -> dict[str, Any]:
        """The verdict as it is written to reports."""
        told = {"verdict": self.kept.verdict, "date": self.kept.date, "evidence": self.kept.evidence}
        return {**told, "libraries": dict(self.kept.libraries), "holds": not self.stale, "stale": self.stale}


def read(path: Path) -> list[Kept]:
    """The verdicts in a file; raises VerdictsError if it is invalid or too large."""
    import json  # noqa: PLC0415 - most runs have none

    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            raise VerdictsError(f"{path}: not a regular file of at most {LARGEST_FILE >> 20} MiB; {REWRITE}")
        data = json.loads(path.read_text(encoding="utf-8", errors="strict"))
    except OSError as error:
        raise VerdictsError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise VerdictsError(f"{path}: not valid JSON; {REWRITE}") from None
    rows = data.get("verdicts") if isinstance(data, dict) else None
    if not isinstance(rows, list) or data.get("version") != VERSION or len(rows) > MOST_ROWS:
        raise VerdictsError(f"{path}: not a file of verdicts that this forklint can read; {REWRITE}")
    kept = [_row(row) for row in rows]
    if None in kept:
        raise VerdictsError(f"{path}: entry {kept.index(None) + 1} is not valid; {REWRITE}")
    return [one for one in kept if one is not None]


def _row(row: Any) -> Kept | None:
    """A verdict, or None if the row is not valid."""
    if not isinstance(row, dict) or set(row) != set(_fields()):
        return None
    texts = [row[name] for name in ("path", "code", "fingerprint", "verdict", "evidence", "date")]
    if not all(isinstance(text, str) and len(text) <= LONGEST for text in texts):
        return None
    tables = (row["libraries"], row["content"])
    if not all(_is_table(table) for table in tables) or not all(_is_inside(name) for name in row["content"]):
        return None
    if row["verdict"] not in VERDICTS or not DATE.fullmatch(row["date"]) or not _is_inside(row["path"]):
        return None
    return Kept(**row)


def _fields() -> tuple[str, ...]:
    return tuple(Kept.__annotations__)


def _is_table(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= MOST_FILES
        and all(isinstance(part, str) and len(part) <= LONGEST for pair in value.items() for part in pair)
    )


def _is_inside(path: str) -> bool:
    """Whether a path stays inside the directory: relative, with forward slashes, and without ``..``."""
    parts = path.split("/")
    return (
        bool(path) and "\\" not in path and "\0" not in path and ":" not in parts[0] and not {"", ".", ".."} & {*parts}
    )


def digest_of(folder: Path, path: str) -> str:
    """Digest of a file's content; empty if it is no regular file inside the directory, or too large."""
    place = folder / path
    try:
        is_own = Path(os.path.realpath(place)).is_relative_to(os.path.realpath(folder))
        if not is_own or not place.is_file() or place.stat().st_size > LARGEST_CONTENT:
            return ""
        return hashlib.sha256(place.read_bytes()).hexdigest()[:16]
    except (OSError, ValueError):
        return ""


def save(path: Path, verdicts: Sequence[Kept]) -> None:
    """Save verdicts in a file, replacing older ones on the same findings; raises VerdictsError."""
    import json  # noqa: PLC0415

    target = Path(os.path.realpath(path))
    new = {one.key for one in verdicts}
    try:
        with locked(target):
            older = [one for one in (read(target) if target.exists() else []) if one.key not in new]
            rows = sorted([*older, *verdicts], key=lambda one: (one.path, one.code, one.fingerprint))
            told = {"version": VERSION, "verdicts": [{name: getattr(one, name) for name in _fields()} for one in rows]}
            replace_file(target, (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
    except TimeoutError:
        raise VerdictsError(f"{path}: timed out waiting for another run that is writing it; try again") from None
    except OSError as error:
        raise VerdictsError(f"{path}: cannot write: {error.strerror or error}") from None


class Matcher:
    """Finds the verdict on each finding, and whether it is up to date."""

    def __init__(self, folder: Path, verdicts: Iterable[Kept]) -> None:
        """``folder`` is the directory of the file with these verdicts."""
        self._folder = folder
        self._by_key: dict[tuple[str, str], list[Kept]] = defaultdict(list)
        for one in verdicts:
            self._by_key[one.key].append(one)
        self._digests: dict[str, str] = {}

    def match(self, path: str, findings: Sequence[Finding]) -> dict[Finding, Shown]:
        """The verdicts on the findings of one file; outdated if the number of equal findings has changed."""
        found = {}
        by_fingerprint: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            by_fingerprint[finding.fingerprint].append(finding)
        for fingerprint, same in by_fingerprint.items():
            kept = self._by_key.get((path, fingerprint), [])
            other = "" if len(kept) == len(same) else f"there are now {len(same)} findings like it"
            for finding, one in zip(same, kept, strict=False):
                found[finding] = Shown(one, other or self._changed(one))
        return found

    def _changed(self, kept: Kept) -> str:
        """What has changed, in a few words."""
        for path, digest in kept.content.items():
            if path not in self._digests:
                self._digests[path] = digest_of(self._folder, path)
            if not digest or self._digests[path] != digest:
                return f"{path} has changed"
        if not kept.content:
            return "the files that were run are not recorded"
        for name, version in kept.libraries.items():
            here = _installed(name)
            if here is not None and here != version:
                return f"{name} changed from {version} to {here}"
        return ""


def _installed(name: str) -> str | None:
    """The installed version of a library; None if it is not installed, and so cannot be compared."""
    try:
        return metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None
