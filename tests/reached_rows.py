"""Runs a script abstractly and says where it finds that processes start."""

from __future__ import annotations

from pathlib import Path

from forklint.config import Settings
from forklint.project.index import Project
from forklint.starting.reach import reached

HEAD = """\
import contextlib, functools, itertools, os, sys
import multiprocessing as mp
import torch
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm
data = range(8)
"""


def rows(text: str, folder: Path) -> tuple[list[int], list[int]]:
    """Rows where the text says that processes start, and where they are found to."""
    script = folder / "script.py"
    script.write_text(HEAD + text, encoding="utf-8")
    project = Project(folder, Settings())
    module = project.load(script)
    said = [row for row, line in enumerate(module.document.lines, 1) if "# here" in line]
    return said, [reach.node.lineno for reach in reached(project, module)]  # type: ignore[attr-defined]
