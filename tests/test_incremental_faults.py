"""Whatever is wrong with what is stored costs time, and nothing else."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked_command import SERVER
from hazards import SHORT_HAZARD as HAZARD
from incremental_projects import BASE, OPTIONS, PICKLED, make, reports, write

from forklint.incremental import gathering, rows, session, tables
from forklint.parallel import available_cores
from forklint.store import identity
from forklint.store.database import Store
from forklint.store.folder import NAME


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "project")


def store_of(project: Path) -> Path:
    (found,) = (project / NAME).glob("store-*.sqlite")
    return found


def opened(project: Path) -> Store:
    return Store.open(store_of(project), tables.ALL, pytest.fail)


def rewrite(project: Path, table: str, change: Callable[[str, bytes], bytes]) -> None:
    """Change rows as somebody would who can write a store, checksums and all."""
    with opened(project) as store, store.transaction() as transaction:
        transaction.put_many(table, {key: change(key, row) for key, row in transaction.rows(table)})


def spoilt(value: Any, dice: random.Random) -> Any:
    """The value with something of another kind in one place."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(sorted(value))
        return {**value, key: spoilt(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        place = dice.randrange(len(value))
        return [*value[:place], spoilt(value[place], dice), *value[place + 1 :]]
    return dice.choice([None, 7, -1, 1e300, "\0", "", [], {}, [[]], {"a": 1}, True, "word", [1, 2, 3, 4]])


@pytest.mark.parametrize("each", [3, pytest.param(6, marks=pytest.mark.soak)])
def test_a_damaged_file_is_as_good_as_none(project: Path, each: int) -> None:
    expected = reports(project, keeps=True)
    store = store_of(project)
    whole, dice = store.read_bytes(), random.Random(0)
    cut = [whole[: dice.randrange(len(whole))] for _ in range(each)]
    flipped = [
        whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :]
        for place in (dice.randrange(len(whole)) for _ in range(each))
    ]
    for data in (b"", b"\n", b"\0" * 4096, whole * 2, *cut, *flipped):
        store.write_bytes(data)
        write(project / "words/options.py", OPTIONS)
        assert reports(project, keeps=True) == expected
        write(project / "words/options.py", f"WORKERS = {dice.randrange(1, 9)}\n")
        assert reports(project, keeps=True) == reports(project, keeps=False)


@pytest.mark.parametrize("steps", [4, pytest.param(12, marks=pytest.mark.soak)])
@pytest.mark.parametrize("table", tables.ALL)
def test_rows_that_are_none_of_ours_are_no_rows(project: Path, table: str, steps: int) -> None:
    """Where the damage leaves a report that can be one, it is what was asked for: its checksum says that it is ours."""
    for number in range(gathering.FEWEST):
        write(project / f"parts/part{number}.py", "import torch\n")
    expected, dice = reports(project, keeps=True), random.Random(1)
    write(project / "words/base.py", PICKLED)
    expected = reports(project, keeps=True)
    whole = store_of(project).read_bytes()

    def spoil(_: str, row: bytes) -> bytes:
        if dice.random() < 0.5:
            return row
        try:
            return rows.pack(spoilt(rows.unpack(row), dice))
        except rows.MalformedError:
            return dice.choice([b"", b"-", b"\0" * 16, row[: len(row) // 2], row[::-1], row + row])

    with opened(project) as store:
        assert len(list(store.rows(table))) > 0, "else this shows nothing"
    for step in range(steps):
        write(project / "words/options.py", f"WORKERS = {step}\n")
        store_of(project).write_bytes(whole)
        rewrite(project, table, spoil)
        for _ in range(2):
            assert [report.path for report in reports(project, keeps=True)] == [report.path for report in expected]


def without_findings(_: str, row: bytes) -> bytes:
    revision, (suppressed, parsed, _findings, notes) = rows.unpack(row)
    return rows.pack([revision, [suppressed, parsed, [], notes]])


def test_another_version_says_for_itself(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = reports(project, keeps=True)
    rewrite(project, tables.REPORTS, without_findings)
    assert not any(report.findings for report in reports(project, keeps=True)), "else this shows nothing"
    monkeypatch.setattr(identity, "program", lambda: "a later one")
    assert reports(project, keeps=True) == expected


def test_what_was_dropped_to_make_room_is_found_again(project: Path) -> None:
    """Without the text of a file as it was, nobody can tell what an edit changed; summaries are made again."""
    for table in (tables.TEXTS, tables.SUMMARIES):
        reports(project, keeps=True)
        with opened(project) as store, store.transaction() as transaction:
            transaction.clear(table)
        write(project / "words/base.py", PICKLED if table == tables.TEXTS else BASE)
        assert reports(project, keeps=True) == reports(project, keeps=False)


def test_more_revisions_than_are_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of files that were not asked for in the meantime are dropped with the changes since."""
    monkeypatch.setattr(session, "MOST_CHANGES", 3)
    reports(project, keeps=True)
    for workers in (1, 0, 2, 0, 3, 0):
        write(project / "words/options.py", f"WORKERS = {workers}\n")
        reports(project / "words/options.py", keeps=True)
    with opened(project) as store:
        assert len(list(store.rows(tables.CHANGES))) <= 3
    assert reports(project, keeps=True) == reports(project, keeps=False)


@pytest.mark.parametrize("touched", ["rules/handle_in_init.py", "knowledge/handles.toml"])
def test_a_changed_rule_is_another_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, touched: str) -> None:
    for name in ("rules/handle_in_init.py", "knowledge/handles.toml"):
        write(tmp_path / name, "")
    monkeypatch.setattr(identity, "OWN", tmp_path)
    before = identity.program()
    assert identity.program() == before
    os.utime(tmp_path / touched, (0, 0))
    assert identity.program() != before


def run(project: Path, *arguments: str, limits: dict[int, int] | None = None) -> subprocess.CompletedProcess[str]:
    words = list(map(str, arguments if "clean" in arguments else ("--output-format", "json", *arguments)))
    return SERVER.run(words, project, os.environ, None, 120, limits)


FULL = {resource.RLIMIT_FSIZE: 20_000}
"""No file takes more bytes: a report fits, a store does not."""


def test_a_full_disk(project: Path) -> None:
    expected = run(project, "--no-cache")
    full = run(project, "-v", limits=FULL)
    assert (full.returncode, full.stdout) == (1, expected.stdout)
    assert "results are not cached" in full.stderr
    assert "cannot be written" in full.stderr
    assert run(project, limits=FULL).stderr == expected.stderr
    assert run(project).stdout == expected.stdout
    assert store_of(project).exists()


def test_a_full_disk_leaves_what_was_kept(project: Path) -> None:
    run(project)
    before = store_of(project).read_bytes()
    write(project / "words/base.py", "")
    assert run(project, limits=FULL).stdout == run(project, "--no-cache").stdout
    assert store_of(project).read_bytes() == before


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a folder that even root cannot write to is needed")
def test_a_folder_that_takes_nothing(project: Path) -> None:
    expected = run(project, "--no-cache")
    for folder in ("/proc/kept", str(project / "train.py" / "below")):
        done = run(project, "-v", "--cache-dir", folder)
        assert (done.returncode, done.stdout) == (1, expected.stdout)
        assert "results are not cached" in done.stderr
    assert run(project, "--cache-dir", folder).stderr == expected.stderr


def test_a_folder_that_is_read_only() -> None:
    told: list[str] = []
    with tempfile.TemporaryDirectory() as folder:  # others may look into it
        Path(folder).chmod(0o755)
        project = make(Path(folder) / "project")
        reports(project, keeps=True)
        write(project / "words/options.py", "")
        expected, before = reports(project, keeps=False), store_of(project).read_bytes()
        for path in (project / NAME, project):
            path.chmod(0o555)
        user = os.geteuid()
        try:
            if user == 0:  # who may write anywhere
                os.seteuid(65534)
            assert reports(project, keeps=True, tell=told.append) == expected
        finally:
            os.seteuid(user)
            for path in (project / NAME, project):
                path.chmod(0o755)
        assert store_of(project).read_bytes() == before
    assert [line.rpartition(": ")[2] for line in told] == ["attempt to write a readonly database"]


def test_a_pipe_in_its_place_makes_nobody_wait(project: Path) -> None:
    expected = run(project)
    name = store_of(project)
    name.unlink()
    os.mkfifo(name)
    assert run(project).stdout == expected.stdout


def test_a_link_in_its_place_leads_nowhere(project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (project / NAME).symlink_to(elsewhere)
    run(project)
    run(project, "clean")
    assert list(elsewhere.iterdir()) == []


def test_what_others_kept_is_never_applied(project: Path) -> None:
    """A store may come with a repository: an edit in it must not reach a file."""
    write(project / "words/store.py", HAZARD)
    run(project)

    def poison(_: str, row: bytes) -> bytes:
        return row.replace(b"self.env", b"self.evil")

    rewrite(project, tables.REPORTS, poison)
    assert "self.evil" in run(project).stdout, "else this shows nothing"
    run(project, "--fix", "--unsafe-fixes")
    assert "evil" not in "".join(path.read_text() for path in project.rglob("*.py"))


def test_runs_at_once_leave_one_whole_store(project: Path) -> None:
    """Each lints a part of the project again and again; what the last one leaves is whole, and true."""
    for number in range(6):
        write(project / f"part{number}.py", HAZARD)
    expected = run(project, "--no-cache").stdout
    script = "for i in 1 2; do {} -m forklint part{}.py part{}.py -q -j1 >/dev/null || test $? = 1 || exit; done"
    runs = [
        subprocess.Popen(["sh", "-c", script.format(sys.executable, one, (one + 1) % 6)], cwd=project)
        for one in range(max(4, available_cores()))
    ]
    assert [each.wait(120) for each in runs] == [0] * len(runs)
    assert run(project).stdout == expected
    assert {path.suffix for path in (project / NAME).iterdir() if "-lock" not in path.name} == {"", ".sqlite", ".TAG"}


def test_a_run_that_is_killed_leaves_what_the_next_can_use(project: Path) -> None:
    expected = run(project, "--no-cache").stdout
    for delay in (0.2, 0.4, 0.6):
        started = subprocess.Popen(
            [sys.executable, "-m", "forklint", "-q"], cwd=project, stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            started.wait(delay)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
        assert run(project).stdout == expected
    run(project, "clean")
    assert not (project / NAME).exists()
