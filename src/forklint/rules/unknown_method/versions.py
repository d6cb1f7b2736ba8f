"""Which torch a project says that it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklint.project.index import Project

HIDES = "the `except` around it hides the error"
ASKING = (
    *("requirements.txt", "setup.py", "setup.cfg", "pyproject.toml"),
    *("environment.yml", "environment.yaml", "env.yml", "env.yaml", "conda.yml", "conda.yaml"),
)
"""Files of the root in which a project says which torch it needs."""
ASKED_TORCH = re.compile(rb"\b(?:py)?torch *(?:={1,3}|<=?|~=) *v?(\d+)\.(\d+)")


def older_torch(project: Project, since: tuple[int, int]) -> str:
    """What says that the project is for a torch older than a version; empty where nothing does."""
    return project.answer("an older torch asked for", since, lambda: _older(project, since), compared=True)


def _older(project: Project, since: tuple[int, int]) -> str:
    for name in ASKING:
        for asked in ASKED_TORCH.finditer(project.data(project.root / name)):
            version = int(asked[1]), int(asked[2])
            if version < since:
                return f"`{name}` asks for torch {version[0]}.{version[1]}, which had it"
    return ""
