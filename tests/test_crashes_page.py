"""The page on crashes shows what happens."""

from __future__ import annotations

import re
from pathlib import Path

from doc_snippets import ROOT, snippet

from forklint.cli.explain import explain
from forklint.verify.debug_flags import FLAGS

LOG = "line\n" * 35 + "TypeError: cannot pickle '_io.BufferedReader' object\n"


def test_the_explanation_is_as_shown(forklint, tmp_path: Path) -> None:
    for name in ("data.py", "settings.py", "train.py", "trainer.py"):
        (tmp_path / name).write_bytes((ROOT / "examples" / "ocr" / name).read_bytes())
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "crash.log").write_text(LOG)
    _, prompt, *shown = snippet("crashes.md", "explained").splitlines()
    done = forklint(*prompt.removeprefix("$ forklint ").split(), cwd=tmp_path)
    printed = re.sub(r"(FKL301 `self.records` holds an open file when workers start: ).*", r"\1...", done.stdout)
    assert printed == "\n".join(shown) + "\n"


def test_the_flags_are_all_there() -> None:
    assert snippet("crashes.md", "flags").splitlines() == [f"{flag.name}={flag.value}" for flag in FLAGS]


def test_the_exit_codes_are_those_of_the_help() -> None:
    text = (ROOT / "docs" / "crashes.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| (\d+) \|", text.partition("## `forklint doctor")[0], re.MULTILINE)
    assert documented == ["0", "1", "2", "3"]
    assert all(f"{code} " in (explain.help or "") for code in documented)
