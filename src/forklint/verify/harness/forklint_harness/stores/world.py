"""What there is in place of the data that is not there: a node for each path, and where its store lies."""

from __future__ import annotations

import os
import sys
import zlib
from typing import Any, Dict, Iterator, List, Optional, Tuple

from forklint_harness.stores.node import Node
from forklint_harness.stores.values import scratch

HERE = "@/"
"""Begins the key of a path in the scratch folder, which lies elsewhere in every trial."""
BESIDE = "@tmp/"
"""The same for the trial's other temporary files, such as one whose path a stand-in gave."""
_lexists = os.path.lexists
_isdir = os.path.isdir


class World:
    """The nodes of all paths that were asked for and are not there, and of the arguments."""

    def __init__(self, dataset: Optional[Node] = None) -> None:
        self.dataset = dataset or Node("dataset", "class")
        self.paths: Dict[str, Node] = {}
        self.checked: List[Tuple[str, str]] = []
        """Paths that the project looked for in this pass, and heard that they are not there."""
        self.is_learning = False
        self.is_forgiving = False
        """Whether statements that fail on these data are passed over: nothing was found on which none fails."""

    def as_json(self) -> Any:
        """The world as JSON holds it."""
        paths = {key: node.as_json() for key, node in self.paths.items()}
        return {"dataset": self.dataset.as_json(), "paths": paths, "is_forgiving": self.is_forgiving}

    @classmethod
    def of_json(cls, told: Any) -> World:
        """The world that ``as_json`` wrote."""
        world = cls(Node.of_json(told["dataset"]))
        world.paths = {key: Node.of_json(node) for key, node in told["paths"].items()}
        world.is_forgiving = told.get("is_forgiving", False)
        return world

    def walk(self) -> Iterator[Node]:
        """All nodes: of the arguments, then of the stores."""
        yield from self.dataset.walk()
        for node in list(self.paths.values()):
            yield from node.walk()

    def node(self, path: str) -> Node:
        """What lies at a path."""
        key = key_of_path(path)
        if key not in self.paths:
            name = os.path.basename(key.rstrip("/")) or key
            self.paths[key] = Node(name)
            folder = os.path.dirname(key)
            if folder in self.paths and self.paths[folder].kind == "":
                self.paths[folder].kind = "folder"
        return self.paths[key]

    def known(self, path: Any) -> Optional[Node]:
        """The node of a path, if it has one: a folder above a known path is known, too."""
        text = text_of_path(path)
        if text is None:
            return None
        key = key_of_path(text)
        if key in self.paths:
            return self.paths[key]
        if any(one.startswith(key + "/") for one in self.paths):
            return Node(os.path.basename(key), "folder")
        return None

    def is_missing(self, path: Any) -> bool:
        """Whether a path is one that this world has to stand in for."""
        text = text_of_path(path)
        if not text or "\0" in text or text.isspace():
            return False
        if key_of_path(text) in self.paths:
            return True
        full = os.path.abspath(text)
        places = (sys.prefix, sys.base_prefix, "/proc", "/sys", "/dev", "/etc")
        return not _lexists(full) and not full.startswith(tuple(one + os.sep for one in places))

    def is_made_up(self, path: Any) -> bool:
        """Whether the path itself was made up, as an argument: what it names is there as far as anyone can say."""
        text = text_of_path(path)
        return text is not None and key_of_path(text).startswith(HERE)


def text_of_path(path: Any) -> Optional[str]:
    """A path as text; None for what is none."""
    if isinstance(path, (str, os.PathLike, bytes)):
        try:
            found = os.fspath(path)
        except TypeError:
            return None
        return str(os.fsdecode(found)) if isinstance(found, bytes) else str(found)
    return None


def key_of_path(path: str) -> str:
    """The name of a path that is the same in every trial."""
    full, below = os.path.abspath(path), os.path.abspath(scratch())
    if full == below or full.startswith(below + os.sep):
        return HERE + full[len(below) :].strip(os.sep).replace(os.sep, "/")
    above = os.path.dirname(below)
    if full.startswith(above + os.sep):
        return BESIDE + full[len(above) :].strip(os.sep).replace(os.sep, "/")
    return full.replace(os.sep, "/")


def location_of(key: str) -> str:
    """Where the store of a key lies."""
    if key.startswith(HERE):
        return os.path.join(scratch(), *key[len(HERE) :].split("/"))
    if key.startswith(BESIDE):
        return os.path.join(os.path.dirname(os.path.abspath(scratch())), *key[len(BESIDE) :].split("/"))
    folder, name = os.path.split(key)
    return os.path.join(scratch(), "elsewhere-{:08x}".format(zlib.crc32(folder.encode())), name)


def moved(path: str) -> str:
    """Where what is asked for at a path lies."""
    return location_of(key_of_path(path))
