"""Which version of torch, of a library beside it, or of Python, a project says that it needs."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forklint.project.index import Project

ASKING = (
    *("requirements.txt", "requirement.txt", "requirments.txt", "requirements-gpu.txt", "requirements_gpu.txt"),
    *("setup.py", "setup.cfg", "pyproject.toml", "Pipfile", "install.sh", "setup.sh", "cog.yaml"),
)
"""Files in which a project says which libraries it needs, ..."""
CONDA, YAML = b"dependencies:", (".yml", ".yaml")
"""... and what stands in one of conda, whatever it is called."""
MOST_FILES = 20
"""So many files of a folder are looked at for one of conda."""
NOTEBOOK = ".ipynb"
INSTALLING = re.compile(rb"(?m)^[^#\n]*(?:\b|\\n)(?:pip3?|conda|mamba)\b[^#\n]{0,60}?\binstall [^\n]*")
"""A line of a notebook's code that installs libraries, as a command of the shell or of IPython."""
OTHERS = rb"(?:[<>!]=? *[\d.*]+ *, *)*"
"""Bounds before the one that counts: `>=1.5,`."""
SIGN = rb"={1,3}|<=?|~=|\^| {2,}"
"""Before the version; of the list that pip prints, spaces."""
VERSION = rb"(?!\w)[\"']? *(?:= *[\"'])?" + OTHERS + rb"(" + SIGN + rb") *v?(\d+)(?:\.(\d+)(\.\d)?)?"
ASKED = {
    "torch": re.compile(rb"\b(?:py)?torch" + VERSION),
    "torchvision": re.compile(rb"\btorchvision" + VERSION),
    "torchaudio": re.compile(rb"\btorchaudio" + VERSION),
    "python": re.compile(rb"(?<![\w.-])(?:requires-)?python(?:_requires)?" + VERSION),
    "transformers": re.compile(rb"\btransformers(?:\[[\w, -]*\])?" + VERSION),
    "huggingface_hub": re.compile(rb"\bhuggingface[-_.]hub(?:\[[\w, -]*\])?" + VERSION),
    "datasets": re.compile(rb"(?<![\w.-])datasets(?:\[[\w, -]*\])?" + VERSION),
    "numpy": re.compile(rb"(?<![\w.-])numpy" + VERSION),
    "lightning": re.compile(rb"\b(?:pytorch[-_.])?lightning" + VERSION),
}


def asks_for_older(project: Project, path: Path, since: tuple[int, int], library: str = "torch") -> bool:
    """Whether a file beside another one, or in a folder above it, asks for a library older than a version.

    A notebook may do so itself: ``!pip install transformers==4.2.2``.
    """

    def find() -> bool:
        return any(_asks(project, folder, since, ASKED[library]) for folder in _folders(project, path))

    def find_in_notebook() -> bool:
        return any(_asks_in(line[0], since, ASKED[library]) for line in INSTALLING.finditer(project.data(path)))

    is_asked = project.answer("an older library asked for", (path.parent, since, library), find, compared=True)
    if is_asked or path.suffix != NOTEBOOK:
        return is_asked
    return project.answer("an older library installed", (path, since, library), find_in_notebook, compared=True)


def _folders(project: Project, path: Path) -> Iterator[Path]:
    for folder in path.parents:
        yield folder
        if folder == project.root:
            return


def _asks(project: Project, folder: Path, since: tuple[int, int], pattern: re.Pattern[bytes]) -> bool:
    return any(_asks_in(_in_utf8(data), since, pattern) for data in _texts(project, folder))


def _asks_in(data: bytes, since: tuple[int, int], pattern: re.Pattern[bytes]) -> bool:
    return any(_is_older(_sign(one), (int(one[2]), int(one[3] or 0)), since) for one in pattern.finditer(data))


def _texts(project: Project, folder: Path) -> Iterator[bytes]:
    """Give the texts of a folder in which a project says what it needs."""
    yield from (project.data(folder / name) for name in ASKING)
    others = (one for one in project.presets if one.parent == folder and one.suffix in YAML)
    yield from (data for data in map(project.data, islice(others, MOST_FILES)) if CONDA in data)


def _in_utf8(data: bytes) -> bytes:
    """A text in UTF-8, also where it came from PowerShell, which writes UTF-16: ``pip freeze > requirements.txt``."""
    return data.decode("utf-16", "replace").encode() if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else data


def _sign(asked: re.Match[bytes]) -> bytes:
    """What a bound begins with; ``~=1.12`` allows what ``^1.12`` does, and ``~=1.12.0`` nothing but patches."""
    return b"^" if asked[1] == b"~=" and asked[3] and not asked[4] else asked[1]


def _is_older(sign: bytes, version: tuple[int, int], since: tuple[int, int]) -> bool:
    """Whether all versions that a bound allows are older; ``^1.8`` allows those up to 2.0."""
    if sign == b"^":
        return (version[0] + 1, 0) <= since
    return version < since or (sign == b"<" and version == since)
