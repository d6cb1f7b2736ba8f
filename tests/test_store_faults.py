"""Whatever is wrong with a store costs time, and nothing else: no wrong row, no error but StoreError, no waiting."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from store_runs import filled, opened, ran, started

from forklint.store import folder
from forklint.store.database import Store, StoreError
from forklint.store.folder import NAME

NOT_WRITTEN = r"^\S+ cannot be (written|opened): .+$"
ENDS = ("", "-wal", "-shm", "-journal", "-lock")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / NAME / "store-0123456789abcdef-1.sqlite"


def beside(file: Path, end: str) -> Path:
    return file.with_name(file.name + end)


def read(store: Store) -> dict[str, bytes]:
    """All that is in the table ``summaries``, in both ways of reading."""
    rows = dict(store.rows("summaries"))
    many = store.read_many("summaries", (f"key {number}" for number in range(100)))
    assert many.items() <= rows.items() or not store.intact
    return {**rows, **many}


def check_recovery(file: Path, possible: dict[str, set[bytes]]) -> list[str]:
    """Read and write a store that may be damaged; give what was told of it.

    What is read must be ``possible``. Each transaction may fail, but not the one that follows it.
    """
    told: list[str] = []
    with opened(file, told.append) as store:
        for key, value in read(store).items():
            assert value in possible[key]
        with contextlib.suppress(StoreError), store.transaction() as transaction:
            transaction.put_many("summaries", dict.fromkeys(possible, b"anew" * 1000))
    assert len(told) <= 1
    try:
        with opened(file, told.append) as store, store.transaction() as transaction:
            transaction.put("words", "later", b"1")
    except StoreError:
        with opened(file) as store, store.transaction() as transaction:
            transaction.put("words", "later", b"1")
    with opened(file) as store:
        assert store.read("words", "later") == b"1"
        assert set(read(store).values()) <= {b"anew" * 1000}
        assert store.intact
    return told


class TestDamage:
    """Files that are not as they were written."""

    @pytest.fixture
    def possible(self, file: Path) -> dict[str, set[bytes]]:
        """Fill a store of which a part is in the log only, as a run leaves it that is killed; what may be read."""
        rows = {key: {value} for key, value in filled(file).items()}
        code = """
with store.transaction() as transaction:
    transaction.put_many("summaries", {f"key {number}": b"new" * 300 for number in range(0, 100, 3)})
os.kill(os.getpid(), signal.SIGKILL)
"""
        started(file, code).wait()
        assert beside(file, "-wal").stat().st_size > 10_000
        for number in range(0, 100, 3):
            rows[f"key {number}"].add(b"new" * 300)
        return rows

    def harm(
        self, file: Path, possible: dict[str, set[bytes]], change: Callable[[bytearray, random.Random], object]
    ) -> int:
        """Change the file, or the log beside it, in many ways; in how many of them it was noticed."""
        states = {end: beside(file, end).read_bytes() for end in ("", "-wal")}
        dice, told = random.Random(0), 0
        for turn in range(30):
            for end in ENDS:
                beside(file, end).unlink(missing_ok=True)
            target = ("", "-wal")[turn % 2]
            for end, state in states.items():
                data = bytearray(state)
                if end == target:
                    change(data, dice)
                if end <= target:  # what is in the log hides what is in the file
                    beside(file, end).write_bytes(data)
            told += len(check_recovery(file, possible))
        return told

    def test_flipped_bits(self, file: Path, possible: dict[str, set[bytes]]) -> None:
        def flip(data: bytearray, dice: random.Random) -> None:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)

        assert self.harm(file, possible, flip) > 5

    def test_garbage(self, file: Path, possible: dict[str, set[bytes]]) -> None:
        def spoil(data: bytearray, dice: random.Random) -> None:
            place = dice.randrange(len(data))
            data[place : place + 500] = dice.randbytes(500)

        assert self.harm(file, possible, spoil) > 5

    def test_zeros(self, file: Path, possible: dict[str, set[bytes]]) -> None:
        def clear(data: bytearray, dice: random.Random) -> None:
            place = dice.randrange(len(data))
            data[place : place + 4096] = bytes(4096)

        assert self.harm(file, possible, clear) > 5

    def test_files_cut_short(self, file: Path, possible: dict[str, set[bytes]]) -> None:
        def cut(data: bytearray, dice: random.Random) -> None:
            del data[dice.randrange(len(data)) :]

        assert self.harm(file, possible, cut) > 5

    def test_headers(self, file: Path, possible: dict[str, set[bytes]]) -> None:
        """Among them one that says that this SQLite may only read the file."""

        def spoil(data: bytearray, dice: random.Random) -> None:
            data[dice.randrange(100)] = dice.randrange(256)

        assert self.harm(file, possible, spoil) > 3

    def test_a_header_that_forbids_writing(self, file: Path) -> None:
        rows = filled(file)
        data = bytearray(file.read_bytes())
        assert data[18] == 2, "the version of the log, of which SQLite writes none that it does not know"
        data[18] = 3
        file.write_bytes(data)
        check_recovery(file, {key: {value} for key, value in rows.items()})

    @pytest.mark.parametrize("data", [b"", b"\n", b"no database\n" * 1000, bytes(100_000)])
    def test_another_file(self, file: Path, data: bytes) -> None:
        file.parent.mkdir()
        file.write_bytes(data)
        told = check_recovery(file, {"key 1": set()})
        assert told == ([f"{file} is damaged"] if len(data) > 100 else [])

    def test_the_log_of_another_store(self, file: Path, possible: dict[str, set[bytes]]) -> None:
        other = file.with_name("store-fedcba9876543210-1.sqlite")
        filled(other)
        shutil.copy(beside(file, "-wal"), beside(other, "-wal"))
        check_recovery(other, possible)

    def test_damage_while_it_is_open(self, file: Path) -> None:
        rows, told = filled(file), list[str]()
        with opened(file, told.append) as store:
            assert store.read("words", "word 1") == b"1"
            data = file.read_bytes()
            place = data.index(rows["key 99"][:1000])
            with file.open("r+b") as stream:
                stream.seek(place)
                stream.write(b"?")
            assert store.read("summaries", "key 99") is None
            assert not store.intact
            assert store.read("words", "word 1") is None, "nothing is trusted any more"
        assert told == [f"{file} is damaged"]

    def test_damage_that_a_transaction_meets(self, file: Path) -> None:
        rows = filled(file)
        data = file.read_bytes()
        file.write_bytes(data.replace(rows["key 99"][:1000], b"?" * 1000, 1))
        told: list[str] = []

        def write() -> None:
            with opened(file, told.append) as store, store.transaction() as transaction:
                transaction.put("words", "new", transaction.read("summaries", "key 99") or b"none")

        with pytest.raises(StoreError, match="is damaged"):
            write()
        assert told == [f"{file} is damaged"]
        write()
        assert list(opened(file).rows("words")) == [("new", b"none")], "it was made anew"

    def test_a_damaged_store_stays_while_others_use_it(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from forklint.store import database

        rows, told = filled(file), list[str]()
        monkeypatch.setattr(database, "PATIENCE", 0.1)
        with opened(file) as other:
            assert other.read("words", "word 1") == b"1"
            file.write_bytes(file.read_bytes().replace(rows["key 99"][:1000], b"?" * 1000, 1))
            with opened(file, told.append) as store:
                assert store.read("summaries", "key 99") is None
                with pytest.raises(StoreError, match="in use by another run"), store.transaction():
                    pass
        check_recovery(file, {key: {value} for key, value in rows.items()})


class TestHostile:
    """Files that somebody made in order to do harm, or to mislead."""

    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TRIGGER t AFTER INSERT ON words BEGIN DELETE FROM summaries; END",
            "CREATE TABLE more (key)",
            "CREATE INDEX more ON words (value)",
            "ALTER TABLE words ADD COLUMN more",
            "DROP TABLE words",
            "DROP TABLE words; CREATE VIEW words AS SELECT key, day, sum, value FROM summaries",
            "PRAGMA user_version = 99",
            "PRAGMA application_id = 99",
            "DELETE FROM about",
        ],
    )
    def test_another_schema(self, file: Path, statement: str) -> None:
        rows = filled(file)
        with sqlite3.connect(file) as connection:
            connection.executescript(statement)
        (line,) = check_recovery(file, {key: set() for key in rows})
        assert str(file) in line

    @pytest.mark.parametrize(
        "change",
        [
            "value = 7",
            "value = 'text'",
            "value = 1.5",
            "value = zeroblob(65000000)",
            "value = CAST(replace(hex(zeroblob(35000000)), '00', '--') AS TEXT)",
            "key = 'text'",
            "key = 7",
            "sum = 'text'",
            "sum = NULL, value = x''",
            "sum = sum + 1",
            "day = 'text'",
            "key = x'ff'",
            "key = CAST('key 98' AS BLOB)",
        ],
    )
    def test_rows_of_another_kind(self, file: Path, change: str) -> None:
        rows = filled(file)
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("DELETE FROM summaries WHERE key = CAST('key 98' AS BLOB)")
            try:
                connection.execute(f"UPDATE OR REPLACE summaries SET {change} WHERE key = CAST('key 99' AS BLOB)")
            except sqlite3.IntegrityError:
                connection.execute("UPDATE summaries SET sum = 0 WHERE key = CAST('key 99' AS BLOB)")
        connection.close()
        assert check_recovery(file, {key: {value} for key, value in rows.items()}) == [f"{file} is damaged"]

    def test_a_row_of_another_table_or_key(self, file: Path) -> None:
        filled(file)
        with sqlite3.connect(file) as connection:
            connection.execute("INSERT INTO words SELECT * FROM summaries WHERE key = CAST('key 9' AS BLOB)")
        connection.close()
        told: list[str] = []
        assert opened(file, told.append).read("words", "key 9") is None
        assert told == [f"{file} is damaged"]

    @pytest.fixture
    def tree(self, file: Path) -> tuple[bytearray, int]:
        """A file of which one table is a tree of three levels, and where its root begins."""
        with opened(file) as store, store.transaction() as transaction:
            transaction.put_many("words", {f"{number:06}": bytes(60) for number in range(40_000)})
        with sqlite3.connect(file) as connection:
            (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'words'").fetchone()
        connection.close()
        return bytearray(file.read_bytes()), (root - 1) * 4096

    def children(self, data: bytearray, page: int) -> list[int]:
        """Where an inner page of a tree says which pages are below it."""
        assert data[page] == 5, "an inner page of a table"
        cells = int.from_bytes(data[page + 3 : page + 5], "big")
        places = (page + 12 + 2 * cell for cell in range(cells))
        return [page + int.from_bytes(data[place : place + 2], "big") for place in places]

    def page_at(self, data: bytearray, place: int) -> int:
        return (int.from_bytes(data[place : place + 4], "big") - 1) * 4096

    def test_a_tree_without_an_end(self, file: Path, tree: tuple[bytearray, int]) -> None:
        data, root = tree
        for place in self.children(data, root):
            data[place : place + 4] = (root // 4096 + 1).to_bytes(4, "big")
        file.write_bytes(data)
        assert ran(file, "print(len(list(store.rows('words'))), len(told))") == "0 1\n"

    def test_a_tree_of_which_all_branches_are_one(self, file: Path, tree: tuple[bytearray, int]) -> None:
        """It has millions of rows, each of them as it was written."""
        data, root = tree
        inner = self.page_at(data, self.children(data, root)[0])
        data[root : root + 4096] = data[inner : inner + 4096]
        places = self.children(data, root)
        assert len(places) > 300
        for place in places:
            data[place : place + 4] = (inner // 4096 + 1).to_bytes(4, "big")
        file.write_bytes(data)
        assert ran(file, "print(len(list(store.rows('words'))), len(told))") == "0 1\n"

    @pytest.mark.parametrize("end", ENDS)
    @pytest.mark.parametrize("kind", ["link", "link to nowhere", "pipe", "folder"])
    def test_no_regular_file(self, file: Path, end: str, kind: str) -> None:
        """A link is not followed, nobody waits at a pipe, and a folder stays where it is."""
        rows = filled(file)
        target = beside(file, end)
        elsewhere = file.parent.parent / "elsewhere"
        target.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(target)
        elif kind == "folder":
            target.mkdir()
        else:
            target.symlink_to(elsewhere)
        if kind == "link":
            elsewhere.write_bytes(b"mine")
        code = """
read = store.read("words", "word 1")
try:
    with store.transaction() as transaction:
        transaction.put("words", "new", b"1")
    print(read, len(told), store.read("words", "new"))
except StoreError as error:
    print(read, len(told), "refused" if str(error) == told[0] else error)
"""
        assert ran(file, code) == ("None 1 refused\n" if kind == "folder" else "None 1 b'1'\n")
        assert elsewhere.exists() == (kind == "link")
        assert not elsewhere.exists() or elsewhere.read_bytes() == b"mine"
        assert target.is_dir() == (kind == "folder")
        assert rows

    def test_a_mark_that_is_a_link_is_not_followed(self, file: Path) -> None:
        file.parent.mkdir()
        (file.parent / "CACHEDIR.TAG").symlink_to("../elsewhere")
        filled(file)
        assert not (file.parent.parent / "elsewhere").exists()
        assert folder.is_cache(file.parent)

    def test_a_journal_that_names_another_file(self, file: Path) -> None:
        """SQLite would remove that file, as it removes the journal that a change of several files has in common."""
        victim, safe = file.parent.parent / "victim", file.with_name("safe.sqlite")
        code = """
import sqlite3
from forklint.store import disk
disk.is_local = lambda _: False
with store.transaction() as transaction:
    transaction.put_many("words", {str(number): bytes(1000) for number in range(1000)})
store.close()
connection = sqlite3.connect(file, isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN")
connection.execute("UPDATE words SET day = day + 1, value = zeroblob(2000)")
os.kill(os.getpid(), signal.SIGKILL)
"""
        started(file, code).wait()
        name = os.fsencode(victim)
        journal = beside(file, "-journal").read_bytes()
        assert len(journal) > 10_000
        record = (0x40000000 // 4096 + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big")
        record += sum(name).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7")
        for target in (file, safe):
            if target == safe:
                shutil.copy(file, safe)
            beside(target, "-journal").write_bytes(journal + bytes(-len(journal) % 512) + record)
        victim.write_bytes(b"mine")
        check_recovery(file, {})
        assert victim.read_bytes() == b"mine"
        with sqlite3.connect(safe) as connection:
            connection.execute("SELECT count(*) FROM words").fetchall()
        assert not victim.exists(), "else this shows nothing"


@contextmanager
def as_somebody() -> Iterator[None]:
    """Do without the rights of root, who may write anywhere."""
    user = os.geteuid()
    try:
        if user == 0:
            os.seteuid(65534)
        yield
    finally:
        os.seteuid(user)


class TestNoWriting:
    """Places that take nothing."""

    @pytest.fixture
    def shared(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:  # others may look into it
            Path(folder).chmod(0o755)
            yield Path(folder) / NAME / "store-0123456789abcdef-1.sqlite"

    def restrict(self, file: Path, mode: int) -> None:
        for path in file.parent.iterdir():
            path.chmod(mode & 0o666)
        file.parent.chmod(mode)

    @pytest.mark.parametrize("ends", [("-lock",), ()])
    def test_a_folder_that_is_read_only(self, shared: Path, ends: tuple[str, ...]) -> None:
        rows = filled(shared)
        for end in ends:
            beside(shared, end).unlink()
        self.restrict(shared, 0o555)
        with as_somebody(), opened(shared) as store:
            assert read(store) == rows
            with pytest.raises(StoreError, match=NOT_WRITTEN), store.transaction():
                pass
            assert read(store) == rows
        self.restrict(shared, 0o755)
        assert read(opened(shared)) == rows

    def test_a_folder_that_is_read_only_and_has_a_log(self, shared: Path) -> None:
        rows = filled(shared)
        code = "with store.transaction() as t: t.put('words', 'new', b'1')\nos.kill(os.getpid(), signal.SIGKILL)"
        started(shared, code).wait()
        beside(shared, "-shm").unlink()
        self.restrict(shared, 0o555)
        told: list[str] = []
        with as_somebody(), opened(shared, told.append) as store:
            assert read(store) in ({}, rows)
        self.restrict(shared, 0o755)
        assert opened(shared).read("words", "new") == b"1"

    def test_a_file_that_is_read_only(self, shared: Path) -> None:
        rows = filled(shared)
        self.restrict(shared, 0o444)  # its files belong to the user who runs this, unless that is root
        shared.parent.chmod(0o777)
        with as_somebody(), opened(shared) as store:
            assert read(store) == rows
            with pytest.raises(StoreError, match=NOT_WRITTEN), store.transaction() as transaction:
                transaction.put("words", "new", b"1")
        assert read(opened(shared)) == rows

    def test_a_file_of_somebody_else(self, shared: Path) -> None:
        filled(shared)
        shared.chmod(0)
        told: list[str] = []
        with as_somebody(), opened(shared, told.append) as store:
            if os.access(shared, os.R_OK, effective_ids=True):
                pytest.skip("everybody may read anything")
            assert read(store) == {}
            with pytest.raises(StoreError), store.transaction():
                pass
        assert len(told) == 1

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "taken").touch()
        store = opened(tmp_path / "taken" / "store-0123456789abcdef-1.sqlite")
        assert store.read("words", "one") is None
        with pytest.raises(StoreError, match=f"{tmp_path / 'taken'} cannot be written"), store.transaction():
            pass

    @pytest.mark.parametrize("size", [100, 3_000, 20_000, 60_000])
    @pytest.mark.parametrize("exists", [False, True])
    def test_files_that_cannot_grow(self, file: Path, size: int, exists: bool) -> None:
        rows = filled(file) if exists else {}
        code = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
before = dict(store.rows("summaries"))
try:
    with store.transaction() as transaction:
        transaction.put_many("summaries", {f"new {number}": os.urandom(9_000) for number in range(60)})
except StoreError as error:
    print("cannot be " in str(error), str(error).count("\\n"), len(before), told)
"""
        assert ran(file, code, size) == f"True 0 {len(rows)} []\n"
        assert read(opened(file)) == rows
        with opened(file) as store, store.transaction() as transaction:
            transaction.put("words", "new", b"1")
        assert opened(file).read("words", "new") == b"1"

    def test_a_full_disk(self, tmp_path: Path) -> None:
        mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", tmp_path]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("nothing may be mounted here")
        try:
            for filling in (0, 330_000, 380_000):
                (tmp_path / "filling").write_bytes(bytes(filling))
                self.fill_up(tmp_path / NAME / "store-0123456789abcdef-1.sqlite")
                shutil.rmtree(tmp_path / NAME)
        finally:
            subprocess.run(["umount", tmp_path], check=True)

    def fill_up(self, file: Path) -> None:
        def write() -> None:
            while True:
                with opened(file) as store, store.transaction() as transaction:
                    transaction.put("summaries", f"key {len(written)}", os.urandom(9_000))
                written.append(f"key {len(written)}")

        written: list[str] = []
        with pytest.raises(StoreError, match=NOT_WRITTEN):
            write()
        with opened(file) as store:
            assert sorted(dict(store.rows("summaries"))) == sorted(written)


class TestKilled:
    """Runs that end at any moment."""

    TURNS = """
with store.transaction() as transaction:
    turn = int(transaction.read("words", "turn") or 0)
while True:
    turn += 1
    with store.transaction() as transaction:
        transaction.put("words", "turn", b"%d" % turn)
        transaction.put_many("summaries", {f"key {n}": b"%d " % turn * (turn % 97) * n for n in range(50)})
    os.write(1, b"%d\\n" % turn)
"""

    def turn_of(self, file: Path) -> int:
        """The last turn, of which all must be there and nothing of the next."""
        with opened(file) as store:
            turn = int(store.read("words", "turn") or 0)
            rows = dict(store.rows("summaries"))
        assert rows == {f"key {number}": b"%d " % turn * (turn % 97) * number for number in range(50)} or not turn
        return turn

    def test_at_any_time(self, file: Path) -> None:
        dice = random.Random(0)
        for _ in range(6):
            before = self.turn_of(file)
            process = started(file, self.TURNS)
            assert process.stdout is not None
            assert process.stderr is not None
            with process.stdout as output, process.stderr as errors, process:
                lines = [output.readline()]
                time.sleep(dice.random() * 0.1)
                process.send_signal(signal.SIGKILL)
                lines += output  # communicate() would lose what was read ahead
                assert errors.read() == ""
            assert int(lines[0]) == before + 1
            assert self.turn_of(file) - int(lines[-1]) in {0, 1}

    @pytest.mark.parametrize("place", [0, 1, 7, 49])
    def test_within_a_transaction(self, file: Path, place: int) -> None:
        rows = filled(file)
        code = """
with store.transaction() as transaction:
    for number in range(50):
        if number == int(sys.argv[2]):
            os._exit(0)
        transaction.put("summaries", f"key {number}", os.urandom(90_000))
"""
        assert ran(file, code, place) == ""
        assert read(opened(file)) == rows

    @pytest.mark.skipif(not shutil.which("strace"), reason="strace is needed")
    @pytest.mark.parametrize("step", [pytest.param(11, id="some"), pytest.param(1, id="all", marks=pytest.mark.soak)])
    def test_at_any_call_of_the_system(self, file: Path, step: int) -> None:
        """From where there is no folder yet to the end of the second transaction."""
        calls = "pwrite64,write,fdatasync,fsync,ftruncate,unlink,mkdir,flock,utimensat,rename"
        code = """
for turn in (1, 2):
    with store.transaction() as transaction:
        transaction.put("words", "turn", b"%d" % turn)
        transaction.put_many("summaries", {f"key {n}": b"%d " % turn * (turn % 97) * n for n in range(50)})
store.close()
"""
        seen, place = set(), 1
        while True:
            kill = f"inject={calls}:signal=KILL:when={place}"
            before = ("strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={calls}", "-e", kill)
            process = started(file, code, before=before)
            _, errors = process.communicate(timeout=60)
            assert "Traceback" not in errors
            seen.add(self.turn_of(file))
            with opened(file) as store, store.transaction() as transaction:
                transaction.put("words", "later", b"1")
            with opened(file) as store:
                assert store.read("words", "later") == b"1"
            assert folder.remove(file.parent) == 1
            assert not file.parent.exists()
            if process.returncode == 0:
                break
            place += step
        assert seen == {0, 1, 2}
        assert place > 40


def test_a_limit_of_open_files(file: Path) -> None:
    """What passes is no reason to throw a store away."""
    rows = filled(file)
    code = """
import resource, sqlite3
import forklint.store.disk, forklint.source.digest
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
print(store.read("words", "word 1"), len(told), store.intact)
try:
    with store.transaction() as transaction:
        transaction.put("words", "new", b"1")
except StoreError as error:
    print(str(error).count("\\n"))
"""
    assert ran(file, code) == "None 1 False\n0\n"
    assert read(opened(file)) == rows
