"""Whatever is changed in a project, a run that knows of earlier ones says what one says that does not."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cache_projects import Hands, make

from forklint.cache import stamps
from forklint.config import SettingsFinder
from forklint.model import FileReport
from forklint.parallel import Job, lint
from forklint.source import discovery

GRAIN = 30_000_000
"""Nanoseconds: as fine as the clock of a file system surely is here."""


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    yield
    gc.enable()  # linting leaves it off


def reports(folder: Path, *, keeps: bool) -> list[FileReport]:
    """Lint a folder as a new run would; notes and suppressions are compared as well as findings."""
    discovery.forget_ignore_files()
    finder = SettingsFinder()
    found = discovery.find_files([folder], lambda path: finder.for_file(path).excludes(path))
    return lint(Job(keeps=keeps), [path for path in found if isinstance(path, Path)], 1)


@pytest.mark.parametrize("trusts", [False, True], ids=["edits at once", "edits after a while"])
@pytest.mark.parametrize("seed", range(3))
def test_random_edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, trusts: bool) -> None:
    """With edits at once every file must be read again; after a while those whose stamps are old are not."""
    project = make(tmp_path / "project")
    hands = Hands(project, seed)
    if trusts:
        monkeypatch.setattr(stamps, "GRAIN", GRAIN)
    done, findings = [], 0
    for _ in range(30):
        if trusts:
            time.sleep(2 * GRAIN / 1e9)
        fresh = reports(project, keeps=False)
        assert reports(project, keeps=True) == fresh, done
        assert reports(project, keeps=True) == fresh, f"the second time, after {done}"
        findings += sum(len(report.findings) for report in fresh)
        done.append(hands.change())
    assert findings > 30
