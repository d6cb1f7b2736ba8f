"""Escape sequences and markup in names, code, settings and records reach no terminal, page or log as such."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from html_pages import Page

from forklint.report.formats import FORMATS

ESCAPES = "\x1b]0;title\x07\x1b[2J\x1b[31m\x9b31m\x08\x7f\u202e\u2066"
"""Set the title, clear the screen, red (twice), back, delete, and write from right to left."""
MARKUP = "<img src=x onerror=alert(1)>&amp;\"'`]]>"
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HAZARD = """\
import lmdb
from torch.utils.data import Dataset, DataLoader


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open("{text}")  # {text}
        self.rows = getattr(self, "{text}", None)

    def __getitem__(self, index):
        return self.env.stat()


OPTIONS = {{"{text}": 1, "num_workers": 0, "prefetch_factor": 2}}
loader = DataLoader(Words("{text}"), **OPTIONS)
other = DataLoader(Words("{text}"), num_workers=2)
"""
CASES = {"escapes": ESCAPES, "markup": MARKUP}


def quoted(text: str) -> str:
    """The text within double quotes of Python, its control characters as they are."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


@pytest.fixture(params=CASES)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project in which all that can be named or written is hostile."""
    text = CASES[request.param]
    name = text.replace("/", "|")
    project = tmp_path / f"project {name}"
    (project / f"folder {name}").mkdir(parents=True)
    (project / "forklint.toml").touch()
    for path in (f"data {name}.py", f"folder {name}/words.py"):
        (project / path).write_text(HAZARD.format(text=quoted(text)), encoding="utf-8")
    (project / f"torn {name}.py").write_text(f'x = "{quoted(text)}" {text}\n', encoding="utf-8")
    (project / f"train {name}.yaml").write_text(f'"{quoted(text)}": [\n', encoding="utf-8")
    (project / f"options {name}.json").write_text(
        json.dumps({"num_workers": 0, "prefetch_factor": 2, text: text}, ensure_ascii=False), encoding="utf-8"
    )
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": HAZARD.format(text=quoted(text))}, {**cell, "source": f"x = {text}"}]
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (project / f"book {name}.ipynb").write_text(json.dumps(book), encoding="utf-8")
    (project / f"lies {name}.ipynb").write_text(text, encoding="utf-8")
    (project / f"loop {name}.py").symlink_to(f"loop {name}.py")
    return project


@pytest.fixture
def run(forklint: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., str]:
    """What the command prints on both streams; it must have no traceback."""

    def run(folder: Path, *arguments: str) -> str:
        done = forklint(*arguments, cwd=folder)
        assert done.returncode in {0, 1, 2, 3}  # 3: `explain` knows nothing of it
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def clean(printed: str) -> None:
    found = RAW.search(printed)
    assert found is None, repr(printed[max(0, found.start() - 150) : found.end() + 20])


def everything(folder: Path) -> list[str]:
    return ["--no-cache", "-v", "--select", "ALL", *sorted(path.name for path in folder.iterdir()), "gone\x1b[31m.py"]


@pytest.mark.parametrize("folder", ["escapes"], indirect=True)
@pytest.mark.parametrize("form", FORMATS)
def test_no_format_prints_a_control_character(run, folder: Path, form: str) -> None:
    clean(run(folder, "--output-format", form, *everything(folder)))


@pytest.mark.parametrize("folder", ["escapes"], indirect=True)
@pytest.mark.parametrize(
    "arguments",
    [
        ["--show-files", "."],
        ["--show-settings", "."],
        ["--statistics", "."],
        ["--fix", "--unsafe-fixes", "--show-fixes", "."],
        ["--add-noqa", "."],
        ["--update-baseline", "--baseline", f"known {ESCAPES}.json", "."],
        ["--baseline", f"gone {ESCAPES}.json", "."],
        ["--config", f"gone {ESCAPES}.toml", "."],
        ["--output-file", f"gone{ESCAPES}/x", "."],
        ["--cache-dir", f"/proc/{ESCAPES}", "-v", "."],
        ["--select", ESCAPES, "."],
        ["--per-file-ignores", f"{ESCAPES}:FKL", "."],
        ["--platform", ESCAPES, "."],
        [f"--{ESCAPES}"],
        ["rule", ESCAPES],
        ["explain", f"RuntimeError: {ESCAPES}"],
        ["config", ESCAPES],
        ["clean", "."],
    ],
    ids=lambda arguments: next(one for one in arguments if one.isprintable()) if len(arguments) > 1 else "option",
)
def test_no_command_prints_a_control_character(run, folder: Path, arguments: list[str]) -> None:
    clean(run(folder, *arguments))


CONFIGURATIONS = (
    'select = ["{0}"]',
    '"{0}" = 1',
    'exit-on = "{0}"',
    'platforms = ["{0}"]',
    'target-python = "{0}"',
    'baseline = "{0}.json"',
    'exclude = ["{0}[["]',
    'per-file-ignores = {{"{0}" = ["{0}"]}}',
    '[[handles]]\n"{0}" = 1',
    '[verify]\n"{0}" = 1',
    "= {0}",
)


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_no_setting_is_printed_raw(run, tmp_path: Path, text: str) -> None:
    spelt = "".join(f"\\u{ord(char):04x}" for char in ESCAPES)
    (tmp_path / "forklint.toml").write_text(text.format(spelt) + "\n", encoding="utf-8")
    (tmp_path / "data.py").write_text(HAZARD.format(text=""))
    for arguments in (["."], ["--show-settings", "."]):
        clean(run(tmp_path, *arguments))


def test_no_record_is_printed_raw(run, tmp_path: Path) -> None:
    """Baselines and verdicts come with a repository."""
    (tmp_path / "forklint.toml").write_text('baseline = "known.json"\n')
    (tmp_path / "data.py").write_text(HAZARD.format(text=""))
    entry = {"path": ESCAPES, "code": ESCAPES, "text": ESCAPES, "count": 1, "fingerprint": ESCAPES}
    for version in (1, ESCAPES):
        (tmp_path / "known.json").write_text(json.dumps({"version": version, "findings": [entry]}))
        clean(run(tmp_path, "-v", "."))


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """What a run prints on a terminal."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "forklint", "--color", "never", *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdout=child, stderr=child, env={**os.environ, "PYTHONUTF8": "1"}
    ) as run:
        os.close(child)
        printed = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            if not part:
                break
            printed += part
        run.wait(60)
    os.close(parent)
    return printed.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def test_a_diff_is_safe_on_a_terminal_and_exact_in_a_file(run, tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "data.py").write_text(HAZARD.format(text=quoted(ESCAPES)), encoding="utf-8")
    shown = on_a_terminal(tmp_path, "--diff", "--unsafe-fixes", "data.py")
    assert "lmdb.open" in shown
    clean(shown)
    patch = run(tmp_path, "--diff", "--unsafe-fixes", "-q", "data.py")
    assert ESCAPES in patch, "else `patch` could not apply it"


@pytest.mark.parametrize("folder", ["markup"], indirect=True)
def test_markup_stays_text(run, forklint, folder: Path) -> None:
    chosen = [*everything(folder)[:-1], "-q"]
    page = Page(run(folder, "--output-format", "html", *chosen).partition("forklint: ")[0])
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert any(MARKUP in one for one in page.texts("h3"))
    sarif = json.loads(forklint("--output-format", "sarif", *chosen, cwd=folder).stdout)
    for result in sarif["runs"][0]["results"]:
        for place in result["locations"]:
            assert "<" not in place["physicalLocation"]["artifactLocation"]["uri"]
        assert "<img" not in result["message"].get("markdown", "")
    junit = ET.fromstring(forklint("--output-format", "junit", *chosen, cwd=folder).stdout)
    assert junit.findall(".//img") == []
