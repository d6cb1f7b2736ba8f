"""Trials write into views of the project of their own: what one writes, neither another nor the user ever sees."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from needed import need_torch
from proven import environment, findings
from trial_making import make

from forklint.config import Settings
from forklint.verify import isolation, proving
from forklint.verify.experiments.base import Context
from forklint.verify.isolation import SUPERVISOR, Isolations, outermost
from forklint.verify.runner import Runner
from forklint.verify.words import Observation, Trial

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="overlays are Linux's")
KINDS = ["view", "view-in-memory", "copy"]
LESS_OFTEN = {"renames", "appends"}
OTHER = 65534
"""The user and group of nobody."""

WRITES = """
import pathlib
assert not pathlib.Path("made").exists()
for turn in range(200):
    with open("records.bin", "wb") as file:
        file.write(b"%d" % turn * 4000)
    data = open("records.bin", "rb").read()
    assert data == b"%d" % turn * 4000, (turn, len(data))
pathlib.Path("made").mkdir()
"""
RENAMES = """
for turn in range(200):
    with open("new.bin", "wb") as file:
        file.write(b"%d" % turn)
    os.replace("new.bin", "records.bin")
    assert open("records.bin", "rb").read() == b"%d" % turn
os.remove("sub/notes.txt")
os.rmdir("sub")
"""
APPENDS = """
size = os.path.getsize("records.bin")
for turn in range(200):
    with open("records.bin", "ab") as file:
        file.write(b"x")
assert os.path.getsize("records.bin") == size + 200, os.path.getsize("records.bin")
"""
LOCKS = """
import fcntl, sqlite3
with open("records.bin", "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    time.sleep(0.5)
    file.write(b"locked")
base = sqlite3.connect("clicks.db", timeout=0)
base.execute("BEGIN EXCLUSIVE")
base.execute("CREATE TABLE seen (at)")
time.sleep(0.5)
base.commit()
"""
PLACES = """
import sys
record("places", cwd=os.getcwd(), real=os.path.realpath("records.bin"), link=open("link.txt").read(),
       listed=sorted(os.listdir(order["spec"]["root"])), data=open(order["spec"]["file"]).read())
raise OSError(os.path.abspath("records.bin"))
"""


def project(folder: Path) -> Path:
    """A project with data, a folder, a link within it and a link that leads out of it."""
    place = folder / "project"
    (place / "sub").mkdir(parents=True)
    (place / "records.bin").write_bytes(b"as it was")
    (place / "sub" / "notes.txt").write_text("notes")
    (place / "link.txt").symlink_to(place / "sub" / "notes.txt")
    (place / "sub" / "notes.txt").chmod(0o640)
    return place


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file with its mode, the time of its last change and its bytes."""
    return {
        str(path.relative_to(folder)): (found.st_mode, found.st_mtime_ns, b"" if path.is_dir() else path.read_bytes())
        for path in sorted(folder.rglob("*"))
        for found in [path.lstat()]
    }


@pytest.fixture
def isolated(monkeypatch: pytest.MonkeyPatch, workplace: Path) -> Callable[..., list[Observation]]:
    """Run the same code in several trials at once, isolated in this way."""

    def run(kind: str, code: str, place: Path, count: int = 3) -> list[Observation]:
        if kind:
            monkeypatch.setattr(Isolations, "_way", lambda *_: kind)
        spec = {"root": str(place), "file": str(place / "sub" / "notes.txt")}
        trials = [replace(make(code, place, name=str(number)), folders=(place,), spec=spec) for number in range(count)]
        with Runner(Path(sys.executable), workplace=workplace) as runner:
            return runner.run_all(trials, side_by_side=count)

    return run


def test_an_overlay_is_to_be_had_here(tmp_path: Path) -> None:
    assert Isolations(tmp_path).of([project(tmp_path)]).how == "view"
    assert [path.name for path in tmp_path.iterdir()] == ["project"]


SIDE_BY_SIDE = [
    pytest.param(code, kind, id=f"{name}-{kind}", marks=[pytest.mark.soak] * (kind != KINDS[0] and name in LESS_OFTEN))
    for name, code in {"writes": WRITES, "renames": RENAMES, "appends": APPENDS, "locks": LOCKS}.items()
    for kind in KINDS
]


@pytest.mark.parametrize(("code", "kind"), SIDE_BY_SIDE)
def test_trials_side_by_side_do_not_disturb_each_other(kind: str, code: str, isolated, tmp_path: Path) -> None:
    place = project(tmp_path)
    before = snapshot(place)
    for seen in isolated(kind, code, place):
        assert (seen.ending.exit_code, seen.output) == (0, "")
    assert snapshot(place) == before


def test_without_isolation_they_would(isolated, tmp_path: Path) -> None:
    """The programs above are not ones that get along anyway."""
    place = project(tmp_path)
    assert isolated("none", RENAMES, place)[-1].ending.exit_code == 1


def test_without_a_view_trials_run_one_after_another(isolated, tmp_path: Path) -> None:
    place = project(tmp_path)
    seen = isolated("none", "record('at'); time.sleep(0.3); record('at')", place)
    spans = sorted(tuple(record["time"] for record in one.of("at")) for one in seen)
    assert all(sooner[1] <= later[0] for sooner, later in itertools.pairwise(spans))


@pytest.mark.parametrize("kind", KINDS)
def test_all_places_are_told_as_in_life(kind: str, isolated, tmp_path: Path) -> None:
    place = project(tmp_path)
    (seen,) = isolated(kind, PLACES, place, count=1)
    (told,) = seen.of("places")
    assert told["cwd"] == str(place)
    assert told["real"] == str(place / "records.bin")
    assert told["link"] == told["data"] == "notes"
    assert told["listed"] == ["link.txt", "records.bin", "sub"]
    assert f"OSError: {place}/records.bin" in seen.output


def test_a_project_that_holds_the_trials_own_folder(isolated, workplace: Path) -> None:
    """As one in the folder for temporary files does: what the trial tells must come out all the same."""
    (workplace / "records.bin").write_bytes(b"as it was")
    try:
        for seen in isolated("", APPENDS + "record('here')", workplace):
            assert seen.ending.exit_code == 0, seen.output
            assert len(seen.of("here")) == 1
        assert (workplace / "records.bin").read_bytes() == b"as it was"
    finally:
        (workplace / "records.bin").unlink()


def test_folders_within_others_are_seen_through_one_overlay(tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = outermost([tmp_path / "a" / "b", tmp_path / "a", tmp_path / "ab", tmp_path / "link", Path("/")])
    assert found == (str(tmp_path / "a"), str(tmp_path / "ab"))


def supervision(*words: str | Path) -> list[str]:
    """The supervisor asked whether a view is possible, by a Python that every user may run."""
    python = next((path for path in (Path(sys.executable), Path("/usr/bin/python3")) if _is_for_all(path)), None)
    if python is None:
        pytest.skip("no Python here that other users may run")
    return [str(python), *SUPERVISOR[1:], *map(str, words)]


def _is_for_all(path: Path) -> bool:
    real = path.resolve()
    return path.exists() and all(above.stat().st_mode & 0o001 for above in (real, *real.parents))


@pytest.fixture
def open_to_all(tmp_path: Path) -> Path:
    """A project that every user may look into and write into."""
    place = project(tmp_path)
    for path in (place, place / "sub"):
        path.chmod(0o777)
    for path in (tmp_path, *tmp_path.parents):
        if path not in {Path("/"), Path("/tmp")}:
            path.chmod(path.stat().st_mode | 0o001)
    return place


@pytest.mark.skipif(os.geteuid() != 0, reason="then all other tests show it")
@pytest.mark.parametrize("kind", ["view", "view-in-memory"])
def test_an_ordinary_user_gets_an_overlay(kind: str, open_to_all: Path, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place").chmod(0o777)
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    done = subprocess.run([*user, *supervision(kind, tmp_path / "place", open_to_all)], cwd="/", check=False)
    assert done.returncode == 0
    assert sorted(path.name for path in open_to_all.iterdir()) == ["link.txt", "records.bin", "sub"]


FORBIDDEN = """
echo 0 > /proc/sys/user/max_user_namespaces || exit 77
exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$@"
"""


def test_who_may_not_mount_gets_a_copy(tmp_path: Path) -> None:
    """As in a container: neither mounts nor user namespaces are allowed."""
    code = f"import sys; sys.path[:0] = {sys.path!r}\n" + ASK.format(str(tmp_path), str(project(tmp_path)))
    command = ["unshare", "-Ur", "sh", "-c", FORBIDDEN, "sh", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 77 or re.search("^(unshare|setpriv)", done.stderr):
        pytest.skip(f"rights cannot be taken away here: {done.stderr}")
    assert done.stdout == "copy\n", done.stderr


ASK = """
from pathlib import Path
from forklint.verify.isolation import Isolations
print(Isolations(Path({!r})).of([Path({!r})]).how)
"""


TRAIN = """
import os
import struct
from torch.utils.data import DataLoader, Dataset

class Records(Dataset):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __len__(self):
        return 240

    def __getitem__(self, index):
        self.file.seek(index * 400)
        return self.file.read(400)

def main():
    with open("new.bin", "wb") as file:
        for index in range(240):
            file.write(struct.pack("<I", index) * 100)
    os.replace("new.bin", "records.bin")
    open("runs.log", "a").write("run")
    for batch in DataLoader(Records(), batch_size=4, num_workers=2, collate_fn=list):
        print(len(batch))

if __name__ == "__main__":
    main()
"""


@pytest.mark.soak
def test_a_script_that_writes_its_data_first_is_confirmed_and_leaves_nothing(command, tmp_path: Path) -> None:
    need_torch()
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "runs.log").write_text("before")
    before = snapshot(tmp_path)
    options = ("--workers", "2", "--start-method", "fork")
    done = command("verify", "train.py", *options, "--isolated", "--output-format", "json", cwd=tmp_path)
    (experiment,) = json.loads(done.stdout)["experiments"]
    assert experiment["verdict"] == "confirmed", experiment["evidence"]
    assert {cell["verdict"] for cell in experiment["details"]["shown"].values()} == {"confirmed"}
    assert snapshot(tmp_path) == before


def test_a_copy_that_is_too_large_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = project(tmp_path)
    monkeypatch.setattr("forklint.verify.isolation._is_possible", lambda *_: False)
    assert Isolations(tmp_path).of([place]).how == "copy"
    monkeypatch.setattr("forklint.verify.isolation.LARGEST_COPY", 4)
    assert Isolations(tmp_path).of([place]).how == "none"


def test_trials_of_experiments_are_isolated(tmp_path: Path) -> None:
    """Each trial that an experiment plans names the folders of the project."""
    (tmp_path / "data.py").write_text(TRAIN)
    (planned,) = proving.plan(findings(tmp_path), lambda _: Context(tmp_path, Settings(), environment()))
    trials: tuple[Trial, ...] = planned.trials
    assert trials
    assert all(tmp_path in trial.folders for trial in trials)


def test_what_an_attempt_leaves_is_removed_though_nobody_may_look_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel makes such a folder for an overlay; root could remove it all the same."""

    def tried(kind: str, place: str, _roots: Sequence[str]) -> bool:
        closed = Path(place, kind, "0", "work", "work")
        closed.mkdir(parents=True)
        closed.chmod(0)
        return True

    monkeypatch.setattr(isolation, "_is_possible", tried)
    with tempfile.TemporaryDirectory() as workplace:
        os.chmod(workplace, 0o777)  # noqa: PTH101
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if os.geteuid() == 0:
                    os.setgid(OTHER)
                    os.setuid(OTHER)
                Isolations(Path(workplace)).of([Path(tempfile.gettempdir())])
                code = len(os.listdir(workplace))
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
