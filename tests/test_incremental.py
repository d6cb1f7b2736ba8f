"""What is kept from run to run, as a user meets it: the same findings sooner, in a folder that can be emptied."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from fixture_cases import all_cases
from hazards import SHORT_HAZARD as HAZARD
from incremental_projects import CONTENTS, make, write

from forklint import parallel
from forklint.cli import main
from forklint.source import discovery
from forklint.store.folder import NAME

Linted = Callable[..., list[str]]


@pytest.fixture
def linted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Linted]:
    """Run the command in this process: ``linted("words", cwd=folder)`` gives the files that it lints anew."""
    anew = parallel._lint_anew

    def run(*arguments: str, cwd: Path, **variables: str) -> list[str]:
        done: list[str] = []

        def told(job: parallel.Job, files: Sequence[Path], processes: int, stored: parallel.Libraries) -> object:
            done.extend(path.as_posix() for path in files)
            return anew(job, files, processes, stored)

        discovery.forget_ignore_files()
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            patch.setattr(parallel, "_lint_anew", told)
            for name, value in variables.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                main(["--output-format", "concise", "-q", *arguments])
        assert ended.value.code in {0, 1}
        return sorted(done)

    yield run
    gc.enable()  # linting leaves it off


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "project")


ALL = ["conf/train.yaml", "train.py", "words/base.py", "words/options.py", "words/store.py"]
"""What is kept; ``words/__init__.py`` is empty, and cleared before anything is asked."""


def test_what_did_not_change_is_not_linted_again(linted: Linted, project: Path) -> None:
    assert linted(cwd=project) == [*ALL[:1], "pyproject.toml", *ALL[1:]]
    assert linted(cwd=project) == []
    (project / "train.py").touch()
    assert linted(cwd=project) == []


def test_a_change_is_one_for_what_rests_on_it(linted: Linted, project: Path) -> None:
    linted(cwd=project)
    write(project / "words/base.py", CONTENTS["words/base.py"][1])
    assert linted(cwd=project) == ["train.py", "words/base.py", "words/store.py"]
    write(project / "train.py", CONTENTS["train.py"][1])
    assert "words/base.py" not in linted(cwd=project)


def test_a_function_that_is_added_is_none_for_what_follows_others(linted: Linted, project: Path) -> None:
    linted(cwd=project)
    base = project / "words/base.py"
    write(base, base.read_text() + "\n\ndef added(x):\n    return list(x)\n")
    assert linted(cwd=project) == ["words/base.py"]


LACKING = (
    "from torch import nn\nfrom helpers import known\n\n\nclass Net(nn.Module):\n"
    "    def forward(self, x):\n        return self.width(x) + known\n"
)
HELPERS = "known = 1\n\n\nclass Page:\n    def __init__(self):\n        self.width = known\n"
OPENED = (
    "import helpers\nfrom torch.utils.data import DataLoader, Dataset\n\n\nclass Words(Dataset):\n"
    "    def __init__(self, path):\n        self.file = helpers.opened(path)\n\n"
    "    def __getitem__(self, index):\n        self.file.seek(index)\n        return self.file.read(1)\n\n\n"
    "def load(path):\n    return DataLoader(Words(path), num_workers=2)\n"
)
MADE = (
    "from torch.utils.data import DataLoader\n\n\nclass Words:\n    def __init__(self, path):\n"
    "        self.file = open(path)\n\n    def __len__(self):\n        return 1\n\n"
    "    def __getitem__(self, index):\n        return self.file.read(1)\n"
)
MAKES = (
    "import user\nfrom torch import nn\n\n\nclass Bank({}):\n    def look(self):\n        return user.Words('rows')\n"
)


@pytest.mark.parametrize(
    ("user", "helpers", "edited"),
    [
        (LACKING, HELPERS, HELPERS.replace("known = 1", "other = 1")),
        (LACKING, HELPERS, HELPERS + "\n\ndef put(net):\n    net.width = len\n"),
        (OPENED, "def opened(path):\n    return path\n", "def opened(path):\n    return open(path)\n"),
        (MADE, MAKES.format("nn.Module"), MAKES.format("object")),
    ],
    ids=[
        "a name that is imported goes",
        "objects are given an attribute",
        "a function opens a file",
        "what makes objects of a class is no model",
    ],
)
def test_another_file_changes_in_what_matters_and_in_what_does_not(
    linted: Linted, tmp_path: Path, user: str, helpers: str, edited: str
) -> None:
    for name, text in {"pyproject.toml": "", "user.py": user, "helpers.py": helpers}.items():
        write(tmp_path / name, text)
    linted(cwd=tmp_path)
    write(tmp_path / "helpers.py", helpers + "\n\ndef added(x):\n    return x\n")
    assert "user.py" not in linted(cwd=tmp_path)
    write(tmp_path / "helpers.py", edited)
    assert "user.py" in linted(cwd=tmp_path)


def test_a_comment_is_a_change_where_a_finding_has_its_line(linted: Linted, project: Path) -> None:
    """Of other files, those look into the lines of a class that they name: not all that import it."""
    linted(cwd=project)
    for name, is_found in {"words/store.py": True, "words/options.py": False, "train.py": True}.items():
        write(project / name, "# as it should be\n\n" + (project / name).read_text())
        assert linted(cwd=project) == ([name] if is_found else [])


ALONE = "class Net:\n    def run(self):\n        return self.walk(1)\n"
CLEAN = "import torch\n\n\ndef run():\n    return torch.ones(3)\n"


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        (CLEAN, "# noqa: FKL301"),
        (CLEAN, "# forklint: ignore[FKL301]"),
        (ALONE, "# import torch"),
        (CLEAN, "# -*- coding: nonsense -*-"),
        ("# -*- coding: latin-1 -*-\n# \xe9\n" + CLEAN, "# \xe9"),
    ],
    ids=["noqa", "a comment of ours", "a word that makes the file one of torch", "no encoding", "another encoding"],
)
def test_a_comment_that_says_something_is_a_change(forklint, tmp_path: Path, text: str, comment: str) -> None:
    write(tmp_path / "pyproject.toml", "")
    write(tmp_path / "lone.py", text)
    assert forklint("--output-format", "concise", "--extend-select", "ALL", cwd=tmp_path).returncode in {0, 1}
    write(tmp_path / "lone.py", f"{comment}\n{text}")
    told = [
        forklint("lone.py", "--output-format", "json", "--extend-select", "ALL", *more, cwd=tmp_path)
        for more in ((), ("--no-cache",))
    ]
    assert told[0].stdout == told[1].stdout
    assert told[0].stderr == told[1].stderr


def test_a_new_file_is_one_for_what_may_import_it(linted: Linted, project: Path) -> None:
    linted(cwd=project)
    write(project / "tools/other.py", "import torch\n")
    assert linted(cwd=project) == ["tools/other.py"]
    write(project / "lmdb.py", "def open(path):\n    return path\n")
    assert {"lmdb.py", "words/store.py"} <= set(linted(cwd=project)) < {*ALL, "lmdb.py"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--no-screen"],
        ["--preview"],
        ["--select", "FKL3"],
        ["--platform", "darwin"],
        ["--target-python", "3.12"],
        ["--per-file-ignores", "words/*:FKL301"],
    ],
)
def test_other_options_are_another_matter(linted: Linted, project: Path, arguments: list[str]) -> None:
    write(project / "pyproject.toml", "[tool.forklint]\n")
    linted(cwd=project)
    assert linted(*arguments, cwd=project) != []
    again = [*linted(cwd=project), *linted(*arguments, cwd=project)]
    assert {Path(path).suffix for path in again} <= {".toml", ".yaml"}, "what no rule looks at may be looked at again"


@pytest.mark.parametrize("arguments", [["--exit-on", "error"], ["--exit-zero"], ["--statistics"], ["-j", "1"]])
def test_what_changes_no_finding_is_the_same_matter(linted: Linted, project: Path, arguments: list[str]) -> None:
    linted("--statistics", cwd=project)
    assert linted("--statistics", *(word for word in arguments if word != "--statistics"), cwd=project) == []


def test_from_another_folder_paths_are_shown_from_there(forklint, project: Path) -> None:
    forklint(cwd=project)
    for arguments, folder in (
        ([project], project.parent),
        (["./words/../train.py"], project),
    ):
        known = forklint("--output-format", "json", *arguments, cwd=folder)
        assert known.stdout == forklint("--output-format", "json", *arguments, "--no-cache", cwd=folder).stdout
        assert "FKL" in known.stdout


def test_files_named_one_by_one_add_up(linted: Linted, project: Path) -> None:
    linted("train.py", cwd=project)
    assert linted("words/store.py", cwd=project) == ["words/store.py"]
    assert linted("train.py", "words/store.py", cwd=project) == []
    assert "train.py" not in linted(cwd=project)


def test_settings_that_are_named_are_always_spoken_of(forklint, project: Path) -> None:
    write(project / "conf/notes.json", '{"a": ')
    forklint(cwd=project)
    outputs = [forklint("conf/notes.json", *options, cwd=project).stderr for options in ([], [], ["--no-cache"])]
    assert "skipped" in outputs[0]
    assert len(set(outputs)) == 1


class TestWhereItLies:
    """The folder of the findings that are kept."""

    def test_at_the_root_of_the_project_out_of_the_way_of_others(self, forklint, project: Path) -> None:
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)
        forklint("words", cwd=project)
        folder = project / NAME
        assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
        status = subprocess.run(
            ["git", "status", "--porcelain"], cwd=project, capture_output=True, text=True, check=True
        )
        assert NAME not in status.stdout
        assert NAME not in forklint("--show-files", cwd=project).stdout

    def test_nowhere_outside_a_project(self, forklint, tmp_path: Path) -> None:
        (tmp_path / "data.py").write_text(HAZARD)
        assert "FKL301" in forklint("data.py", cwd=tmp_path).stdout
        assert [path.name for path in tmp_path.iterdir()] == ["data.py"]

    def test_where_it_is_told(self, linted: Linted, project: Path) -> None:
        write(project / "pyproject.toml", '[tool.forklint]\ncache-dir = "build/kept"\n')
        linted("words", cwd=project)
        assert list((project / "build/kept").glob("store-*.sqlite"))
        linted("words", cwd=project, FORKLINT_CACHE_DIR=str(project / "variable"))
        assert list((project / "variable").glob("store-*.sqlite"))
        linted("words", "--cache-dir", "../option", cwd=project, FORKLINT_CACHE_DIR=str(project / "unused"))
        assert list((project.parent / "option").glob("store-*.sqlite"))
        assert not (project / "unused").exists()
        assert not (project / NAME).exists()

    def test_nowhere_if_told_so(self, linted: Linted, project: Path) -> None:
        assert linted("--no-cache", cwd=project) == linted(cwd=project, FORKLINT_NO_CACHE="1") != []
        assert not (project / NAME).exists()

    def test_text_from_a_pipe_is_not_kept(self, forklint, project: Path) -> None:
        forklint("-", "--stdin-filename", "words/store.py", cwd=project, input=HAZARD)
        assert not (project / NAME).exists()

    def test_each_project_of_a_run_has_its_own(self, forklint, linted: Linted, tmp_path: Path) -> None:
        for name in ("one", "two"):
            make(tmp_path / name)
        first = forklint(".", "--output-format", "json", cwd=tmp_path)
        assert [list((tmp_path / name / NAME).glob("store-*.sqlite")) != [] for name in ("one", "two")] == [True, True]
        write(tmp_path / "two/words/store.py", "")
        assert {path.split("/")[0] for path in linted(cwd=tmp_path)} >= {"two"}
        again = forklint(".", "--output-format", "json", cwd=tmp_path)
        assert json.loads(again.stdout) != json.loads(first.stdout)
        assert again.stdout == forklint(".", "--output-format", "json", "--no-cache", cwd=tmp_path).stdout


class TestClean:
    """``forklint clean``."""

    def test_it_says_what_it_removed(self, forklint, project: Path) -> None:
        forklint(cwd=project)
        assert forklint("clean", cwd=project).stdout == f"removed {NAME} (1 file)\n"
        assert not (project / NAME).exists()
        assert forklint("clean", cwd=project).stdout == "nothing to remove\n"

    def test_it_finds_the_projects_below(self, forklint, tmp_path: Path) -> None:
        for name in ("one", "two"):
            make(tmp_path / name)
        forklint(cwd=tmp_path)
        done = forklint("clean", cwd=tmp_path)
        assert sorted(done.stdout.splitlines()) == [f"removed {name}/{NAME} (1 file)" for name in ("one", "two")]

    def test_it_leaves_what_is_not_its_own(self, forklint, project: Path) -> None:
        kept = project.parent / "kept"
        write(kept / "notes.txt", "mine")
        forklint("--cache-dir", kept, cwd=project)
        assert (kept / "CACHEDIR.TAG").exists()
        assert not (kept / ".gitignore").exists()
        forklint("clean", "--cache-dir", kept, cwd=project)
        assert [path.name for path in kept.iterdir()] == ["notes.txt"]

    def test_it_leaves_a_folder_that_only_has_the_name(self, forklint, project: Path) -> None:
        write(project / NAME / "other.sqlite", "mine")
        assert forklint("clean", cwd=project).stdout == "nothing to remove\n"
        assert (project / NAME / "other.sqlite").exists()


class TestChanges:
    """Commands that change files see them as they are."""

    def test_fixing_mends_what_is_known(self, forklint, project: Path) -> None:
        write(project / "words/store.py", HAZARD)
        assert "FKL301" in forklint(cwd=project).stdout
        assert "1 fixed" in forklint("--fix", "--select", "FKL301", cwd=project).stdout
        assert forklint("--select", "FKL301", cwd=project).stdout.startswith("All checks passed")

    def test_a_difference_is_the_same(self, forklint, project: Path) -> None:
        write(project / "words/store.py", HAZARD)
        outputs = [
            forklint("--diff", "--unsafe-fixes", *options, cwd=project).stdout for options in ([], [], ["--no-cache"])
        ]
        assert outputs[0].startswith("---")
        assert len(set(outputs)) == 1

    def test_comments_and_baselines(self, forklint, project: Path) -> None:
        forklint(cwd=project)
        forklint("--baseline", "known.json", "--update-baseline", cwd=project)
        assert forklint("--baseline", "known.json", cwd=project).stdout.startswith("All checks passed")
        forklint("--add-noqa", cwd=project)
        assert forklint(cwd=project).stdout.startswith("All checks passed")
        (project / "known.json").unlink()
        assert forklint(cwd=project).stdout.startswith("All checks passed")


def run_all(forklint, folder: Path, *options: str) -> CompletedProcess[str]:
    done = forklint(".", "--preview", "--output-format", "json", *options, cwd=folder, timeout=600)
    assert done.returncode == 1, done.stderr
    return done


@pytest.mark.parametrize(
    "part", [pytest.param(slice(0, None, 144), id="some"), pytest.param(slice(None), id="all", marks=pytest.mark.soak)]
)
def test_all_fixtures_say_the_same(forklint, tmp_path: Path, part: slice) -> None:
    """Without a cache, with an empty one and a full one, in one process and in two, as projects of their own."""
    for number, case in enumerate(all_cases()[part]):
        folder = tmp_path / f"{number:04}"
        folder.mkdir()
        case.copy_to(folder)
    expected = run_all(forklint, tmp_path, "--no-cache", "-j1")
    for written, read in (("1", "2"), ("2", "1")):
        for options in (["-j", written], ["-j", read]):
            done = run_all(forklint, tmp_path, *options)
            assert (done.stdout, done.stderr) == (expected.stdout, expected.stderr)
        assert forklint("clean", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("step", [72, pytest.param(24, marks=pytest.mark.soak)])
def test_fixtures_of_one_project_say_the_same(forklint, tmp_path: Path, step: int) -> None:
    for case in all_cases()[::step]:
        folder = tmp_path / case.path.parent.name.lower() / case.path.stem
        shutil.copytree(case.path, folder) if case.path.is_dir() else (
            folder.mkdir(parents=True),
            shutil.copy(case.path, folder),
        )
    for path in (*tmp_path.rglob("pyproject.toml"), *tmp_path.rglob("forklint.toml")):
        path.unlink()
    (tmp_path / "forklint.toml").touch()
    expected = run_all(forklint, tmp_path, "--no-cache", "-j1")
    for options in (["-j2"], ["-j1"], ["-j2"]):
        assert run_all(forklint, tmp_path, *options).stdout == expected.stdout
