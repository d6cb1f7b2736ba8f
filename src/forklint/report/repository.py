"""Paths for services: relative to the root of the repository, with forward slashes and links resolved."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path, PurePath
from urllib.parse import quote

from forklint.report import spelt_out


def root() -> Path:
    """The root of the git repository of the working directory; without one, the working directory."""
    return _root_above(os.getcwd())  # noqa: PTH109 - a path costs more than to look it up


@lru_cache(maxsize=1)
def _root_above(folder: str) -> Path:
    here = Path(os.path.realpath(folder))
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), here)


def inside(path: str) -> PurePath | None:
    """The path from the repository's root, or None if it lies elsewhere.

    Services show nothing for a path that goes through a link, so links are resolved, unless they lead outside.
    """
    for candidate in (Path(os.path.realpath(path)), absolute(path)):
        if candidate.is_relative_to(root()):
            return candidate.relative_to(root())
    return None


def absolute(path: str) -> Path:
    """The path from the root of the file system, without ``..``; links stay."""
    return Path(os.path.normpath(Path(path).absolute()))


def plain(path: str) -> str:
    """The path from the repository's root as text; bytes that are not UTF-8 are spelt out."""
    return spelt_out((inside(path) or absolute(path)).as_posix())


def relative_uri(path: PurePath) -> str:
    """A relative path as a relative reference of RFC 3986: bytes that are not UTF-8 come as they are, escaped."""
    return "/".join(quote(os.fsencode(part), safe="") for part in path.parts)
