"""What was read from files is kept, and takes less memory while nobody needs it."""

from __future__ import annotations

from pathlib import Path

from forklint.project.contents import Contents

DATA = b"def f(one, two):\n    return one + two\n" * 100
ONE, TWO, THREE = Path("one.py"), Path("two.py"), Path("three.py")


def test_what_is_not_needed_is_packed_and_read_as_before() -> None:
    contents = Contents()
    assert contents.add(ONE, DATA)
    assert contents.add(TWO, DATA + b"2")
    assert contents.size == 2 * len(DATA) + 1
    contents.pack({TWO})
    assert len(DATA) < contents.size < 1.2 * len(DATA)
    assert (contents.get(ONE), contents.get(TWO), contents.get(THREE)) == (DATA, DATA + b"2", None)
    contents.pack({TWO})
    assert contents.get(ONE) == DATA, "nothing is packed twice"


def test_what_was_read_first_is_kept_and_new_files_come_last() -> None:
    contents = Contents()
    contents.add(TWO, DATA)
    contents.pack(())
    assert not contents.add(TWO, b"another")
    assert contents.get(TWO) == DATA
    contents.add(ONE, b"")
    assert (list(contents), len(contents), ONE in contents, THREE in contents) == ([TWO, ONE], 2, True, False)
