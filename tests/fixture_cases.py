"""Reads the fixtures: which projects there are, what they expect, what the linter finds in them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.fixing import applicable, fix
from forklint.linters import Linters
from forklint.model import FileReport, Finding
from forklint.rules import registry

FIXTURES = Path(__file__).parent / "fixtures"
EXPECT = re.compile(r"#\s*expect:\s*(?P<items>[^#]+)")
MISS = re.compile(r"#\s*miss:\s*(?P<items>[^#]+)")
SUFFIXES = (".py", ".ipynb", ".yaml", ".yml", ".toml", ".json")
ITEM = re.compile(r"(?P<code>FKL\d+)(?:\[(?P<cells>[^\]]*)\])?")


@dataclass(frozen=True)
class Case:
    """One fixture: a file, or a folder that is a small project."""

    path: Path

    @property
    def id(self) -> str:
        """As pytest shows it: folder and name."""
        return f"{self.path.parent.name.partition('_')[0]}-{self.path.stem}"

    @property
    def rule(self) -> str:
        """The code of the rule in whose folder it stands."""
        return self.id.partition("-")[0]

    @property
    def good(self) -> bool:
        """Whether it must stay silent."""
        return self.path.name.startswith("good_")

    @property
    def files(self) -> list[Path]:
        """The files in it that are linted, without the expected outcomes of fixes."""
        below = [file for suffix in SUFFIXES for file in sorted(self.path.rglob(f"*{suffix}"))]
        files = [self.path] if self.path.is_file() else below
        return [file for file in files if not is_outcome(file)]

    def copy_to(self, folder: Path) -> list[Path]:
        """Copy the case into an empty folder that becomes its root; gives the copies of its files."""
        base = self.path.parent if self.path.is_file() else self.path
        (folder / "forklint.toml").touch()
        if self.path.is_dir():
            shutil.copytree(base, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.fixed.*", "__pycache__"))
            if (folder / "pyproject.toml").exists():
                (folder / "forklint.toml").unlink()
        else:
            shutil.copy(self.path, folder)
        return [folder / file.relative_to(base) for file in self.files]


def is_outcome(path: Path) -> bool:
    """Whether a file is what a fix makes of the one beside it."""
    return path.stem.endswith(".fixed")


def outcome_of(path: Path) -> Path:
    """Where it stands what the fixes make of a file."""
    return path.with_suffix(f".fixed{path.suffix}")


def all_cases() -> list[Case]:
    """Every fixture of every rule."""
    folders = sorted(path for path in FIXTURES.glob("FKL*") if path.is_dir())
    paths = [path for folder in folders for path in sorted(folder.iterdir()) if path.name.startswith(("bad_", "good_"))]
    return [Case(path) for path in paths if (path.is_dir() or path.suffix in SUFFIXES) and not is_outcome(path)]


def by_rule(cases: list[Case]) -> list[list[Case]]:
    """The cases of each rule, for tests that take milliseconds a case: a thousand tests cost more than they do."""
    return [list(group) for _, group in groupby(cases, lambda case: case.rule)]


Place = int | str
"""A row, or ``cell 3:7`` in a notebook."""


def lines_of(file: Path) -> Iterator[tuple[Place, str]]:
    """Give each line of a file with its place."""
    if file.suffix == ".ipynb":
        for number, cell in enumerate(json.loads(file.read_text(encoding="utf-8"))["cells"], 1):
            for row, line in enumerate("".join(cell["source"]).splitlines(), 1):
                yield f"cell {number}:{row}", line
    elif file.suffix == ".json":  # it has no comments: they stand in the same row of a file beside it
        beside = file.with_suffix(".expect")
        yield from enumerate(beside.read_text(encoding="utf-8").splitlines() if beside.exists() else [], 1)
    else:
        yield from enumerate(file.read_text(encoding="utf-8").splitlines(), 1)


def expected(file: Path) -> set[tuple[Place, str, str | None]]:
    """What a file's comments expect: place, code, and the cells where they are named."""
    known = registry.codes()
    found = set()
    for row, line in lines_of(file):
        comment = EXPECT.search(line)
        for item in ITEM.finditer(comment["items"] if comment else ""):
            if item["code"] in known:
                cells = item["cells"]
                found.add((row, item["code"], " ".join(sorted(cells.replace(",", " ").split())) if cells else None))
    return found


def missed(file: Path) -> set[tuple[Place, str]]:
    """What a file's comments say is not found although it is a hazard: place and code. Its rule's page says why."""
    marks = [(row, MISS.search(line)) for row, line in lines_of(file)]
    return {(row, item["code"]) for row, mark in marks for item in ITEM.finditer(mark["items"] if mark else "")}


PREVIEW = {"preview": True}


def linters(*, preview: bool = True) -> Linters:
    """New linters with default settings, and with the rules that are in preview."""
    return Linters(SettingsFinder(PREVIEW if preview else {}), Options())


def reports(files: list[Path], *, screen: bool = True, with_fixes: bool = False) -> dict[Path, FileReport]:
    """Lint files in this process, as one project."""
    fresh = Linters(SettingsFinder(PREVIEW), Options(screen=screen, with_fixes=with_fixes))
    return {file: fresh.of(file).lint(file) for file in files}


def found_in(report: FileReport) -> set[tuple[Place, str, str]]:
    """Place, code and cells of each finding of a report."""
    assert all(one.subject for one in report.findings if one.code != "FKL002"), "a finding about nothing"
    return {(_place(one), one.code, " ".join(sorted(map(str, one.cells)))) for one in report.findings}


def lint(files: list[Path], *, screen: bool = True) -> dict[Path, set[tuple[Place, str, str]]]:
    """Lint files in this process: place, code and cells of each finding by file."""
    return {file: found_in(report) for file, report in reports(files, screen=screen).items()}


def _place(finding: Finding) -> Place:
    cell, row = finding.notebook_cell, finding.span.row
    return row if cell is None else f"cell {cell}:{row}"


def is_fixable(report: FileReport) -> bool:
    """Whether ``--fix --unsafe-fixes`` has anything to do."""
    return any(applicable(one, unsafe=True) for one in report.findings)


def fixed_text(file: Path) -> str:
    """What ``--fix --unsafe-fixes`` makes of a file, without writing it."""
    result = fix(linters().of(file), file, unsafe=True, write=False)
    return result.after or file.read_bytes().decode()
