"""Which tests of a part are done on the code as it is: a file of lines of JSON, one for each test as it ends."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from scripts.soak.parts import ROOT

FOLDER = ROOT / "build" / "soak"
LEFT_OUT = ("docs/tested.md", "tests/soak/results.json", "CHANGELOG.md")
"""Files that may change without anything having to be tested again."""


@dataclass(frozen=True)
class Done:
    """A test that has ended: passed, skipped or failed, why, and what it measured."""

    test: str
    outcome: str
    seconds: float
    reason: str = ""
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """What a part is run with; tests that were done with something else do not count."""

    tree: str
    seed: int | None = None
    minutes: float | None = None


@dataclass
class Progress:
    """The tests of a part that are done."""

    part: str
    run: Run
    commit: str
    """The commit at which it began."""
    done: dict[str, Done] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """Where it is written down."""
        return FOLDER / f"{self.part}.jsonl"

    def add(self, test: Done) -> None:
        """Record a test; one that had failed before may have passed now."""
        self.done[test.test] = test
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(test)) + "\n")

    def is_done(self, test: str) -> bool:
        """Whether a test need not run again."""
        return test in self.done and self.done[test].outcome != "failed"


def begun(part: str, run: Run, *, again: bool) -> Progress:
    """What an earlier run of the part has done with the same code, seed and length; nothing, if ``again``."""
    progress = Progress(part, run, commit())
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = progress.file.read_text(encoding="utf-8").splitlines() if progress.file.exists() else []
    head = json.loads(lines[0]) if lines else {}
    if again or {**head, "commit": ""} != {**asdict(run), "commit": ""}:
        progress.file.write_text(json.dumps({**asdict(run), "commit": progress.commit}) + "\n", encoding="utf-8")
        return progress
    progress.commit = head["commit"]
    for line in lines[1:]:
        row = json.loads(line)
        progress.done[row["test"]] = Done(**{**row, "figures": tuple(row["figures"])})
    return progress


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout


def _files() -> Iterator[str]:
    for name in sorted(_git("ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")):
        if name and name not in LEFT_OUT and (ROOT / name).is_file():
            yield name


def tree() -> str:
    """A key of all files that a test may depend on."""
    key = hashlib.sha256()
    for name in _files():
        key.update(f"{name}\0".encode() + hashlib.sha256((ROOT / name).read_bytes()).digest())
    return key.hexdigest()[:16]


def commit() -> str:
    """The commit that is tested; with a plus if files differ from it."""
    changed = _git("status", "--porcelain", "-z").decode().split("\0")
    name = _git("rev-parse", "--short=8", "HEAD").decode().strip()
    return name + "+" * any(line and line[3:] not in LEFT_OUT for line in changed)
