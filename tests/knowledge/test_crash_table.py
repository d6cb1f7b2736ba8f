"""The table of crashes: what stands in it holds together, and a wrong row is named."""

from __future__ import annotations

import time
from typing import Any

import pytest

from forklint.crashes.log_lines import LONGEST
from forklint.knowledge.crashes import Crash, CrashTableError, Ending, crashes, read
from forklint.rules import registry

ROWS = [*crashes().rows, *crashes().endings]
ROW = {
    "name": "a-row",
    "find": ["some text"],
    "specificity": "area",
    "means": "It means this.",
    "rules": ["FKL301"],
    "do": "Do that.",
    "source": "torch 2.13.0",
}


def test_there_are_enough_rows_and_their_rules_exist() -> None:
    assert len(crashes().rows) >= 60
    codes = registry.codes().keys()
    assert {code for row in crashes().rows for code in row.rules} <= codes
    silent = {"FKL001", "FKL002"}
    missing = codes - silent - {code for row in crashes().rows for code in row.rules}
    assert not missing, "no crash leads to these rules"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_pattern_takes_long(row: Crash | Ending) -> None:
    """Lines are cut to ``LONGEST`` before a pattern sees them; each is made to begin often and never to end."""
    for text in row.text.find:
        for piece in (text, f"{text} ", f" {text}(", f"{text}: ", f'{text}", line 1 in ', "4242 ", "a" * 50, "[1] "):
            line = (text + piece * LONGEST)[:LONGEST]
            began = time.process_time()
            row.text.match(line)
            assert time.process_time() - began < 0.1, piece


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "A Row"}, "no name of a row"),
        ({"find": []}, "either `find` or `signal`"),
        ({"signal": "SIGSEGV"}, "either `find` or `signal`"),
        ({"find": ["ab"]}, "four characters"),
        ({"pattern": "("}, "`pattern`"),
        ({"specificity": "much"}, "`specificity` is one of"),
        ({"system": "beos"}, "`system` is one of"),
        ({"rules": ["E501"]}, "no code of a rule"),
        ({"source": ""}, "it needs `source`"),
        ({"colour": "red"}, "unknown key `colour`"),
    ],
)
def test_a_wrong_row_is_named(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(CrashTableError, match=words):
        read({"crash": [ROW | changed], "ending": []})


def test_a_name_stands_once() -> None:
    with pytest.raises(CrashTableError, match="twice"):
        read({"crash": [ROW, ROW], "ending": []})


def test_an_ending_tells_a_signal() -> None:
    ending = {"name": "an-ending", "find": ["some text"], "pattern": "some (text)", "source": "bash 5.2"}
    with pytest.raises(CrashTableError, match="an-ending"):
        read({"crash": [ROW], "ending": [ending]})
    assert read({"crash": [ROW], "ending": [ending | {"signal": "SIGSEGV"}]}).endings[0].signal == "SIGSEGV"
