"""What the source imports is what an installation brings: nothing works only because the tests' tools need it, too."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/forklint"
IMPORTED_AS = {"markdown-it-py": "markdown_it"}
"""Packages whose names are not those under which they are imported."""
OWN = {"forklint", "forklint_harness", "tomllib"}
KNOWN = OWN | sys.stdlib_module_names
HARNESS = SOURCE / "verify/harness"
"""It runs where the user's torch is, and imports it there."""


AFTER_FROM_OR_IMPORT = re.compile(r"(?m)^\s*(?:from|import)\s+(\w+)")
"""Each import has a line of its own; in a text such words may stand for nothing."""


def imported(path: Path) -> set[str]:
    """Top-level names of the packages that a file imports, whenever it does; none if all are Python's or our own."""
    text, names = path.read_text(encoding="utf-8"), set()
    if {*AFTER_FROM_OR_IMPORT.findall(text)} <= KNOWN:
        return names
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


SERVER = SOURCE / "server"
REMOTE = SOURCE / "remote"


def wanted(files: Iterable[Path]) -> set[str]:
    return set().union(*map(imported, files)) - KNOWN


def declared() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(lines: list[str]) -> set[str]:
    found = (match[0] for line in lines if (match := re.match(r"[\w-]+", line)))
    return {IMPORTED_AS.get(name, name) for name in found}


def test_every_import_of_the_source_is_declared() -> None:
    files = [path for path in SOURCE.rglob("*.py") if not {HARNESS, SERVER, REMOTE} & {*path.parents}]
    assert wanted(files) == names(declared()["dependencies"])


def test_the_server_needs_its_extra_alone() -> None:
    extra = names(declared()["optional-dependencies"]["server"])
    own = wanted(SERVER.rglob("*.py")) - names(declared()["dependencies"])
    assert own == extra | {"lsprotocol"}, "pygls brings lsprotocol, whose types it speaks"


def test_remote_machines_need_their_extras_alone() -> None:
    extras = declared()["optional-dependencies"]
    own = wanted(REMOTE.rglob("*.py")) - names(declared()["dependencies"])
    assert own == names(extras["dask"]) | names(extras["parquet"])
