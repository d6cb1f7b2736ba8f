"""The options of a loader as JSON can hold them, so that a loader like it can be made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forklint.knowledge.loader_options import refusals
from forklint.knowledge.starters import TORCH
from forklint.loading import constants
from forklint.loading.conflicts import Conflict
from forklint.loading.given import Given
from forklint.project.index import Project
from forklint.rules.conflicting_loader_options.preset_loaders import PresetConflict

DECIDING = frozenset(
    {
        "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "pin_memory", "drop_last", "timeout",
        "multiprocessing_context", "prefetch_factor", "persistent_workers",
    }
)  # fmt: skip
"""Options that decide whether a loader is refused."""
OBJECT = {"object": True}
"""Stands for something that is not None and that JSON cannot hold."""


def proof_of(project: Project, conflict: Conflict) -> Mapping[str, Any]:
    """``loader``, ``options`` (those that decide), ``option`` (the one refused), ``error``, ``iterable``.

    Options that are refused for another reason are left out, so that it is this one that is looked at.
    """
    loader, refusal = conflict.loader, conflict.refusal
    others = conflict.refused - {refusal.option, refusal.beside}
    options = {
        name: value
        for name, given in loader.given.items()
        if name in DECIDING - others and (value := _value(project, given)) is not None
    }
    if refusal.beside_kind == "zero":
        options.setdefault("num_workers", {"value": 0})
    elif refusal.beside_kind == "not none":
        options.setdefault(refusal.beside, OBJECT)
    return {
        "loader": TORCH if loader.row.prefix else loader.row.call[0],
        "option": refusal.option,
        "options": options,
        "error": refusal.error,
        "iterable": refusal.beside_kind == "iterable",
    }


def proof_of_preset(conflict: PresetConflict) -> Mapping[str, Any]:
    """The same of what stands in a file of settings."""
    refusal = conflict.refusal
    refused = {one.option for one in refusals() if one.beside == refusal.beside} - {refusal.option}
    kept = DECIDING - refused
    return {
        "loader": conflict.loader.row.call[0],
        "option": refusal.option,
        "options": {name: {"value": value} for name, value in conflict.options.items() if name in kept},
        "error": refusal.error,
        "iterable": False,
    }


def _value(project: Project, given: Given) -> Any:
    """A constant, wrapped so that None is told from what is not known, or OBJECT; None if nothing is known."""
    value = constants.constant(project, given.place)
    if not isinstance(value, (constants.Unknown, bytes)):
        return {"value": value}
    return OBJECT if constants.is_something(project, constants.surely(project, given.place)) else None
