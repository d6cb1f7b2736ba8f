"""What is reported of an object that lacks a name."""

from __future__ import annotations

import ast

from forklint.knowledge.removed import Gone
from forklint.records import dataclass
from forklint.rules.unknown_method.nearest import Nearest
from forklint.rules.unknown_method.owners import Owner


@dataclass(frozen=True)
class Lacking:
    """A call of a method that the object does not have."""

    node: ast.Attribute
    owner: Owner
    near: Nearest
    wrapped: bool = False
    """True if the object wraps the one that has the method."""
    hidden: bool = False
    """True if code around it catches every exception and goes on."""
    perhaps: bool = False
    """True if a branch decides whether the object is one that lacks it."""
    is_call: bool = True
    """False if the name is read, but not called."""
    is_above: bool = False
    """True if ``super()`` in the class lacks it, so that the class itself may have it."""
    gone: Gone | None = None
    """Since when torch lacks it, if an older torch had it."""

    @property
    def name(self) -> str:
        """The name that is not there."""
        return self.node.attr
