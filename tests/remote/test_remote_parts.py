"""The parts of remote verification that need no connection: labels, the store, messages, what travels, rows."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from pretended_environment import with_torch

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.project.index import Project
from forklint.remote import labels, repositories
from forklint.remote.lint_process import LintProcess
from forklint.remote.messages import (
    MessageError,
    finding_from_json,
    observation_from_json,
    trial_from_json,
    trial_to_json,
)
from forklint.remote.repositories import Linted, RepositoryError, read
from forklint.remote.rows import Rows, to_parquet
from forklint.remote.slices import slice_of
from forklint.remote.store import Store, is_inside
from forklint.remote.task_runner import TaskRunner
from forklint.verify import proving
from forklint.verify.experiments.base import Context
from forklint.verify.isolation import Copies
from forklint.verify.subjects import Factory
from forklint.verify.words import Factors, Subject, Trial


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_machine_proves_its_labels() -> None:
    assert labels.proven(with_torch()) == ("linux", "python3.12")
    gpu = with_torch(cuda_runtime="12.4", gpus=["H100"], mps=True)
    assert labels.proven(gpu) == ("linux", "cuda", "mps", "python3.12")
    assert labels.chosen(["cuda"], gpu) == ("cuda",)
    assert labels.described(gpu).endswith("H100, mps")


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("cuda", "sees no GPU"),
        ("mps", "sees no MPS device"),
        ("windows", "it runs "),
        ("python3.1", "its trials run with Python 3."),
        ("fast", "labels are linux, darwin, windows, cuda, mps"),
    ],
)
def test_a_label_that_cannot_be_proven_is_refused(label: str, why: str) -> None:
    with pytest.raises(labels.LabelError, match=why) as caught:
        labels.chosen(["linux", label], with_torch(gpus=[], mps=False))
    assert f"the label '{label}'" in str(caught.value)


def test_content_is_stored_under_the_digest_that_it_has(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    files = {"package/data.py": digest(b"x = 1\n"), "empty.py": digest(b"")}
    assert store.missing(files) == sorted(files.values())
    assert store.put(b"x = 1\n") == files["package/data.py"]
    assert store.missing(files) == [files["empty.py"]]
    store.put(b"")
    tree = store.tree(files)
    assert {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()} == set(files)
    assert (tree / "package/data.py").read_bytes() == b"x = 1\n"
    assert store.tree(files) == tree


def test_damaged_content_is_sent_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    known = store.put(b"whole")
    place = tmp_path / "store" / "content" / known[:2] / known
    place.write_bytes(b"half")
    with pytest.raises(OSError, match="damaged"):
        store.tree({"a.py": known})
    assert store.missing({"a.py": known}) == [known]


@pytest.mark.parametrize(
    "name", ["../x.py", "/etc/passwd", "a/../../x", "a\\..\\x", "C:/x", "a//b", "", ".git/hooks/x", "a\0"]
)
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path / "store")
    assert not is_inside(name)
    with pytest.raises(MessageError, match="not a path inside"):
        store.tree({name: store.put(b"")})
    with pytest.raises(MessageError, match="not a SHA-256"):
        store.missing({"a.py": f"../../{'a' * 58}"})


def test_what_is_not_used_is_removed_beyond_the_limit(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", limit=2500)
    import os

    names = [store.put(bytes([number]) * 1000) for number in range(4)]
    for number, name in enumerate(names):
        os.utime(tmp_path / "store" / "content" / name[:2] / name, (number, number))
    store.trim()
    assert store.missing({str(number): name for number, name in enumerate(names)}) == sorted(names[:2])


def test_a_repository_keeps_its_path_and_the_times_of_unchanged_files(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    one, two = store.put(b"1"), store.put(b"2")
    with store.repository("a", {"x/a.py": one, "b.py": one, "c": one}) as folder:
        before = (folder / "x/a.py").stat().st_mtime_ns
    with store.repository("a", {"x/a.py": one, "b.py": two, "c/d.py": two}) as again:
        assert again == folder
        assert (folder / "x/a.py").stat().st_mtime_ns == before
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found == {"x/a.py": b"1", "b.py": b"2", "c/d.py": b"2"}


def trial(folder: Path, **options: object) -> Trial:
    subject = Subject("entry", ("train.py", "--fast"), folder, (folder,), {"A": "1"})
    given = {"spec": {"file": str(folder / "a.py")}, "factors": Factors("fork", 2), "folders": (folder,), **options}
    return Trial("name", subject, "samples", **given)


def test_a_trial_is_the_same_after_its_journey(tmp_path: Path) -> None:
    one = trial(tmp_path, texts={str(tmp_path / "a.py"): "x"})
    told = json.loads(json.dumps(trial_to_json(one)))
    assert trial_from_json(told, [tmp_path], frozenset({"samples"})) == one


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"task": "evil"}, "no task 'evil'"),
        ({"command": ["-c", "print()"]}, "neither a module nor a script"),
        ({"command": ["-m"]}, "neither a module nor a script"),
        ({"command": ["/etc/passwd"]}, "neither a module nor a script"),
        ({"command": []}, "neither a module nor a script"),
        ({"folder": "/", "command": ["-m", "x"]}, "outside of the files"),
        ({"texts": {"/etc/passwd": ""}}, "outside of the files"),
        ({"seconds": 1e9}, "not between"),
        ({"seconds": float("nan")}, "not between"),
        ({"factors": {"x": 1}}, "not a trial"),
        ({"paths": 1}, "not a trial"),
    ],
)
def test_a_worker_refuses_what_is_no_trial(tmp_path: Path, change: Mapping[str, object], why: str) -> None:
    (tmp_path / "train.py").touch()
    told = {**trial_to_json(trial(tmp_path)), **change}
    with pytest.raises(MessageError, match=why):
        trial_from_json(told, [tmp_path], frozenset({"samples"}))


def test_an_observation_that_is_none_is_refused(tmp_path: Path) -> None:
    for told in ({}, {"records": [1]}, {"records": [{"kind": 1}]}):
        with pytest.raises(MessageError, match="not an observation"):
            observation_from_json(trial(tmp_path), told)


def test_a_finding_that_is_none_is_refused() -> None:
    for told in (None, {}, {**ROW, "location": 1}, {**ROW, "location": {"row": "1"}}, {**ROW, "filename": None}):
        with pytest.raises(MessageError, match="not a finding"):
            finding_from_json(told)
    assert finding_from_json({**ROW, "repository": "of somebody else"}) == ROW


def test_a_worker_lints_with_no_other_options(tmp_path: Path) -> None:
    task_runner = TaskRunner(Store(tmp_path / "store"), Path(sys.executable), tmp_path)
    for option in ("cache-dir=/etc", "cache_dir=/etc", "exclude=a", "fix"):
        body = json.dumps({"name": "a", "files": {}, "options": [option]})
        assert "does not lint with the option" in json.loads(task_runner.perform("lint", body))["error"]


def test_paths_are_renamed_in_keys_as_well() -> None:
    copies = Copies({"/home/me/project": "/store/tree"})
    assert copies.named({"/home/me/project/a.py": [1]}) == {"/store/tree/a.py": [1]}


TRAIN = """
import json
from torch.utils.data import DataLoader
from package.data import Records

NOTES = "notes.txt"
SECRET = ".env"
ABOVE = "../outside.txt"

if __name__ == "__main__":
    for batch in DataLoader(Records("records.bin"), batch_size=4, num_workers=2):
        print(batch)
"""
DATA = """
from torch.utils.data import Dataset


class Records(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.file.read(8)
"""


def test_what_a_trial_runs_imports_and_names_travels_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / "package").mkdir(parents=True)
    (folder / "data" / "sub").mkdir(parents=True)
    for name in (
        "package/__init__.py",
        "package/unused.py",
        "other.py",
        "notes.txt",
        ".env",
        "data/a",
        "data/sub/.key",
    ):
        (folder / name).write_text(name)
    (tmp_path / "outside.txt").write_text("outside")
    (folder / "linked.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "package" / "data.py").write_text(DATA)
    (folder / "train.py").write_text(TRAIN + 'LINK = "linked.txt"\n')
    (folder / "records.bin").write_bytes(bytes(64))
    linter = Linter(Project(folder, Settings()), Options(with_fixes=False))
    (finding,) = (one for one in linter.lint(folder / "package/data.py").findings if one.code == "FKL301")

    def travels(**options: object) -> set[str]:
        context = Context(folder, **{"settings": Settings(), "environment": with_torch(), **options})
        (planned,) = proving.plan([finding], lambda _: context)
        return {one.relative for one in slice_of(planned).files}

    scripts = {"scripts": (folder / "train.py",)}
    code = {"train.py", "package/__init__.py", "package/data.py"}
    assert travels(**scripts) == code | {"records.bin", "notes.txt"}
    more = Settings(verify={"files": ["data/**/*", ".env"]})
    assert travels(**scripts, settings=more) == code | {"records.bin", "notes.txt", "data/a", ".env"}
    factory = Settings(verify={"args": {"root": "data"}})
    given = {"settings": factory, "factories": (Factory("package.data:Records", {"root": "data"}),)}
    assert travels(**given) == {"package/__init__.py", "package/data.py", "data/a"}


def test_repositories_are_directories_or_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tarfile
    import zipfile

    folder = tmp_path / "repo"
    (folder / "src").mkdir(parents=True)
    (folder / ".venv").mkdir()
    for name in ("src/a.py", "conf.yaml", "image.png", ".venv/b.py", ".gitignore"):
        (folder / name).write_text(name)
    wanted = {"src/a.py", "conf.yaml", ".gitignore"}
    assert set(read(str(folder)).files) == wanted
    with tarfile.open(tmp_path / "repo.tar.gz", "w:gz") as archive:
        archive.add(folder, "repo-1.0")
        evil = tarfile.TarInfo("repo-1.0/../../evil.py")
        archive.addfile(evil)
    with zipfile.ZipFile(tmp_path / "repo.zip", "w") as packed:
        for path in folder.rglob("*"):
            packed.write(path, path.relative_to(folder))
    for name in ("repo.tar.gz", "repo.zip"):
        assert read(str(tmp_path / name)).files == read(str(folder)).files
    for name in ("none", "repo.rar"):
        with pytest.raises(RepositoryError, match=name):
            read(str(tmp_path / name))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(8):
            packed.writestr(f"{number}.py", bytes(2**20))
    monkeypatch.setattr(repositories, "LARGEST_REPOSITORY", 6 * 2**20)
    with pytest.raises(RepositoryError, match="more than 6 MiB of code"):
        read(str(tmp_path / "bomb.zip"))
    (tmp_path / "broken.zip").write_text("x")
    with pytest.raises(RepositoryError, match=r"broken\.zip"):
        read(str(tmp_path / "broken.zip"))


ROW = {
    "code": "FKL301",
    "name": "handle-in-init",
    "severity": "error",
    "filename": "a.py",
    "message": "m",
    "subject": "file",
    "fingerprint": "f",
    "location": {"row": 3, "column": 1},
}


def test_a_run_that_was_cut_short_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with Rows(path, "") as rows:
        rows.write(Linted("a", "1", [ROW, ROW]))
        rows.write(Linted("b", "2", error="lost"))
        rows.write(Linted("c", "3"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"repository": "d", "co')
    with (tmp_path / "out.jsonl.journal").open("a") as journal:
        journal.write('{"repository": "d", "dig')
    with Rows(path, "") as rows:
        assert (rows.done, rows.findings) == ({"a": "1", "c": "3"}, 2)
        assert path.read_bytes() == whole
        rows.write(Linted("d", "4", [ROW]))
    with Rows(path, "") as rows:
        assert set(rows.done) == {"a", "c", "d"}
    assert [json.loads(line)["repository"] for line in path.read_text().splitlines()] == ["a", "a", "d"]
    with Rows(path, "select=FKL301") as rows:
        assert (rows.done, path.read_bytes()) == ({}, b""), "other options, other findings"
        rows.write(Linted("d", "4", [ROW]))
        rows.tidy(["d"])
    assert len(path.read_text().splitlines()) == 1


def test_a_changed_repository_replaces_its_findings(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    for digest_now, count in (("1", 2), ("2", 1)):
        with Rows(path, "") as rows:
            rows.write(Linted("a", digest_now, [{**ROW, "message": digest_now}] * count))
            if digest_now == "1":
                rows.write(Linted("gone", "1", [ROW]))
                rows.write(Linted("b", "1", [ROW]))
            rows.tidy(["a", "b"] if digest_now == "2" else ["a", "b", "gone"])
    told = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["repository"], row["message"]) for row in told] == [("b", "m"), ("a", "2")]
    with Rows(path, "") as rows:
        assert (rows.done, rows.findings) == ({"a": "2", "b": "1"}, 2)


def test_findings_as_a_table(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "out.jsonl"
    with Rows(path, "") as rows:
        rows.write(Linted("a", "1", [ROW]))
    to_parquet(path, tmp_path / "out.parquet")
    (row,) = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert (row["repository"], row["code"], row["row"]) == ("a", "FKL301", 3)
    assert json.loads(row["finding"])["severity"] == "error"


def test_a_finding_is_the_same_whichever_worker_finds_it(tmp_path: Path) -> None:
    """Also if its process and its store have seen the repository before, or another one."""
    files = {"train.py": TRAIN.encode(), "package/__init__.py": b"", "package/data.py": DATA.encode()}
    told = []
    for name in ("alpha", "beta"):
        store, process = Store(tmp_path / f"store-{name}"), LintProcess()
        sent = {path: store.put(data) for path, data in files.items()}
        other = {path: digest for path, digest in sent.items() if path != "train.py"}
        try:
            for repository, some in (("theirs", other), ("ours", sent), ("ours", sent))[name == "beta" :]:
                with store.repository(repository, some) as folder:
                    told.append((repository, process.lint(folder, store.lint_cache, ["select=ALL"])["findings"]))
        finally:
            process.close()
    ours = [rows for repository, rows in told if repository == "ours"]
    assert len(ours) == 4
    assert all(rows == ours[0] for rows in ours)
    (row,) = (row for row in ours[0] if row["code"] == "FKL301")
    assert row["filename"] == "package/data.py"
    assert "train.py" in {link["filename"] for link in row["chain"]}


def test_lint_that_is_cancelled_before_its_process_starts_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    task_runner = TaskRunner(store, Path(sys.executable), tmp_path)
    files = {"data.py": store.put(b"import torch\n")}
    repository = store.repository

    def cancelled(name: str, files: Mapping[str, str]) -> AbstractContextManager[Path]:
        if task_runner.running == "k":
            task_runner.cancel("k")
        return repository(name, files)

    monkeypatch.setattr(store, "repository", cancelled)
    try:
        asked = [json.dumps({"key": key, "name": "one", "files": files}) for key in ("k", "other")]
        first, second = [json.loads(task_runner.perform("lint", body)) for body in asked]
    finally:
        task_runner.close()
    assert first == {"error": "lint was cancelled"}
    assert "error" not in second


def test_a_worker_that_ends_waits_until_nothing_of_its_trial_is_left(tmp_path: Path) -> None:
    workplace, began = tmp_path / "tmp", tmp_path / "began"
    workplace.mkdir()
    (tmp_path / "train.py").write_text(f"import time; open({str(began)!r}, 'w').close(); time.sleep(60)\n")
    store = Store(tmp_path / "store")
    task_runner = TaskRunner(store, Path(sys.executable), workplace)
    files = {"train.py": store.put((tmp_path / "train.py").read_bytes())}
    one = Trial("name", Subject("entry", ("train.py",), tmp_path), "first_batch", {"batches": 1})
    body = json.dumps({"key": "k", "roots": {str(tmp_path): files}, "aliases": {}, "trial": trial_to_json(one)})
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(task_runner.perform, "trial", body)
        while not began.exists():
            assert not running.done(), running.result()
            time.sleep(0.05)
        assert list(workplace.iterdir()) != []
        task_runner.close()
        assert list(workplace.iterdir()) == []
        assert json.loads(running.result())["observation"]["ending"]["stopped_for"] == "interrupt"
    assert json.loads(task_runner.perform("trial", body)) == {"error": "the worker is stopping"}
