"""The files that travel with a finding: those that its trials run, what these import, and data that they name.

Nothing else leaves this machine; ``--plan`` lists each file with its size.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forklint.project.index import Project
from forklint.project.nodes import nodes_below
from forklint.source.paths import from_root
from forklint.verify.isolation import outermost
from forklint.verify.proving import Planned
from forklint.verify.saving import files_of

LARGEST_FILE = 64 * 2**20
LARGEST_SLICE = 256 * 2**20
"""Bytes; data beyond it stays here."""
LONGEST_NAME = 400


@dataclass(frozen=True)
class SlicedFile:
    """A file that travels."""

    path: Path
    relative: str
    """To its root, with forward slashes."""
    digest: str
    """SHA-256 of its content."""
    size: int


@dataclass(frozen=True)
class Slice:
    """What travels with one finding."""

    roots: Mapping[str, tuple[SlicedFile, ...]] = field(default_factory=dict)
    """Files by the directory that they are relative to."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of these directories, where links lead to them."""
    too_large: tuple[Path, ...] = ()
    """Files that stay here since they are too large."""

    @property
    def files(self) -> tuple[SlicedFile, ...]:
        """All files."""
        return tuple(one for files in self.roots.values() for one in files)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(one.size for one in self.files)

    def message(self) -> dict[str, Any]:
        """The part of a request that says which files a trial sees, without their content."""
        roots = {root: {one.relative: one.digest for one in files} for root, files in self.roots.items()}
        return {"roots": roots, "aliases": dict(self.aliases)}


def slice_of(planned: Planned) -> Slice:
    """The slice of a planned experiment; empty if there is nothing to run."""
    folders = [folder for trial in planned.trials for folder in trial.folders]
    roots = outermost(folders)
    if not roots:
        return Slice()
    context = planned.context
    project = context.project()
    code = _code(planned, project)
    named = [*_data(code, project, [context.folder, context.root]), *_arguments(planned)]
    named += [path for pattern in context.settings.verify.get("files", ()) for path in _matching(context.root, pattern)]
    taken: dict[str, dict[str, SlicedFile]] = {root: {} for root in roots}
    too_large, total = [], 0
    for path in dict.fromkeys([*code, *named]):
        root, relative = _place(path, roots)
        if not relative or relative in taken[root]:
            continue
        size = path.stat().st_size
        total += size
        if size > LARGEST_FILE or total > LARGEST_SLICE:
            too_large.append(path)
            total -= size
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        taken[root][relative] = SlicedFile(path, relative, digest, size)
    shown = {os.path.realpath(folder): str(folder) for folder in folders}
    names = {root: shown.get(root, root) for root in roots}
    return Slice(
        {names[root]: tuple(files.values()) for root, files in taken.items()},
        {root: name for root, name in names.items() if root != name},
        tuple(too_large),
    )


def _code(planned: Planned, project: Project) -> list[Path]:
    """The modules that the trials begin with, and all modules of the project that these import."""
    begun = [from_root(Path(planned.finding.path)), *files_of(planned)]
    for trial in planned.trials:
        begun += [Path(text) for text in _texts([dict(trial.spec), list(trial.texts)]) if text.endswith(".py")]
    found: dict[Path, None] = {}
    for path in dict.fromkeys(begun):
        if path.is_absolute() and path.is_file():
            found |= dict.fromkeys((path, *project.graph.reached(path)))
    for path in list(found):
        for folder in path.parents:
            if not (folder / "__init__.py").is_file():
                break
            found[folder / "__init__.py"] = None
    return list(found)


def _texts(value: Any) -> Iterator[str]:
    """All texts of a value as JSON holds it, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(key)
            yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)


def _data(code: Iterable[Path], project: Project, folders: Sequence[Path]) -> Iterator[Path]:
    """Files that a module names in a string: relative to a directory that a trial runs in, or to the module's own."""
    for path in code:
        module = project.module(path)
        for node in nodes_below(module.tree) if module is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from _named(node.value, [*folders, path.parent])


def _arguments(planned: Planned) -> Iterator[Path]:
    """Files that a command line or the settings name; for a directory, the files in it."""
    given = planned.context.settings.verify.get("args", {})
    for trial in planned.trials:
        subject = trial.subject
        words = [part for word in subject.command[1:] for part in (word, word.partition("=")[2])]
        for word in (*words, *_texts(dict(given))):
            for path in _named(word, [subject.folder], folders_too=True):
                yield from _matching(path, "**/*") if path.is_dir() else [path]


def _named(text: str, folders: Iterable[Path], *, folders_too: bool = False) -> Iterator[Path]:
    if not text or len(text) > LONGEST_NAME or "\n" in text or "\0" in text:
        return
    for folder in folders:
        path = folder / text
        try:
            is_there = path.is_file() or (folders_too and path.is_dir() and path != folder)
        except OSError:
            continue
        if is_there and not _is_hidden(text):
            yield Path(os.path.normpath(path))


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Files below a directory, in order; hidden ones must be named."""
    hidden = pattern.startswith(".") or "/." in pattern
    found = sorted(path for path in folder.glob(pattern) if path.is_file())
    return [path for path in found if hidden or not _is_hidden(path.relative_to(folder).as_posix())]


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") and part not in {".", ".."} for part in name.split("/"))


def _place(path: Path, roots: Sequence[str]) -> tuple[str, str]:
    """The root that a file lies in, with its path relative to it; empty if it lies in none, or a link leads out."""
    parent = os.path.realpath(path.parent)
    real = os.path.realpath(path)
    for root in roots:
        inside = root.rstrip(os.sep) + os.sep
        whole = os.path.join(parent, path.name)  # noqa: PTH118
        if whole.startswith(inside) and real.startswith(inside):
            return root, Path(whole[len(inside) :]).as_posix()
    return "", ""
