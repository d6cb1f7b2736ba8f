"""What is said of a name that is read on ``self`` and not called: whose it may be, and which one is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.loading.rows import HARMLESS_BASES
from forklint.rules.unknown_method.nearest import Nearest, is_slip, nearest

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts
    from forklint.rules.unknown_method.attributes import Attributes

WITHOUT_INNER = HARMLESS_BASES | {
    "torch.nn.Module", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.utils.data.Sampler",
}  # fmt: skip
"""Bases whose own private names are few, and known."""


def may_be_inner(project: Project, facts: ClassFacts, name: str) -> bool:
    """Whether a name may be one that a base outside the project keeps for itself, in this version or another."""
    return name.startswith("_") and not WITHOUT_INNER.issuperset(project.ancestry(facts).external)


def alike(project: Project, attributes: Attributes, name: str, owner: ClassFacts, function: str) -> Nearest:
    """The attributes of which a name is a misspelling; not the property itself that a ``function`` is."""
    has = attributes.has(owner)
    others = has.names - {function} if has is not None else ()
    return nearest(name, (one for one in others if is_slip(name, one) and not _is_plain_method(project, owner, one)))


def _is_plain_method(project: Project, owner: ClassFacts, name: str) -> bool:
    """Whether a name is that of a method, which is no value."""
    found = project.method(owner, name)
    return found is not None and not found[1].decorator_list
