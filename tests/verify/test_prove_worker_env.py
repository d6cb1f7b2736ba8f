"""FKL205 proved: with the variable at true a worker that tokenizes a batch hangs, with false it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from needed import need_torch

need_torch()

pytest.importorskip("tokenizers", reason="needs the package tokenizers")

TRAIN = """
import os

from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader

os.environ["TOKENIZERS_PARALLELISM"] = "true"
tokenizer = Tokenizer(models.WordLevel({{"a": 0, "[UNK]": 1}}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()


def collate(texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


if __name__ == "__main__":
    {before}
    for batch in DataLoader(["a b a"] * 64, batch_size=16, collate_fn=collate, num_workers=1):
        print(batch)
"""


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(before: str) -> dict:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "train.py").write_text(TRAIN.format(before=before))
        options = ("--select", "FKL205", "--output-format", "json")
        done = command("verify", "train.py", *options, cwd=tmp_path)
        assert done.stdout, done.stderr
        (found,) = json.loads(done.stdout)["experiments"]
        return found

    return run


def test_a_batch_here_and_a_batch_there_hangs(verdict) -> None:
    found = verdict('print(collate(["a b", "b a"]))')
    assert found["verdict"] == "confirmed", found
    assert "`collate` hangs at train.py:13" in found["evidence"]
    assert "with the variable at false, it ends" in found["evidence"]


@pytest.mark.soak
def test_no_batch_before_the_fork_does_no_harm(verdict) -> None:
    """The rule does not ask what this process has tokenized by then; the run does."""
    found = verdict("print(tokenizer.encode('a b').ids)")
    assert found["verdict"] in {"refuted", "not reproduced"}, found


@pytest.mark.soak
def test_a_task_that_fails_with_false_too_proves_nothing(verdict) -> None:
    found = verdict("globals().__setitem__('tokenizer', None)")
    assert found["verdict"] == "inconclusive", found
    assert "AttributeError" in found["evidence"]


MEASURED = """
import multiprocessing, os, sys

from tokenizers import Tokenizer, models, pre_tokenizers

value, before, within = sys.argv[1:]
if value != "unset":
    os.environ["TOKENIZERS_PARALLELISM"] = value
tokenizer = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()


def work(count):
    tokenizer.encode_batch(["a b a"] * count)


if __name__ == "__main__":
    work(int(before))
    child = multiprocessing.get_context("fork").Process(target=work, args=(int(within),))
    child.start()
    child.join(10)
    print("hangs" if child.is_alive() else child.exitcode)
    child.kill()
"""


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        (("true", "100", "2"), "hangs"),
        (("true", "100", "1"), "0"),
        (("true", "1", "100"), "hangs"),
        (("false", "100", "100"), "0"),
        (("unset", "100", "100"), "0"),
    ],
)
@pytest.mark.soak
def test_what_the_table_says_of_tokenizers(arguments: tuple[str, ...], outcome: str, tmp_path: Path) -> None:
    script = tmp_path / "measured.py"
    script.write_text(MEASURED)
    done = subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == outcome
