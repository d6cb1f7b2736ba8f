"""A baseline: a JSON file with findings that are not reported.

An entry is matched by the path of a file, relative to the baseline's directory, and by the fingerprint of a finding,
which depends on content and not on line numbers; equal findings in a file are counted. So a baseline stays valid when
lines move, from every working directory and in every checkout.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forklint.model import FileReport, Finding
from forklint.records import dataclass
from forklint.source.locking import locked
from forklint.source.regular import read_regular
from forklint.source.writing import WRITABLE
from forklint.source.writing import replace as replace_file

VERSION = 1
REWRITE = "to write a new one, delete it and run with --update-baseline"


class BaselineError(Exception):
    """A baseline cannot be read or written; the message is one line that names it and says what to do."""


@dataclass(frozen=True, order=True)
class Entry:
    """A kind of finding in one file. Matched by path and fingerprint; code and text are for people."""

    path: str
    code: str
    text: str
    fingerprint: str

    @property
    def key(self) -> tuple[str, str]:
        """What a finding is matched by."""
        return self.path, self.fingerprint


Counts = Mapping[Entry, int]


@dataclass(frozen=True)
class Scope:
    """What a run linted: only of that it is known that a finding no longer occurs."""

    rules: Mapping[str, Collection[str]]
    """For each linted file, by its path in the baseline, the codes of the rules that ran there."""
    folder: Path

    def covers(self, entry: Entry) -> bool:
        """Whether the run would have found the entry's finding if it were still there."""
        if entry.path in self.rules:
            return entry.code in self.rules[entry.path]
        return not (self.folder / entry.path).exists()


@dataclass(frozen=True)
class Sifted:
    """Reports without the findings of a baseline."""

    reports: list[FileReport]
    known: int
    """Number of findings that are hidden by the baseline."""
    gone: int
    """Number of findings in the baseline that no longer occur."""


def folder_of(baseline: Path) -> Path:
    """The directory that the paths in a baseline are relative to, with links resolved."""
    return Path(os.path.realpath(baseline)).parent


def path_in(baseline: Path, path: Path) -> str:
    """The path of a file in a baseline: relative to the baseline's directory, with forward slashes."""
    real = Path(os.path.realpath(path.parent), path.name)  # the file itself is not followed
    try:
        return Path(os.path.relpath(real, folder_of(baseline))).as_posix()
    except ValueError:  # another drive
        return real.as_posix()


def read(path: Path) -> dict[Entry, int]:
    """Read a baseline; raises BaselineError, also if the file does not exist."""
    import json  # noqa: PLC0415 - most runs have no baseline

    try:
        data = json.loads(read_regular(path).decode("utf-8-sig", "surrogateescape"))
    except FileNotFoundError:
        raise BaselineError(f"{path}: no such file; run with --update-baseline to create it") from None
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BaselineError(f"{path}: not valid JSON{where}; {REWRITE}") from None
    if not isinstance(data, dict) or "version" not in data or not isinstance(data.get("findings"), list):
        raise BaselineError(f"{path}: not a baseline of forklint; choose another file")
    if data["version"] != VERSION:
        wrong = f"version {data['version']!r} is not supported (this forklint reads version {VERSION})"
        raise BaselineError(f"{path}: {wrong}; update forklint, or {REWRITE}")
    counts: dict[Entry, int] = {}
    for number, row in enumerate(data["findings"], 1):
        try:
            entry, count = _entry(row)
        except (TypeError, KeyError, ValueError):
            wanted = "the strings path, code, text and fingerprint, and a positive count"
            raise BaselineError(f"{path}: entry {number} needs {wanted}; {REWRITE}") from None
        counts[entry] = counts.get(entry, 0) + count
    return counts


def _entry(row: Any) -> tuple[Entry, int]:
    words = [row[name] for name in ("path", "code", "text", "fingerprint")]
    count = row["count"]
    if not all(isinstance(word, str) for word in words) or not isinstance(count, int) or count < 1:
        raise ValueError
    return Entry(*words), count


def entries(path: Path, reports: Iterable[FileReport]) -> Counter[Entry]:
    """The findings of some reports as entries of the baseline at ``path``."""
    return Counter(_of(path, finding) for report in reports for finding in report.findings)


def _of(baseline: Path, finding: Finding) -> Entry:
    where = path_in(baseline, Path(finding.path))
    return Entry(where, finding.code, " ".join(finding.text.split()), finding.fingerprint)


def sift(path: Path, counts: Counts, reports: Sequence[FileReport], scope: Scope) -> Sifted:
    """Remove the findings that the baseline at ``path`` records, as often as it records them."""
    left = Counter({entry.key: 0 for entry in counts})
    for entry, count in counts.items():
        left[entry.key] += count
    sifted, known = [], 0
    for report in reports:
        new = []
        for finding in report.findings:
            key = _of(path, finding).key
            if left[key] > 0:
                left[key] -= 1
                known += 1
            else:
                new.append(finding)
        sifted.append(replace(report, findings=tuple(new)))
    covered = {entry.key for entry in counts if scope.covers(entry)}
    return Sifted(sifted, known, sum(left[key] for key in covered))


@dataclass(frozen=True)
class Update:
    """How a baseline changed, as numbers of findings."""

    added: int
    dropped: int
    total: int


def update(path: Path, found: Counter[Entry], scope: Scope) -> Update:
    """Record findings in the baseline at ``path``, which need not exist, and remove those that no longer occur.

    Entries for files that were not linted stay. Runs that update a baseline at the same time wait for each other, so
    that nothing is lost. Raises BaselineError.
    """
    target = Path(os.path.realpath(path))
    try:
        with locked(target):
            before = read(path) if target.exists() else {}
            after = {entry: count for entry, count in before.items() if not scope.covers(entry)}
            after.update(found)
            if after != before or not target.exists():
                _write(target, _render(after))
    except TimeoutError:
        raise BaselineError(f"{path}: timed out waiting for another run that is writing it; try again") from None
    except OSError as error:
        raise BaselineError(f"{path}: cannot write: {error.strerror or error}") from None
    added, dropped = Counter(after) - Counter(before), Counter(before) - Counter(after)
    return Update(added.total(), dropped.total(), Counter(after).total())


def _render(counts: Counts) -> str:
    rows = [
        {"path": e.path, "code": e.code, "text": e.text, "count": counts[e], "fingerprint": e.fingerprint}
        for e in sorted(counts)
    ]
    import json  # noqa: PLC0415

    return json.dumps({"version": VERSION, "findings": rows}, indent=2, ensure_ascii=False) + "\n"


def _write(target: Path, text: str) -> None:
    """Replace a file atomically; raises OSError."""
    if target.exists() and not (target.stat().st_mode & WRITABLE and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, "the file is read-only")
    replace_file(target, text.encode("utf-8", errors="surrogateescape"))
