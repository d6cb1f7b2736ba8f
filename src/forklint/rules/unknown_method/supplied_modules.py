"""Modules that are not among the files of a package, and may be there where its programs run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.rules.unknown_method.imported_paths import may_be_built
from forklint.summaries.terms import WORD

if TYPE_CHECKING:
    from forklint.project.index import Project

FINDING = re.compile(rb"__path__|sys\.modules(?!\[__name__\])|meta_path|load_dynamic\(")
"""What stands in a package that may find its modules elsewhere, or make them."""
GENERATED = ("_pb2", "_pb2_grpc")
"""How modules end that a compiler writes."""
VERSIONS = frozenset({"version", "about", "git_version"})
"""What modules are called that a build writes."""
FETCHED = frozenset(
    {"dependencies", "deps", "external", "externals", "submodules", "third_party", "thirdparty", "vendor", "_vendor"}
)
"""Folders into which other projects are put, by hand or as submodules."""
BUILDS = (
    *(".gitmodules", "build.sh", "Cargo.toml", "CMakeLists.txt"),
    *("install.sh", "make.sh", "Makefile", "meson.build", "setup.sh"),
)
"""Files that say what is built or fetched, in the folder of a package or above it."""


def may_be_supplied(project: Project, init: Path, name: str) -> bool:
    """Whether a build, a program or another project may supply a module, as it is spelt from a package.

    ``init``: the ``__init__.py`` of the package, which may be missing.
    """
    last = name.rpartition(".")[2]
    if last in VERSIONS or last.endswith(GENERATED) or may_be_built(project, last):
        return True
    folders = (*init.parent.relative_to(project.root).parts, *name.split("."))
    if not FETCHED.isdisjoint(folders) or FINDING.search(project.data(init)):
        return True
    return any(_puts(project.data(one), last) for one in project.where(WORD, last)) or _is_named(project, init, last)


def _puts(data: bytes, name: str) -> bool:
    """Whether a program says a module of a name, and what it says may stand in ``sys.modules``."""
    said = rb"""["'.]""" + re.escape(name.encode()) + rb"""["'.]"""
    return b"sys.modules" in data and re.search(said, data) is not None


def _is_named(project: Project, init: Path, name: str) -> bool:
    """Whether a file that says what is built or fetched has a name as a word."""
    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    above = [one for one in init.parents if one.is_relative_to(project.root)]
    return any(word.search(project.data(folder / file)) for folder in above for file in BUILDS)
