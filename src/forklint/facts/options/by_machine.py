"""Options of workers that a loader gets on every machine, while it gets workers only on some of them."""

from __future__ import annotations

from collections.abc import Iterator

from forklint.facts.loading.loaders import Loader, loaders_of
from forklint.facts.options.conflicts import Conflict, is_expected
from forklint.facts.options.given import Given
from forklint.facts.options.loader_calls import LoaderCall
from forklint.knowledge.loader_options import Refusal, refusals
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.values import arithmetic
from forklint.values.model import Absent, Case, Constant, Either, Expression, Found, Source
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
            if not _is_taken(loader, refusal):
                found, source = loader.value(refusal.option), loader.option(refusal.option)
                where = without & _surely(found, refusal) if found is not None else NOWHERE
                place = _written(source)
                if where and place is not None:
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


def _surely(found: Found, refusal: Refusal) -> Worlds:
    """Where an option surely is such that a loader without workers refuses it."""
    if found.known:
        return EVERYWHERE if _is_refused(found, refusal) and not found.by_default else NOWHERE
    if not found.is_all:
        return NOWHERE
    refused = NOWHERE.union(*(one.worlds for one in found.options if _is_refused(one, refusal)))
    return refused - NOWHERE.union(*(one.worlds for one in found.options if not _is_refused(one, refusal)))


def _is_refused(found: Found, refusal: Refusal) -> bool:
    if isinstance(found.value, Absent):
        return False
    if not isinstance(found.value, Constant):
        return refusal.kind == "not none"
    value = found.value.value
    is_number = isinstance(value, (int, float))
    return {"true": bool(value), "not none": value is not None, "positive": is_number and value > 0}[refusal.kind]  # type: ignore[operator]


def _is_taken(loader: Loader, refusal: Refusal) -> bool:
    """Whether each torch that the project meets takes the value, which later ones refuse."""
    settings = loader.evaluator.project.settings
    if refusal.before is None or not settings.meets_only_torch_below(refusal.since):
        return False
    found = loader.value(refusal.option)
    return found is not None and found.value == Constant(refusal.before)


def _written(source: Source | None) -> Expression | None:
    """Where an option is written down."""
    if isinstance(source, Case):
        return _written(source.source)
    if isinstance(source, Either):
        return next((place for one in source.sources if (place := _written(one)) is not None), None)
    return source if isinstance(source, Expression) else None
