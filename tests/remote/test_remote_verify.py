"""``forklint verify --on``: a scheduler and two workers, of which one pretends to be a Mac."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import Processes

TWICE = """
import multiprocessing

multiprocessing.set_start_method("spawn")
multiprocessing.set_start_method("spawn")
"""
ON_A_MAC = """
import multiprocessing
from data import SIZE

if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    print(SIZE)
"""
ON_GPU = """
import torch
from torch.utils.data import DataLoader, default_collate


def collate(batch):
    if torch.cuda.is_available():
        return default_collate(batch).cuda()
    return default_collate(batch)


if __name__ == "__main__":
    for batch in DataLoader(range(8), num_workers=2, collate_fn=collate):
        print(batch)
"""


@pytest.fixture(scope="module")
def address(lasting: Processes) -> str:
    address = lasting.scheduler()
    lasting.worker(address, "alpha")
    lasting.pretended(address, "mac-mini", system="darwin", platform="macOS-25.1.0-arm64")
    return address


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "forklint.toml").write_text("")
    (folder / "data.py").write_text("SIZE = 40\n")
    (folder / "train.py").write_text(ON_A_MAC)
    (folder / "twice.py").write_text(TWICE)
    (folder / "secret.txt").write_text("mine")
    return folder


def test_a_finding_goes_where_its_label_is_and_the_others_stay(
    lasting: Processes, verify: Callable, address: str, project: Path
) -> None:
    done = verify(".", "--on", address, "--output-format", "json", cwd=project)
    told = json.loads(done.stdout)
    found = {Path(one["finding"]["filename"]).name: one for one in told["experiments"]}
    assert set(found) == {"train.py", "twice.py"}, done.stdout + done.stderr
    assert (found["twice.py"]["verdict"], found["twice.py"]["machine"]) == ("confirmed", "")
    away = found["train.py"]
    assert away["verdict"] == "not reproduced", "on a Mac it is decided"
    assert away["machine"] == "mac-mini (darwin 25.1.0, no torch)"
    assert [trial["exit_code"] for trial in away["trials"]] == [0]
    assert told["machines"]["mac-mini"]["system"] == "darwin"
    assert "alpha" not in told["machines"]
    assert told["environment"]["system"] != "darwin"

    contents = {path.read_bytes() for path in (lasting.folder / "store-mac-mini" / "content").glob("*/*")}
    assert contents == {(project / name).read_bytes() for name in ("train.py", "data.py")}, "nothing else has travelled"


def test_the_plan_says_what_goes_where_and_how_many_bytes(verify: Callable, address: str, project: Path) -> None:
    (project / "on_gpu.py").write_text(ON_GPU)
    done = verify(".", "--on", address, "--plan", cwd=project)
    text = " ".join(done.stdout.split())
    size = sum((project / name).stat().st_size for name in ("train.py", "data.py"))
    assert f"Files that would travel (2 files, {size} bytes):" in text
    assert "secret.txt" not in done.stdout
    here, _, rest = done.stdout.partition("On alpha (")
    alpha, _, rest = rest.partition("On mac-mini (darwin 25.1.0, no torch")
    mac, _, missing = rest.partition("Cannot be placed:")
    assert "FKL202 twice.py" in here
    assert "Nothing." in alpha
    assert "FKL202 train.py" in mac
    assert "FKL304 on_gpu.py:8: no worker has the label 'cuda'" in missing
    assert f"At most {size} bytes would travel" in missing


@pytest.mark.soak
def test_a_missing_label_is_named(verify: Callable, address: str, project: Path) -> None:
    (project / "on_gpu.py").write_text(ON_GPU)
    done = verify("on_gpu.py", "--select", "FKL304", "--on", address, cwd=project)
    text = " ".join(done.stdout.split())
    assert "unsupported here" in text, done.stdout + done.stderr
    assert "no worker has the label 'cuda': start one with `forklint worker`" in text


def test_all_trials_of_a_finding_run_on_one_machine(
    lasting: Processes, verify: Callable, address: str, project: Path
) -> None:
    """As it is and with its fix; two findings are shared by two machines."""
    (project / "again.py").write_text(f"{TWICE}print()\n")
    label = f"python{sys.version_info.major}.{sys.version_info.minor}"
    given = ("--on", address, "--label", label, "--fix", "--output-format", "json")
    done = verify("twice.py", "again.py", *given, cwd=project)
    machines = {}
    for one in json.loads(done.stdout)["experiments"]:
        assert one["fix"]["outcome"] == "fixed", done.stdout
        path = Path(one["finding"]["filename"])
        machines[one["machine"].split()[0]] = path
        assert path.read_text().startswith(TWICE), "only --apply writes it"
    assert set(machines) == {"alpha", "mac-mini"}
    for name, path in machines.items():
        sent = {file.read_bytes() for file in (lasting.folder / f"store-{name}" / "content").glob("*/*")}
        both = {(project / file).read_bytes() for file in ("twice.py", "again.py")}
        assert sent & both == {path.read_bytes()}


@pytest.mark.soak
def test_what_is_missing_is_one_line(verify: Callable, project: Path) -> None:
    done = verify("twice.py", "--on", "tcp://127.0.0.1:1", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot connect to tcp://127.0.0.1:1" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = verify("twice.py", "--on", "scheduler", cwd=project)
    assert "'scheduler' is not an address: write tcp://HOST:PORT" in done.stderr
    assert verify("twice.py", "--label", "cuda", cwd=project).returncode == 2


def test_a_worker_refuses_a_label_that_it_cannot_prove(run: Callable, trial_python: Path) -> None:
    done = run("worker", "tcp://127.0.0.1:1", "--label", "cuda", "--python", trial_python)
    assert done.returncode == 2
    assert "this machine does not have the label 'cuda': torch cannot be imported" in done.stderr


@pytest.fixture
def repositories(tmp_path: Path) -> list[Path]:
    made = []
    for number in range(6):
        folder = tmp_path / f"repository{number}"
        folder.mkdir()
        (folder / "train.py").write_text(f"import torch\n\ntorch.set_num_thread({number})\n")
        made.append(folder)
    (made[5] / "train.py").write_text("import torch\n")
    return made


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.soak
def test_many_repositories_are_linted_once(
    run: Callable, address: str, repositories: list[Path], tmp_path: Path
) -> None:
    archive = shutil.make_archive(str(tmp_path / "packed"), "gztar", tmp_path, "repository0")
    names = [*map(str, repositories), archive]
    (tmp_path / "list.txt").write_text("# all\n" + "\n".join(names) + "\n")
    given = ("lint-many", "list.txt", "--on", address, "--output-file", "out.jsonl")
    done = run(*given)
    assert done.returncode == 1, done.stderr
    assert "7 of 7 repositories linted: 6 findings in out.jsonl" in done.stderr
    rows = rows_of(tmp_path / "out.jsonl")
    assert sorted(row["repository"] for row in rows) == sorted([*names[:5], archive])
    assert {(row["code"], row["filename"]) for row in rows} == {("FKL501", "train.py")}
    local = run("lint", ".", "--output-format", "json-lines", cwd=repositories[0])
    (here,) = [json.loads(line) for line in local.stdout.splitlines()]
    (there,) = [row for row in rows if row["repository"] == names[0]]
    assert {**there, "repository": ""} == {**here, "filename": "train.py", "repository": ""}

    before = (tmp_path / "out.jsonl").read_bytes()
    assert run(*given).returncode == 1
    assert (tmp_path / "out.jsonl").read_bytes() == before, "nothing has changed, nothing is linted"

    (tmp_path / "list.txt").write_text(f"{names[1]}\nnowhere\n")
    parquet = pytest.importorskip("pyarrow.parquet")
    failed = run("lint-many", "list.txt", "--on", address, "--output-file", "out.parquet", "--isolated")
    assert failed.returncode == 2
    assert "nowhere: neither a directory nor an archive" in failed.stderr
    assert "1 of 2 repositories linted: 1 finding in out.parquet" in failed.stderr
    assert [row["code"] for row in parquet.read_table(tmp_path / "out.parquet").to_pylist()] == ["FKL501"]
