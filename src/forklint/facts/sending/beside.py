"""What datasets keep that pickle refuses, whoever makes them, and the modules that make it for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.facts.datasets.classes import inherits_dataset
from forklint.facts.datasets.screening import DatasetScreen
from forklint.facts.sending.sites import may_hand_on
from forklint.facts.sending.unpicklable import MAX_DEPTH, Unpicklable
from forklint.facts.sending.values import Culprit, Why
from forklint.knowledge.unpicklable import refused
from forklint.values.model import Expression, Instance

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module

STEPS = 5_000
"""Expressions and statements that are looked at for what one dataset keeps."""
MOST_IMPORTERS = 40
"""Among so many files that import one, nearest first, those are looked for that send what it makes."""
MOST_NEAR = 10
"""For so many of those that import it directly, what they import gets from them what it makes."""
MAKING = (
    *(b"lambda", b"Lock(", b"Queue(", b"Thread(", b"Manager(", b"collat", b"worker_init", b"transform", b"_fn"),
    *(b"Executor(", b"cv2."),
)
"""What stands in a file that makes something for another one to send; FKL204 asks for one of these words, too."""
NESTED = re.compile(rb"\blambda\b|^[ \t]+(?:async )?def \w+\((?!self\b|cls\b)", re.MULTILINE)
"""A lambda, or a function that is no method that gets its object."""
SENDING = re.compile(rb"Loader|create_loader|workers|Process\(|Process as |Pool|spawn\(|spawn as |process_map")
"""What stands in a file that sends something."""


def kept_by(project: Project, facts: ClassFacts) -> tuple[Culprit, ...]:
    """What is refused in any object of a dataset, whoever makes it; an open handle is another rule's."""
    return project.answer("what a dataset keeps", facts, lambda: tuple(_find_kept(project, facts)))


def _find_kept(project: Project, facts: ClassFacts) -> Iterator[Culprit]:
    here = Expression(facts.module, facts.scope, ast.Constant(None))
    budget = project.budgets.of("following payloads", STEPS)
    for culprit in Unpicklable(project, budget).objects.all_kept(Instance(facts), here, MAX_DEPTH):
        if culprit.why is not Why.HANDLE and not culprit.is_lost:
            yield culprit


def datasets_beside(project: Project, module: Module) -> tuple[ClassFacts, ...]:
    """The datasets of the modules that import a module directly: they may keep what its functions return."""
    return project.answer("datasets beside a module", module, lambda: tuple(_find_beside(project, module)))


def _find_beside(project: Project, module: Module) -> Iterator[ClassFacts]:
    if _makers().search(project.data(module.path)) is None:
        return
    for other in project.modules(_importing(project, module.path)):
        yield from (facts for facts in other.classes if inherits_dataset(project, facts))


def may_be_kept(project: Project, path: Path, data: bytes) -> bool:
    """Whether a file makes something that pickle refuses, and files that import it may keep or send it."""
    is_kept = _makers().search(data) is not None and bool(_importing(project, path))
    return is_kept or bool(senders_of(project, path))


def senders_of(project: Project, path: Path) -> tuple[Path, ...]:
    """The files that may send what a file makes and pickle refuses.

    They import it, directly or through others, or get it from it, or from one of those that do.
    """
    find = lambda: tuple(_find_senders(project, path))  # noqa: E731 - it is short
    return project.answer("who may send what a file makes", path, find, compared=True)


def _find_senders(project: Project, path: Path) -> Iterator[Path]:
    data = project.data(path) if project.owns(path) else b""
    if not any(word in data for word in MAKING) or not (NESTED.search(data) or _makers().search(data)):
        return
    found = [path]
    for one in found:
        found += [other for other in project.graph.importers(one) if other not in found]
        if len(found) > MOST_IMPORTERS:
            break
    yield from (one for one in found[1:] if SENDING.search(project.data(one)) or may_hand_on(project, one))
    near = (path, *project.graph.importers(path)[:MOST_NEAR])
    beside = dict.fromkeys(other for one in near for other in project.graph.imports(one) if other not in found)
    yield from (one for one in beside if project.owns(one) and b"Loader(" in project.data(one))


def _importing(project: Project, path: Path) -> tuple[Path, ...]:
    """The files that import a file directly and may define a dataset."""
    screen = DatasetScreen(project)
    importers = (one for one in project.graph.importers(path) if one != path)
    return tuple(one for one in importers if screen.defines_dataset(one))


@cache
def _makers() -> re.Pattern[bytes]:
    """What a text has that makes a lambda, a local function or an object of the table."""
    names = sorted({re.escape(name.rpartition(".")[2]) for name in refused()})
    return re.compile(rf"\blambda\b|^[ \t]{{8,}}def |\b(?:{'|'.join(names)})\(".encode(), re.MULTILINE)
