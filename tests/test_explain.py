"""The command ``forklint explain``, run on logs, statuses and messages as people have them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hazards import HAZARD

from forklint.crashes.hypotheses import explain
from forklint.crashes.reading import BLOCK, MOST_PLACES, LogReader

PICKLING = """\
Traceback (most recent call last):
  File "/home/me/project/words.py", line 7, in __init__
    self.env = lmdb.open(root, readonly=True)
TypeError: cannot pickle 'Environment' object
"""
WORKER = "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Segmentation fault."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one finding of FKL301, in line 7."""
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "words.py").write_text(HAZARD)
    return tmp_path


def test_a_log_leads_to_the_finding_and_to_the_commands(forklint, project: Path) -> None:
    (project / "crash.log").write_text(f"epoch 1\n{PICKLING}")
    done = forklint("explain", "crash.log", cwd=project)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "A dataset is sent to a spawned worker with an open LMDB environment in it."
    assert lines[1] == "  > crash.log:5: TypeError: cannot pickle 'Environment' object"
    assert any(line.startswith("  FKL301 handle-in-init  A dataset opens a file") for line in lines)
    assert any(line.startswith("  words.py:7:9: FKL301 `self.env` ") for line in lines)
    assert "    (the traceback goes through this file)" in lines
    assert "Prove it: forklint verify words.py --select FKL301" in lines
    assert "Fix it:   forklint words.py --select FKL301 --fix" in lines


def test_the_commands_that_it_prints_work(forklint, project: Path) -> None:
    (project / "crash.log").write_text(PICKLING)
    told = json.loads(forklint("explain", "crash.log", "--output-format", "json", cwd=project).stdout)
    prove, fix = (told["commands"][name].split()[1:] for name in ("prove", "fix"))
    planned = forklint(*prove, "--plan", cwd=project)
    assert planned.returncode == 0
    assert planned.stdout.startswith("FKL301 words.py:7\n")
    assert forklint(*fix, cwd=project).returncode == 0
    assert forklint("explain", "crash.log", cwd=project).returncode == 0, "known, and no finding fits any more"


@pytest.mark.parametrize("word", ["-11", "139", "segv", "-1073741819"])
def test_a_status_or_a_signal_is_explained(forklint, project: Path, word: str) -> None:
    done = forklint("explain", word, cwd=project)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("A process used memory that is not its own")
    assert "words.py:7:9: FKL301" in done.stdout


def test_a_status_may_stand_beside_options_and_paths(forklint, project: Path) -> None:
    (project / "other").mkdir()
    done = forklint("explain", "--output-format", "json", "-11", "--", "other", cwd=project)
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, [])
    assert forklint("explain", "-x", cwd=project).returncode == 2


def test_a_message_in_quotes_and_standard_input(forklint, project: Path) -> None:
    quoted = forklint("explain", WORKER, cwd=project)
    piped = forklint("explain", cwd=project, input=WORKER)
    named = forklint("explain", "-", cwd=project, input=WORKER)
    assert (quoted.returncode, piped.returncode, named.returncode) == (1, 1, 1)
    assert piped.stdout == named.stdout == quoted.stdout.replace("> Runtime", "> <stdin>:1: Runtime")


def test_json_has_all_of_it(forklint, project: Path) -> None:
    done = forklint("explain", WORKER, "--output-format", "json", cwd=project)
    told = json.loads(done.stdout)
    assert told["seen"][0]["name"] == "worker-segmentation-fault"
    assert told["seen"][0]["source"].startswith("torch 2.13.0")
    assert told["hypotheses"][0]["code"] == "FKL301"
    assert told["findings"][0]["location"] == {"row": 7, "column": 9}
    assert set(told["commands"]) == {"prove", "fix"}


def test_a_log_that_fits_nothing_is_answered_honestly(forklint, project: Path) -> None:
    done = forklint("explain", cwd=project, input="epoch 1\nValueError: shapes differ\n")
    assert done.returncode == 3
    assert done.stdout.startswith("Nothing in it (2 lines) is a message of worker processes that forklint knows.")
    assert "forklint doctor -- COMMAND" in done.stdout
    assert "FKL301" not in done.stdout
    own = forklint("explain", "1", cwd=project)
    assert own.returncode == 3
    assert own.stdout.startswith("1 is an exit code of the program itself")


@pytest.mark.parametrize(
    ("word", "words"), [("none.log", "no such file, exit status or signal"), (".", "Is a directory")]
)
def test_what_cannot_be_read_is_one_line(forklint, project: Path, word: str, words: str) -> None:
    done = forklint("explain", word, cwd=project)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert words in done.stderr


def test_no_escape_sequence_reaches_the_terminal(forklint, project: Path) -> None:
    log = (
        b"\x1b]0;title\x07\x1b[31mRuntimeError\x1b[0m: DataLoader worker (pid 1) "
        b"is killed by \x1b[1msignal: Bus error\xff\x9b5n\x08\x1b"
    )
    (project / "crash.log").write_bytes(log)
    done = forklint("explain", "crash.log", cwd=project)
    assert done.stdout.startswith("A DataLoader worker was killed by a bus error")
    assert not [char for char in done.stdout if ord(char) < 32 and char != "\n"]
    assert not [char for char in done.stdout if 0x7F <= ord(char) < 0xA0]
    as_json = forklint("explain", "crash.log", "--output-format", "json", cwd=project).stdout
    assert as_json.isascii()
    assert "\x1b" not in as_json


def test_a_log_of_windows_powershell(forklint, project: Path) -> None:
    (project / "crash.log").write_bytes(PICKLING.replace("\n", "\r\n").encode("utf-16"))
    done = forklint("explain", "crash.log", cwd=project)
    assert "crash.log:4: TypeError: cannot pickle 'Environment' object" in done.stdout


def test_the_finding_on_the_way_of_the_traceback_comes_first(forklint, project: Path) -> None:
    (project / "another.py").write_text(HAZARD.replace("lmdb.open(root, readonly=True)", "open(root)"))
    (project / "crash.log").write_text(PICKLING)
    told = json.loads(forklint("explain", "crash.log", "--output-format", "json", cwd=project).stdout)
    assert [Path(one["filename"]).name for one in told["findings"]] == ["words.py", "another.py"]
    assert told["findings"][0]["because"] == [
        "the traceback goes through this file",
        "the message is about lmdb, and so is this line",
    ]


def test_a_message_that_names_its_cause_rules_out_what_only_an_ending_speaks_for() -> None:
    reader = LogReader()
    reader.feed(b"h5py objects cannot be pickled\nexit code 139\n")
    assert [one.code for one in explain(reader.end()).hypotheses] == ["FKL301"]


@pytest.mark.parametrize("size", [1, 7, 4096, BLOCK])
def test_where_a_stream_is_cut_makes_no_difference(size: int) -> None:
    log = (
        "a line\r\n" * 50 + "50%\r100%\r\n" + f"\x1b[31m{WORKER}\x1b[0m\n" + PICKLING + "é" * 5000 + "\nKilled"
    ).encode()
    whole, cut = LogReader(), LogReader()
    whole.feed(log)
    for start in range(0, len(log), size):
        cut.feed(log[start : start + size])
    one, other = whole.end(), cut.end()
    assert [(sign.crash.name, sign.text) for sign in one.signs] == [
        (sign.crash.name, sign.text) for sign in other.signs
    ]
    assert [sign.crash.name for sign in one.signs] == ["worker-segmentation-fault", "lmdb-not-picklable", "killed"]
    assert one.places == other.places


LARGE = """
import sys
from forklint.crashes.reading import LogReader
reader = LogReader()
block = {piece} * ((1 << 20) // len({piece}))
for number in range({number}):
    reader.feed(block)
reader.feed(b"\\nKilled\\n")
most = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print([sign.crash.name for sign in reader.end().signs], most)
"""


@pytest.mark.parametrize("piece", [b"x", b"Killed by\n", b"segfault at ", b"\x1b[31m", b"\r", b'File "'])
def test_memory_is_bounded_whatever_the_log(piece: bytes) -> None:
    """Some megabytes of the worst there is; a log of 100 MB is read in the soak tests."""
    assert largest(piece, 4) < 60_000


@pytest.mark.soak
def test_a_log_of_100_mb_is_read_in_bounded_memory() -> None:
    assert largest(b"2026-11-22 12:00:00,123 INFO trainer: epoch 3 step 4242 loss 0.1234 lr 1e-4\n", 100) < 60_000


def largest(piece: bytes, number: int) -> int:
    """KiB that a process takes at most which reads so many megabytes of such a log.

    ``ru_maxrss`` would count what the tests themselves take, from which the process is forked.
    """
    program = LARGE.format(number=number, piece=repr(piece))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    names, _, memory = done.stdout.strip().rpartition(" ")
    assert "killed" in names
    return int(memory)


def test_places_are_bounded_and_the_last_ones_are_kept() -> None:
    reader = LogReader()
    reader.feed(b"".join(b'  File "a%d.py", line 3, in f\n' % number for number in range(3 * MOST_PLACES)))
    places = reader.end().places
    assert len(places) == MOST_PLACES
    assert places[-1].file == f"a{3 * MOST_PLACES - 1}.py"


def test_what_is_repeated_hides_nothing() -> None:
    reader = LogReader()
    reader.feed(b"health check: status=200\n" * 40_000 + b"job ended: status=139\n" + b"health check: status=200\n" * 9)
    assert [(sign.crash.name, sign.line) for sign in reader.end().signs] == [("segmentation-fault", 40_001)]


def test_stacks_of_py_spy_are_read(forklint, project: Path) -> None:
    stacks = (
        'Process 4242: python train.py\nPython v3.11.7 (/usr/bin/python3.11)\n\nThread 4242 (idle): "MainThread"\n'
        "    poll (multiprocessing/popen_fork.py:27)\n    wait (multiprocessing/popen_fork.py:43)\n"
        "    main (train.py:12)\nThread 4243 (idle)\n    acquire (threading.py:168)\n    __getitem__ (words.py:13)\n"
    )
    done = forklint("explain", cwd=project, input=stacks)
    assert done.stdout.startswith("A process waits for a lock of Python")
    assert "words.py:7:9: FKL301" in done.stdout
    assert "(the traceback goes through this file)" in done.stdout


def test_nothing_of_the_project_is_run(forklint, project: Path) -> None:
    (project / "words.py").write_text("raise SystemExit(9)\n" + HAZARD)
    assert forklint("explain", "-11", cwd=project).returncode == 1


def test_help_tells_the_exit_codes(forklint, tmp_path: Path) -> None:
    text = " ".join(forklint("explain", "--help", cwd=tmp_path).stdout.split())
    assert "Exits with 0 if the crash is known and no finding fits, 1 if a finding fits, 2 on an error, 3" in text
