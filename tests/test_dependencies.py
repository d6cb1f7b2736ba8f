"""What the source imports is what an installation brings: nothing works only because the tests' tools need it, too."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/forklint"
IMPORTED_AS = {"markdown-it-py": "markdown_it"}
"""Packages whose names are not those under which they are imported."""
HARNESS = SOURCE / "verify/harness"
"""It runs where the user's torch is, and imports it there."""


def imported(path: Path) -> set[str]:
    """Top-level names of the packages that a file imports, whenever it does."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_every_import_of_the_source_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = [re.match(r"[\w-]+", line) for line in declared]
    brought = {IMPORTED_AS.get(name[0], name[0]) for name in names if name}
    files = [path for path in SOURCE.rglob("*.py") if HARNESS not in path.parents]
    wanted = set().union(*map(imported, files)) - set(sys.stdlib_module_names)
    assert wanted - {"forklint", "forklint_harness", "tomllib"} == brought
