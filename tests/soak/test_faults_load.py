"""Two hundred runs at once on one store, and disks with little room: nothing lost, nothing half-written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_calls import HAZARD, SCENARIOS, Scenario, files, left_over, ran

pytestmark = pytest.mark.soak
RUNS = 200


def test_two_hundred_runs_at_once(tmp_path: Path) -> None:
    """Each lints two files of twenty; each answers as a run without a store does, and the store is whole."""
    (tmp_path / "forklint.toml").touch()
    names = [f"part{number}.py" for number in range(20)]
    for name in names:
        (tmp_path / name).write_text(HAZARD.format(name=name.removesuffix(".py").title()))
    command = [sys.executable, "-m", "forklint", "-j1", "--output-format", "json"]
    alone = subprocess.run([*command, "--no-cache", "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    expected = {name: [one for one in json.loads(alone.stdout) if Path(one["filename"]).name == name] for name in names}
    runs = []
    for number in range(RUNS):
        chosen = sorted({names[number % 20], names[(number * 7 + 1) % 20]}, key=names.index)
        with (tmp_path / f"{number}.out").open("w") as out, (tmp_path / f"{number}.err").open("w") as err:
            runs.append((chosen, subprocess.Popen([*command, *chosen], cwd=tmp_path, stdout=out, stderr=err)))
    for number, (chosen, run) in enumerate(runs):
        assert run.wait(1800) == 1, (tmp_path / f"{number}.err").read_text()
        assert (tmp_path / f"{number}.err").read_text() == ""
        found = json.loads((tmp_path / f"{number}.out").read_text())
        assert sorted(map(str, found)) == sorted(str(one) for name in chosen for one in expected[name])
    (store,) = (tmp_path / ".forklint_cache").glob("store-*.sqlite")
    whole = subprocess.run([*command, "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert whole.stdout == alone.stdout
    import sqlite3

    with sqlite3.connect(store) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


SIZE = 256 * 1024
REASONS = ("No space left", "disk is full", "database or disk is full")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("NOT TESTED: nothing may be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_disk_with_little_room(name: str, small_disk: Path) -> None:
    """With so many pages left, from none to enough for all."""
    scenario: Scenario = SCENARIOS[name]
    scenario.prepare(small_disk / "project")
    before = files(small_disk / "project")
    assert ran(scenario, small_disk / "project").returncode in {0, 1}
    after = files(small_disk / "project")
    refused = 0
    for pages in (0, 1, 2, 3, 8, 30):
        shutil.rmtree(small_disk / "project")
        scenario.prepare(small_disk / "project")
        free = os.statvfs(small_disk).f_bavail
        (small_disk / "filling").write_bytes(bytes(4096 * max(0, free - pages)))
        done = ran(scenario, small_disk / "project")
        (small_disk / "filling").unlink()
        assert "Traceback" not in done.stderr + done.stdout
        assert left_over(small_disk / "project") == []
        for path, data in files(small_disk / "project").items():
            assert data in {before.get(path), after.get(path)}, f"{path} is half-written with {pages} pages left"
        if files(small_disk / "project") != after:
            assert done.returncode == 2, (pages, done.stderr)
            printed = re.sub(r"\s+", " ", done.stdout + done.stderr)
            assert any(reason in printed for reason in REASONS), printed
            refused += 1
        assert ran(scenario, small_disk / "project").returncode in {0, 1}
        assert files(small_disk / "project") == after
    assert refused or name == "store"
