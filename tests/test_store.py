"""What is stored is there for the next run, and for others at once, and no longer than there is room for it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from store_runs import filled, nobody, opened, ran, started

from forklint.source.roots import Extent
from forklint.store import disk, folder, lock, tables
from forklint.store.database import Store, StoreError
from forklint.store.folder import NAME
from forklint.store.lock import Lock
from forklint.store.statements import LARGEST_VALUE

DAY = 24 * 3600
STORE, OTHER = "store-0123456789abcdef-1.sqlite", "store-fedcba9876543210-1.sqlite"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that is not there yet, nor is its folder."""
    return tmp_path / NAME / STORE


@pytest.fixture(params=["on disk", "in memory"])
def store(request: pytest.FixtureRequest, file: Path) -> Store:
    return opened(file if request.param == "on disk" else None)


@pytest.fixture
def at_day(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let it be some days later."""
    now = time.time()
    return lambda days: monkeypatch.setattr(time, "time", lambda: now + days * DAY)


def test_what_is_put_is_read(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put("summaries", "one", b"1")
        transaction.put_many("summaries", {"two": b"2", "three": b""})
        transaction.put("words", "one", b"another")
    assert store.read("summaries", "one") == b"1"
    assert store.read("words", "one") == b"another"
    assert store.read("words", "two") is None
    assert store.read_many("summaries", ("three", "two", "none")) == {"three": b"", "two": b"2"}
    assert sorted(store.rows("summaries")) == [("one", b"1"), ("three", b""), ("two", b"2")]


def test_what_is_put_anew_deleted_or_cleared_is_gone(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_many("summaries", {"one": b"1", "two": b"2", "three": b"3"})
        transaction.put("words", "one", b"1")
    with store.transaction() as transaction:
        transaction.put("summaries", "one", b"new")
        transaction.delete("summaries", ("two", "none"))
        transaction.clear("words")
    assert sorted(store.rows("summaries")) == [("one", b"new"), ("three", b"3")]
    assert list(store.rows("words")) == []


def test_a_transaction_reads_what_it_writes(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put("words", "one", b"1")
        assert transaction.read("words", "one") == store.read("words", "one") == b"1"
        assert transaction.read_many("words", ("one", "two")) == {"one": b"1"}
        assert list(transaction.rows("words")) == [("one", b"1")]


def test_a_transaction_that_fails_changes_nothing(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put("words", "one", b"1")

    def fail() -> None:
        with store.transaction() as transaction:
            transaction.clear("words")
            transaction.put("words", "two", b"2")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(store.rows("words")) == [("one", b"1")]


def test_one_transaction_at_a_time(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put("words", "one", b"1")
        with pytest.raises(StoreError, match="already"), store.transaction():
            pass
    assert store.read("words", "one") == b"1"


@pytest.mark.parametrize("key", ["", "\0", "a\0b", "\udcff", "é", "k" * 10_000, "' OR 1 --"])
def test_any_text_is_a_key(store: Store, key: str) -> None:
    with store.transaction() as transaction:
        transaction.put("words", key, b"1")
    assert list(store.rows("words")) == [(key, b"1")]
    assert store.read("words", key) == b"1"
    assert store.read("words", key + "x") is None


def test_a_word_of_sql_is_a_table(file: Path) -> None:
    with Store.open(file, ("values", "order", "index"), nobody) as store, store.transaction() as transaction:
        transaction.put("order", "one", b"1")
    assert Store.open(file, ("values", "order", "index"), nobody).read("order", "one") == b"1"


def test_any_path_can_be_opened(tmp_path: Path) -> None:
    file = tmp_path / "a b%20?mode=memory#é\udcff" / STORE
    rows = filled(file)
    assert dict(opened(file).rows("summaries")) == rows
    assert file.exists()


def test_a_value_that_is_too_large_is_none(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_many("words", {"one": b"1", "two": b"2"})
    with store.transaction() as transaction:
        transaction.put_many("words", {"one": bytes(LARGEST_VALUE + 1), "two": b"new"})
    assert list(store.rows("words")) == [("two", b"new")]


def test_the_next_run_has_it(file: Path) -> None:
    rows = filled(file)
    assert dict(opened(file).rows("summaries")) == rows
    assert ran(file, "print(len(list(store.rows('words'))), store.read('words', 'word 7'))") == "400 b'7'\n"


def test_what_is_not_there_costs_nothing(file: Path) -> None:
    code = "print(store.read('words', 'one'), list(store.rows('words')), 'sqlite3' in sys.modules)"
    assert ran(file, code) == "None [] False\n"
    assert not file.parent.exists()


@pytest.mark.parametrize("place", ["on disk", "in memory"])
def test_a_python_without_sqlite_stores_nothing(file: Path, place: str) -> None:
    filled(file)
    code = """
sys.modules["_sqlite3"] = None
store = Store.open(file if sys.argv[2] == "on disk" else None, ("summaries", "words"), told.append)
print(store.read("words", "word 1"))
try:
    with store.transaction():
        pass
except StoreError as error:
    told.append(str(error))
print(*told, sep="\\n")
"""
    line = "this Python was built without SQLite\n"
    assert ran(file, code, place) == f"None\n{line}{line}"


def test_the_folder_is_marked(file: Path) -> None:
    filled(file)
    assert (file.parent / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert (file.parent / ".gitignore").read_text().endswith("\n*\n")


class TestOthers:
    """Other runs that use the same store at once."""

    COUNTING = """
for _ in range(5):
    with store.transaction() as transaction:
        count = int(transaction.read("words", "count") or 0)
        transaction.put("summaries", f"{os.getpid()} {count}", b"x" * count * 100)
        transaction.put("words", "count", b"%d" % (count + 1))
    print(count)
assert store.intact, told
"""

    @pytest.mark.parametrize("runs", [2, 20])
    def test_nothing_is_lost(self, file: Path, runs: int) -> None:
        """Nor where there was no file yet, and each run could be the one that makes it."""
        processes = [started(file, self.COUNTING) for _ in range(runs)]
        outputs = [process.communicate(timeout=120) for process in processes]
        assert [errors for _, errors in outputs] == [""] * runs
        counts = sorted(int(line) for output, _ in outputs for line in output.splitlines())
        assert counts == list(range(5 * runs))
        rows = dict(opened(file).rows("summaries"))
        assert sorted(len(value) for value in rows.values()) == [100 * count for count in counts]

    def test_what_is_being_written_is_not_seen(self, file: Path) -> None:
        filled(file)
        reader, writer = opened(file), opened(file)
        with writer.transaction() as transaction:
            transaction.put("words", "new", b"1")
            assert reader.read("words", "new") is None
        assert reader.read("words", "new") == b"1"

    def test_a_snapshot_is_of_one_moment(self, file: Path) -> None:
        filled(file)
        reader, writer = opened(file), opened(file)
        with reader.snapshot():
            assert reader.read("words", "new") is None
            with writer.transaction() as transaction:
                transaction.put("words", "new", b"1")
            assert reader.read("words", "new") is None
        assert reader.read("words", "new") == b"1"

    def test_nobody_waits_for_long(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        filled(file)
        monkeypatch.setattr(tables, "PATIENCE", 0.1)
        with opened(file).transaction() as transaction:
            transaction.put("words", "new", b"1")
            begin = time.monotonic()
            with pytest.raises(StoreError, match="in use by another run"), opened(file).transaction():
                pass
            assert time.monotonic() - begin < 3

    def test_threads_take_turns(self, store: Store) -> None:
        def count() -> None:
            for _ in range(20):
                with store.transaction() as transaction:
                    before = int(transaction.read("words", "count") or 0)
                    time.sleep(0.001)
                    transaction.put("words", "count", b"%d" % (before + 1))
                assert int(store.read("words", "count") or 0) > before
            done.append(True)

        done: list[bool] = []
        threads = [threading.Thread(target=count) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (store.read("words", "count"), len(done)) == (b"160", 8)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
    def test_a_forked_process_opens_the_file_for_itself(self, file: Path) -> None:
        code = """
with store.transaction() as transaction:
    transaction.put("words", "parent", b"1")
for number in range(3):
    child = os.fork()
    if not child:
        assert store.read("words", "parent") == b"1"
        with store.transaction() as transaction:
            transaction.put("words", f"child {number}", b"1")
        sys.exit()
    with store.transaction() as transaction:
        transaction.put("summaries", f"beside {number}", b"1")
    assert os.waitpid(child, 0)[1] == 0
    assert store.read("words", f"child {number}") == b"1"
with store.transaction() as transaction:
    transaction.put("words", "after", b"1")
store.close()
"""
        ran(file, code)
        expected = ["after", "child 0", "child 1", "child 2", "parent"]
        assert sorted(key for key, _ in opened(file).rows("words")) == expected
        assert len(list(opened(file).rows("summaries"))) == 3

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
    def test_a_transaction_belongs_to_the_process_that_began_it(self, file: Path) -> None:
        code = """
try:
    with store.transaction() as transaction:
        transaction.put("words", "one", b"1")
        child = os.fork()
        if child:
            assert os.waitpid(child, 0)[1] == 0
except StoreError as error:
    assert not child
    print("refused")
assert child or store.read("words", "one") is None
"""
        assert ran(file, code) == "refused\n"
        assert opened(file).read("words", "one") == b"1"

    def test_a_file_that_was_taken_away_is_made_anew(self, file: Path) -> None:
        filled(file)
        store = opened(file)
        assert store.read("words", "word 1") == b"1"
        for path in file.parent.iterdir():
            path.unlink()
        with store.transaction() as transaction:
            transaction.put("words", "new", b"1")
        assert list(opened(file).rows("words")) == [("new", b"1")]

    def test_a_file_that_is_taken_away_while_it_is_opened(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        filled(file)

        def share(lock: Lock, patience: float) -> bool:
            file.unlink(missing_ok=True)
            return taken(lock, patience)

        taken = Lock.share
        monkeypatch.setattr(Lock, "share", share)
        assert opened(file).read("words", "word 1") is None

    def test_a_lock_of_which_the_file_is_removed_is_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """As by ``forklint clean``, which then lets go of it: the next run would lock another file."""

        def opening(path: Path) -> int:
            handle = before(path)
            handles.append(handle)
            if len(handles) == 1:
                path.unlink()
            return handle

        handles: list[int] = []
        before = lock._open
        monkeypatch.setattr(lock, "_open", opening)
        assert Lock(tmp_path / "lock").share(1)
        assert len(handles) == 2
        assert (tmp_path / "lock").exists()


class TestRoom:
    """How much is stored, and for how long."""

    LIMIT = 2_000_000

    def put(self, store: Store, keys: range) -> None:
        with store.transaction() as transaction:
            transaction.put_many("summaries", {str(key): bytes(9_000) for key in keys})

    def kept(self, file: Path) -> set[int]:
        return {int(key) for key, _ in opened(file).rows("summaries")}

    def test_the_oldest_go_first(self, file: Path, at_day: Callable[[int], None]) -> None:
        for day in range(8):
            at_day(day)
            with opened(file, limit=self.LIMIT) as store:
                self.put(store, range(100 * day, 100 * day + 100))
        kept = self.kept(file)
        assert kept >= set(range(700, 800))
        assert min(kept) > 500
        assert kept == set(range(min(kept), 800))
        assert file.stat().st_size <= self.LIMIT

    def test_reading_is_using(self, file: Path, at_day: Callable[[int], None]) -> None:
        with opened(file, limit=self.LIMIT) as store:
            self.put(store, range(100))
        at_day(1)
        with opened(file, limit=self.LIMIT) as store:
            store.read_many("summaries", ("1", "2"))
            store.used("summaries", ("3",))
            with store.transaction() as transaction:
                transaction.read("summaries", "4")
                transaction.used("summaries", ("5",))
        with opened(file, limit=self.LIMIT) as store:
            self.put(store, range(100, 250))
        assert self.kept(file) & set(range(60)) == {1, 2, 3, 4, 5}

    def test_use_is_written_down_once_a_day(self, file: Path, at_day: Callable[[int], None]) -> None:
        def days() -> dict[bytes, int]:
            with sqlite3.connect(file) as connection:
                return dict(connection.execute("SELECT key, day FROM summaries"))

        def use() -> int:
            before = days()
            with opened(file) as store:
                store.read("summaries", "1")
                with store.transaction():
                    pass
            return sum(day != before[key] for key, day in days().items())

        with opened(file) as store:
            self.put(store, range(3))
        assert use() == 0
        at_day(3)
        assert [use(), use()] == [1, 0]

    def test_some_tables_are_whole_or_not_at_all(self, file: Path) -> None:
        with opened(file, limit=self.LIMIT, evictable=("summaries",)) as store:
            with store.transaction() as transaction:
                transaction.put_many("words", {str(key): bytes(1_000) for key in range(900)})
            self.put(store, range(300))
            assert len(list(store.rows("words"))) == 900
            assert 0 < len(list(store.rows("summaries"))) < 200
            with pytest.raises(StoreError, match="more than 2,000,000 bytes"), store.transaction() as transaction:
                transaction.put_many("words", {str(key): bytes(1_000) for key in range(2_000)})
            assert len(list(store.rows("words"))) == 900

    def test_more_than_there_is_room_for_is_not_piled_up(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tables, "BATCH", 500_000)
        with opened(file, limit=self.LIMIT) as store, store.transaction() as transaction:
            transaction.put_many("summaries", {str(key): bytes(9_000) for key in range(2_000)})
            assert len(list(transaction.rows("summaries"))) < 300
        assert max(self.kept(file)) == 1_999
        assert file.stat().st_size <= self.LIMIT

    def test_a_store_that_nobody_uses_is_removed_when_another_is_written(self, tmp_path: Path) -> None:
        names = (f"store-{'d' * 16}-0.sqlite", STORE, f"store-{'a' * 16}-1.sqlite", "other.sqlite")
        for name in names:
            filled(tmp_path / name)
        for name in names:
            for path in tmp_path.glob(f"{name}*"):
                os.utime(path, (0, 0) if name != names[2] else None)
        books = [tmp_path / f"0.1.0-cpython-311-{digit * 32}.cache" for digit in "01"]
        for book in books:
            book.touch()
        os.utime(books[0], (0, 0))
        with opened(tmp_path / names[1]) as store, store.transaction():
            pass
        assert {path.name for path in tmp_path.glob("*.sqlite*")} >= set(names[1:])
        assert not list(tmp_path.glob(f"{names[0]}*"))
        assert list(tmp_path.glob("*.cache")) == books[1:]

    def test_a_store_that_is_only_read_is_used(self, file: Path) -> None:
        filled(file)
        os.utime(file, (0, 0))
        opened(file).read("words", "word 1")
        assert file.stat().st_mtime > time.time() - DAY


class TestWhereItLies:
    """The file of a project."""

    def test_projects_that_share_a_folder_share_no_file(self, tmp_path: Path) -> None:
        from forklint.config import SettingsFinder

        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "pyproject.toml").touch()
        own = SettingsFinder().for_file(tmp_path / "one/x.py")
        shared = SettingsFinder({"cache_dir": str(tmp_path / "kept")}).for_file(tmp_path / "one/x.py")

        def extent(name: str) -> Extent:
            return Extent(tmp_path / name, tmp_path / name, is_marked=name != ".")

        found = folder.store_of(extent("one"), own, "1")
        assert found is not None
        assert found.parent == tmp_path / "one" / NAME
        assert found != folder.store_of(extent("one"), own, "2"), "another Python, or another forklint"
        files = {folder.store_of(extent(name), shared, "1") for name in ("one", "two")}
        assert len(files) == 2
        assert {path.parent for path in files if path} == {tmp_path / "kept"}
        assert all(folder.STORE.fullmatch(path.name) for path in files if path)
        assert folder.store_of(extent("."), own, "1") is None

    def test_where_processes_share_no_memory_there_is_no_log(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(disk, "is_local", lambda _: False)
        with opened(file) as store, store.transaction():
            pass
        with sqlite3.connect(file) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        TestOthers().test_nothing_is_lost(file, 3)

    def test_elsewhere_there_is(self, file: Path) -> None:
        filled(file)
        with sqlite3.connect(file) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


class TestClean:
    """``forklint clean``."""

    @pytest.fixture
    def project(self, tmp_path: Path) -> Path:
        (tmp_path / "pyproject.toml").touch()
        return tmp_path

    def test_it_removes_stores(self, forklint, project: Path) -> None:
        filled(project / NAME / STORE)
        for name in (f"store-{'b' * 16}-0.sqlite-wal", f"store-{'a' * 16}-3.sqlite-lock", f"{STORE}-shm"):
            (project / NAME / name).touch()
        assert forklint("clean", cwd=project).stdout == f"removed {NAME} (3 files)\n"
        assert not (project / NAME).exists()

    def test_it_leaves_what_is_not_its_own(self, forklint, project: Path) -> None:
        folder = f"store-{'c' * 16}-9.sqlite"
        others = {"store.sqlite", f"my-{STORE}", f"{STORE}.bak", "notes.cache", folder}
        filled(project / NAME / STORE)
        for name in others - {folder}:
            (project / NAME / name).touch()
        (project / NAME / folder).mkdir()
        assert forklint("clean", cwd=project).stdout == f"removed {NAME} (1 file)\n"
        assert {path.name for path in (project / NAME).iterdir()} == others

    def test_it_follows_no_link(self, forklint, project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        filled(elsewhere / STORE)
        filled(project / NAME / STORE)
        for name in (f"{OTHER}", f"{OTHER}-wal", f"{OTHER}-lock"):
            (project / NAME / name).symlink_to(elsewhere / STORE)
        assert forklint("clean", cwd=project).stdout == f"removed {NAME} (2 files)\n"
        assert len(list(opened(elsewhere / STORE).rows("words"))) == 400

    def test_it_leaves_what_is_in_use(self, forklint, project: Path) -> None:
        file = project / NAME / STORE
        filled(file)
        with opened(file) as store:
            store.read("words", "word 1")
            done = forklint("clean", cwd=project)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"Error: cannot remove {project / NAME}: it is in use by another run\n"
            assert store.read("words", "word 2") == b"2"
        assert forklint("clean", cwd=project).returncode == 0


def git(*arguments: str, cwd: Path) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


class TestGit:
    """A store that came with a repository is not read: who made it may want to hide something."""

    @pytest.fixture(params=[(), ("index.version=4",), ("core.splitIndex=true",), ("sha256",)])
    def repository(self, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
        path = tmp_path / "repository"
        (path / "pkg/deep").mkdir(parents=True)
        git("init", "-q", *(["--object-format=sha256"] if request.param == ("sha256",) else []), ".", cwd=path)
        for setting in request.param:
            if "=" in setting:
                git("config", *setting.split("="), cwd=path)
        for number in range(50):
            (path / f"pkg/file{number}.py").touch()
        (path / "later.py").touch()
        git("add", "pkg", cwd=path)
        git("add", "--intent-to-add", "later.py", cwd=path)
        git("commit", "-q", "-m", "first", cwd=path)
        return path

    def told(self, file: Path) -> list[str]:
        told: list[str] = []
        with opened(file, told.append) as store:
            read = store.read("words", "word 1")
            assert read == (None if told else b"1")
            if told:
                before = [path.read_bytes() for path in file.parent.iterdir()]
                with pytest.raises(StoreError, match="tracked by git"), store.transaction():
                    pass
                assert before == [path.read_bytes() for path in file.parent.iterdir()]
        return told

    @pytest.mark.parametrize("below", [".", "pkg/deep"])
    @pytest.mark.parametrize("name", [STORE, "store-0123456789abcdef-1.sqlite-wal"])
    def test_tracked(self, repository: Path, below: str, name: str) -> None:
        file = repository / below / NAME / STORE
        filled(file)
        assert self.told(file) == []
        file.with_name(name).touch()
        git("add", "--force", str(file.with_name(name)), cwd=repository)
        (line,) = self.told(file)
        assert line == f"{file} is tracked by git, so it is not used"
        git("commit", "-q", "-m", "second", cwd=repository)
        assert self.told(file) == [line]
        git("rm", "-q", "--cached", str(file.with_name(name)), cwd=repository)
        assert self.told(file) == []

    def test_in_a_work_tree_of_its_own(self, repository: Path) -> None:
        git("worktree", "add", "-q", "../other", cwd=repository)
        files = [path / NAME / STORE for path in (repository, repository.parent / "other")]
        for file in files:
            filled(file)
        git("add", "--force", NAME, cwd=files[1].parent.parent)
        assert [len(self.told(file)) for file in files] == [0, 1]

    def test_another_of_that_name(self, repository: Path) -> None:
        files = [repository / below / NAME / STORE for below in (".", "pkg", "pkg/deep")]
        for file in files:
            filled(file)
        git("add", "--force", str(files[1]), cwd=repository)
        assert [len(self.told(file)) for file in files] == [0, 1, 0]

    def test_one_that_was_removed_is_not_written(self, repository: Path) -> None:
        file = repository / NAME / STORE
        filled(file)
        git("add", "--force", NAME, cwd=repository)
        file.unlink()
        with pytest.raises(StoreError, match="tracked by git"), opened(file).transaction():
            pass
        assert not file.exists()

    def test_in_letters_of_another_case(self, repository: Path) -> None:
        """To some file systems that is the same name."""
        file = repository / NAME / STORE
        filled(file)
        other = repository / NAME.upper() / STORE.upper()
        other.parent.mkdir(exist_ok=True)
        other.touch()
        git("add", "--force", str(other), cwd=repository)
        assert len(self.told(file)) == 1

    def test_an_index_that_cannot_be_read(self, repository: Path) -> None:
        file = repository / NAME / STORE
        filled(file)
        (repository / ".git/index").write_bytes(b"DIRC\0\0\0\7 of a later time")
        assert len(self.told(file)) == 1

    def test_a_project_without_git(self, tmp_path: Path) -> None:
        filled(tmp_path / STORE)
        assert self.told(tmp_path / STORE) == []
