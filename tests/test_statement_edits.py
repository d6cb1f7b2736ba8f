"""Who follows one definition of a file is not linted again when another is edited, and finds what a fresh run finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import FileReport
from forklint.project.index import Project

OPENING = """\
import lmdb

SIZE = 2

def shared(root, size=SIZE):
    return lmdb.open(root, map_size=size)

def private(root):
    return [root]

class Base:
    def __init__(self, root):
        self.env = private(root)
"""
USER = """\
from torch.utils.data import DataLoader, Dataset

from opening import {name}

class Words(Dataset):
    def __init__(self, root):
        self.env = {name}(root)

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.env

loader = DataLoader(Words("words"), num_workers=2)
"""
FILES = {
    "opening.py": OPENING,
    "shares.py": USER.format(name="shared"),
    "keeps.py": USER.format(name="private"),
    "derived.py": USER.format(name="Base"),
    "starred.py": USER.format(name="shared").replace("import shared", "import *"),
}


class Session:
    """A project whose files are edited and linted in one process."""

    def __init__(self, folder: Path) -> None:
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        self.folder = folder
        self.linter = self.fresh()
        self.texts = dict(FILES)
        self.lint()

    def fresh(self) -> Linter:
        return Linter(Project(self.folder, Settings()), Options(with_fixes=False))

    def lint(self) -> dict[str, FileReport]:
        return {name: self.linter.relint(self.folder / name) for name in FILES}

    def edit(self, *edits: tuple[str, str]) -> set[str]:
        """Edit the file that the others import; give the files that were linted again."""
        questions = self.linter.project.questions
        before = {key: answer for key, answer in questions.all_of("report") if answer.state == 0}
        text = self.texts["opening.py"]
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        self.texts["opening.py"] = text
        self.linter.project.replace(self.folder / "opening.py", text.encode())
        found = self.lint()
        fresh = self.fresh()
        fresh.project.replace(self.folder / "opening.py", text.encode())
        assert found == {name: fresh.relint(self.folder / name) for name in FILES}
        after = dict(questions.all_of("report"))
        return {key[0].name for key in after if after[key] is not before.get(key)}  # type: ignore[index]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def test_at_first_the_shared_handle_is_found(session: Session) -> None:
    assert {name for name, report in session.lint().items() if report.findings} == {"shares.py", "starred.py"}


LINKED = {"shares.py", "starred.py"}
"""Their findings say where in the other file the handle is opened."""


def test_a_function_is_added(session: Session) -> None:
    added = "def added(values):\n    return list(values)\n\n"
    assert session.edit(("def private", added + "def private")) == {"opening.py", *LINKED}
    more = added.replace("added", "more")
    assert session.edit(("import lmdb\n", "import lmdb\n\n" + more)) == {"opening.py", *LINKED}


def test_another_definition_is_edited(session: Session) -> None:
    assert session.edit(("[root]", "[root, 1]")) == {"opening.py", "keeps.py", "derived.py", *LINKED}
    assert "keeps.py" not in session.edit(("def __init__", "def m(self): ...\n\n    def __init__"))


def test_the_definition_itself_is_edited(session: Session) -> None:
    assert session.edit(("lmdb.open(root, map_size=size)", "[root]")) >= {"opening.py", "shares.py", "starred.py"}
    assert not any(report.findings for report in session.lint().values())
    session.edit(("return [root]", "return lmdb.open(root)"))
    session.edit(("self.env = private(root)", "self.env = shared(root)"), ("import lmdb", "import os, lmdb"))
    session.edit(("import os, lmdb", "from h5py import File as lmdb"))


def test_what_a_definition_reads_at_the_top_is_edited(session: Session) -> None:
    session.edit(("import lmdb", "import zipfile as lmdb"))
    session.edit(("import zipfile as lmdb", "try:\n    import lmdb\nexcept ImportError:\n    lmdb = None"))
    session.edit(("SIZE = 2", "SIZE = 3"), ("lmdb.open(root", "File(root"))
    session.edit(("SIZE = 3", "SIZE = 3\nfrom h5py import *"))


def test_a_second_definition_of_the_name_comes_and_goes(session: Session) -> None:
    other = "def shared(root):\n    return [root]\n\n"
    session.edit(("class Base", other + "class Base"))
    session.edit((other, ""))
    session.edit(("def shared", other + "def shared"))
    session.edit((other, other.replace("[root]", "[root, root]")))


def test_a_file_that_cannot_be_parsed_for_a_while(session: Session) -> None:
    session.edit(("[root]", "[root"))
    session.edit(("[root", "[root, 2]"))
    session.edit(("[root, 2]", "shared(root)"))


LATE = """\
import os
import sys

def main():
    if len(sys.argv) > 1:
        import torch

        os.environ["OMP_NUM_THREADS"] = "1"
    else:
        os.environ["MKL_NUM_THREADS"] = "1"

if sys.argv:
    import numpy
    os.environ["OMP_NUM_THREADS"] = "2"

main()
"""


def test_lines_move_under_what_a_run_does(tmp_path: Path) -> None:
    path = tmp_path / "late.py"
    path.write_text(LATE, encoding="utf-8")
    linter = Linter(Project(tmp_path, Settings()), Options(with_fixes=False))
    found = len(linter.relint(path).findings)
    assert found > 1
    text = LATE
    for above in ("# noted\n" * 9, "def added(x):\n    return x\n", "def more(x):\n    return x\n" * 4):
        for place in ("import os\n", "def main", "if sys.argv"):
            text = text.replace(place, above + place)
            linter.project.replace(path, text.encode())
            fresh = Linter(Project(tmp_path, Settings()), Options(with_fixes=False))
            fresh.project.replace(path, text.encode())
            report = linter.relint(path)
            assert report == fresh.relint(path)
            assert len(report.findings) == found


def chain(count: int, last: int) -> str:
    """A function with so many branches."""
    branches = "".join(f"    elif root == {number}:\n        value = {number}\n" for number in range(count))
    return f"def chosen(root):\n    if root is None:\n        value = 0\n{branches}    return {last}\n"


def total(last: str) -> str:
    """A sum of many terms."""
    return "NAMES = " + " + ".join(['"name"'] * 1100) + f' + "{last}"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (total("a"), total("b")),
        pytest.param(chain(360, 1), chain(360, 2), marks=pytest.mark.soak),
        pytest.param(chain(480, 1), chain(480, 2), marks=pytest.mark.soak),
        (chain(700, 1), chain(700, 2)),
        (chain(700, 1), chain(2, 1)),
        (chain(2, 1), chain(700, 1)),
        (total("a") + chain(700, 1), total("a")),
    ],
)
def test_statements_that_nest_deeply(session: Session, before: str, after: str) -> None:
    session.edit(("import lmdb\n", "import lmdb\n\n" + before))
    session.edit((before, after))
    session.edit(("return lmdb.open(root, map_size=size)", "return [root]"))
    session.edit(("return [root]", "return lmdb.open(root)"))


JOBS = """\
import torch
from torch.multiprocessing import Process


class Job{base}:
    def __init__(self):
        super().__init__()

    def run(self):
        torch.zeros(1).cuda()


def use():
    torch.zeros(1).cuda()


def begin():
    {begun}().start()


def main():
    torch.zeros(1).cuda()
    Process(target=use).start()
    {called}


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("begun", "called"), [("Process", "Job().start()"), ("Job", "begin()")])
def test_a_class_becomes_one_of_processes(tmp_path: Path, begun: str, called: str) -> None:
    """What a function does is remembered, but not which names start processes."""
    path = tmp_path / "jobs.py"
    texts = [JOBS.format(base=base, begun=begun, called=called) for base in ("", "(Process)")]
    path.write_text(texts[0], encoding="utf-8")
    linter = Linter(Project(tmp_path, Settings()), Options(with_fixes=False))
    found = [len(linter.relint(path).findings)]
    for text in (texts[1], texts[0]):
        linter.project.replace(path, text.encode())
        fresh = Linter(Project(tmp_path, Settings()), Options(with_fixes=False))
        fresh.project.replace(path, text.encode())
        report = linter.relint(path)
        assert report == fresh.relint(path)
        found.append(len(report.findings))
    assert found[0] == found[2] < found[1]
