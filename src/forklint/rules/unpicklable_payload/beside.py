"""What datasets keep that pickle refuses, whoever makes them, and the modules that make it for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.datasets.classes import inherits_dataset
from forklint.datasets.screening import DatasetScreen
from forklint.knowledge.unpicklable import memoizers, modules, refused
from forklint.loading.screening import may_make_loader
from forklint.rules.unpicklable_payload.unpicklable import MAX_DEPTH, MOST_PARTS, Unpicklable
from forklint.rules.unpicklable_payload.values import Culprit, Why
from forklint.sending.screening import may_launch, sending_files
from forklint.summaries.summary import CLASS, FUNCTION, Scope, Summary
from forklint.values.model import Expression, Instance

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module

STEPS = 5_000
"""Expressions and statements that are looked at for what one dataset keeps."""
MOST_SENDERS = 40
"""So many files that send something, and lead to one by imports, are looked at for what that one makes."""
MOST_IMPORTERS = 100
"""What a file makes that more files import is told of where it is sent or kept: they are not asked about it."""
MOST_NEAR = 10
"""For so many of those that import it directly, what they import gets from them what it makes."""
MAKING = re.compile(
    rb"lambda|Env|_env|Lock\(|Queue\(|Thread\(|Manager\(|Executor\(|cv2\.|collat|worker_init|transform|_fn"
    rb"|= np\.random|cache\(|ScriptModule|Session\(",
)
"""What stands in a file that makes something for another one to send; FKL204 asks for one of these words, too."""
LAMBDA = re.compile(rb"(?<!\bkey=)\blambda\b")
"""One that may be kept: what sorts is only called."""
LAMBDAS = (b"lambda",)
BUILTINS = "builtins"
STATIC = ("staticmethod",)
"""Decorators of a function that pickle finds by the name of its class."""
CACHES = (b"cache(",)
"""In each call of a memoizer."""


def kept_by(project: Project, facts: ClassFacts) -> tuple[Culprit, ...]:
    """What is refused in any object of a dataset, whoever makes it; an open handle is another rule's."""
    return project.answer("what a dataset keeps", facts, lambda: tuple(_find_kept(project, facts)))


def _find_kept(project: Project, facts: ClassFacts) -> Iterator[Culprit]:
    here = Expression(facts.module, facts.scope, ast.Constant(None))
    unpicklable = Unpicklable(project, project.budgets.of("following payloads", STEPS))
    for _ in range(MOST_PARTS):
        found = unpicklable.objects.all_kept(Instance(facts), here, MAX_DEPTH)
        if not found:
            return
        unpicklable.pass_over(found)
        yield from (one for one in found if one.why is not Why.HANDLE and not one.is_lost)


def datasets_beside(project: Project, module: Module) -> tuple[ClassFacts, ...]:
    """The datasets of the modules that import a module directly: they may keep what its functions return."""
    return project.answer("datasets beside a module", module, lambda: tuple(_find_beside(project, module)))


def _find_beside(project: Project, module: Module) -> Iterator[ClassFacts]:
    if not may_make(project, module.path):
        return
    for other in project.modules(_importing(project, module.path)):
        yield from (facts for facts in other.classes if inherits_dataset(project, facts))


def may_be_kept(project: Project, path: Path) -> bool:
    """Whether a file makes something that pickle refuses, and files that import it may keep or send it."""
    return may_make(project, path) and bool(_importing(project, path) or senders_of(project, path))


def senders_of(project: Project, path: Path) -> tuple[Path, ...]:
    """The files that may send what a file makes and pickle refuses.

    They lead to it by imports, or make a loader or a process of what it, or one of those that do, passes to them.
    """
    find = lambda: tuple(_find_senders(project, path))  # noqa: E731 - it is short
    return project.answer("who may send what a file makes", path, find, compared=True)


def is_imported_by_many(project: Project, path: Path) -> bool:
    """Whether so many files import a file that none of them is asked whether it keeps or sends what the file makes."""
    return project.graph.few_importers(path, MOST_IMPORTERS) is None


def _find_senders(project: Project, path: Path) -> Iterator[Path]:
    importers = project.graph.few_importers(path, MOST_IMPORTERS) if may_make(project, path) else None
    if importers is None or not project.owns(path):
        return
    reaching = (one for one in sending_files(project) if one != path and project.graph.reaches(one, path))
    found = list(islice(reaching, MOST_SENDERS))
    yield from found
    near = (path, *importers[:MOST_NEAR])
    beside = dict.fromkeys(other for one in near for other in project.graph.imports(one) if other not in found)
    owned = (one for one in beside if one != path and project.owns(one))
    yield from (one for one in owned if may_make_loader(project, one) or may_launch(project, one))


def may_make(project: Project, path: Path) -> bool:
    """Whether a file makes something that pickle refuses: a lambda, a local function, an object of the table."""
    if not project.matches(path, MAKING):
        return False
    return project.matches(path, LAMBDA, LAMBDAS) or _has_local(project, path) or _has_object(project, path)


def _has_object(project: Project, path: Path) -> bool:
    """Whether a file calls or inherits from what makes an object of the table, stores a module or caches a function."""
    summary = project.summary(path)
    if summary is None:
        return False
    bases = {base.rpartition(".")[2] for scope in summary.scopes for base in scope.bases}
    if any(_may_mean(summary, name, _makers()[name]) for name in _makers().keys() & {*summary.called, *bases}):
        return True
    return project.matches(path, _stored()) or project.matches(path, _memoized(), CACHES)


def _may_mean(summary: Summary, name: str, places: frozenset[str]) -> bool:
    """Whether a file may call something by a name that stands in one of some places, such as ``jit`` for ``load``."""
    said = {BUILTINS, *summary.reads}
    said.update(part for one in summary.imports for part in one.module.split("."))
    attributes = {one.attribute for one in summary.imports}
    return name in attributes or not places.isdisjoint(said | attributes)


def _has_local(project: Project, path: Path) -> bool:
    """Whether a function of a file defines something, or a class a function that is neither a method nor static.

    A function that is nothing but called is not kept.
    """
    return project.answer("keeps what is local", path, lambda: _keeps_local(project, path), compared=True)


def _keeps_local(project: Project, path: Path) -> bool:
    summary = project.summary(path)
    scopes = summary.scopes if summary is not None else ()
    local = [scope for scope in scopes if _is_local(scopes, scope)]
    if any(scope.kind == CLASS or scope.decorators for scope in local):
        return True
    return bool(local) and _named({scope.name for scope in local}).search(project.screened(path)) is not None


def _named(functions: Collection[str]) -> re.Pattern[bytes]:
    """What a text has that names one of some functions without a call of it."""
    return re.compile(rf"(?<!def )(?<!\w)(?:{'|'.join(sorted(functions))})(?!\w|\s*\()".encode())


def _is_local(scopes: Sequence[Scope], scope: Scope) -> bool:
    above = scopes[scope.parent].kind if scope.parent > 0 else ""
    is_found = scope.parameters[:1] in {("self",), ("cls",)} or scope.decorators == STATIC
    is_plain = scope.kind == FUNCTION and not is_found
    return scope.kind in {CLASS, FUNCTION} and (above == FUNCTION or (above == CLASS and is_plain))


def _importing(project: Project, path: Path) -> tuple[Path, ...]:
    """The files that import a file directly and may define a dataset."""
    importers = project.graph.few_importers(path, MOST_IMPORTERS) or ()
    return tuple(filter(DatasetScreen(project).defines_dataset, importers))


@cache
def _makers() -> dict[str, frozenset[str]]:
    """The last names of what makes an object of the table, each with the modules or classes that have it."""
    parts = [name.rsplit(".", 2)[-2:] for name in refused()]
    return {name: frozenset(place for place, last in parts if last == name) for _, name in parts}


@cache
def _stored() -> re.Pattern[bytes]:
    """What a text has that stores a module."""
    return re.compile(rf"=.*\.(?:{'|'.join(sorted(_last(modules())))})\s*(?:#.*)?$".encode(), re.MULTILINE)


@cache
def _memoized() -> re.Pattern[bytes]:
    """What a text has that calls a memoizer otherwise than as a decorator."""
    return re.compile(rf"[=(,n]\s*(?:functools\.)?(?:{'|'.join(sorted(_last(memoizers())))})\(".encode())


def _last(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in names)
