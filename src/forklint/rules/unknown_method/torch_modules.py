"""Which names the modules of torch have, as far as the tables tell."""

from __future__ import annotations

from functools import cache

from forklint.knowledge.removed import removed_from
from forklint.knowledge.torch_api import ApiNames, torch_module

PLUGGED_IN = frozenset({"npu", "mlu", "musa", "hpu", "sdaa", "gcu", "ipu", "xla", "neuron", "maia", "vulkan"})
"""Backends that packages of their makers put into torch."""


ACCELERATORS = frozenset({"torch.cuda", "torch.xpu", "torch.mps", "torch.mtia", "torch.cpu"})
"""Where builds for them put their kinds of tensors: ``torch.xpu.FloatTensor``."""


@cache
def lacking_module(path: str) -> ApiNames | None:
    """The module that lacks the next part of a dotted name; None if all is known, or nothing can be said.

    Of private modules and names only those are known that torch once had.
    """
    parts = path.split(".")
    for length in range(1, len(parts)):
        above = ".".join(parts[:length])
        owner = torch_module(above)
        if parts[length] in removed_from(above):
            return owner or ApiNames(above, frozenset(), frozenset())
    for length in range(1, len(parts)):
        owner = torch_module(".".join(parts[:length]))
        if owner is None or parts[length].startswith("_") or parts[length] in PLUGGED_IN:
            return None
        if owner.path in ACCELERATORS and parts[length].endswith("Tensor"):
            return None
        if parts[length] not in owner.every:
            return owner
    return None


def is_missing(path: str) -> bool:
    """Whether a part of a dotted name is not in the module of torch that it is taken from."""
    return lacking_module(path) is not None


def is_module(path: str) -> bool:
    """Whether a dotted name is that of a module of torch some of whose names are known."""
    return torch_module(path) is not None or bool(removed_from(path))
