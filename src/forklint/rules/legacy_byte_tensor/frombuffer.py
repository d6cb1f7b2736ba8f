"""Makes a byte tensor by ``torch.frombuffer``, of a copy of the bytes, as the storage had one."""

from __future__ import annotations

import ast

from forklint.edits import cst
from forklint.edits.places import Places
from forklint.edits.tree import Tree, find
from forklint.project.module import Module
from forklint.rules.legacy_byte_tensor.byte_tensors import ByteTensor


def without_storage(tree: Tree, module: Module, found: ByteTensor) -> Tree | None:
    """The tree in which the tensor is made without a storage; None where that cannot be written in its place.

    It cannot where a comment stands in the call, or something else reads the storage.

    The bytes are copied into a ``bytearray``: torch warns of memory that it must not write to, and what is done to the
    source later must not reach the tensor. A tensor that may be made larger gets memory of its own.
    """
    data = found.data
    if data is None or not found.torch or (found.assigned is not None and not found.is_only_use):
        return None
    try:
        places = Places(tree, module)
        parts = (places.expression(found.call), places.expression(found.storage))
        if any(True for part in parts for _ in find(part, cst.Comment)):
            return None
        text = places.text(data)
        if not (isinstance(data, ast.Call) and isinstance(data.func, ast.Name) and data.func.id == "bytearray"):
            text = f"bytearray({text})"
        more = "".join(f", {keyword.arg}={places.text(keyword.value)}" for keyword in found.kept)
        clone = ".clone()" if "resize_" in module.document.text else ""
        made = cst.parse_expression(f"{found.torch}.frombuffer({text}, dtype={found.torch}.uint8{more}){clone}")
        changes: dict[cst.CSTNode, cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]] = {}
        if found.assigned is None:
            changes[places.expression(found.call)] = made
        else:
            changes[places.expression(found.call)] = places.expression(found.call.args[0])
            changes[places.expression(found.storage)] = made
        return tree.replace_all(changes)
    except LookupError:
        return None
