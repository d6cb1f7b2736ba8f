"""Runs of the command in which a call to the system fails, or the process is killed there: all that write a file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CALLS = (
    "write,pwrite64,writev,rename,renameat,renameat2,link,linkat,fsync,fdatasync,ftruncate,chmod,fchmod,unlink,mkdir"
)
"""What writes to a file or a folder. Files are opened for reading far more often, so `open` is not among these."""
TEMPORARY = ".forklint"
HAZARD = """\
import h5py
from torch.utils.data import Dataset


class {name}(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return self.file["pages"][index]
"""
SAVES = """
from pathlib import Path
from forklint import saved_verdicts
new = saved_verdicts.Kept(
    path="pages.py", code="FKL301", fingerprint="2" * 16, verdict="confirmed", evidence="read wrong rows",
    date="2026-01-02", content={"pages.py": "0" * 64}, libraries={"torch": "2.4"},
)
try:
    saved_verdicts.save(Path("forklint-verdicts.json"), [new])
except saved_verdicts.VerdictsError as error:
    import sys
    print(error, file=sys.stderr)
    sys.exit(2)
"""


@dataclass(frozen=True)
class Scenario:
    """A command that writes files, in a project in which it has something to write."""

    name: str
    arguments: tuple[str, ...]
    code: str = ""
    """What is run instead of the command."""

    def prepare(self, folder: Path) -> None:
        """Write the project."""
        folder.mkdir()
        (folder / "forklint.toml").touch()
        for name in ("pages", "words"):
            (folder / f"{name}.py").write_text(HAZARD.format(name=name.title()))
        if self.name in {"baseline", "report"}:
            (folder / "old.json").write_text('{"version": 1, "findings": []}\n')
        if self.name == "verdicts":
            row = {"path": "words.py", "code": "FKL301", "fingerprint": "1" * 16, "verdict": "refuted"}
            row |= {"evidence": "no harm was seen", "date": "2026-01-01"}
            import json

            written = {"version": 1, "verdicts": [{**row, "content": {"words.py": "0" * 64}, "libraries": {}}]}
            (folder / "forklint-verdicts.json").write_text(json.dumps(written))

    @property
    def command(self) -> list[str]:
        """What is run."""
        return [sys.executable, *(("-c", self.code) if self.code else ("-m", "forklint", "-j1", *self.arguments))]


SCENARIOS = {
    one.name: one
    for one in (
        Scenario("fix", ("--fix", "--unsafe-fixes", "--no-cache", "-q", ".")),
        Scenario("noqa", ("--add-noqa=checked", "--no-cache", "-q", ".")),
        Scenario("baseline", ("--update-baseline", "--baseline", "old.json", "--no-cache", "-q", ".")),
        Scenario("report", ("--output-file", "old.json", "--output-format", "sarif", "--no-cache", ".")),
        Scenario("store", ("--output-format", "json", ".")),
        Scenario("verdicts", (), SAVES),
    )
}


@cache
def can_trace() -> bool:
    """Whether strace is there and may be used."""
    strace = shutil.which("strace")
    return strace is not None and subprocess.run([strace, "true"], capture_output=True, check=False).returncode == 0


def ran(scenario: Scenario, folder: Path, *strace: str) -> subprocess.CompletedProcess[str]:
    """Run a scenario's command, under strace if there are options for it."""
    traced = ["strace", "-f", "-qq", *(("-o", os.devnull) if "-o" not in strace else ()), *strace]
    return subprocess.run(
        [*(traced if strace else ()), *scenario.command],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def files(folder: Path) -> dict[str, bytes]:
    """The files of a project, without the cache and without what a killed process could not take away."""
    return {
        path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file() and path.suffix != TEMPORARY
    }


def left_over(folder: Path) -> list[str]:
    """Temporary files."""
    return [path.name for path in folder.iterdir() if path.suffix == TEMPORARY]


def faults(
    scenario: Scenario, folder: Path, kind: str, step: int, first: int = 0
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Give, for each ``step``-th call that the command makes, a fresh project and what lets ``kind`` happen there.

    ``first``: the index of the call to begin with.
    """
    project, log = folder / "project", folder / "log"
    shutil.rmtree(project, ignore_errors=True)
    scenario.prepare(project)
    ran(scenario, project, "-o", str(log), "-e", f"trace={CALLS}")
    made = Counter(re.findall(r"^\d+ +(\w+)\(", log.read_text(), re.MULTILINE))
    places = [(call, number) for call, count in sorted(made.items()) for number in range(1, count + 1)]
    for call, number in places[first::step]:
        shutil.rmtree(project)
        scenario.prepare(project)
        yield project, ("-e", f"trace={call}", "-e", f"inject={call}:{kind}:when={number}")
