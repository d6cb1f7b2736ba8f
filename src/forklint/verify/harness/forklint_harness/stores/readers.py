"""What takes bytes, texts and open files apart: which reader it is says what has to stand there."""

from __future__ import annotations

import io
import struct
from typing import Any, Callable, Dict, List

from forklint_harness.stores.content import bytes_for
from forklint_harness.stores.hooks import Answer
from forklint_harness.stores.marked import mark, reads_as, told_of
from forklint_harness.stores.unknown import learning_value
from forklint_harness.stores.world import World


def _reader(name: str) -> Answer:
    """A reader that gives objects: pickle, JSON, YAML."""

    def answer(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        told = told_of(arguments[0]) if world.is_learning and arguments else None
        if told is None:
            return plain(*arguments, **keywords)
        inner, number = reads_as(told, name)
        return learning_value(inner, number)

    return answer


def _picture(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    told = told_of(arguments[0]) if world.is_learning and arguments else None
    if told is None:
        return plain(*arguments, **keywords)
    reads_as(told, "image")
    return plain(io.BytesIO(bytes_for(*told)), *arguments[1:], **keywords)


def _decoded(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    told = told_of(arguments[0]) if world.is_learning and arguments else None
    if told is None:
        return plain(*arguments, **keywords)
    import numpy

    reads_as(told, "image")
    return plain(numpy.frombuffer(bytes_for(*told), dtype="uint8"), *arguments[1:], **keywords)


def _buffer(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    told = told_of(arguments[0]) if world.is_learning and arguments else None
    if told is not None and not told[0].facts.get("format"):
        told[0].facts["format"] = "raw"
    return plain(*arguments, **keywords)


def _unpacked(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    told = told_of(arguments[1]) if world.is_learning and len(arguments) > 1 else None
    if told is None:
        return plain(*arguments, **keywords)
    form = arguments[0] if isinstance(arguments[0], str) else arguments[0].decode()
    reads_as(told, "struct")
    told[0].facts["struct"] = form
    return struct.unpack(form, bytes_for(*told))


def _unzipped(name: str) -> Answer:
    def answer(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        told = told_of(arguments[0]) if world.is_learning and arguments else None
        if told is None:
            return plain(*arguments, **keywords)
        return mark(*reads_as(told, name))

    return answer


def _unzipped_file(name: str) -> Answer:
    def answer(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        source = keywords.get("fileobj", arguments[0] if arguments else None)
        told = told_of(source) if world.is_learning else None
        if told is None:
            return plain(*arguments, **keywords)
        return io.BytesIO(mark(*reads_as(told, name)))

    return answer


def _rows(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    """csv.reader: its lines are taken apart at its delimiter."""
    told = told_of(arguments[0]) if world.is_learning and arguments else None
    if told is None:
        return plain(*arguments, **keywords)
    separator = str(keywords.get("delimiter", ","))
    return (line.rstrip("\n").split(separator) for line in arguments[0])


def _records(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    """csv.DictReader: its header has the names that were asked for."""
    told = told_of(arguments[0]) if world.is_learning and arguments else None
    if told is None:
        return plain(*arguments, **keywords)
    from forklint_harness.stores.kinds.frames import rows_of

    return iter(rows_of(told[0], str(keywords.get("delimiter", ","))))


HOOKS: Dict[str, Answer] = {
    **{
        "{}.{}".format(module, name): _reader("pickle")
        for module in ("pickle", "_pickle")
        for name in ("load", "loads")
    },
    **{"json.{}".format(name): _reader("json") for name in ("load", "loads")},
    **{"{}.{}".format(module, name): _reader("json") for module in ("ujson", "orjson") for name in ("load", "loads")},
    **{"yaml.{}".format(name): _reader("yaml") for name in ("load", "safe_load", "full_load", "unsafe_load")},
    **{"msgpack.{}".format(name): _reader("msgpack") for name in ("loads", "unpackb", "load", "unpack")},
    "dill.loads": _reader("pickle"),
    "cloudpickle.loads": _reader("pickle"),
    "joblib.load": _reader("pickle"),
    "torch.load": _reader("torch"),
    "PIL.Image.open": _picture,
    "cv2.imdecode": _decoded,
    "numpy.frombuffer": _buffer,
    "numpy.fromstring": _buffer,
    "torch.frombuffer": _buffer,
    "struct.unpack": _unpacked,
    "zlib.decompress": _unzipped("zlib"),
    "gzip.decompress": _unzipped("gzip"),
    "bz2.decompress": _unzipped("bz2"),
    "lzma.decompress": _unzipped("lzma"),
    "lz4.frame.decompress": _unzipped("lz4"),
    "csv.reader": _rows,
    "csv.DictReader": _records,
}
ZIPPED = {"gzip.open": "gzip", "gzip.GzipFile": "gzip", "bz2.open": "bz2", "lzma.open": "lzma"}
"""These take a path as well: see ``kinds/archives``."""
unzipped_file = _unzipped_file
