"""Loads the project's modules and its main program in their tolerant form, in this process and in its children.

A module of the project is found where the program's own path has it, else where the project keeps a file or package of
that name: a script run from another folder finds its package. A file for which the order has another text, that of a
fix, has that text, wherever it is imported from.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import os
import runpy
import sys
import tokenize
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set

from forklint_harness.frames import is_library
from forklint_harness.tolerance import lacks, runtime
from forklint_harness.tolerance.mending import rows_of, same_rows
from forklint_harness.tolerance.rewriting import Rewriter

MOST_FOLDERS = 4000
"""Folders of a project that are searched for a name."""
HIDDEN = ("node_modules", "__pycache__", "site-packages", "dist-packages")
Rows = Sequence[Sequence[int]]


class Project:
    """Which files belong to the project, what text they have, and what of them is run."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        """Take ``roots``, ``texts`` (by path), ``skipped``, ``wanted`` and ``claimed`` (rows by path)."""
        self._roots = [os.path.realpath(root) for root in spec.get("roots", ())]
        self._texts: Dict[str, str] = dict(spec.get("texts", {}))
        self._skipped: Dict[str, Rows] = dict(spec.get("skipped", {}))
        self._wanted: Dict[str, Sequence[int]] = dict(spec.get("wanted", {}))
        self._claimed: Dict[str, Rows] = dict(spec.get("claimed", {}))
        self._guarded: Dict[str, int] = dict(spec.get("guarded", {}))
        self.ambiguous = frozenset(spec.get("ambiguous", ()))
        self.foreign = frozenset(spec.get("foreign", ()))
        self._folders: Optional[Dict[str, List[str]]] = None

    def has(self, path: str) -> bool:
        """Whether a file is the project's own."""
        real = os.path.realpath(path)
        return not is_library(real) and any(real.startswith(root + os.sep) for root in self._roots)

    def code_of(self, path: str) -> CodeType:
        """A file's code in its tolerant form. Raises SyntaxError and OSError."""
        real = os.path.realpath(path)
        text = self.text(path)
        tree = ast.parse(text, path)
        if real in self._guarded:
            guard_from(tree, self._guarded[real])
        skipped: Set[str] = set()
        if self._skipped.get(real):
            skipped = self._dumps(path, real)
        rows: Sequence[int] = self._wanted.get(real, ())
        claimed: Rows = self._claimed.get(real, ())
        if real in self._texts:
            before = self._tree_on_disk(path)
            rows = same_rows(before, tree, rows)
            claimed = [(row, row) for row in same_rows(before, tree, [pair[0] for pair in claimed])]
        rewriter = Rewriter(tree, path, skipped, rows)
        module = rewriter.module()
        runtime.register(path, rewriter.statements, claimed)
        return compile(module, path, "exec", dont_inherit=True)

    def text(self, path: str) -> str:
        """What a file says: with the fix, or as it is on the disk. Raises OSError."""
        text = self._texts.get(os.path.realpath(path))
        if text is None:
            with open(path, "rb") as file:
                text = _decoded(file.read())
        return text

    def is_on(self, path: str, row: int, first: int, last: int) -> bool:
        """Whether a row of a file, as it is now, is one of these rows as they are on the disk."""
        if os.path.realpath(path) not in self._texts:
            return first <= row <= last
        now = ast.parse(self.text(path), path)
        ends = rows_of(self._tree_on_disk(path), now, [first])
        return any(begin <= row <= end for begin, end in ends)

    @staticmethod
    def _tree_on_disk(path: str) -> ast.Module:
        with open(path, "rb") as file:
            return ast.parse(_decoded(file.read()), path)

    def _dumps(self, path: str, real: str) -> Set[str]:
        """What is not to run, in a form that a moved statement keeps."""
        tree = self._tree_on_disk(path)
        skipped: Set[str] = set()
        kept: Set[str] = set()
        rows = {tuple(row) for row in self._skipped[real]}
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt):
                (skipped if (node.lineno, node.end_lineno) in rows else kept).add(ast.dump(node))
        return skipped - kept

    def find(self, name: str, importer: str) -> Optional[str]:
        """The folder from which a top-level name of the project can be imported, nearest to the importing file."""
        if self._folders is None:
            self._folders = self._search()
        found = self._folders.get(name, [])
        near = os.path.dirname(os.path.realpath(importer)) if importer else ""

        def distance(folder: str) -> Any:
            return (-len(os.path.commonpath([folder, near])) if near else 0, len(folder), folder)

        return min(found, key=distance, default=None)

    def _search(self) -> Dict[str, List[str]]:
        found: Dict[str, List[str]] = {}
        count = 0
        for root in self._roots:
            for folder, below, files in os.walk(root):
                below[:] = sorted(one for one in below if not one.startswith(".") and one not in HIDDEN)
                count += 1
                if count > MOST_FOLDERS:
                    return found
                names = [file[:-3] for file in files if file.endswith(".py") and file != "__init__.py"]
                names += [one for one in below if _holds_python(os.path.join(folder, one))]
                for name in names:
                    found.setdefault(name, []).append(folder)
        return found


def _holds_python(folder: str) -> bool:
    try:
        return any(name.endswith(".py") for name in os.listdir(folder))
    except OSError:
        return False


def _decoded(data: bytes) -> str:
    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def guard_from(tree: ast.Module, row: int) -> None:
    """Put what the top level does from a row on under a main guard, where it stands; the rest stays outside."""
    test = ast.parse("__name__ == '__main__'", mode="eval").body
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    for number, statement in enumerate(tree.body):
        if (statement.end_lineno or 0) >= row and not isinstance(statement, kinds):
            guard = ast.If(test=test, body=[statement], orelse=[])
            tree.body[number] = ast.fix_missing_locations(ast.copy_location(guard, statement))


def is_within(place: str, call: Mapping[str, Any]) -> bool:
    """Whether ``file:line`` lies in the rows of a call, wherever a fix has put it."""
    file, _, line = place.rpartition(":")
    if not file or os.path.realpath(file) != os.path.realpath(call["file"]):
        return False
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            return finder.project.is_on(file, int(line), int(call["first"]), int(call["last"]))
    return int(call["first"]) <= int(line) <= int(call["last"])


def text_of(path: str) -> str:
    """What a file of the program says in this trial; empty if it cannot be read."""
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            try:
                return finder.project.text(path)
            except (OSError, SyntaxError):
                break
    return ""


class TolerantLoader(SourceFileLoader):
    """Loads one module of the project."""

    def __init__(self, name: str, path: str, project: Project) -> None:
        super().__init__(name, path)
        self._forklint_project = project

    def get_code(self, fullname: str) -> CodeType:
        """The code in its tolerant form; nothing is cached."""
        return self._forklint_project.code_of(self.get_filename(fullname))


class Finder:
    """Stands on the meta path before what finds files, and lets the project's own be loaded in their tolerant form."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        """The module's spec if it is the project's own; None leaves it to the others."""
        if name.partition(".")[0] == "forklint_harness":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None and path is None and "." not in name and name not in sys.builtin_module_names:
            spec = self._elsewhere(name)
        origin = spec.origin if spec is not None else None
        if spec is None or not origin or not origin.endswith(".py") or not self.project.has(origin):
            return None
        loader = TolerantLoader(name, origin, self.project)
        return importlib.util.spec_from_file_location(
            name, origin, loader=loader, submodule_search_locations=spec.submodule_search_locations
        )

    def _elsewhere(self, name: str) -> Optional[ModuleSpec]:
        importer = _importer()
        if not importer or not self.project.has(importer):
            return None
        folder = self.project.find(name, importer) if name not in self.project.foreign else None
        if folder is None or (name in self.project.ambiguous and not os.path.realpath(importer).startswith(folder)):
            return None
        lacks.record("path", folder, "for {}".format(name))
        if folder not in sys.path:
            sys.path.append(folder)
        return PathFinder.find_spec(name, [folder])


def _importer() -> str:
    """The file whose statement imports."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if (
            not file.startswith("<frozen")
            and "importlib" not in file
            and not file.startswith(os.path.dirname(__file__))
        ):
            if file.endswith(os.path.join("forklint_harness", "imports.py")):
                frame = frame.f_back
                continue
            return str(file)
        frame = frame.f_back
    return ""


def install(project: Project) -> None:
    """Load the project's modules, and its main program in children that import it again, in their tolerant form."""
    sys.meta_path.insert(0, Finder(project))
    plain: Any = runpy.run_path

    def run_path(path_name: str, init_globals: Any = None, run_name: Optional[str] = None) -> Any:
        path = os.path.abspath(os.fsdecode(path_name))
        if not project.has(path):
            return plain(path_name, init_globals, run_name)
        name = run_name or "<run_path>"
        run: Any = runpy._run_module_code  # type: ignore[attr-defined]
        package = name.rpartition(".")[0]
        return run(project.code_of(path), init_globals, name, pkg_name=package, script_name=path)

    runpy.run_path = run_path
