"""Digest of a sample: by its value, whatever process took it, and without changing it.

Nothing of a sample's identity goes in: no address, no order of a set, no sharing between its parts. What cannot be
taken apart to values has no digest.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
import sys
import types
from typing import Any, Callable, Optional

DEEPEST = 12
PLAIN = (bool, int, complex, str, bytes, bytearray, type(None), range, slice)
NAMED = (type, types.FunctionType, types.BuiltinFunctionType)

_scratch = os.environ.get("TMPDIR", "")


class UndigestableError(Exception):
    """A part of the sample has no value that could be compared."""


def digest(sample: Any) -> Optional[str]:
    """Sixteen hexadecimal digits, or None if the sample cannot be digested."""
    hasher = hashlib.blake2b(digest_size=8)
    try:
        _feed(hasher.update, sample, DEEPEST)
    except Exception:
        return None
    return hasher.hexdigest()


def _feed(update: Callable[[bytes], None], value: Any, depth: int) -> None:
    if depth == 0:
        raise UndigestableError
    update(_name(type(value)).encode())
    if type(value) in PLAIN:
        if isinstance(value, str) and _scratch:
            value = value.replace(_scratch, "")  # a path in a trial's own folder is another one in each trial
        update(bytes(value) if isinstance(value, (bytes, bytearray)) else repr(value).encode("utf-8", "surrogatepass"))
    elif isinstance(value, float):
        update(struct.pack("<d", value))
    elif isinstance(value, (list, tuple)):
        update(b"[%d" % len(value))
        for part in value:
            _feed(update, part, depth - 1)
        _feed_attributes(update, value, depth)
    elif isinstance(value, dict):
        _feed_unordered(update, [(key, value[key]) for key in value], depth)
    elif isinstance(value, (set, frozenset)):
        _feed_unordered(update, list(value), depth)
    elif not _feed_array(update, value, depth):
        _feed_object(update, value, depth)


def _feed_unordered(update: Callable[[bytes], None], parts: Any, depth: int) -> None:
    found = []
    for part in parts:
        hasher = hashlib.blake2b(digest_size=8)
        _feed(hasher.update, part, depth - 1)
        found.append(hasher.digest())
    update(b"{%d" % len(found))
    for one in sorted(found):
        update(one)


def _feed_array(update: Callable[[bytes], None], value: Any, depth: int) -> bool:
    """Feed a tensor, an array or an image; whether it was one."""
    torch, numpy, image = (sys.modules.get(name) for name in ("torch", "numpy", "PIL.Image"))
    if torch is not None and isinstance(value, torch.Tensor):
        plain = value.detach()
        if plain.layout != torch.strided:
            plain = plain.to_dense()
        plain = plain.as_subclass(torch.Tensor).cpu().resolve_conj().resolve_neg().contiguous()
        update("{}{}".format(plain.dtype, tuple(plain.shape)).encode())
        update(ctypes.string_at(plain.data_ptr(), plain.numel() * plain.element_size()) if plain.numel() else b"")
        return True
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        update("{}{}".format(value.dtype, value.shape).encode())
        if value.dtype.hasobject:
            _feed(update, value.tolist(), depth - 1)
        else:
            update(value.tobytes())
        return True
    if image is not None and isinstance(value, image.Image):
        update("{}{}".format(value.mode, value.size).encode())
        update(value.tobytes())
        return True
    return False


def _feed_object(update: Callable[[bytes], None], value: Any, depth: int) -> None:
    """Feed what pickling would write of an object, part by part; classes and functions go by name."""
    if isinstance(value, NAMED):
        update("{}.{}".format(value.__module__, value.__qualname__).encode())
        return
    reduced = value.__reduce_ex__(2)
    if isinstance(reduced, str):
        update(reduced.encode())
        return
    parts = list(reduced) + [None] * (5 - len(reduced))
    update(getattr(parts[0], "__name__", "").encode())
    _feed(update, tuple(part for part in parts[1] if not isinstance(part, type)), depth - 1)
    _feed(update, parts[2], depth - 1)
    for each in parts[3:5]:
        _feed(update, None if each is None else list(each), depth - 1)


def _feed_attributes(update: Callable[[bytes], None], value: Any, depth: int) -> None:
    if type(value) not in (list, tuple):
        _feed(update, getattr(value, "__dict__", None), depth - 1)


def _name(kind: type) -> str:
    return "{}.{}".format(kind.__module__, kind.__qualname__)
