"""Notebooks that tests write, and what they read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbformat import v4

from forklint.source import json_positions

IMPORTS = "import lmdb\nimport torch\nfrom torch.utils.data import DataLoader, Dataset"
WORDS = """\
class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __len__(self):
        return 10

    def __getitem__(self, index):
        with self.env.begin() as txn:
            return txn.get(str(index).encode())"""
LATE = 'import os\n\nos.environ["OMP_NUM_THREADS"] = "1"'
R = {"kernelspec": {"language": "R", "name": "ir", "display_name": "R"}}


def write(path: Path, *sources: str, **metadata: Any) -> Path:
    """A notebook as Jupyter writes it; a source that begins with ``#md`` is a cell of prose."""
    cells = [
        v4.new_markdown_cell(source[4:]) if source.startswith("#md") else v4.new_code_cell(source) for source in sources
    ]
    nbformat.write(v4.new_notebook(cells=cells, metadata=metadata), path)
    return path


def sources(path: Path) -> list[str]:
    """The sources of a notebook's cells; fails if the notebook is not valid."""
    content = nbformat.read(path, as_version=4)
    nbformat.validate(content)
    return [cell.source for cell in content.cells]


def found(forklint, *arguments: str | Path, cwd: Path) -> list[dict[str, Any]]:
    """The findings that the command prints as JSON."""
    return json.loads(forklint(*arguments, "--output-format", "json", cwd=cwd).stdout)


def without_sources(data: bytes) -> tuple[str, list[json_positions.Node]]:
    """A notebook's text with its sources cut out, and these."""
    text = data.decode("utf-8-sig")
    cells = json_positions.parse(text).get("cells")
    assert cells is not None
    nodes = [node for cell in cells.items if (node := cell.get("source")) is not None]
    for node in reversed(nodes):
        text = text[: node.start] + text[node.end :]
    return text, nodes
