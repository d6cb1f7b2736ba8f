"""Facts and rules see the disk through the project alone: what it does not see, the cache cannot know of."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "forklint"
ROOMS = ("facts", "edits", "rules")
SEES = {"exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "open", "read_text", "read_bytes", "iterdir"}
SEES |= {"glob", "rglob", "walk", "scandir", "listdir", "isfile", "isdir", "getsize", "realpath", "getenv", "getcwd"}
NAMED = {("os", "environ"), ("os", "getcwd"), ("Path", "cwd"), ("Path", "home"), ("sys", "platform"), ("sys", "path")}
FILES = sorted(path for room in ROOMS for path in (SOURCE / room).rglob("*.py"))


def looks(tree: ast.Module) -> list[str]:
    """What a file asks of the machine, each with its line."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            owner = getattr(getattr(function, "value", None), "id", "")
            if name in SEES and owner != "ast" and not (name == "walk" and owner not in {"os", "discovery"}):
                found.append(f"{node.lineno}: {name}")
        elif isinstance(node, ast.Attribute) and (getattr(node.value, "id", ""), node.attr) in NAMED:
            found.append(f"{node.lineno}: {node.value.id}.{node.attr}")
    return found


AT_ITSELF = {"registry.py": ["scandir"]}
"""What forklint asks of its own files."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_looks_past_the_project(path: Path) -> None:
    names = [look.partition(": ")[2] for look in looks(ast.parse(path.read_text(encoding="utf-8")))]
    assert names == AT_ITSELF.get(path.name, [])


def test_a_look_is_seen() -> None:
    assert looks(ast.parse("def f(path):\n    return path.is_file() or open(path)\n")) == ["2: is_file", "2: open"]


TOLD = {
    "evidence.py": ["stat"],  # for the witness
    "files.py": ["exists", "walk", "walk"],  # the first only where a file is replaced by what is not on the disk
    "resolver.py": ["isdir", "listdir", "walk"],
}
"""Where the project itself looks at the disk; ``Witness`` tells of each, or the cache would not know of it."""


def test_what_the_project_looks_at_is_told() -> None:
    found = {}
    for path in sorted((SOURCE / "project").glob("*.py")):
        names = [look.partition(": ")[2] for look in looks(ast.parse(path.read_text(encoding="utf-8")))]
        found |= {path.name: sorted(names)} if names else {}
    assert found == TOLD
