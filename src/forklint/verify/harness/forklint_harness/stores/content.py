"""Bytes of stores and files, by what reads them; each in the form that the reader itself writes."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import json
import lzma
import pickle
import struct
import zlib
from typing import Any, Callable, Dict, Optional

from forklint_harness.stores.node import COUNT, Node
from forklint_harness.stores.values import array_of, text_of, value_of

TEXTUAL = frozenset(("holds", "digits", "columns", "ending", "beginning"))
"""Facts that are known of texts alone."""
PLAIN = 1 << 18
"""Bytes of a plain file of which nothing is known."""


def bytes_for(node: Node, number: Optional[int] = None) -> bytes:
    """What is to lie under a key, in a member, in a file."""
    told = node.facts.get("format", "")
    is_text = told == "text" or node.value is not None or node.inner.kind or TEXTUAL & set(node.facts)
    make = FORMATS.get(told or ("" if is_text else "raw"), _text)
    return make(node, number)


def _text(node: Node, number: Optional[int]) -> bytes:
    inner = node.inner
    return text_of(inner if inner.kind else node, number).encode("utf-8")


def counters(length: int, begin: int = 0) -> bytes:
    """Bytes that differ by position: little-endian numbers of eight bytes that count."""
    first, skip = divmod(begin, 8)
    count = (skip + length) // 8 + 1
    return struct.pack("<{}Q".format(count), *range(first, first + count))[skip : skip + length]


def _raw(node: Node, number: Optional[int]) -> bytes:
    size = int(node.facts.get("size", 64))
    return counters(size, 8 * (number or 0))


def _lines(node: Node, _number: Optional[int]) -> bytes:
    each = node.each
    count = node.facts.get("length", 8 * COUNT)
    rows = [line_of(each, index) for index in range(count)]
    header = node.facts.get("header")
    return "".join(one + "\n" for one in ([header] if header else []) + rows).encode("utf-8")


def line_of(each: Node, number: int) -> str:
    """One line of a text file."""
    if each.facts.get("format") == "json":
        return json.dumps(plain(value_of(each.inner, number), number))
    return text_of(each, number)


def _image(_node: Node, number: Optional[int]) -> bytes:
    return png(number or 0)


def png(number: int, side: int = 32) -> bytes:
    """A small picture in colour, another one for each number."""
    rows = b"".join(
        b"\0"
        + bytes((column * 5 + row * 3 * shade + number * 37) % 256 for column in range(side) for shade in (1, 2, 3))
        for row in range(side)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _pickle(node: Node, number: Optional[int]) -> bytes:
    return pickle.dumps(value_of(node.inner, number), 2)


def plain(value: Any, number: Optional[int] = None) -> Any:
    """A value as JSON has it; one of which nothing is known is a text, another one for each number."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain(one, number) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one, index) for index, one in enumerate(value)]
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    return "item_{}".format(number or 0)


def _json(node: Node, number: Optional[int]) -> bytes:
    return json.dumps(plain(value_of(node.inner, number), number)).encode("utf-8")


def _yaml(node: Node, number: Optional[int]) -> bytes:
    return _json(node, number)  # JSON is YAML


def _npy(node: Node, number: Optional[int]) -> bytes:
    import numpy

    file = io.BytesIO()
    inner = node.inner
    value = array_of(inner, number) if inner.kind in ("", "array") else value_of(inner, number)
    numpy.save(file, value, allow_pickle=True)
    return file.getvalue()


def _npz(node: Node, number: Optional[int]) -> bytes:
    import numpy

    file = io.BytesIO()
    found = {str(key): array_of(part, number) for key, part in node.inner.items()}
    numpy.savez(file, **found)
    return file.getvalue()


def _torch(node: Node, number: Optional[int]) -> bytes:
    import torch

    file = io.BytesIO()
    torch.save(value_of(node.inner, number), file)
    return file.getvalue()


def _msgpack(node: Node, number: Optional[int]) -> bytes:
    msgpack: Any = importlib.import_module("msgpack")
    return bytes(msgpack.packb(plain(value_of(node.inner, number), number), use_bin_type=True))


def _struct(node: Node, number: Optional[int]) -> bytes:
    return counters(struct.calcsize(str(node.facts["struct"])), 8 * (number or 0))


def _packed(pack: Callable[[bytes], bytes]) -> Callable[[Node, Optional[int]], bytes]:
    def make(node: Node, number: Optional[int]) -> bytes:
        return pack(bytes_for(node.inner, number))

    return make


def _lz4(data: bytes) -> bytes:
    frame: Any = importlib.import_module("lz4.frame")
    return bytes(frame.compress(data))


def _wave(_node: Node, number: Optional[int]) -> bytes:
    import wave

    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16000)
        sound.writeframes(counters(1 << 15, 8 * (number or 0)))
    return file.getvalue()


def _table(node: Node, _number: Optional[int]) -> bytes:
    from forklint_harness.stores.kinds.frames import text_of_table

    return text_of_table(node).encode("utf-8")


FORMATS: Dict[str, Callable[[Node, Optional[int]], bytes]] = {
    "raw": _raw,
    "binary": lambda node, _: counters(max(PLAIN, int(node.facts.get("size", 0)))),
    "lines": _lines,
    "image": _image,
    "pickle": _pickle,
    "json": _json,
    "yaml": _yaml,
    "npy": _npy,
    "npz": _npz,
    "torch": _torch,
    "msgpack": _msgpack,
    "struct": _struct,
    "table": _table,
    "wave": _wave,
    "gzip": _packed(gzip.compress),
    "bz2": _packed(bz2.compress),
    "lzma": _packed(lzma.compress),
    "zlib": _packed(zlib.compress),
    "lz4": _packed(_lz4),
}
