"""Options of workers that a loader gets on every machine, while it gets workers only on some of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forklint.facts.loading.loaders import Loader, loaders_of
from forklint.facts.options.conflicts import Conflict, is_expected, is_taken
from forklint.facts.options.constants import is_of_kind
from forklint.facts.options.given import Given
from forklint.facts.options.loader_calls import LoaderCall
from forklint.knowledge.loader_options import Refusal, refusals
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.values import arithmetic
from forklint.values.model import Absent, Case, Either, Expression, Found, Source
from forklint.values.numbers import Workers, verdict
from forklint.values.worlds import EVERYWHERE, NOWHERE, Worlds

WORKERS = "num_workers"


def conflicts_somewhere(project: Project, module: Module) -> Iterator[Conflict]:
    """Give what a loader refuses on some machines alone: those for which the code gives it no workers."""
    wanting = [one for one in refusals() if one.beside == WORKERS and one.beside_kind == "zero"]
    for loader in loaders_of(project, module):
        given = [one for one in wanting if loader.option(one.option) is not None]
        without = _without_workers(loader) if given else NOWHERE  # most loaders are given none: that is told at once
        if not without or loader.row.prefix or is_expected(module, loader.call.node):
            continue
        for refusal in given:
            found, place = loader.value(refusal.option), _written(loader.option(refusal.option))
            if found is not None and place is not None and not is_taken(project, found.value, refusal):
                where = without & _surely(project, found, refusal)
                if where:
                    yield _conflict(loader, refusal, place, where)


def _conflict(loader: Loader, refusal: Refusal, place: Expression, where: Worlds) -> Conflict:
    call = loader.call.node
    option = Given(refusal.option, place, call)  # type: ignore[arg-type]
    made = LoaderCall(loader.call, loader.row, {refusal.option: option}, is_closed=True)
    return Conflict(made, refusal, option, None, worlds=where)


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


def _surely(project: Project, found: Found, refusal: Refusal) -> Worlds:
    """Where an option surely is such that a loader without workers refuses it."""
    if (found.known and found.by_default) or not (found.known or found.is_all):
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
