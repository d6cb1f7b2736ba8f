"""A small project whose findings hang on several files."""

from __future__ import annotations

from pathlib import Path

import pytest
from server_project import DATA


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a finding in ``data.py``."""
    (tmp_path / "pyproject.toml").write_text("[tool.forklint]\n")
    (tmp_path / "data.py").write_text(DATA)
    return tmp_path
