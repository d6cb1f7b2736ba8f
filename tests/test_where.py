"""Who has a name: the same files in the same order, whether terms were gathered beforehand or bytes are searched."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_cases import FIXTURES

from forklint.config import SettingsFinder
from forklint.incremental.gathering import GatheredLibrary, gather
from forklint.project import terms
from forklint.project.index import Project
from forklint.project.library import Library
from forklint.source.discovery import Walk
from forklint.source.roots import Extent

FOLDERS = sorted(path for path in FIXTURES.iterdir() if path.is_dir())


def project(root: Path, library: Library | None = None) -> Project:
    return Project(root, SettingsFinder(isolated=True).for_file(root / "x.py"), library)


def gathered(root: Path) -> GatheredLibrary:
    files = project(root).all_files()
    return GatheredLibrary(Walk(tuple(map(str, files))), [gather(list(map(str, files)))])


def all_terms(made: Project) -> set[tuple[str, str]]:
    return {(kind, name) for path in made.all_files() for kind, names in made.terms.of(path).items() for name in names}


@pytest.mark.parametrize(
    "root",
    [pytest.param(root, marks=[pytest.mark.soak] * (n % 4 > 0)) for n, root in enumerate(FOLDERS)],
    ids=lambda root: root.name.partition("_")[0],
)
def test_both_ways_give_the_same_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "MANY", 10**9)  # or the search would give way to a gathering of its own
    searched, known = project(root), project(root, gathered(root))
    asked = sorted(all_terms(searched))
    assert len(asked) > 100
    for kind, name in [*asked, ("word", "no_such_name"), ("class", "Dataset"), ("call", "no_such_name")]:
        assert searched.where(kind, name) == known.where(kind, name), (kind, name)


def test_after_many_searches_all_terms_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "MANY", 3)
    root = FOLDERS[0]
    made, known = project(root), project(root, gathered(root))
    for kind, name in sorted(all_terms(known)):
        assert made.where(kind, name) == known.where(kind, name), (kind, name)
    assert made.terms._gathered is not None


@pytest.mark.parametrize("most", [100, 1], ids=["few files changed", "many files changed"])
def test_what_was_gathered_is_brought_up_to_date(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """To gather all again takes seconds in a large project."""
    monkeypatch.setattr(terms, "MANY", 0)
    monkeypatch.setattr(terms, "MOST_UNGATHERED", most)
    root = FOLDERS[0]
    made = project(root)
    first, second, third = made.all_files()[:3]
    made.where("word", "torch")
    before = made.terms._gathered
    for path in (third, first):
        made.replace(path, b"class Quux(Base):\n    pass  # quux\n")
    made.replace(second, b"import torch\n")
    fresh = project(root)
    for path in (first, second, third):
        fresh.replace(path, made.bytes_of(path))
    for kind, name in sorted(all_terms(fresh)):
        assert made.where(kind, name) == fresh.where(kind, name), (kind, name)
    assert made.where("class", "Quux") == (first, third)
    assert (made.terms._gathered is before) == (most == 100)


def test_what_was_gathered_has_files_that_an_edit_brings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where nothing marks the project, its files are those that others import."""
    monkeypatch.setattr(terms, "MANY", 0)
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "a.py").write_text("import os\n")
    (tmp_path / "beside.py").write_text("class Quux:\n    pass\n")
    made = Project(Extent(tmp_path, package, is_marked=False), SettingsFinder(isolated=True).for_file(package / "a.py"))
    assert made.where("class", "Quux") == ()
    made.replace(package / "a.py", b"import beside\n")
    assert made.where("class", "Quux") == (tmp_path / "beside.py",)


def test_an_edit_is_seen_both_ways() -> None:
    root = FOLDERS[0]
    for made in (project(root), project(root, gathered(root))):
        one, other = made.all_files()[:2]
        assert made.where("class", "Quux") == made.where("word", "quux") == ()
        for path in (other, one):
            made.replace(path, b"class Quux(Base):\n    pass  # quux\n")
        assert made.where("class", "Quux") == made.where("base", "Base") == made.where("word", "quux") == (one, other)
        made.replace(one, b"Quux = 1\n")
        assert made.where("class", "Quux") == (other,)
        assert made.where("word", "Quux") == (one, other)
