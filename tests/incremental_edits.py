"""Edits of Python files as people make them, drawn at random: the same each time for one seed."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

LINES = (
    "import torch",
    "import os",
    "import threading",
    "import multiprocessing",
    "from torch.utils.data import DataLoader, Dataset",
    "import numpy as np",
)
CALLS = (
    "print(1)",
    "torch.set_num_threads(1)",
    "os.environ['OMP_NUM_THREADS'] = '1'",
    "multiprocessing.set_start_method('fork')",
    "threading.Thread(target=print).start()",
    "DataLoader([1], num_workers=2)",
    "open('data.bin')",
)
COMMENTS = (
    "# noted while working on it",
    "# noqa",
    "# noqa: FKL301, FKL501",
    "# forklint: ignore[FKL204]",
    "# import torch",
    "# DataLoader(rows, num_workers=4) on mps, cuda, darwin",
    "# globals().update(vars(pyximport))",
    "# raises(NotImplementedError), hasattr, worker_info, seed, lmdb.open, __main__",
)
"""Some say something: they silence findings, or hold words that rules look for before they parse a file."""
Lines = list[str]


class Edit(NamedTuple):
    """One change of one file."""

    kind: str
    path: Path
    data: bytes


class Typist:
    """Edits some files at random, one at a time; each text still parses if it did before."""

    def __init__(self, files: Sequence[Path], seed: int, read: Callable[[Path], bytes]) -> None:
        self._files = files
        self._dice = random.Random(seed)
        self._read = read
        self._before: dict[Path, bytes] = {}
        self._kinds: dict[str, tuple[int, Callable[[Lines, ast.Module], Lines | None]]] = {
            "body": (8, self._change_body),
            "call": (4, self._add_call),
            "comment": (4, self._add_comment),
            "uncomment": (2, self._remove_comment),
            "blank": (3, self._add_blank),
            "function": (3, self._add_function),
            "unfunction": (2, self._remove_function),
            "constant": (3, self._change_constant),
            "attribute": (2, self._add_attribute),
            "import": (2, self._add_import),
            "rename": (2, self._rename),
        }

    def edit(self) -> Edit:
        """Make the next edit: the whole new content of a file."""
        kinds = [*self._kinds, "revert"]
        weights = [weight for weight, _ in self._kinds.values()]
        while True:
            (kind,) = self._dice.choices(kinds, [*weights, 3 if self._before else 0])
            path = self._dice.choice(sorted(self._before) if kind == "revert" else self._files)
            old = self._read(path)
            new = self._before.pop(path) if kind == "revert" else self._changed(kind, old)
            if new is not None and new != old:
                if kind != "revert":
                    self._before.setdefault(path, old)
                return Edit(kind, path, new)

    def _changed(self, kind: str, old: bytes) -> bytes | None:
        try:
            text = old.decode()
            changed = self._kinds[kind][1](text.splitlines(), ast.parse(text))
            new = "\n".join(changed or ()) + "\n"
            ast.parse(new)
        except (SyntaxError, ValueError):
            return None
        return new.encode() if changed else None

    # Kinds of edit: each gives the new lines, or None where it does not apply

    def _add_comment(self, lines: Lines, tree: ast.Module) -> Lines | None:
        place = self._place(tree)
        return _put(lines, place, self._dice.choice(COMMENTS)) if place else None

    def _remove_comment(self, lines: Lines, _: ast.Module) -> Lines | None:
        rows = [row for row, line in enumerate(lines) if line.lstrip().startswith("#")]
        return _without(lines, range(row := self._dice.choice(rows), row + 1)) if rows else None

    def _add_blank(self, lines: Lines, tree: ast.Module) -> Lines | None:
        place = self._place(tree)
        return _put(lines, place, "") if place else None

    def _change_body(self, lines: Lines, tree: ast.Module) -> Lines | None:
        place = self._place(tree, ast.FunctionDef)
        name = f"value_{self._dice.randrange(100)}"
        line = self._dice.choice([f"{name} = len(str({self._dice.randrange(9)}))", f"{name} = None"])
        return _put(lines, place, line) if place else None

    def _add_call(self, lines: Lines, tree: ast.Module) -> Lines | None:
        place = self._place(tree, *([ast.Module] if self._dice.random() < 0.2 else [ast.FunctionDef]))
        return _put(lines, place, self._dice.choice(CALLS)) if place else None

    def _add_function(self, lines: Lines, _: ast.Module) -> Lines | None:
        number = self._dice.randrange(1000)
        head, body = f"def added_{number}(first, second=None):", f"    return str(first) + repr(second or {number})"
        return [*lines, "", "", head, body]

    def _remove_function(self, lines: Lines, tree: ast.Module) -> Lines | None:
        found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
        if not found:
            return None
        node = self._dice.choice(found)
        return _without(lines, range(node.lineno - 1, node.end_lineno or node.lineno))

    def _change_constant(self, lines: Lines, tree: ast.Module) -> Lines | None:
        found = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and type(node.value) is int and node.lineno == node.end_lineno
        ]
        if not found:
            return None
        node = self._dice.choice(found)
        row, line = node.lineno - 1, lines[node.lineno - 1].encode()
        changed = line[: node.col_offset] + str(self._dice.randrange(100)).encode() + line[node.end_col_offset :]
        return [*lines[:row], changed.decode(), *lines[row + 1 :]]

    def _add_attribute(self, lines: Lines, tree: ast.Module) -> Lines | None:
        place = self._place(tree, ast.ClassDef)
        return _put(lines, place, f"setting_{self._dice.randrange(100)} = None") if place else None

    def _add_import(self, lines: Lines, tree: ast.Module) -> Lines | None:
        place = self._place(tree, ast.Module)
        return _put(lines, place, self._dice.choice(LINES)) if place else None

    def _rename(self, lines: Lines, tree: ast.Module) -> Lines | None:
        """Another name for something in one file, as an editor gives it."""
        names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
        if not names:
            return None
        name = self._dice.choice(names)
        return [re.sub(rf"\b{name}\b", f"{name}_2", line) for line in lines]

    def _place(self, tree: ast.Module, *kinds: type[ast.AST]) -> tuple[int, int] | None:
        """The row of a statement in a body of a kind, and how far it is indented."""
        found = [
            (node.lineno - 1, node.col_offset)
            for body in _bodies(tree, kinds or (ast.AST,))
            for node in body
            if not getattr(node, "decorator_list", None) and not _is_special(node)
        ]
        return self._dice.choice(found) if found else None


def _bodies(tree: ast.Module, kinds: tuple[type[ast.AST], ...]) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, kinds) and isinstance(body, list):
            yield body


def _is_special(node: ast.stmt) -> bool:
    """Whether nothing may stand before a statement: a docstring, or an import from the future."""
    return isinstance(node, ast.Expr) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _put(lines: Lines, place: tuple[int, int], line: str) -> Lines:
    row, indent = place
    return [*lines[:row], " " * indent + line if line else "", *lines[row:]]


def _without(lines: Lines, rows: range) -> Lines:
    return [line for row, line in enumerate(lines) if row not in rows]
