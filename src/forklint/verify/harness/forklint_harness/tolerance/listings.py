"""Folders that are not there: a listing names a few files in scratch, and a question whether one is there is noted."""

from __future__ import annotations

import builtins
import fnmatch
import os
import sys
from types import ModuleType
from typing import Any, Callable, List

from forklint_harness.frames import is_library
from forklint_harness.imports import after_import
from forklint_harness.tolerance import lacks, tainted
from forklint_harness.tolerance.stand_ins import LENGTH, StandIn, scratch_path

QUESTIONS = ("exists", "isfile", "isdir", "lexists", "islink", "getsize")


def install() -> None:
    """Set the hooks; they answer code of the project alone."""
    for name in QUESTIONS:
        _note(os.path, name)
    _instead(os, "listdir", lambda *_: _names("*"))
    _open_by_name()
    after_import("glob", _on_glob)
    after_import("pathlib", _on_pathlib)
    after_import("cv2", _on_cv2)


def _open_by_name() -> None:
    """Let ``open`` take a stand-in for the path that it is: a number would be taken for an open file."""
    plain = builtins.open

    def open_by_name(file: Any, *arguments: Any, **keywords: Any) -> Any:
        return plain(str(file) if isinstance(file, StandIn) else file, *arguments, **keywords)

    open_by_name.__name__ = "open"
    builtins.open = open_by_name


def _is_asked_by_project(depth: int = 2) -> bool:
    frame: Any = sys._getframe(depth)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and not is_library(frame.f_code.co_filename)


def _note(owner: Any, name: str) -> None:
    plain: Any = getattr(owner, name)

    def noted(*arguments: Any, **keywords: Any) -> Any:
        found = plain(*arguments, **keywords)
        if found is False and _is_asked_by_project():
            lacks.touch()
        return found

    noted.__wrapped__ = plain  # type: ignore[attr-defined]
    setattr(owner, name, noted)


def _instead(owner: Any, name: str, made: Callable[..., List[Any]]) -> None:
    """Let a listing that finds no folder, or nothing in it, name what might be there."""
    plain: Any = getattr(owner, name)

    def listed(*arguments: Any, **keywords: Any) -> Any:
        if not _is_asked_by_project():
            return plain(*arguments, **keywords)
        try:
            found = plain(*arguments, **keywords)
            found = found if isinstance(found, list) else list(found)
        except (FileNotFoundError, NotADirectoryError):
            found = []
        if found:
            return found
        lacks.record("file", str(arguments[0]) if arguments else ".")
        return made(*arguments, **{key: value for key, value in keywords.items() if key != "recursive"})

    listed.__wrapped__ = plain  # type: ignore[attr-defined]
    setattr(owner, name, listed)


def _names(pattern: str) -> List[Any]:
    """Names that match a pattern; ``0.png`` where it leaves the ending open."""
    ending = pattern.rpartition("*")[2] if "*" in pattern else "." + pattern.rpartition(".")[2]
    if not ending.startswith(".") or not fnmatch.fnmatch("0" + ending, "0" + ending):
        ending = ".png"
    return [tainted.MadeUpStr("{}{}".format(number, ending)) for number in range(LENGTH)]


def _globbed(pattern: Any, *_arguments: Any, **_keywords: Any) -> List[Any]:
    folder, last = os.path.split(os.fspath(pattern))
    below = scratch_path(folder)
    return [tainted.MadeUpStr(os.path.join(below, name)) for name in _names(last)]


def _on_glob(module: ModuleType) -> None:
    _instead(module, "glob", _globbed)
    _instead(module, "iglob", _globbed)


def _on_cv2(module: Any) -> None:
    """It gives None for an image that is not there."""
    plain = module.imread

    def imread(path: Any, *arguments: Any, **keywords: Any) -> Any:
        try:
            found = plain(path, *arguments, **keywords)
        except (TypeError, module.error):
            found = None
        if found is None:
            lacks.record("file", str(path))
            return StandIn("cv2.imread()")
        return found

    module.imread = imread


def _on_pathlib(module: Any) -> None:
    def paths(self: Any, pattern: str = "*", **_keywords: Any) -> List[Any]:
        return [module.Path(one) for one in _globbed(os.path.join(str(self), pattern))]

    for name in ("glob", "rglob", "iterdir"):
        _instead(module.Path, name, paths)
    for name in ("exists", "is_file", "is_dir"):
        _note(module.Path, name)
