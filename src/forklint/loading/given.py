"""The arguments that a loader is made with, each with the place where it is written."""

from __future__ import annotations

import ast

from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.records import dataclass
from forklint.values.model import Expression


@dataclass(frozen=True)
class Given:
    """One argument, by name."""

    name: str
    """As it is written."""
    place: Expression
    """Its value, where it is written."""
    call: ast.Call
    """What makes the loader."""

    @property
    def value(self) -> ast.expr:
        """The expression of its value."""
        return self.place.node

    @property
    def module(self) -> Module:
        """Where it is written."""
        return self.place.module

    @property
    def home(self) -> ast.Call | ast.Dict | None:
        """What holds it: the call itself, or the mapping that the call unpacks; None if it is stored by itself."""
        above = self.module.parents[self.value]
        home = self.module.parents[above] if isinstance(above, ast.keyword) else above
        return home if isinstance(home, (ast.Call, ast.Dict)) else None

    @property
    def is_own(self) -> bool:
        """Whether one call alone gets it from where it is written, so that it can be changed there."""
        return self.home is self.call or (self.home is not None and _is_given_once(self.module, self.home))


def _is_given_once(module: Module, home: ast.Call | ast.Dict) -> bool:
    """Whether a mapping that is unpacked somewhere is unpacked there alone, so that it can be changed for one call."""
    above = module.parents[home]
    if isinstance(above, ast.keyword):
        return above.arg is None
    targets = above.targets if isinstance(above, ast.Assign) else [getattr(above, "target", None)]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return False
    name, root = targets[0].id, module.scope_at(above).node
    found = [n for n in nodes_below(root) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return len(found) == 1
