"""The fix of FKL301: a handle that is opened on first use, once in each process."""

from __future__ import annotations

from collections.abc import Iterator

from forklint.model import Applicability
from forklint.project.handles import Carried
from forklint.project.module import Module
from forklint.rules.base import Proposal
from forklint.rules.tree import Tree


def proposals(carried: Carried, module: Module, tree: Tree) -> Iterator[Proposal]:
    """Give the ways to mend a handle that is kept from ``__init__``."""
    yield Proposal(
        f"open `self.{carried.attributes[0]}` on first use, in the process that uses it", Applicability.DISPLAY
    )
