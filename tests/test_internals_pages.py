"""The pages on how it works inside: their programs, asked as shown, answer as shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from doc_snippets import snippet

PAGES = [
    ("internals/summaries.md", {"words.py": "program"}),
    ("internals/questions.md", {"words.py": "program", "base.py": "other"}),
    ("internals/values.md", {"train.py": "program", "settings.py": "other"}),
    ("internals/runs.md", {"train.py": "program", "settings.py": "other"}),
]


@pytest.mark.parametrize(("page", "files"), PAGES, ids=[page for page, _ in PAGES])
def test_the_answer_is_as_shown(page: str, files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    for name, mark in files.items():
        (tmp_path / name).write_text(snippet(page, mark))
    done = subprocess.run(
        [sys.executable, "-c", snippet(page, "code")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == snippet(page, "answer")
