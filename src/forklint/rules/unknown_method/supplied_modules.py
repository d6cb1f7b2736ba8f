"""Modules that are not among the files of a package, and may be there where its programs run."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.rules.unknown_method.imported_paths import may_be_built
from forklint.summaries.terms import WORD

if TYPE_CHECKING:
    from forklint.project.index import Project

CUSTOM_FINDERS = re.compile(rb"declare_namespace|sys\.modules(?!\[__name__\])|load_dynamic\(")
"""What stands in a package that may find its modules elsewhere, or make them."""
META_PATH = re.compile(rb"\bsys\.meta_path\b|\bfrom sys import [^\n]*\bmeta_path\b")
"""What stands in a module that changes how all others are found."""
GENERATED = ("_pb2", "_pb2_grpc")
"""How modules end that a compiler writes."""
VERSIONS = frozenset({"version", "about", "git_version"})
"""What modules are called that a build writes."""
FETCHED = frozenset(
    {"dependencies", "deps", "external", "externals", "submodules", "third_party", "thirdparty", "vendor", "_vendor"}
)
"""Folders into which other projects are put, by hand or as submodules."""
BUILDS = (
    *(".gitmodules", "build.sh", "BUILD.bazel", "Cargo.toml", "CMakeLists.txt"),
    *("install.sh", "make.sh", "Makefile", "meson.build", "setup.py", "setup.sh"),
)
"""Files that say what is built or fetched, in the folder of a package or above it."""
SETTINGS = ("pyproject.toml", "setup.cfg")
"""Those that say much else as well: there, what is built has its package or folder before it."""
MANUALS = ("README.md", "README.rst", "README", "INSTALL.md")
"""Those that tell people what to do ..."""
FETCHING = rb"(?m)^[ \t>$]*(?:cp|mv|ln|git|wget|curl|gdown|unzip|tar)[ \t][^\n]*?"
"""... by commands: what stands in one that copies or fetches may come from there."""


def may_be_supplied(project: Project, init: Path, name: str) -> bool:
    """Whether a build, a program or another project may supply a module, as it is spelt from a package.

    ``init``: the ``__init__.py`` of the package, which may be missing.
    """
    parts = name.split(".")
    last = parts[-1]
    if last in VERSIONS or last.endswith(GENERATED) or may_be_built(project, last):
        return True
    if not FETCHED.isdisjoint((*init.parent.relative_to(project.root).parts, *parts)) or _has_finder(project, init):
        return True
    return any(_registers(project.data(one), last) for one in project.where(WORD, last)) or any(
        _is_named(project, init, one) for one in parts
    )


def _has_finder(project: Project, init: Path) -> bool:
    """Whether a package finds modules in ways of its own, or a module beside or above it does so for it."""
    folder = init.parent
    beside = any(one.parent == folder for one in project.where(WORD, "__path__"))
    changing = (one for one in project.where(WORD, "meta_path") if META_PATH.search(project.data(one)))
    above = any(folder.is_relative_to(one.parent) for one in changing)
    return beside or above or CUSTOM_FINDERS.search(project.data(init)) is not None


def _registers(data: bytes, name: str) -> bool:
    """Whether a program says a module of a name, and what it says may stand in ``sys.modules``."""
    said = rb"""["'.]""" + re.escape(name.encode()) + rb"""["'.]"""
    return b"sys.modules" in data and re.search(said, data) is not None


def _is_named(project: Project, init: Path, name: str) -> bool:
    """Whether a file that says what is built, fetched or copied has a name as a word."""
    word = rb"\b" + re.escape(name.encode()) + rb"\b"
    above = [one for one in init.parents if one.is_relative_to(project.root)]
    asked = [*((file, word) for file in BUILDS), *((file, rb"[./]" + word) for file in SETTINGS)]
    asked += [(file, FETCHING + word) for file in MANUALS]
    is_named = any(re.search(pattern, project.data(folder / file)) for folder in above for file, pattern in asked)
    folders = frozenset(init.parent.parts)
    return is_named or any(_is_left_out(project.data(folder / ".gitignore"), name, folders) for folder in above)


def _is_left_out(rules: bytes, name: str, folders: frozenset[str]) -> bool:
    """Whether git is told to leave out a module in some folders, by name or pattern: ``models/pointnet2_cls*``."""
    is_left_out = False
    for line in rules.decode("utf-8", "replace").splitlines():
        *above, last = line.strip().rstrip("/").removeprefix("!").split("/")
        is_meant = last.strip("*.") not in {"", "py"} and folders.issuperset(set(above) - {"", "*", "**"})
        if is_meant and not line.startswith("#") and any(fnmatchcase(one, last) for one in (name, f"{name}.py")):
            is_left_out = not line.startswith("!")
    return is_left_out
