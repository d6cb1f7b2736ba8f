"""What FKL305 says of threads and files, measured: an offset is shared, a text file tears, the rest comes out right."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

ROWS, SIZE, ROUNDS = 20_000, 16, 20
LINES = [b"%015d\n" % number for number in range(ROWS)]


@pytest.fixture(autouse=True)
def restless():
    """Threads change often, so that what is a matter of luck comes soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run(task) -> list:
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(task, range(ROWS)))


def test_a_read_after_a_seek_may_be_at_the_place_of_another(tmp_path) -> None:
    (tmp_path / "shard").write_bytes(b"".join(LINES))
    with (tmp_path / "shard").open("rb") as shard:

        def read(row):
            shard.seek(row * SIZE)
            return shard.read(SIZE)

        assert any(run(read) != LINES for _ in range(ROUNDS))


def test_a_write_after_a_seek_may_be_at_the_place_of_another(tmp_path) -> None:
    def wrong() -> bool:
        with (tmp_path / "shard").open("w+b") as shard:

            def write(row):
                shard.seek(row * SIZE)
                shard.write(LINES[row])

            run(write)
        return (tmp_path / "shard").read_bytes() != b"".join(LINES)

    assert any(wrong() for _ in range(ROUNDS))


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 writes text of threads whole, as measured")
def test_a_text_file_comes_out_torn(tmp_path) -> None:
    def torn() -> bool:
        with (tmp_path / "lines").open("w") as lines:
            run(lambda row: lines.write(f"{row} {'x' * 20}\n"))
        return set((tmp_path / "lines").read_bytes().splitlines()) != {
            b"%d %s" % (row, b"x" * 20) for row in range(ROWS)
        }

    assert any(torn() for _ in range(ROUNDS))


def test_whole_writes_to_a_binary_file_are_right(tmp_path) -> None:
    with (tmp_path / "lines").open("wb") as lines:
        run(lambda row: lines.write(LINES[row]))
    assert sorted((tmp_path / "lines").read_bytes().splitlines(keepends=True)) == LINES


@pytest.mark.skipif(sys.platform == "darwin", reason="that is where it ends with a bus error")
def test_rows_of_a_mapped_file_are_right(tmp_path) -> None:
    np = pytest.importorskip("numpy")
    rows = np.memmap(tmp_path / "rows", dtype=np.int64, mode="w+", shape=(ROWS,))
    run(lambda row: rows.__setitem__(row, row))
    assert (rows == np.arange(ROWS)).all()
