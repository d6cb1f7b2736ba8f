"""--watch, as a person uses it: a process that lints again when a file is saved, until Ctrl-C."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hazards import SHORT_HAZARD as HAZARD

CLEAN = "All checks passed."
PATIENCE = 30
"""Seconds to wait for a run; each takes a fraction of one."""


def test_the_report_of_a_run_is_no_reason_for_another(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(HAZARD)
    report = tmp_path / "report.json"
    watched = Watched(tmp_path, "--output-format", "json", "--output-file", str(report))
    try:
        watched.until("watching")
        deadline = time.monotonic() + PATIENCE
        while not report.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1.5)  # three times as long as it waits for changes: it may take up one from before it began
        before = report.stat().st_mtime_ns
        time.sleep(1.5)
        assert report.stat().st_mtime_ns == before
    finally:
        watched.process.send_signal(signal.SIGINT)
        watched.process.wait(PATIENCE)


class Watched:
    """A running ``forklint --watch``, with its lines as they come."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "forklint", "--watch", "--output-format", "concise", *arguments]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ)
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def until(self, text: str) -> None:
        """Read lines up to one that holds ``text``."""
        read = []
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                read.append(self.lines.get(timeout=0.1))
            except queue.Empty:
                continue
            if text in read[-1]:
                return
        pytest.fail(f"no line with {text!r} in {read}")

    def silent(self, seconds: float) -> bool:
        """Whether no line comes for a while."""
        time.sleep(seconds)
        return self.lines.empty()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.forklint]\nexclude = ["vendored"]\n')
    for name in ("src", "vendored"):
        (tmp_path / name).mkdir()
    (tmp_path / "src" / "data.py").write_text("import torch\n")
    return tmp_path


@pytest.fixture
def watched(project: Path) -> Iterator[Watched]:
    one = Watched(project, "src")
    yield one
    one.process.kill()
    one.process.wait()


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_it_lints_again_at_each_change(project: Path, watched: Watched) -> None:
    watched.until(CLEAN)
    watched.until("watching")
    (project / "src" / "data.py").write_text(HAZARD)
    watched.until("src/data.py:7:9: FKL301")
    watched.until("Found 1 finding")
    (project / "vendored" / "data.py").write_text(HAZARD)
    (project / "src" / "notes.txt").write_text("nothing to lint")
    assert watched.silent(2)
    new = project / "src" / "data.py.new"
    new.write_text("import torch\n")
    new.replace(project / "src" / "data.py")  # as editors save
    watched.until(CLEAN)
    (project / "src" / "more.py").write_text(HAZARD)
    watched.until("src/more.py:7:9: FKL301")
    (project / "src" / "explore.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    watched.until("src/more.py:7:9: FKL301")
    (project / "pyproject.toml").write_text('[tool.forklint]\nignore = ["FKL999"]\n')
    watched.until("unknown rule 'FKL999'")
    (project / "pyproject.toml").write_text('[tool.forklint]\nignore = ["FKL301"]\n')
    watched.until(CLEAN)
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(timeout=PATIENCE) == 130
    time.sleep(0.2)
    left = list(watched.lines.queue)
    assert not any("Traceback" in line or "\x1b" in line for line in left), left


@pytest.mark.parametrize("other", ["--fix", "--diff", "--add-noqa", "--update-baseline", "-"])
def test_what_it_does_not_go_with_is_one_clear_error(forklint, project: Path, other: str) -> None:
    result = forklint("--watch", other, cwd=project, stdin=subprocess.DEVNULL)
    assert result.returncode == 2
    assert "--watch cannot be used with " in result.stderr
    assert "cannot be used with" in result.stderr


def test_a_path_that_is_not_there_is_one_clear_error(forklint, project: Path) -> None:
    result = forklint("--watch", "nowhere", cwd=project)
    assert (result.returncode, result.stderr) == (
        2,
        "Error: nowhere: no such file or directory\n",
    )
