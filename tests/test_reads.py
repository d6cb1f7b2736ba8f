"""Facts and rules see the project through questions alone: what is seen otherwise, nobody knows of after an edit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "forklint"
FOLDERS = (
    *(
        "edits",
        "machines",
        "members",
        "loading",
        "datasets",
        "starting",
        "sending",
        "forking",
        "environment",
        "handles",
    ),
    "rules",
)
SEES = {"exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "open", "read_text", "read_bytes", "iterdir"}
SEES |= {"glob", "rglob", "walk", "scandir", "listdir", "isfile", "isdir", "getsize", "realpath", "getenv", "getcwd"}
NAMED = {("os", "environ"), ("os", "getcwd"), ("Path", "cwd"), ("Path", "home"), ("sys", "platform"), ("sys", "path")}
UNNOTED = {"memory", "peek", "bytes_of", "all_files", "aside"}
"""What gives something of a project without noting that the answer rests on it."""
CACHES = {"cache", "lru_cache", "functools.cache", "functools.lru_cache"}
PLAIN = {"str", "bytes", "int", "bool", "str | None", "frozenset[str]", "tuple[str, ...]"}
"""Types of what functions with a cache may be given: a result for anything else could outlive an edit."""
FILES = sorted(path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py"))


def calls(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Give each call: its line, its last name and what stands before that."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            yield node.lineno, name, getattr(getattr(function, "value", None), "id", "")


def looks(tree: ast.Module) -> list[str]:
    """What a file asks of the machine, each with its line."""
    found = [
        f"{row}: {name}"
        for row, name, owner in calls(tree)
        if name in SEES and owner != "ast" and not (name == "walk" and owner not in {"os", "discovery"})
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (getattr(node.value, "id", ""), node.attr) in NAMED:
            found.append(f"{node.lineno}: {node.value.id}.{node.attr}")  # type: ignore[attr-defined]
    return found


def remembers(tree: ast.Module) -> list[str]:
    """What a file remembers past an edit: results of functions for more than plain data, tables of a module."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_cached(node):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            types = {ast.unparse(one.annotation) if one.annotation is not None else one.arg for one in arguments}
            found += [f"{node.lineno}: {node.name}({name})" for name in sorted(types - PLAIN)]
        elif isinstance(node, ast.Global):
            found.append(f"{node.lineno}: global {', '.join(node.names)}")
    for node in tree.body:
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and ast.unparse(value) in {"{}", "[]", "set()", "dict()", "list()"}:
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def _is_cached(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    return not CACHES.isdisjoint(map(ast.unparse, decorators))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


AT_ITSELF = {"registry.py": ["scandir"]}
"""What forklint asks of its own files."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_looks_past_the_project(path: Path) -> None:
    names = [look.partition(": ")[2] for look in looks(parsed(path))]
    assert names == AT_ITSELF.get(path.name, [])


def test_a_look_is_seen() -> None:
    assert looks(ast.parse("def f(path):\n    return path.is_file() or open(path)\n")) == ["2: is_file", "2: open"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_what_is_seen_is_noted(path: Path) -> None:
    assert [f"{row}: {name}" for row, name, _ in calls(parsed(path)) if name in UNNOTED] == []


def test_nothing_is_remembered_past_an_edit() -> None:
    found = {}
    for path in FILES:
        names = [what.partition(": ")[2] for what in remembers(parsed(path))]
        found |= {path.relative_to(SOURCE).as_posix(): names} if names else {}
    assert found == {}


def test_what_is_remembered_is_seen() -> None:
    text = "KNOWN = {}\n@cache\ndef f(a: str, module: Module): ...\n@lru_cache(maxsize=1)\ndef g(node): ...\n"
    assert remembers(ast.parse(text)) == ["3: f(Module)", "5: g(node)", "1: KNOWN = {}"]
    assert remembers(ast.parse("@cache\ndef f(a: str) -> int: ...\nNAMES = {'a': 1}\n")) == []


TOLD = {
    "files.py": ["stat", "walk", "walk", "walk"],  # the last for a server that asks whether files have come or gone
    "modules.py": ["exists", "exists"],  # of a file whose text is replaced: whether it is on the disk at all
    "resolver.py": ["isdir", "listdir"],
    "seen.py": ["iterdir"],  # what a module that is missing may be made from, asked through files.py
}
"""Where the project itself looks at the disk; whatever it sees is a fact and part of ``Seen``, or no run knew of it."""


def test_what_the_project_looks_at_is_told() -> None:
    found = {}
    for path in sorted((SOURCE / "project").glob("*.py")):
        names = [look.partition(": ")[2] for look in looks(parsed(path))]
        found |= {path.name: sorted(names)} if names else {}
    assert found == TOLD
