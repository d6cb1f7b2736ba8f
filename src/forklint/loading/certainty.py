"""Whether workers surely get a dataset, as the project is written: only then does its hazard weigh in full."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from forklint.loading.loaders import (
    MOST_ASKED,
    Loader,
    files_with_loaders,
    loaders_for,
    loaders_of,
    never_has_workers,
)
from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.project.programs import met_with
from forklint.project.scopes import FUNCTIONS
from forklint.project.trials import is_test_file
from forklint.summaries.terms import CALL, WORD
from forklint.values.numbers import Workers

LATENT = "latent: nothing in this library loads it with workers"
ONLY_WITH_OPTION = "only if the number of workers, 0 by default, is raised"
WITHOUT_WORKERS = "only once a loader of the dataset has workers: none in this project has"
ASIDE = frozenset({"tests", "test", "docs", "doc", "examples", "benchmarks"})
"""Folders whose programs are no users of a library."""
DECLARING = ("setup.py", "setup.cfg")
PYPROJECT, DECLARES = "pyproject.toml", (b"[project]", b"[build-system]", b"[tool.poetry]")


def doubt_of(project: Project, dataset: ClassFacts) -> str:
    """Why workers may never get objects of a class, in words for a message; empty where nothing says so.

    Either its loaders have no workers, perhaps unless the user asks for some, or it is a library's, whose own code
    loads it nowhere.
    """
    return project.answer("doubt of a dataset", dataset, lambda: _find(project, dataset), compared=True)


def is_idle(project: Project, dataset: ClassFacts) -> bool:
    """Whether workers surely never get objects of a class: no loader has any, and only this project loads it."""
    return doubt_of(project, dataset) == WITHOUT_WORKERS and not is_in_library(project, dataset.module.path)


def _find(project: Project, dataset: ClassFacts) -> str:
    found = [one for one in loaders_for(project, dataset) if not is_test_file(one.call.module.path)]
    if not found:
        if is_in_library(project, dataset.module.path) and not _may_be_used(project, dataset):
            return LATENT
        return project.answer("doubt of any loader", None, lambda: _doubt_of_all(project), compared=True)
    if all(has_none_by_default(one) for one in found):
        return ONLY_WITH_OPTION
    met = met_with(project, dataset.module.path)
    has_none = never_has_workers(project, dataset) and not _may_be_loaded(project, met)
    return WITHOUT_WORKERS if has_none else ""


def _may_be_used(project: Project, dataset: ClassFacts) -> bool:
    """Whether a loader may get any dataset, or a program of the project has to do with this one."""
    home = dataset.module.path
    return _may_be_loaded(project) or any(project.graph.reaches(one, home) for one in _programs(project, home))


def has_none_by_default(loader: Loader) -> bool:
    """Whether a loader has workers only if the user asks for some."""
    return loader.workers.kind is Workers.NONE and loader.workers.by_default


def is_in_library(project: Project, home: Path) -> bool:
    """Whether a file belongs to a package that is installed, or that the project says how to install."""
    if not project.has_file(home.with_name("__init__.py")):
        return False
    if not project.extent.is_marked:
        return True
    declared = project.data(project.root / PYPROJECT)
    return any(word in declared for word in DECLARES) or any(project.data(project.root / one) for one in DECLARING)


def _doubt_of_all(project: Project) -> str:
    """Why workers may never get anything, such as a dataset that another one keeps: no loader has any, or need have."""
    doubt = ""
    for number, loader in enumerate(_loaders_in(project)):
        if number == MOST_ASKED or loader.workers.kind is not Workers.NONE:
            return ""
        doubt = ONLY_WITH_OPTION if has_none_by_default(loader) else doubt or WITHOUT_WORKERS
    return doubt


def _loaders_in(project: Project, files: Collection[Path] | None = None) -> Iterator[Loader]:
    """Give the loaders that some files make, or all, but for tests."""
    making = [
        path for path in files_with_loaders(project) if not is_test_file(path) and (files is None or path in files)
    ]
    return (loader for module in project.modules(making) for loader in loaders_of(project, module))


def _may_be_loaded(project: Project, files: Collection[Path] | None = None) -> bool:
    """Whether some files, or any, make a loader that has workers, or may have, and a dataset that is not known."""
    found = list(_loaders_in(project, files))
    return len(found) > MOST_ASKED or any(
        one.workers.kind is not Workers.NONE and not one.datasets and _may_be_made(project, one) for one in found
    )


def _may_be_made(project: Project, loader: Loader) -> bool:
    """Whether the project calls the function that makes a loader, or others may: some helpers are called by nobody."""
    module = loader.call.module
    function = module.scope_at(loader.call.node).node
    if not isinstance(function, FUNCTIONS) or function.decorator_list or is_in_library(project, module.path):
        return True
    if module.parents[function] is not module.tree:
        return True
    return bool(project.where(CALL, function.name)) or project.where(WORD, function.name) != (module.path,)


def _programs(project: Project, home: Path) -> list[Path]:
    """The files that are run and not only imported: those in no package, and those that ask whether they are."""
    guarded = set(project.where(WORD, "__main__"))
    return [
        path
        for path in project.files
        if path != home
        and not is_test_file(path)
        and ASIDE.isdisjoint(path.relative_to(project.root).parts[:-1])
        and (path in guarded or not project.has_file(path.with_name("__init__.py")))
    ]
