"""CUDA that is not there runs on the CPU, and a process group has one rank; a question whether it is there hears no."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any, Callable, Dict, Mapping

from forklint_harness.imports import after_import
from forklint_harness.tolerance import lacks
from forklint_harness.tolerance.stand_ins import StandIn

MAKERS = [
    "zeros",
    "ones",
    "empty",
    "full",
    "rand",
    "randn",
    "randint",
    "randperm",
    "arange",
    "linspace",
    "eye",
    "tensor",
    "as_tensor",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "rand_like",
    "randn_like",
    "randint_like",
    "logspace",
    "tril_indices",
    "triu_indices",
    "scalar_tensor",
    "Generator",
]
QUIET = [
    "set_device",
    "synchronize",
    "init",
    "manual_seed",
    "manual_seed_all",
    "empty_cache",
    "reset_peak_memory_stats",
    "ipc_collect",
]
ASKED = [
    "get_device_properties",
    "get_device_name",
    "get_device_capability",
    "mem_get_info",
    "Stream",
    "Event",
    "current_stream",
]
LEFT_PLAIN = ("payload", "guard", "samples", "draws")
"""Tasks in which nothing is compiled: to load the compiler alone takes longer than all else that they do."""
GROUP = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "NODE_RANK": "0"}
"""What a launcher would have set."""


def install(spec: Mapping[str, Any], task: str = "") -> None:
    """Set the hooks; ``claims`` of the spec names what is not to be stood in: ``accelerator``."""
    if task in LEFT_PLAIN:
        after_import("torch", _on_compile)
    if "accelerator" not in spec.get("claims", ()):
        after_import("torch", _on_torch)
    after_import("torch.distributed", _on_distributed)
    after_import("torch.nn.init", _on_init)
    after_import("torch.jit", _on_script)
    _launched()


def _launched() -> None:
    """Answer for a launcher's variables where they are read and not set."""
    environ: Any = type(os.environ)
    plain = environ.__getitem__

    def __getitem__(self: Any, key: Any) -> Any:
        try:
            return plain(self, key)
        except KeyError:
            if key not in GROUP:
                raise
            lacks.record("variable", key)
            return GROUP[key]

    environ.__getitem__ = __getitem__


def _on_compile(torch: Any) -> None:
    if not hasattr(torch, "compile"):
        return

    def as_it_is(model: Any = None, **_: Any) -> Any:
        lacks.record("statement", "torch.compile", "skipped")
        return model if model is not None else as_it_is

    torch.compile = as_it_is
    torch.nn.Module.compile = lambda *_, **__: as_it_is()


def _on_script(jit: Any) -> None:
    """Leave what the compiler of scripts refuses as it is: it reads the tolerant form, and stand-ins in it."""
    plain = jit.script

    def script(obj: Any, *arguments: Any, **keywords: Any) -> Any:
        try:
            return plain(obj, *arguments, **keywords)
        except Exception:
            lacks.record("statement", "torch.jit.script", "skipped")
            return obj

    jit.script = script


def _on_torch(torch: Any) -> None:
    if torch.cuda.is_available():
        return
    for name in MAKERS:
        if isinstance(getattr(torch, name, None), type):
            continue
        _wrap(torch, name, _moved)
    for kind in (torch.Tensor, torch.nn.Module):
        for name in ("cuda", "to", "pin_memory"):
            if hasattr(kind, name):
                _wrap_method(kind, name)
    _wrap(torch, "load", _loaded)
    for name in QUIET:
        _wrap_whole(torch.cuda, name, lambda *_, **__: None)
    for name in ASKED:
        _wrap_whole(torch.cuda, name, lambda *_, _name=name, **__: StandIn("torch.cuda." + _name))
    _wrap_whole(torch.cuda, "current_device", lambda *_, **__: 0)


def _is_device(value: Any) -> bool:
    return str(value).partition(":")[0] in ("cuda", "mps", "xpu") if isinstance(value, (str, _device())) else False


def _device() -> Any:
    import torch

    return torch.device


def _moved(keywords: Dict[str, Any]) -> Dict[str, Any]:
    if _is_device(keywords.get("device")) or type(keywords.get("device")) is int:
        lacks.record("accelerator", "CUDA")
        return dict(keywords, device="cpu")
    return keywords


def _loaded(keywords: Dict[str, Any]) -> Dict[str, Any]:
    return dict(keywords, map_location="cpu")


def _wrap(owner: Any, name: str, change: Callable[[Dict[str, Any]], Dict[str, Any]]) -> None:
    plain: Any = getattr(owner, name, None)
    if plain is None:
        return

    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        return plain(*arguments, **change(keywords))

    wrapped.__wrapped__ = plain  # type: ignore[attr-defined]
    wrapped.__name__ = name
    setattr(owner, name, wrapped)
    known = getattr(sys.modules.get("torch.jit._builtins"), "_builtin_table", None) or {}
    if id(plain) in known:  # else torch.jit would compile the wrapper
        known[id(wrapped)] = known[id(plain)]


def _wrap_method(kind: Any, name: str) -> None:
    plain: Any = getattr(kind, name)

    def wrapped(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if name != "to":
            lacks.record("accelerator", "CUDA")
            return self
        given = tuple("cpu" if _is_device(one) or type(one) is int else one for one in arguments)
        return plain(self, *given, **_moved(keywords))

    wrapped.__name__ = name
    setattr(kind, name, wrapped)


def _wrap_whole(owner: Any, name: str, instead: Callable[..., Any]) -> None:
    if not hasattr(owner, name):
        return

    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        lacks.record("accelerator", "CUDA")
        return instead(*arguments, **keywords)

    wrapped.__name__ = name
    setattr(owner, name, wrapped)


def _on_init(module: ModuleType) -> None:
    """Weights are left as the memory is: to draw them takes longest of all that a model's construction does."""
    for name in dir(module):
        if name.endswith("_") and not name.startswith("_") and callable(getattr(module, name)):
            setattr(module, name, _unchanged)


def _unchanged(tensor: Any, *_arguments: Any, **_keywords: Any) -> Any:
    return tensor


def _on_distributed(module: ModuleType) -> None:
    plain: Any = getattr(module, "init_process_group", None)
    store: Any = getattr(module, "HashStore", None)
    if plain is None or store is None:
        return

    def init_process_group(*_arguments: Any, **_keywords: Any) -> Any:
        lacks.record("process group", "one rank")
        try:
            return plain("gloo", store=store(), rank=0, world_size=1)
        except RuntimeError:  # there is no network interface that gloo could use
            from torch.testing._internal.distributed import fake_pg

            return plain("fake", store=fake_pg.FakeStore(), rank=0, world_size=1)

    module.init_process_group = init_process_group  # type: ignore[attr-defined]
