"""Where the nodes of ``ast`` stand in the tree of LibCST."""

from __future__ import annotations

import ast

from forklint.edits import cst
from forklint.edits.tree import Tree
from forklint.project.module import Module
from forklint.records import dataclass


@dataclass(frozen=True)
class Places:
    """Finds the LibCST nodes of ``ast`` nodes."""

    tree: Tree
    module: Module

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The LibCST expression for one of ``ast``; raises LookupError."""
        for found in self.tree.at(self.module.span(node)):
            if isinstance(found, cst.BaseExpression):
                return found
        raise LookupError(ast.unparse(node))

    def text(self, node: ast.expr) -> str:
        """The source text of an expression."""
        return self.tree.module.code_for_node(self.expression(node))
