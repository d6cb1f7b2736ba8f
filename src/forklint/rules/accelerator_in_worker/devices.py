"""Which expressions surely put something on an accelerator, and on which kind."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from forklint.knowledge.accelerators import accelerator_words
from forklint.project.spelling import last_name
from forklint.values import arguments
from forklint.values.devices import devices
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression, Source
from forklint.values.worlds import World

if TYPE_CHECKING:
    from forklint.project.index import Project

KINDS = frozenset({"cuda", "mps", "xpu", "hpu"})
METHODS = {"cuda": "cuda", "xpu": "xpu", "mps": "mps", "hpu": "hpu"}
"""Methods of tensors and modules that move them; ``.mps()`` is no method of torch and harms nobody here."""
NO_TENSOR = {"device", "stream", "Event", "Stream", "autocast", "pipeline", "manual_seed", "set_device"}
"""Calls that take a device and put nothing on it, or that are others' own business."""
CHOOSES, PINS = "torch.cuda.set_device", "pin_memory"
"""What makes a context for CUDA, though it puts nothing there."""
MACHINES = (World.LINUX_CUDA, World.MPS, World.LINUX)
"""Kinds of machine for which it is asked what an expression names."""


def used_by(project: Project, place: Expression) -> str:
    """The kind of accelerator that a call surely uses, on machines that have one; empty if none is certain."""
    module, scope, call = place.module, place.scope, place.node
    assert isinstance(call, ast.Call)  # noqa: S101 - the caller says so
    function = call.func
    name = last_name(function)
    if isinstance(function, ast.Attribute) and name in METHODS and len(call.args) <= 1:
        of_module = project.qualified(module, scope, function.value).startswith(("torch", "numpy", "cupy"))
        return "" if of_module else METHODS[name]
    if isinstance(function, ast.Attribute) and name == "to" and call.args:
        return kind_of(Evaluator(project), place.part(call.args[0]))
    words, called = accelerator_words(), project.qualified(module, scope, function)
    if called == CHOOSES or (name == PINS and isinstance(function, ast.Attribute) and not called):
        return "cuda"
    if name in NO_TENSOR:
        return ""
    if called in words.arrays or is_cuda_type(called):
        return "cuda"
    if name == "type" and call.args and is_cuda_type(project.qualified(module, scope, call.args[0])):
        return "cuda"
    option = "map_location" if called in words.readers else "device"
    takes_one = name == "to" or called in words.loaders or called.startswith(("torch.", "torchvision."))
    given = arguments.of_call(Evaluator(project), place).keywords.get(option) if takes_one else None
    return kind_of(Evaluator(project), given) if given is not None else ""


def is_cuda_type(name: str) -> bool:
    """Whether a qualified name is one of torch's types for tensors on a GPU: ``torch.cuda.FloatTensor``."""
    return name.startswith("torch.cuda.") and name.endswith("Tensor")


def may_use(call: ast.Call) -> bool:
    """Whether a call may use an accelerator, by its names alone."""
    name = last_name(call.func)
    if name in _names() or name.endswith("Tensor"):
        return True
    return any(keyword.arg in {"device", "map_location", None} for keyword in call.keywords)


@cache
def _names() -> frozenset[str]:
    """Last names of what may use an accelerator, whatever it is given."""
    return frozenset(
        {*METHODS, "to", "type", PINS, CHOOSES.rpartition(".")[2]}
        | {made.rpartition(".")[2] for made in accelerator_words().arrays}
    )


def itself(call: ast.Call) -> ast.Call:
    """The call before those that give the module itself: ``model.to("cuda")`` of ``model.to("cuda").eval()``."""
    while isinstance(call.func, ast.Attribute) and call.func.attr in accelerator_words().same:
        if not isinstance(call.func.value, ast.Call):
            break
        call = call.func.value
    return call


def kind_of(evaluator: Evaluator, source: Source) -> str:
    """The kind of accelerator that a value names, on machines that have one; empty if none is certain.

    ``"cuda" if torch.cuda.is_available() else "cpu"`` names one; a device that one caller gives and another does not
    is none.
    """
    found = devices(evaluator, source)
    for machine in MACHINES if found.is_all else ():
        kinds = {name for name, worlds in found.names if machine in worlds}
        if len(kinds) == 1 and kinds <= KINDS:
            return kinds.pop()
    return ""
