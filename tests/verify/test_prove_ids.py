"""FKL303 proved: streams that every worker gives whole, and those that share themselves out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from html_pages import Page
from needed import need_torch
from proven import Proof, prove

from forklint.config import Settings, SettingsFinder
from forklint.engine import Linter, Options
from forklint.fixing import fix
from forklint.linters import Linters
from forklint.model import Finding, Severity, Span
from forklint.project.index import Project

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="both start methods exist on Linux alone")

HEAD = """
import itertools
import random
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Data(IterableDataset):
    def __init__(self{arguments}):
        {init}

    def __iter__(self):
        {body}
"""
MAIN = """
if __name__ == "__main__":
    for batch in DataLoader(Data(), batch_size=4, num_workers=2{options}):
        pass
"""


def write(folder: Path, init: str, body: str, *, more: str = "", options: str = "") -> Path:
    text = HEAD.format(arguments="", init=init, body=body) + more + MAIN.format(options=options)
    (folder / "data.py").write_text(text, encoding="utf-8")
    (folder / "rows.txt").write_text("".join(f"row {number}\n" for number in range(60)), encoding="utf-8")
    return folder / "data.py"


def findings(file: Path) -> list[Finding]:
    report = Linter(Project(file.parent, Settings()), Options(with_fixes=False)).lint(file)
    return [one for one in report.findings if one.code == "FKL303"]


def found(file: Path, **options: object) -> Proof:
    (finding,) = findings(file)
    return prove(finding, file.parent, scripts=(file,), **options)


def in_spite(file: Path, **options: object) -> Proof:
    """Force an experiment on a class in which forklint finds nothing."""
    assert findings(file) == []
    place = (str(file), "Data")
    finding = Finding(
        code="FKL303",
        name="unsharded-iterable",
        severity=Severity.WARNING,
        path=str(file),
        span=Span(1, 1, 1, 1),
        message="forced",
        proof={"dataset": place, "keeper": place},
    )
    return prove(finding, file.parent, scripts=(file,), **{"start_methods": ("fork",), **options})


@pytest.mark.soak
def test_a_list_comes_as_often_as_there_are_workers(tmp_path: Path) -> None:
    proof = found(write(tmp_path, "self.rows = list(range(60))", "return iter(self.rows)"), workers=4)
    assert proof.verdict() == "confirmed"
    cells = proof.judgement.details["cells"]
    assert set(cells.values()) == {"confirmed"}
    assert len(cells) == 2
    assert (
        "60 of 60 samples come 4 times as often with 4 workers as without: 240 in total instead of 60"
        in proof.judgement.evidence
    )
    assert "60 of 60 samples come 2 times as often with 2 workers as without" in proof.judgement.evidence


@pytest.mark.soak
def test_lines_of_a_file_that_is_not_read_to_its_end(tmp_path: Path) -> None:
    body = "with open('rows.txt') as file:\n            for line in file:\n                yield line"
    proof = found(write(tmp_path, "pass", body), start_methods=("fork",), samples=20, workers=4)
    assert proof.verdict() == "confirmed"
    assert "4 of 4 workers yield the same samples as a single process" in proof.judgement.evidence


@pytest.mark.soak
def test_a_row_that_stands_there_twice_is_counted_as_two(tmp_path: Path) -> None:
    proof = found(
        write(tmp_path, "self.rows = [1, 2, 2, 3, 3, 3]", "yield from self.rows"), start_methods=("fork",), workers=4
    )
    assert proof.verdict() == "confirmed"
    assert "3 of 3 samples come 4 times as often" in proof.judgement.evidence


SHARED = "info = get_worker_info(); first, step = (info.id, info.num_workers) if info else (0, 1); "
HEALTHY = {
    "sharded": ("self.rows = list(range(60))", SHARED + "yield from itertools.islice(self.rows, first, None, step)"),
    "sharded, with rows alike": ("self.rows = [1, 2] * 40", SHARED + "yield from self.rows[first::step]"),
    "endless": ("pass", "while True: yield random.random()"),
    "drawn": ("self.count = 60", "yield from (torch.rand(1).item() for _ in range(self.count))"),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_streams_are_refuted(name: str, tmp_path: Path) -> None:
    init, body = HEALTHY[name]
    proof = in_spite(write(tmp_path, init, body))
    assert proof.verdict() == "refuted", proof.judgement


@pytest.mark.soak
def test_shares_are_seen_though_the_stream_is_not_read_to_its_end(tmp_path: Path) -> None:
    init, body = HEALTHY["sharded, with rows alike"]
    assert in_spite(write(tmp_path, init, body), samples=10).verdict() == "refuted"


@pytest.mark.soak
def test_shares_that_worker_init_fn_gives(tmp_path: Path) -> None:
    more = """
def share(number):
    info = get_worker_info()
    info.dataset.start = number * 60 // info.num_workers
    info.dataset.end = (number + 1) * 60 // info.num_workers
"""
    file = write(
        tmp_path,
        "self.start, self.end = 0, 60",
        "yield from range(self.start, self.end)",
        more=more,
        options=", worker_init_fn=share",
    )
    assert in_spite(file).verdict() == "refuted"


@pytest.mark.soak
def test_an_empty_stream_is_inconclusive(tmp_path: Path) -> None:
    proof = found(write(tmp_path, "self.rows = list()", "for row in sorted(range(0)):\n            yield row"))
    assert proof.verdict() == "inconclusive"
    assert proof.judgement.advice


ASK = """
import sys
from data import Data
from torch.utils.data import DataLoader

if __name__ == "__main__":
    for workers in (0, 1, 3) if sys.argv[1] == "fork" else (0, 2):
        options = {"multiprocessing_context": sys.argv[1]} if workers else {}
        rows = list(DataLoader(Data(), batch_size=None, num_workers=workers, **options))
        assert sorted(rows) == sorted(Data()), (workers, rows)
"""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("return iter(self.rows)", marks=pytest.mark.soak),
        pytest.param("yield from self.rows", marks=pytest.mark.soak),
        pytest.param("for row in self.rows:\n            yield row * 2", marks=pytest.mark.soak),
        "with open('rows.txt') as file:\n            for line in file:\n                yield line",
    ],
)
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.soak)])
def test_a_mended_stream_gives_each_sample_once(body: str, method: str, tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    file = write(tmp_path, "self.rows = list(range(20))", body)
    result = fix(Linters(SettingsFinder(), Options()).of(file), file, unsafe=True, write=True)
    assert result.after
    assert findings(file) == []
    (tmp_path / "ask.py").write_text(ASK, encoding="utf-8")
    command = [sys.executable, "ask.py", method]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_the_command_reports_it(command, tmp_path: Path) -> None:
    write(tmp_path, "pass", "for row in open('rows.txt'): yield row")
    (tmp_path / "forklint.toml").touch()
    words = ("verify", "data.py", "--select", "FKL303", "--start-method", "fork", "--output-format", "html")
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    [article] = Page(done.stdout).all("article")
    assert article.get("data-kind") == "confirmed"
