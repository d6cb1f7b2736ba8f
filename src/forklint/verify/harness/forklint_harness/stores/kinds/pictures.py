"""Pictures, sounds and videos, by their path."""

from __future__ import annotations

import importlib
import io
import os
from typing import Any, Callable, Dict, List

from forklint_harness.stores.content import bytes_for, png
from forklint_harness.stores.hooks import Answer, opener
from forklint_harness.stores.marked import told_of
from forklint_harness.stores.node import COUNT, Node
from forklint_harness.stores.world import World

FRAMES = 2 * COUNT


def _picture(node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> Any:
    from PIL import Image

    node.facts["format"] = "image"
    return Image.open(io.BytesIO(bytes_for(node)))


def _matrix(node: Node, arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    import numpy

    cv2: Any = importlib.import_module("cv2")

    node.facts["format"] = "image"
    given = arguments[1:] or ([keywords["flags"]] if "flags" in keywords else [cv2.IMREAD_COLOR])
    return cv2.imdecode(numpy.frombuffer(bytes_for(node), dtype="uint8"), *given)


def _wave(node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> Any:
    import wave

    node.facts["format"] = "wave"
    return wave.open(io.BytesIO(bytes_for(node)))


def _video(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    """A real one, since it has nothing that could be learnt."""

    def real(node: Node, given: List[Any], named: Dict[str, Any]) -> Any:
        from forklint_harness.stores.values import scratch

        path = os.path.join(scratch(), "real", (node.name or "video") + ".avi")
        make_video(path, node)
        return plain(path, *given[1:], **named)

    return opener("video", real)(world, plain, arguments, keywords)


def make_video(path: str, _node: Node) -> None:
    """Make a small video and close it: each frame differs."""
    import numpy

    cv2: Any = importlib.import_module("cv2")

    os.makedirs(os.path.dirname(path), exist_ok=True)
    writer: Any = cv2.VideoWriter(path + ".avi", cv2.VideoWriter_fourcc(*"MJPG"), 10, (32, 32))
    for number in range(FRAMES):
        picture = cv2.imdecode(numpy.frombuffer(png(number), dtype="uint8"), cv2.IMREAD_COLOR)
        writer.write(picture)
    writer.release()
    os.replace(path + ".avi", path)


_by_path = opener("plain", _picture)


def _pillow(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    from forklint_harness.stores import readers

    if world.is_learning and arguments and told_of(arguments[0]) is not None and hasattr(arguments[0], "read"):
        return readers.HOOKS["PIL.Image.open"](world, plain, arguments, keywords)
    return _by_path(world, plain, arguments, keywords)


HOOKS: Dict[str, Answer] = {
    "PIL.Image.open": _pillow,
    "cv2.imread": opener("plain", _matrix),
    "cv2.VideoCapture": _video,
    "wave.open": opener("plain", _wave),
}
MAKERS = {"video": make_video}
