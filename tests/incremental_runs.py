"""A project that is linted again and again in one process, beside fresh ones with the same contents."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from incremental_edits import Typist

from forklint.config import SettingsFinder
from forklint.engine import Linter, Options
from forklint.model import FileReport
from forklint.project.index import Project
from forklint.summaries import reading

Reports = dict[Path, FileReport]
SAMPLE = 15
"""So many files, beside those that matter, are compared with a fresh run after each edit."""
MOST_ASKED_AGAIN = 0.1
"""Of all questions, after one edit."""
WHOLE = 10
"""After so many edits all are."""

MANY = 25
"""So many edits surely make or mend a finding."""


class Workbench:
    """All files of one project, edited at random and linted again."""

    def __init__(self, root: Path, seed: int) -> None:
        self._root = root
        self._linter = self.fresh({})
        self.project = self._linter.project
        self.files = self.project.all_files()
        self._dice = random.Random(seed)
        self._typist = Typist(self.files, seed, self.project.bytes_of)
        self._edited: dict[Path, bytes] = {}
        self.reports = self._relinted()
        self.first = self.project.questions.found
        """How many answers the first run found."""
        self._had = {path for path, report in self.reports.items() if report.findings}

    def fresh(self, edited: dict[Path, bytes]) -> Linter:
        """A linter that knows nothing yet of a project with these contents."""
        settings = SettingsFinder({"preview": True}, isolated=True).for_file(self._root / "x.py")
        linter = Linter(Project(self._root, settings), Options(with_fixes=False))
        for path, data in edited.items():
            linter.project.replace(path, data)
        return linter

    def edit(self) -> tuple[str, float, int]:
        """Make an edit and lint all files again: what it was, the share of questions found again, files summarised."""
        kind, path, data = self._typist.edit()
        self._edited[path] = data
        before = self.project.questions.found
        with counted() as trees:
            self.project.replace(path, data)
            self.reports = self._relinted()
        self._had |= {path for path, report in self.reports.items() if report.findings}
        share = (self.project.questions.found - before) / self.first
        return f"{kind} of {path.relative_to(self._root)}", share, len(trees)

    def _relinted(self) -> Reports:
        return {path: self._linter.relint(path) for path in self.files}

    def differences(self, *, whole: bool) -> list[Path]:
        """The files of which a fresh run says something else: all are looked at, or those that may matter."""
        paths: Iterable[Path] = self.files
        if not whole:
            paths = {*self._had, *list(self._edited)[-1:], *self._dice.sample(self.files, SAMPLE)}
        linter = self.fresh(self._edited)
        return [path for path in sorted(paths) if linter.relint(path) != self.reports[path]]


@contextmanager
def counted() -> Iterator[list[Any]]:
    """The trees that are summarised meanwhile."""
    trees: list[Any] = []
    real = reading.summarise

    def summarise(tree: Any) -> Any:
        trees.append(tree)
        return real(tree)

    with pytest.MonkeyPatch.context() as patch:
        for module in [module for module in sys.modules.values() if getattr(module, "summarise", None) is real]:
            patch.setattr(module, "summarise", summarise)
        yield trees


def work(bench: Workbench, edits: int) -> list[float]:
    """Edit at random; each time what is found is what a fresh run finds. Gives the shares of questions found again."""
    shares, done, found = [], [], set()
    for number in range(1, edits + 1):
        what, share, summarised = bench.edit()
        done.append(what)
        assert bench.differences(whole=number % WHOLE == 0 or number == edits) == [], done
        assert 1 <= summarised <= 2, f"{what}: the file as it was and as it is now, and no other"
        assert share < MOST_ASKED_AGAIN, what
        shares.append(share)
        found.add(tuple(finding for report in bench.reports.values() for finding in report.findings))
    assert len(found) > 1 or edits < MANY, "no edit made or mended a finding, which shows little"
    return shares
