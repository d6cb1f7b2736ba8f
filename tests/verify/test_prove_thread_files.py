"""FKL305 proved: threads that cross in one file are seen; for a mapped file they are counted, the rest needs a Mac."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from needed import need_torch

need_torch()

FIXTURES = Path(__file__).parent.parent / "fixtures" / "FKL305_threads_share_memmap"
SLOW_RECORDS = """import time
from forklint_harness import journal

waits, quick = iter([0.05, 0.5]), journal.record

def record(kind, **facts):
    time.sleep(next(waits, 0) if kind == "writes" else 0)
    quick(kind, **facts)

journal.record = record
"""
A_WHILE = '__import__("time").sleep(0.002)'  # in each task: else one thread may be done before another wakes


@pytest.fixture
def verdicts(command, tmp_path: Path):
    def run(text: str, *arguments: str) -> list[dict]:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "extract.py").write_text(text)
        words = ("verify", "extract.py", "--select", "FKL305", "--output-format", "json", *arguments)
        return json.loads(command(*words, cwd=tmp_path).stdout)["experiments"]

    return run


def text_of(name: str) -> str:
    return (FIXTURES / name).read_text()


def test_a_shared_offset_is_confirmed(verdicts) -> None:
    (found,) = verdicts(text_of("bad_shared_offset.py"))
    assert found["verdict"] == "confirmed", found
    assert found["evidence"] == "at extract.py:19 a thread calls read() after another one called seek, in shard.bin"


def test_lines_of_one_text_file_are_not_reproduced(verdicts) -> None:
    found = verdicts(text_of("bad_log_of_tasks.py").replace('f"a picture', f'{A_WHILE} or f"a picture'))
    assert found[0]["verdict"] == "not reproduced", found
    assert "threads use captions.tsv; no lines mixed up" in found[0]["evidence"]


@pytest.mark.skipif(sys.platform == "darwin", reason="it is not unsupported there")
def test_the_threads_that_write_a_mapped_file_are_counted(verdicts) -> None:
    pytest.importorskip("numpy")
    text = text_of("bad_embeddings_by_futures.py").replace('"another page"', '*["a page"] * 100')
    (found,) = verdicts(text.replace("page.encode()", f"({A_WHILE} or page).encode()"))
    assert found["verdict"] == "unsupported here", found
    # how many of the pool's threads come to write is up to the scheduler
    assert re.fullmatch(r"needs darwin; here [2-9] threads write the mapped file at extract\.py:9", found["evidence"])


@pytest.mark.skipif(sys.platform == "darwin", reason="the program is not ended early there")
def test_the_program_is_not_ended_before_the_second_thread_is_recorded(verdicts) -> None:
    text = text_of("bad_embeddings_by_futures.py").replace("page.encode()", f"({A_WHILE} or page).encode()")
    (found,) = verdicts(SLOW_RECORDS + text.replace('"another page"', '*["a page"] * 8'))
    assert found["verdict"] == "unsupported here", found


def test_a_pool_that_hands_nothing_to_threads_is_refuted(verdicts, tmp_path: Path) -> None:
    """The rule cannot see it: another module has made the pool's map the plain one."""
    patch = "import concurrent.futures as c\nc.ThreadPoolExecutor.map = lambda self, *given: map(*given)\n"
    (tmp_path / "plain.py").write_text(patch)
    (found,) = verdicts("__import__('plain')\n" + text_of("bad_shared_offset.py"))
    assert (found["verdict"], found["evidence"]) == ("refuted", "only the main thread uses shard.bin"), found


def test_a_lock_out_of_sight_leaves_nothing_to_cross(verdicts, tmp_path: Path) -> None:
    lock = "import threading\nlock = threading.Lock()\ndef one(function):\n    def run(*given):\n"
    (tmp_path / "alone.py").write_text(
        lock + "        with lock:\n            return function(*given)\n    return run\n"
    )
    text = text_of("bad_shared_offset.py").replace("pool.map(read,", "pool.map(__import__('alone').one(read),")
    assert verdicts(text) == []  # the rule does not follow it
    text = text_of("bad_shared_offset.py").replace("    def read(", "    @__import__('alone').one\n    def read(")
    (found,) = verdicts(text)
    assert found["verdict"] == "not reproduced", found


def test_a_module_that_no_script_reaches_is_no_answer(verdicts) -> None:
    (found,) = verdicts(text_of("bad_builder_method.py"))
    assert found["verdict"] == "inconclusive"
