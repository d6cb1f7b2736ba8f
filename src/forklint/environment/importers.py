"""What programs of the project have run by the time that they import a module which sets a variable at its top.

A program is a file with a main guard, or one that nobody imports with a call on a line of its own at its top level, and
it imports the module, itself or through others. Nothing is known of the module if one of its programs is not seen to
come to it, or if an entry point of the project leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from forklint.environment.launching import launches
from forklint.environment.loaded import program_before_import
from forklint.environment.reading import Reads
from forklint.environment.settings import settings_in
from forklint.project.edges import PACKAGE
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.trials import is_test_file
from forklint.runs.scripts import is_program, leading_to

MOST_PROGRAMS = 64
"""At most this many programs are followed; with more, nothing is reported."""
PACKAGING = ("setup.py", "setup.cfg", "pyproject.toml")
"""Files of the root in which a project says how it is installed, and what commands it has."""


class Before(NamedTuple):
    """What a program has run when it comes to the import of a module."""

    events: tuple[Reads, ...]
    files: frozenset[Path]
    """The files of the project that run, or have run, by then."""


def runs_before_import(project: Project, module: Module, variable: str) -> tuple[tuple[Reads, ...], ...]:
    """What has certainly run in each program that has not set a variable when it comes to the import of a module.

    Empty if no such program is known or one of them starts others; for a module that is a program itself; and for the
    ``__init__.py`` of a package that is made to be installed: who imports that is not known.
    """
    found = project.answer("programs that import a module", module, lambda: tuple(_find(project, module)))
    return tuple(one.events for one in found if not _is_set(project, module, variable, one.files))


def _is_set(project: Project, module: Module, variable: str, files: frozenset[Path]) -> bool:
    others = (project.module(path) for path in sorted(files) if path != module.path)
    return any(one.name == variable for other in others if other is not None for one in settings_in(project, other))


def _find(project: Project, module: Module) -> Iterator[Before]:
    path = module.path
    if module.is_notebook or is_test_file(path) or is_program(project, path) or _is_installed(project, path):
        return
    programs = _programs(project, path)
    homes = [one for one in (project.module(program) for program in programs) if one is not None]
    if any(launch.fresh for one in homes for launch in launches(project, one)):
        return
    if any(_may_run_before(project, one, path) for one in programs):
        return
    come = [program_before_import(project, home, path, len(homes)) for home in homes]
    for home, program in zip(homes, come, strict=True) if None not in come else ():
        if program is not None:
            events = (event.within(home) for event in program.happened if isinstance(event, Reads))
            yield Before(tuple(one for one in events if one.loaded or one.calls), program.files)


def _programs(project: Project, path: Path) -> list[Path]:
    """The programs that lead to a file; none if they are too many, or an entry point leads to it as well."""
    found = leading_to(project, path)
    if any(_is_entry(project, one) for one in found):
        return []
    programs = sorted(one for one in found if one != path and is_program(project, one))
    return programs if len(programs) <= MOST_PROGRAMS else []


def _may_run_before(project: Project, program: Path, path: Path) -> bool:
    """Whether a package around a program leads to a file: it runs first if the program is run as a module."""
    packages = (folder / PACKAGE for folder in program.parents if project.has_file(folder / PACKAGE))
    return any(project.graph.reaches(one, path) for one in packages)


def _is_entry(project: Project, path: Path) -> bool:
    """Whether the project says that a function of a file is a command: ``name = "package.cli:main"``."""
    named = re.compile(rb"\b" + re.escape(path.stem.encode()) + rb":\w")
    return any(named.search(project.data(project.root / name)) for name in PACKAGING)


def _is_installed(project: Project, path: Path) -> bool:
    """Whether a file is the ``__init__.py`` of a whole package, in a project that says how it is installed."""
    if path.name != PACKAGE or project.has_file(path.parent.parent / PACKAGE):
        return False
    return any(project.data(project.root / name) for name in PACKAGING)
