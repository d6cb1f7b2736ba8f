"""Options that a loader refuses on some machines alone, or unless it is asked for something else.

Those of workers, while it gets workers only somewhere or if asked for; an order beside a sampler that is the default.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from forklint.knowledge.loader_options import Refusal, refusals
from forklint.loading.certainty import has_none_by_default
from forklint.loading.conflicts import Conflict, asks_for, is_expected, is_taken
from forklint.loading.constants import constant_of, is_of_kind, is_something
from forklint.loading.given import Given
from forklint.loading.loader_calls import LoaderCall
from forklint.loading.loaders import Loader, loaders_of
from forklint.model import Link
from forklint.project.index import Project
from forklint.project.module import CodeLink, Module
from forklint.project.scopes import FUNCTIONS
from forklint.source.kinds import PYTHON_SUFFIXES
from forklint.values import arithmetic, names
from forklint.values.evaluator import Evaluator
from forklint.values.model import NOTHING, Absent, Case, Either, Expression, Found, Source
from forklint.values.numbers import Workers, verdict
from forklint.values.worlds import EVERYWHERE, NOWHERE, Worlds

WORKERS = "num_workers"


def conflicts_somewhere(project: Project, module: Module) -> Iterator[Conflict]:
    """Give what a loader refuses on machines for which the code gives it no workers, or unless it is asked for some."""
    wanting = [one for one in refusals() if one.beside == WORKERS and one.beside_kind == "zero"]
    for loader in loaders_of(project, module):
        yield from _beside_a_default(project, module, loader)
        given = [one for one in wanting if loader.option(one.option) is not None]
        if not given or loader.row.prefix:  # most loaders are given none: that is told at once
            continue
        is_default = _has_none_unless_asked(loader) and not loader.open and not _is_careful(module, loader)
        without = EVERYWHERE if is_default else _without_workers(loader)
        if not without or is_expected(module, loader.call.node):
            continue
        for refusal in given:
            found, place = loader.value(refusal.option), _written(loader.option(refusal.option))
            if found is None or place is None or (is_default and _is_in_settings(found.links)):
                continue  # what a file of settings says is told of there
            if not is_taken(project, found.value, refusal):
                where = without & _surely(project, found, refusal, by_default=is_default)
                if where:
                    yield _conflict(loader, refusal, place, where, by_default=is_default)


def _beside_a_default(project: Project, module: Module, loader: Loader) -> Iterator[Conflict]:
    """Give what a loader refuses beside something that it gets unless an option says otherwise."""
    options = [one for one in refusals() if one.beside_kind == "not none" and loader.option(one.beside) is not None]
    for refusal in options if not loader.row.prefix and not is_expected(module, loader.call.node) else ():
        found, place = loader.value(refusal.option), _written(loader.option(refusal.option))
        source = loader.option(refusal.beside)
        usual = names.unless_asked(loader.evaluator, source) if isinstance(source, Expression) else NOTHING
        if found is None or place is None or found.by_default or not is_of_kind(project, found.value, refusal.kind):
            continue
        is_usual = usual.by_default and is_something(project, usual.value)
        if (is_usual or _is_in_branch(project, loader, refusal)) and not asks_for(place.scope.node, {refusal.option}):
            conflict = _conflict(loader, refusal, place, EVERYWHERE, by_default=True)
            yield conflict if is_usual else replace(conflict, in_branch=True)


def _is_in_branch(project: Project, loader: Loader, refusal: Refusal) -> bool:
    """Whether a loader has something else beside in one of several branches, and surely none in another."""
    beside = loader.value(refusal.beside)
    if beside is None or not beside.is_all:
        return False
    given = [one for one in beside.options if is_something(project, one.value)]
    return bool(given) and any(constant_of(one.value) is None for one in beside.options)


def is_of_program(project: Project, loader: LoaderCall) -> bool:
    """Whether it has no workers by what a program reads, such as its command line, and not by a mere parameter."""
    links = Loader(loader.place, loader.row, Evaluator(project)).workers.links
    nodes = (link.module.parents.get(link.node) for link in links if isinstance(link, CodeLink))
    return bool(links) and not any(isinstance(node, ast.arguments) for node in nodes)


def _conflict(loader: Loader, refusal: Refusal, place: Expression, where: Worlds, *, by_default: bool) -> Conflict:
    call = loader.call.node
    option = Given(refusal.option, place, call)  # type: ignore[arg-type]
    made = LoaderCall(loader.call, loader.row, {refusal.option: option}, is_closed=True)
    return Conflict(made, refusal, option, None, worlds=where, by_default=by_default)


def _has_none_unless_asked(loader: Loader) -> bool:
    """Whether it has no workers by a default, or by what a file of settings says."""
    count = loader.workers
    return has_none_by_default(loader) or (count.kind is Workers.NONE and _is_in_settings(count.links))


def _is_in_settings(links: Iterable[Link | CodeLink]) -> bool:
    return any(isinstance(link, Link) and not link.path.endswith(PYTHON_SUFFIXES) for link in links)


def _is_careful(module: Module, loader: Loader) -> bool:
    """Whether code around asks how many workers there are."""
    around = [one for one in module.above(loader.call.node) if isinstance(one, (*FUNCTIONS, ast.ClassDef))]
    return any(asks_for(root, {loader.row.workers}) for root in (*around, *([] if around else [module.tree])))


def _without_workers(loader: Loader) -> Worlds:
    """The kinds of machine on which it surely has no workers; none if that is so on all, or on none."""
    found = loader.value(WORKERS)
    if found is None or found.known or not found.is_all or loader.open:
        return NOWHERE
    none, some = NOWHERE, NOWHERE
    for one in found.options:
        number = loader.row.workers_default if isinstance(one.value, Absent) else arithmetic.number_of(one)
        if verdict(number) is Workers.NONE and not one.by_default:
            none |= one.worlds
        else:
            some |= one.worlds
    return none - some if some else NOWHERE


def _surely(project: Project, found: Found, refusal: Refusal, *, by_default: bool) -> Worlds:
    """Where an option surely is such that a loader without workers refuses it."""
    if (found.known and found.by_default and not by_default) or not (found.known or found.is_all):
        return NOWHERE
    refused = [is_of_kind(project, one.value, refusal.kind) for one in found.possible]
    where = [EVERYWHERE if found.known else one.worlds for one in found.possible]
    taken = (worlds for worlds, is_refused in zip(where, refused, strict=True) if not is_refused)
    return NOWHERE.union(*itertools.compress(where, refused)) - NOWHERE.union(*taken)


def _written(source: Source | None) -> Expression | None:
    """Where an option is written down."""
    if isinstance(source, Case):
        return _written(source.source)
    if isinstance(source, Either):
        return next((place for one in source.sources if (place := _written(one)) is not None), None)
    return source if isinstance(source, Expression) else None
