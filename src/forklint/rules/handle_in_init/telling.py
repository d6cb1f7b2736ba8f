"""Who loads a dataset, in a few links for the chain of a finding about it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.loading.loaders import Loader, WorkerCount, loaders_for
from forklint.model import Link
from forklint.project.index import Project
from forklint.project.module import ClassFacts, CodeLink, Module
from forklint.values.numbers import Workers

MOST_TOLD = 2
"""So many loaders are named; a dataset that more of them get is for general use, and none of them is special."""


def loading_of(project: Project, dataset: ClassFacts, module: Module) -> Iterator[Link | CodeLink]:
    """Give the loaders that get objects of a class, and where their workers are written down, outside of ``module``."""
    found = [loader for loader in loaders_for(project, dataset) if loader.workers.kind is not Workers.NONE]
    if len(found) <= MOST_TOLD:
        here = str(module.path)
        links = [link for loader in found for link in (_told(loader, dataset), *loader.workers.links)]
        yield from dict.fromkeys(link for link in links if link.path != here)


def _told(loader: Loader, dataset: ClassFacts) -> CodeLink:
    call = loader.call.node
    name = ast.unparse(call.func) if isinstance(call, ast.Call) else loader.row.name
    return loader.call.link(f"`{name}` loads `{dataset.name}`{_with(loader.workers)}")


def _with(workers: WorkerCount) -> str:
    if workers.kind is Workers.UNKNOWN:
        return ""
    number = f" {workers.number}" if isinstance(workers.number, int) else ""
    return f" with{number} worker{'' if workers.number == 1 else 's'}{' by default' if workers.by_default else ''}"
