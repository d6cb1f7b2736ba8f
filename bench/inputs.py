"""What is linted: the corpus, a tenth of it, the sample for slow tools, copies to edit or count, a small program."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from scripts import corpus

PROGRAM = corpus.REPOSITORY / "bench" / "program"
TENTH = ("timm", "mmengine", "torchgeo")
"""A tenth of the files, as whole packages, so that their imports still lead somewhere."""
SAMPLE = ("timm/data", "timm/optim")
"""Folders of timm that the tools get which are hundreds of times slower: 69 files, 19,185 lines."""
SMALL_SAMPLE = ("timm/scheduler", "timm/utils")
FILES = {"CLEAN": "names.py", "FINDING": "train.py"}
TORCH = corpus.Package("torch", "2.13.0")
"""Whose own tree is linted, as one project."""
PROJECT, SMALL_PROJECT = "transformers", "timm"
"""The packages that are edited, in a whole and in a quick run."""
EDITED = {
    PROJECT: ("transformers/models/bert/modeling_bert.py", "transformers/processing_utils.py"),
    SMALL_PROJECT: ("timm/models/resnet.py", "timm/models/_registry.py"),
}
"""In each a file without findings, and a module that 1,106 files of the package import (102 of timm)."""
RECORDS = 2048 * 64
"""Bytes that bench/program/train.py reads."""


@dataclass(frozen=True)
class Input:
    """Files and folders that a command is given, and what is in them."""

    paths: tuple[Path, ...]
    files: int = 0
    lines: int = 0
    bytes: int = 0


class MissingError(Exception):
    """What is to be linted is not at hand; the message says why."""


class Inputs:
    """Gives each input by the word that stands for it in a command, and makes those that have to be made."""

    def __init__(self, packages: Sequence[Path], scratch: Path, *, quick: bool = False, offline: bool = False) -> None:
        """Take the packages' folders, and a folder for what is made: on the same file system, if it is to be fast.

        Where torch's tree is neither installed nor fetched, it is fetched, unless ``offline``.
        """
        self._packages = tuple(packages)
        self._scratch = scratch
        self._quick = quick
        self._offline = offline
        self._known: dict[str, Input] = {}
        self._missing: dict[str, MissingError] = {}

    def of(self, word: str) -> Input:
        """The input that a word stands for; KeyError if there is none. Raises MissingError."""
        if word in self._missing:
            raise self._missing[word]
        if word not in self._known:
            try:
                self._known[word] = counted(self._paths(word))
            except MissingError as error:
                self._missing[word] = error  # a download that failed is not tried again
                raise
        return self._known[word]

    def _paths(self, word: str) -> tuple[Path, ...]:
        kind, _, number = word.partition("_")
        if kind == "COPIES":
            return self._copies(int(number))
        if kind in FILES:
            return (self._program() / FILES[kind],)
        if kind == "PART":
            return self._part()
        if kind == "SAMPLE":
            parts = SMALL_SAMPLE if self._quick else SAMPLE
            return tuple(timm / part for timm in self._named(("timm",)) for part in parts) or self._packages
        if kind == "CORPUS":
            return self._tenth() if self._quick else self._packages
        if kind in ("EDITED", "IMPORTED"):
            return (self._file_of_project(("EDITED", "IMPORTED").index(kind)),)
        if kind == "FAULTY":
            return (self._project() / FILES["FINDING"],)
        return {"TENTH": self._tenth, "PROJECT": lambda: (self._project(),), "TORCH": self._torch}[kind]()

    def _named(self, names: Iterable[str]) -> tuple[Path, ...]:
        return tuple(folder for name in names for folder in self._packages if folder.name.startswith(f"{name}-"))

    def _tenth(self) -> tuple[Path, ...]:
        return self._named(TENTH) or self._packages

    def _part(self) -> tuple[Path, ...]:
        """What flake8 is given: in copies, since its plugin may keep a store in each."""
        given = self.of("SAMPLE" if self._quick else "TENTH").paths
        package_of = {path: next(one for one in self._packages if path.is_relative_to(one)) for path in given}
        for package in set(package_of.values()):
            if not (self._scratch / "part" / package.name).is_dir():
                _copy(package, self._scratch / "part" / package.name)
        return tuple(self._scratch / "part" / one.name / path.relative_to(one) for path, one in package_of.items())

    def _package(self) -> Path:
        """The package that is edited."""
        return next(iter(self._named((SMALL_PROJECT if self._quick else PROJECT,))), self._packages[0])

    def _project(self) -> Path:
        """A copy of that package, as one project, with a program in it in which there is something to find."""
        package = self._package()
        folder = self._scratch / "project" / package.name
        if not folder.is_dir():
            _copy(package, folder, link=False)
            shutil.copyfile(PROGRAM / FILES["FINDING"], folder / FILES["FINDING"])
        return folder

    def _file_of_project(self, which: int) -> Path:
        """Of the two files that are edited the one without findings (0) or the one that many import (1)."""
        folder, name = self._project(), self._package().name.partition("-")[0]
        if name in EDITED and (path := folder / EDITED[name][which]).is_file():
            return path
        return min(path for path in python_files(folder) if path.name != FILES["FINDING"])

    def _torch(self) -> tuple[Path, ...]:
        """The .py files of torch, copied from where it is installed, or else from its wheel."""
        folder = self._scratch / "torch" / TORCH.folder
        if not folder.is_dir():
            _copy_files(self._torch_source(), folder / TORCH.name, link=False)
            (folder / ".git").mkdir()
        return (folder,)

    def _torch_source(self) -> Path:
        """The package's folder in the version that is wanted. Raises MissingError."""
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            spec = importlib.util.find_spec(TORCH.name)
            version = importlib.metadata.version(TORCH.name).partition("+")[0]
            if version == TORCH.version and spec is not None and spec.origin is not None:
                return Path(spec.origin).parent
        if self._offline and not (corpus.home() / TORCH.folder).is_dir():
            raise MissingError(f"torch {TORCH.version} is not installed, and nothing was to be fetched")
        try:
            return corpus.fetch(TORCH, corpus.home()) / TORCH.name
        except corpus.FetchError as error:
            raise MissingError(str(error)) from None

    def _copies(self, files: int) -> tuple[Path, ...]:
        """Folders with copies of the tenth, as many as make so many files at least."""
        each = self.of("TENTH").files
        folders = [self._scratch / "copies" / f"{number:04}" for number in range(-(-files // each))]
        for folder in folders:
            if not folder.is_dir():
                for package in self._tenth():
                    _copy(package, folder / package.name)
        return tuple(folders)

    def _program(self) -> Path:
        """The program of bench/program, in a folder of its own with the records that it reads."""
        folder = self._scratch / "program"
        if not folder.is_dir():
            shutil.copytree(PROGRAM, folder)
            (folder / ".git").mkdir()
            (folder / "records.bin").write_bytes(Random(0).randbytes(RECORDS))  # noqa: S311 - any bytes will do
        return folder


def counted(paths: tuple[Path, ...]) -> Input:
    """Paths with the number of Python files below them, and of these the lines and bytes."""
    files = lines = size = 0
    for path in paths:
        for file in python_files(path):
            data = file.read_bytes()
            files, lines, size = files + 1, lines + data.count(b"\n"), size + len(data)
    return Input(paths, files, lines, size)


def python_files(path: Path) -> Iterator[Path]:
    """The Python files below a folder, or the file itself."""
    if path.is_file():
        yield path
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def _copy(package: Path, target: Path, *, link: bool = True) -> None:
    """Copy the Python files of a package, as a project of its own."""
    (target / ".git").mkdir(parents=True)
    _copy_files(package, target, link=link)


def _copy_files(folder: Path, target: Path, *, link: bool) -> None:
    """Copy Python files: by hard links, where the file system has them and nobody is going to write."""
    for file in python_files(folder):
        there = target / file.relative_to(folder)
        there.parent.mkdir(parents=True, exist_ok=True)
        if link:
            with contextlib.suppress(OSError):
                os.link(file, there)
                continue
        shutil.copyfile(file, there)
