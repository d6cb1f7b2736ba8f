"""What an expression that makes a mask surely gives: its kind of dtype, which values it holds, what its ones mark.

What torch's functions give was measured with torch 2.13: ``torch.full`` takes its dtype from the value, ``masked_fill``
keeps the mask's, a bool or int tensor times a float is a float tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from forklint.knowledge.attention import Making, making
from forklint.project.budget import Budget
from forklint.project.certainty import is_certain
from forklint.project.index import External, Project
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Scope
from forklint.rules.mask_dtype_mismatch.objects import held
from forklint.rules.mask_dtype_mismatch.values import (
    BINARY,
    BLOCKING,
    INFINITE,
    NONE,
    ONES,
    OPPOSITE,
    ZEROS,
    Tensor,
    either,
    filled,
    joined,
    kept,
    literal,
    refilled,
    written_out,
)
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression
from forklint.values.origins import behind

MAX_DEPTH = 12
READ = 50
"""So many statements are looked through, for what gives a name its value, in the time of a step."""
TRANSFORMER = "torch.nn.Transformer"


class Tensors:
    """Works out what expressions give in one module."""

    def __init__(self, project: Project, module: Module, budget: Budget) -> None:
        self.project = project
        self.module = module
        self.budget = budget
        self.evaluator = Evaluator(project)

    @cached_property
    def known(self) -> Making:
        """The tables."""
        return making()

    def of(self, node: ast.expr, depth: int = MAX_DEPTH) -> Tensor | None:
        """What an expression gives where it stands; None if that is not certain."""
        if depth <= 0 or not self.budget.spend():
            return None
        if isinstance(node, ast.Constant) and node.value is None:
            return NONE
        if isinstance(node, (ast.Name, ast.IfExp)):
            return self._followed(node, depth - 1)
        if isinstance(node, ast.Compare):
            return self._compared(node, depth)
        if isinstance(node, ast.Subscript):
            return self.of(node.value, depth - 1)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, depth - 1)
        if isinstance(node, ast.BinOp):
            return self._binary(node, depth - 1)
        if isinstance(node, ast.Attribute) and node.attr in {"T", "mT", "data"}:
            return self.of(node.value, depth - 1)
        if isinstance(node, ast.Attribute):
            return None if self._is_changed(node) else self._followed(node, depth - 1)
        return self._called(node, depth - 1) if isinstance(node, ast.Call) else None

    # Variables

    def _followed(self, node: ast.expr, depth: int) -> Tensor | None:
        """What a name, an attribute or a call of the project's own function gives, by all that it may stand for."""
        self.budget.spend(len(getattr(self.module.scope_at(node).node, "body", ())) // READ)
        parts = behind(self.evaluator, Expression(self.module, self.module.scope_at(node), node))
        tensors = [Tensors(self.project, one.module, self.budget).of(one.node, depth) for one in parts]
        scopes = {one.scope for one in parts} if isinstance(node, ast.Name) else ()
        tensor = either(tensors)
        for scope in scopes:
            tensor = self._written(tensor, scope, getattr(node, "id", ""))
        return tensor

    def _written(self, tensor: Tensor | None, scope: Scope, name: str) -> Tensor | None:
        """The tensor after all that a function writes into it in place."""
        if tensor is None:
            return None
        writes = self.project.answer("written in place", scope.node, lambda: _writes(scope.node))
        for written in writes.get(name, ()):
            more = filled(written) if written is not None else None
            values = more.values if more is not None else None
            tensor = replace(tensor, values=joined(tensor.values, values), marks="") if tensor else None
        return tensor

    def _is_changed(self, node: ast.Attribute) -> bool:
        """Whether its class writes into an attribute in place: ``self.mask[0] = 1``, ``self.mask.fill_(1)``."""
        home = next((above for above in self.module.above(node) if isinstance(above, ast.ClassDef)), None)
        above = (
            self.module.parents[one]
            for one in nodes_below(home or node)
            if isinstance(one, ast.Attribute) and one.attr == node.attr
        )
        return any(
            isinstance(getattr(one, "ctx", None), ast.Store)
            if isinstance(one, ast.Subscript)
            else getattr(one, "attr", "").endswith("_")
            for one in above
        )

    # Operators

    def _compared(self, node: ast.Compare, depth: int) -> Tensor | None:
        if len(node.ops) != 1 or isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return None
        marks = self._told_apart(node.left, node.comparators[0], isinstance(node.ops[0], ast.NotEq), depth - 1)
        plain = isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        return Tensor("bool", BINARY, marks if plain else "")

    def _told_apart(self, left: ast.expr, right: ast.expr, unequal: bool, depth: int) -> str:  # noqa: FBT001 - the sign
        """What the ones of ``left == right`` mark."""
        compared, number = self.of(left, depth), literal(right)
        if compared is not None and compared.is_binary and number in {0, 1}:
            same = (number == 1) != unequal
            return compared.marks if same else OPPOSITE[compared.marks]
        if "pad" in ast.unparse(right).lower():
            return "allowed" if unequal else "blocked"
        return ""

    def _unary(self, node: ast.UnaryOp, depth: int) -> Tensor | None:
        tensor = self.of(node.operand, depth)
        if tensor is None or tensor.optional:
            return None
        if isinstance(node.op, ast.Invert) and tensor.kind == "bool":
            return replace(tensor, marks=OPPOSITE[tensor.marks])
        if isinstance(node.op, ast.USub) and tensor.kind != "bool":
            return Tensor(tensor.kind)
        return None

    def _binary(self, node: ast.BinOp, depth: int) -> Tensor | None:
        left, right = self.of(node.left, depth), self.of(node.right, depth)
        if isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            both = left is not None and right is not None and left.kind == right.kind == "bool"
            return Tensor("bool", BINARY, left.marks if left == right and left else "") if both else None
        if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            return None
        scalar = filled(node.right if left is not None else node.left)
        tensor = left or right
        if isinstance(node.op, ast.Sub) and tensor is not None and tensor is right and tensor.is_binary:
            number = literal(node.left)
            if number == 1 and tensor.kind != "bool":
                return replace(tensor, marks=OPPOSITE[tensor.marks])
        kinds = {part.kind for part in (left, right, scalar) if part is not None and not part.optional}
        if "float" in kinds:
            return Tensor("float", BINARY if self._of_binaries(node, left, right) else None)
        return Tensor("int") if left and right and kinds == {"int"} else None

    def _of_binaries(self, node: ast.BinOp, left: Tensor | None, right: Tensor | None) -> bool:
        both = left is not None and right is not None and left.is_binary and right.is_binary
        return both and isinstance(node.op, ast.Mult)

    # Calls

    def _called(self, node: ast.Call, depth: int) -> Tensor | None:
        if any(keyword.arg is None for keyword in node.keywords):
            return None
        scope = self.module.scope_at(node)
        symbol = self.project.resolve(self.module, scope, node.func)
        if isinstance(symbol, External) and symbol.name.startswith("torch."):
            if not is_certain(self.project, self.module, scope, node.func):
                return None
            return self._function(node, symbol.name, depth)
        found = self._followed(node, depth)
        return self._method(node, node.func, depth) if found is None and isinstance(node.func, ast.Attribute) else found

    def _function(self, node: ast.Call, name: str, depth: int) -> Tensor | None:
        """A call of a function of torch by its qualified name."""
        holds, last = self.known.makers.get(name), name.rpartition(".")[2]
        if holds is not None:
            return self._made(node, holds, Tensor("float"))
        if not name.startswith("torch.") or name.count(".") > 1 or not node.args:
            return None
        first = self.of(node.args[0], depth)
        if last in self.known.like:
            return self._made(node, self.known.like[last], first)
        if last in self.known.tests:
            return Tensor("bool", BINARY)
        if last == "where" and len(node.args) == 3:
            return self._chosen(node.args[1], node.args[2], depth)
        if last == "tensor":
            return written_out(node)
        if last == "masked_fill" and len(node.args) == 3:
            return refilled(first, node.args[2])
        return kept(first, last, node.args[1:], node.keywords) if last in self.known.keeps else None

    def _method(self, node: ast.Call, func: ast.Attribute, depth: int) -> Tensor | None:
        """A call of a method of a tensor; nothing is asked of objects that are no tensor, since it is a mask."""
        name = func.attr
        cast = self.known.casts.get(name)
        tensor = self.of(func.value, depth)
        if cast is not None and not node.args:
            return self._cast(tensor, cast)
        if name in {"to", "type"}:
            return self._converted(tensor, node)
        if name in {"eq", "ne"} and len(node.args) == 1:
            return Tensor("bool", BINARY, self._told_apart(func.value, node.args[0], name == "ne", depth))
        if name in self.known.tests:
            return Tensor("bool", BINARY)
        if name == "generate_square_subsequent_mask":
            is_torch = held(self.project, self.module, func.value) == TRANSFORMER
            return self._made(node, "causal", Tensor("float")) if is_torch else None
        if name in self.known.like:
            return self._made(node, self.known.like[name], tensor)
        if name in {"masked_fill", "masked_fill_"} and len(node.args) == 2:
            return refilled(tensor, node.args[1])
        return kept(tensor, name, node.args, node.keywords) if name in self.known.keeps else None

    def _made(self, node: ast.Call, holds: str, otherwise: Tensor | None) -> Tensor | None:
        """A new tensor: by the dtype it is told, by the number it is filled with, or like another."""
        values = {"zeros": frozenset([ZEROS]), "ones": frozenset([ONES]), "both": BINARY, "causal": BLOCKING}.get(holds)
        kind = otherwise.kind if otherwise is not None and not otherwise.optional else ""
        if holds == "full":
            fill = next((keyword.value for keyword in node.keywords if keyword.arg == "fill_value"), None)
            fill = fill or (node.args[1] if len(node.args) > 1 else None)
            filler = filled(fill) if fill is not None else None
            values = filler.values if filler is not None else None
            is_new = self.project.qualified(self.module, self.module.scope_at(node), node.func) == "torch.full"
            kind = (filler.kind if filler is not None else "") if is_new else kind
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                kind = self._dtype(keyword.value)
        return Tensor(kind, values) if kind else None

    def _dtype(self, node: ast.expr) -> str:
        name = self.project.qualified(self.module, self.module.scope_at(node), node)
        plain = node.id if isinstance(node, ast.Name) and not name else ""
        is_builtin = plain in {"bool", "float", "int"} and self.module.scope_at(node).find(plain) is None
        return plain if is_builtin else self.known.dtypes.get(name, "")

    def _cast(self, tensor: Tensor | None, kind: str) -> Tensor:
        if tensor is not None and (tensor.kind == kind or (tensor.values or {INFINITE}) <= BINARY):
            return replace(tensor, kind=kind, optional=False)
        return Tensor(kind, BINARY if kind == "bool" else None)

    def _converted(self, tensor: Tensor | None, node: ast.Call) -> Tensor | None:
        """``.to(...)``: a dtype casts, a device does not."""
        dtypes = [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
        for argument in [*dtypes, *node.args]:
            kind = self._dtype(argument)
            if kind:
                return self._cast(tensor, kind)
        if dtypes or any(keyword.arg == "other" for keyword in node.keywords):
            return None
        devices = [keyword.value for keyword in node.keywords if keyword.arg == "device"] + node.args
        return tensor if len(devices) == 1 and (len(node.args) == 0 or _is_device(node.args[0])) else None

    def _chosen(self, one: ast.expr, other: ast.expr, depth: int) -> Tensor | None:
        first = filled(one) or self.of(one, depth)
        second = filled(other) or self.of(other, depth)
        if first is None or second is None or first.kind != second.kind or not first.kind:
            return None
        return Tensor(first.kind, joined(first.values, second.values))


def _is_device(node: ast.expr) -> bool:
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "device" in last or (isinstance(node, ast.Constant) and isinstance(node.value, str))


Writes = Mapping[str, Sequence[ast.expr | None]]
"""What is written into tensors in place, by their names: an expression, or None if it is not a plain fill."""


def _writes(function: ast.AST) -> Writes:
    found: dict[str, list[ast.expr | None]] = {}
    for node in nodes_below(function):
        if isinstance(node, ast.Assign):
            parts = [target for target in node.targets if isinstance(target, ast.Subscript)]
            for name in {_root(part) for part in parts}:
                found.setdefault(name, []).append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            found.setdefault(_root(node.target), []).append(None)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method, owner = node.func.attr, node.func.value
            if method.endswith("_") and not method.endswith("__") and method != "requires_grad_":
                plain = method in {"fill_", "masked_fill_", "fill_diagonal_"} and bool(node.args)
                found.setdefault(_root(owner), []).append(node.args[-1] if plain else None)
    return found


def _root(node: ast.expr) -> str:
    """The variable of which an expression is a part or view: ``mask[:, 0]``, ``mask.diagonal()``; empty for none."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
