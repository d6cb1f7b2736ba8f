"""A project is not a disk: where it ends, and what is read of a package or a script that nothing marks as a project."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from flake8_command import Flake8
from hazards import SHORT_HAZARD as HAZARD

from forklint import parallel
from forklint.cli import watch
from forklint.config import Settings, SettingsFinder
from forklint.engine import Options
from forklint.linters import Linters
from forklint.parallel import Job
from forklint.project.index import Project
from forklint.source import discovery
from forklint.source.roots import Extent, find_extent
from forklint.store.folder import folder_of

BASE = "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    pass\n"
DERIVED = """\
import lmdb

from {module} import Base


class Words(Base):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
"""
"""A finding of FKL301 in line 8, if the module is found and has a dataset in it."""
READS = """\
import yaml
from torch.utils.data import DataLoader

settings = yaml.safe_load(open("1.yaml"))
for batch in DataLoader([1], num_workers=settings["workers"]):
    print(batch)
"""


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a person who keeps settings in git, with a package and much else in it."""
    folder = tmp_path / "home"
    (folder / ".git").mkdir(parents=True)
    write(folder / "words" / "__init__.py")
    write(folder / "words" / "base.py", BASE)
    write(folder / "words" / "store.py", DERIVED.format(module="words.base"))
    for number in range(20):
        write(folder / "photos" / f"sort{number}.py", HAZARD)
    write(folder / "taxes.py", HAZARD)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


def seen(linters: Linters) -> set[Path]:
    """All files that were read for what linters said."""
    return {Path(path) for news in linters.news().values() for path in news.contents if Path(path).exists()}


def new_linters(**overrides: object) -> Linters:
    return Linters(SettingsFinder(overrides), Options(with_fixes=False))


# Where a project ends


@pytest.mark.parametrize("mark", ["pyproject.toml", "forklint.toml", ".git"])
def test_a_marked_folder_is_the_root_of_all_below(tmp_path: Path, mark: str) -> None:
    write(tmp_path / mark)
    inner = write(tmp_path / "lib" / "words" / "__init__.py")
    assert find_extent(inner) == Extent(tmp_path, tmp_path)


def test_without_a_mark_the_outermost_package_is_the_project(tmp_path: Path) -> None:
    outer, inner = tmp_path / "words", tmp_path / "words" / "text"
    for folder in (outer, inner):
        write(folder / "__init__.py")
    expected = Extent(tmp_path, outer, is_marked=False)
    assert {find_extent(folder / name) for folder in (outer, inner) for name in ("a.py", "b.py")} == {expected}


def test_without_a_mark_or_a_package_the_own_folder_is_the_project(tmp_path: Path) -> None:
    assert find_extent(tmp_path / "tools" / "train.py") == Extent(tmp_path / "tools", tmp_path / "tools", False)


def test_an_empty_file_of_settings_makes_one_project_of_an_unpacked_archive(tmp_path: Path) -> None:
    script, module = tmp_path / "scripts" / "train.py", tmp_path / "words" / "text.py"
    write(module.parent / "__init__.py")
    assert find_extent(script) != find_extent(module)
    write(tmp_path / "forklint.toml")
    assert {find_extent(script), find_extent(module)} == {Extent(tmp_path, tmp_path)}


@pytest.mark.parametrize("mark", ["pyproject.toml", "forklint.toml", ".git"])
def test_home_is_no_root_whatever_marks_it(home: Path, mark: str) -> None:
    write(home / "pyproject.toml" if mark == ".git" else home / mark)
    assert find_extent(home / "words" / "store.py") == Extent(home, home / "words", is_marked=False)
    assert find_extent(home / "photos" / "sort1.py") == Extent(home / "photos", home / "photos", is_marked=False)
    assert find_extent(home / "taxes.py") == Extent(home, home, is_marked=False, is_flat=True)


def test_a_project_in_the_home_folder_is_one(home: Path) -> None:
    write(home / "work" / "pyproject.toml")
    assert find_extent(home / "work" / "train.py") == Extent(home / "work", home / "work")


def test_home_is_known_by_its_link_and_by_its_place(home: Path, tmp_path: Path, monkeypatch) -> None:
    link = tmp_path / "me"
    link.symlink_to(home)
    monkeypatch.setenv("HOME", str(link))
    for folder in (link, home):
        assert find_extent(folder / "words" / "base.py").walked == folder / "words"


def test_a_home_that_cannot_be_found_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    write(tmp_path / "pyproject.toml")
    assert find_extent(tmp_path / "train.py") == Extent(tmp_path, tmp_path)


def test_a_package_is_never_home_itself(home: Path) -> None:
    write(home / "__init__.py")
    assert find_extent(home / "words" / "base.py").walked == home / "words"
    assert find_extent(home / "taxes.py").is_flat


@pytest.mark.parametrize("name", ["site-packages", "dist-packages"])
def test_installed_packages_are_projects_each(tmp_path: Path, name: str) -> None:
    write(tmp_path / "pyproject.toml")
    packages = tmp_path / ".venv" / "lib" / name
    for mark in ("pyproject.toml", "words/__init__.py"):
        write(packages / mark)
    assert find_extent(packages / "words" / "base.py") == Extent(packages, packages / "words", is_marked=False)
    assert find_extent(packages / "six.py") == Extent(packages, packages, is_marked=False, is_flat=True)


def test_the_root_of_a_file_system_is_no_root() -> None:
    top = Path(Path.cwd().anchor)
    assert find_extent(top / "train.py") == Extent(top, top, is_marked=False, is_flat=True)


# What is read


def test_beside_a_package_in_the_home_folder_nothing_is_read(home: Path) -> None:
    linters = new_linters()
    path = home / "words" / "store.py"
    assert [finding.span.row for finding in linters.of(path).lint(path).findings] == [8]
    assert set(linters.of(path).project.files) == set((home / "words").glob("*.py"))
    assert seen(linters) <= set((home / "words").glob("*.py"))


def test_what_a_package_in_the_home_folder_imports_is_read(home: Path) -> None:
    write(home / "photos" / "__init__.py")
    write(home / "photos" / "base.py", BASE.replace("Base", "Photos"))
    path = write(home / "words" / "pictures.py", DERIVED.format(module="photos.base").replace("Base", "Photos"))
    linters = new_linters()
    assert [finding.span.row for finding in linters.of(path).lint(path).findings] == [8]
    read = seen(linters)
    assert {path.parent.name for path in read} == {"words", "photos"}
    assert {path.name for path in read if path.parent.name == "photos"} == {"__init__.py", "base.py"}


def test_of_a_script_in_the_home_folder_only_the_modules_beside_it_are_read(home: Path) -> None:
    linters = new_linters()
    path = home / "taxes.py"
    assert linters.of(path).lint(path).findings
    assert linters.of(path).project.files == (path,)
    assert seen(linters) == {path}


def test_what_is_installed_beside_a_package_is_known_from_tables_alone(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "site-packages"
    for name in ("torch/__init__.py", "torch/utils/__init__.py", "lmdb/__init__.py", "words/__init__.py"):
        write(packages / name)
    write(packages / "torch" / "utils" / "data" / "__init__.py", "class Dataset:\n    pass\n")
    write(packages / "words" / "base.py", BASE)
    path = write(packages / "words" / "store.py", DERIVED.format(module="words.base"))
    linters = new_linters()
    assert [finding.span.row for finding in linters.of(path).lint(path).findings] == [8]
    assert {path.parent for path in seen(linters)} == {packages / "words"}
    assert not linters.of(path).project.resolver.listings.keys() & {str(packages)}


def test_packages_side_by_side_are_projects_of_their_own(tmp_path: Path) -> None:
    for package in ("words", "sounds"):
        write(tmp_path / package / "__init__.py")
        write(tmp_path / package / "base.py", BASE)
        write(tmp_path / package / "store.py", DERIVED.format(module=f"{package}.base"))
    linters = new_linters()
    words, sounds = (linters.of(tmp_path / package / "store.py") for package in ("words", "sounds"))
    assert words is not sounds
    assert words is linters.of(tmp_path / "words" / "base.py")
    assert set(words.project.files) == set((tmp_path / "words").glob("*.py"))
    assert set(sounds.project.files) == set((tmp_path / "sounds").glob("*.py"))
    assert len(linters.news()) == 2


def test_findings_of_packages_side_by_side_are_kept_apart(forklint, tmp_path: Path) -> None:
    for package in ("words", "sounds"):
        write(tmp_path / "all" / package / "__init__.py")
        write(tmp_path / "all" / package / "store.py", HAZARD if package == "words" else "")
    options = ("all", "--output-format", "concise", "-q", "--cache-dir", tmp_path / "cache")
    first, second = (forklint(*options, cwd=tmp_path).stdout for _ in range(2))
    assert first == second
    assert first.startswith("all/words/store.py:7:9: FKL301")
    assert len(list((tmp_path / "cache").glob("*.sqlite"))) == 2
    write(tmp_path / "all" / "sounds" / "store.py", HAZARD)
    assert forklint(*options, cwd=tmp_path).stdout.count("FKL301") == 2


def test_nothing_is_kept_in_a_home_folder_though_it_is_marked(home: Path) -> None:
    assert folder_of(find_extent(home / "words" / "store.py"), Settings()) is None
    assert folder_of(find_extent(home / "taxes.py"), Settings()) is None


def layouts(folder: Path) -> dict[str, Path]:
    """A file to lint in a project of each kind that nothing marks."""
    write(folder / "loose" / "conf.yaml", "workers: 2\n")
    write(folder / "words" / "__init__.py")
    write(folder / "photos" / "sort.py", HAZARD)
    return {
        "bounded": write(folder / "loose" / "data.py", HAZARD),
        "package": write(folder / "words" / "store.py", HAZARD),
        "flat": write(folder / "home" / "data.py", HAZARD),
    }


@pytest.mark.parametrize("kind", ["bounded", "package", "flat"])
def test_where_a_folder_is_named_what_was_found_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = layouts(tmp_path)[kind]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "kept").mkdir()
    job = Job({"cache_dir": str(tmp_path / "kept")}, keeps=True)
    first = parallel.lint(job, [path], 1)
    assert [finding.code for finding in first[0].findings] == ["FKL301"]
    anew: list[int] = []
    lint_anew = parallel._lint_anew
    monkeypatch.setattr(parallel, "_lint_anew", lambda *given: anew.append(1) or lint_anew(*given))
    assert parallel.lint(job, [path], 1) == first
    assert not anew
    write(tmp_path / "photos" / "more.py")
    assert parallel.lint(job, [path], 1) == first
    assert not anew, "what stands beside has no say"
    write(path.parent / "more.py", "from data import Words\n")
    assert parallel.lint(job, [path], 1) == first
    assert anew


def test_what_was_found_is_kept_though_not_all_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_FILES", 3)
    for number in range(5):
        write(tmp_path / "loose" / "conf" / f"{number}.yaml", "workers: 2\n")
        write(tmp_path / "loose" / "more" / f"more{number}.py")
    path = write(tmp_path / "loose" / "read.py", READS)
    job = Job({"cache_dir": str(tmp_path / "kept")}, keeps=True)
    first = parallel.lint(job, [path], 1)
    assert [finding.code for finding in first[0].findings] == ["FKL201"]
    monkeypatch.setattr(parallel, "_lint_anew", None)
    assert parallel.lint(job, [path], 1) == first


def test_a_notebook_in_the_home_folder_reads_what_it_imports(home: Path) -> None:
    write(home / "taxes.py")
    source = DERIVED.format(module="words.base").splitlines(keepends=True)
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
    path = write(
        home / "trial.ipynb", json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    linters = new_linters()
    assert [finding.code for finding in linters.of(path).lint(path).findings] == ["FKL301"]
    assert {one.parent for one in seen(linters)} <= {home, home / "words"}


def test_nothing_says_that_no_more_can_be_imported_where_nothing_marks_a_project(home: Path) -> None:
    path = home / "words" / "base.py"
    assert not Project(find_extent(path), Settings()).is_whole
    write(home / "words" / "pyproject.toml")
    assert Project(find_extent(path), Settings()).is_whole


def test_a_watch_keeps_to_the_project(home: Path) -> None:
    package, script = Extent(home, home / "words", is_marked=False), Extent(home, home, is_marked=False, is_flat=True)
    assert watch._extents([home / "words" / "base.py", home / "words"]) == [package]
    assert watch._extents([home / "words" / "base.py", home / "taxes.py"]) == [script, package]
    assert watch._extents([home]) == [Extent(home, home)], "it was named"
    assert watch._files([script], [], SettingsFinder()).keys() == {home / "taxes.py"}
    assert watch._files([package], [], SettingsFinder()).keys() == set((home / "words").glob("*.py"))


def test_cleaning_looks_no_further_than_what_was_named(forklint, home: Path) -> None:
    write(home / "photos" / "pyproject.toml")
    write(home / "photos" / "data.py", HAZARD)
    forklint("photos", "-q", cwd=home)
    kept = home / "photos" / ".forklint_cache"
    assert kept.is_dir()
    assert forklint("clean", "words", cwd=home).stdout == "nothing to remove\n"
    assert kept.is_dir()
    assert forklint("clean", cwd=home).stdout.startswith("removed photos/.forklint_cache")


def test_a_home_folder_is_not_set_up_as_a_project(forklint, home: Path) -> None:
    done = forklint("init", "--yes", cwd=home / "words")
    assert done.returncode == 2
    assert "below the home directory" in done.stderr
    assert not (home / "pyproject.toml").exists()
    assert not (home / ".pre-commit-config.yaml").exists()
    write(home / "work" / "setup.py")
    done = forklint("init", "--yes", cwd=home / "work")
    assert "not a git repository, so no commit hook" in done.stdout
    assert not (home / ".pre-commit-config.yaml").exists()


# How much of a folder that nothing marks


def many(folder: Path, count: int) -> None:
    for number in range(count):
        write(folder / f"part{number // 100:02}" / f"file{number % 100:02}.py")


def test_of_a_folder_that_nothing_marks_so_many_files_are_read(forklint, tmp_path: Path) -> None:
    many(tmp_path / "all", discovery.MOST_FILES + 50)
    write(tmp_path / "all" / "zoo" / "base.py", BASE)
    path = write(tmp_path / "all" / "train.py", DERIVED.format(module="zoo.base"))
    project = Project(find_extent(path), Settings())
    assert len(project.walk.paths) == discovery.MOST_FILES
    assert project.walk.paths[0] == path, "the nearest come first"
    assert project.files == (*project.walk.paths, tmp_path / "all" / "zoo" / "base.py")
    options = ("all/train.py", "--output-format", "concise")
    quiet, verbose = (forklint(*options, *more, cwd=tmp_path) for more in ((), ("-v",)))
    assert quiet.stdout.startswith("all/train.py:8:9: FKL301"), "imports are followed all the same"
    assert quiet.stdout == verbose.stdout
    assert quiet.stderr == ""
    assert verbose.stderr == (
        "forklint: all: no project found (no forklint.toml, pyproject.toml or .git), "
        "so only the first 2,000 files and their imports are analyzed together\n"
    )


def test_a_mark_ends_the_bound(forklint, tmp_path: Path) -> None:
    many(tmp_path, discovery.MOST_FILES + 50)
    write(tmp_path / "pyproject.toml")
    assert len(Project(find_extent(tmp_path / "train.py"), Settings()).files) == discovery.MOST_FILES + 50
    assert forklint("part00", "-v", "--no-cache", cwd=tmp_path).stderr == ""


def test_a_package_that_nothing_marks_has_no_bound(tmp_path: Path) -> None:
    many(tmp_path / "words", discovery.MOST_FILES + 50)
    path = write(tmp_path / "words" / "__init__.py")
    assert len(Project(find_extent(path), Settings()).files) == discovery.MOST_FILES + 51


def test_a_file_beyond_the_bound_is_linted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_FILES", 5)
    for number in range(10):
        write(tmp_path / f"data{number}.py", HAZARD)
    linters = new_linters()
    for number in range(10):
        path = tmp_path / f"data{number}.py"
        assert [finding.code for finding in linters.of(path).lint(path).findings] == ["FKL301"]


def test_a_folder_full_of_data_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_IN_FOLDER", 10)
    for number in range(11):
        write(tmp_path / "images" / f"{number}.jpg")
    write(tmp_path / "images" / "labels.py")
    write(tmp_path / "models" / "net.py")
    extent = find_extent(write(tmp_path / "train.py"))
    found = discovery.walk(extent, discovery.nothing)
    assert found.paths == (tmp_path / "train.py", tmp_path / "models" / "net.py")
    assert not found.is_whole


def test_so_many_entries_of_folders_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many(tmp_path, 300)
    monkeypatch.setattr(discovery, "MOST_ENTRIES", 210)
    found = discovery.walk(find_extent(tmp_path / "train.py"), discovery.nothing)
    assert len(found.paths) == 200
    assert not found.is_whole
    monkeypatch.setattr(discovery, "MOST_ENTRIES", 1000)
    assert discovery.walk(find_extent(tmp_path / "train.py"), discovery.nothing).is_whole


# Everybody agrees


def rows(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Path, row and code of what was found."""
    lines = [line.split() for line in result.stdout.splitlines() if "FKL" in line]
    return sorted(f"{Path(place.split(':')[0]).name}:{place.split(':')[1]} {code}" for place, code, *_ in lines)


def test_command_and_flake8_agree_on_a_package_in_the_home_folder(forklint, flake8: Flake8, home: Path) -> None:
    for cwd, path in ((home, "words"), (home / "words", "store.py"), (home.parent, "home/words/store.py")):
        command = forklint(path, "--output-format", "concise", "-q", cwd=cwd)
        assert rows(command) == ["store.py:8 FKL301"]
        assert rows(flake8("--isolated", "--select", "FKL", path, cwd=cwd)) == rows(command)


def test_the_name_of_a_finding_is_the_same_with_and_without_a_mark(forklint, home: Path) -> None:
    def found() -> list[tuple[str, str]]:
        output = forklint("words", "--output-format", "json", "--no-cache", cwd=home).stdout
        return [(one["fingerprint"], one["filename"]) for one in json.loads(output)]

    unmarked = found()
    write(home / "words" / ".." / "other" / "pyproject.toml")
    (home / "words").rename(home / "other" / "words")
    (home / "words").symlink_to(home / "other" / "words")
    assert unmarked
    assert [name for name, _ in found()] == [name for name, _ in unmarked]
