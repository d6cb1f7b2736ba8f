"""What is linted: the corpus, a tenth of it, the sample for slow tools, copies for growth, a small program."""

from __future__ import annotations

import contextlib
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
RECORDS = 2048 * 64
"""Bytes that bench/program/train.py reads."""


@dataclass(frozen=True)
class Input:
    """Files and folders that a command is given, and what is in them."""

    paths: tuple[Path, ...]
    files: int = 0
    lines: int = 0
    bytes: int = 0


class Inputs:
    """Gives each input by the word that stands for it in a command, and makes those that have to be made."""

    def __init__(self, packages: Sequence[Path], scratch: Path, *, quick: bool = False) -> None:
        """Take the packages' folders, and a folder for what is made: on the same file system, if it is to be fast."""
        self._packages = tuple(packages)
        self._scratch = scratch
        self._quick = quick
        self._known: dict[str, Input] = {}

    def of(self, word: str) -> Input:
        """The input that a word stands for; KeyError if there is none."""
        if word not in self._known:
            self._known[word] = counted(self._paths(word))
        return self._known[word]

    def _paths(self, word: str) -> tuple[Path, ...]:
        kind, _, number = word.partition("_")
        if kind == "COPIES":
            return self._copies(int(number))
        if kind in FILES:
            return (self._program() / FILES[kind],)
        if kind == "PART":
            return self.of("SAMPLE" if self._quick else "TENTH").paths
        if kind == "SAMPLE":
            parts = SMALL_SAMPLE if self._quick else SAMPLE
            return tuple(timm / part for timm in self._named(("timm",)) for part in parts) or self._packages
        if kind == "CORPUS":
            return self._tenth() if self._quick else self._packages
        return {"TENTH": self._tenth}[kind]()

    def _named(self, names: Iterable[str]) -> tuple[Path, ...]:
        return tuple(folder for name in names for folder in self._packages if folder.name.startswith(f"{name}-"))

    def _tenth(self) -> tuple[Path, ...]:
        return self._named(TENTH) or self._packages

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


def _copy(package: Path, target: Path) -> None:
    """Copy the Python files of a package: by hard links, where the file system has them."""
    (target / ".git").mkdir(parents=True)  # a project of its own, as the package is
    for file in python_files(package):
        there = target / file.relative_to(package)
        there.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            os.link(file, there)
            continue
        shutil.copyfile(file, there)
