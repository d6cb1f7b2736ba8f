"""Zip and tar archives, and files that are compressed as a whole."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from typing import Any, Callable, Dict, Iterator, List

from forklint_harness.stores.asked import Obliging
from forklint_harness.stores.content import bytes_for
from forklint_harness.stores.hooks import Answer, opener
from forklint_harness.stores.kinds.plain import AskedBytes, AskedLines, format_of
from forklint_harness.stores.marked import mark, text
from forklint_harness.stores.node import Node
from forklint_harness.stores.readers import ZIPPED, unzipped_file
from forklint_harness.stores.world import World, text_of_path

MANY = 32
"""Members of an archive that is listed."""


class AskedMember:
    """What tells of a member: ZipInfo and TarInfo in one."""

    def __init__(self, name: str, size: int) -> None:
        self.filename = self.name = name
        self.file_size = self.size = size
        self.offset_data = 0

    def isfile(self) -> bool:
        """As TarInfo's."""
        return True

    def isdir(self) -> bool:
        """As TarInfo's."""
        return False

    is_dir = isdir


class AskedArchive(Obliging):
    """An archive that has every member that it is asked for."""

    def __init__(self, node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> None:
        self._node = node

    def _names(self) -> List[Any]:
        node = self._node
        if not any(True for _ in node.items()):
            node.facts["listed"] = MANY
        if "listed" in node.facts:
            ending = node.each.facts.get("ending", "")
            for number in range(node.facts["listed"]):
                self._member("item_{}{}".format(number, ending))
        return [text(node.each, number, key) for number, (key, _) in enumerate(node.items())]

    def _member(self, name: Any) -> Any:
        plain = str(getattr(name, "filename", getattr(name, "name", name)))
        part = self._node.part(plain, plain)
        part.facts.setdefault("place", len(self._node.parts))
        if format_of(plain) == "image":
            part.facts.setdefault("format", "image")
        return part

    def read(self, name: Any, *_arguments: Any, **_keywords: Any) -> Any:
        """Read a member of a zip archive."""
        part = self._member(name)
        return mark(part, part.facts["place"])

    def open(self, name: Any, *_arguments: Any, **_keywords: Any) -> Any:
        """Open a member."""
        return io.BytesIO(self.read(name))

    def namelist(self) -> List[Any]:
        """Names of all members."""
        return self._names()

    getnames = namelist

    def infolist(self) -> List[AskedMember]:
        """All members."""
        return [self.getinfo(name) for name in self._names()]

    getmembers = infolist

    def getinfo(self, name: Any) -> AskedMember:
        """One member."""
        part = self._member(name)
        return AskedMember(str(name), len(bytes_for(part)))

    getmember = getinfo
    extractfile = open  # noqa: A003 - the method above

    def __iter__(self) -> Iterator[AskedMember]:
        return iter(self.infolist())


def members_of(node: Node) -> Iterator[Any]:
    """Names of members, with their bytes."""
    ending = node.each.facts.get("ending", "")
    for key, part in node.items():
        if isinstance(key, str) and not ("listed" in node.facts and ending and not key.endswith(ending)):
            yield key, bytes_for(part, part.facts.get("place"))


def make_zip(path: str, node: Node) -> None:
    """Make a zip archive and close it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members_of(node):
            archive.writestr(name, data)


def make_tar(path: str, node: Node) -> None:
    """Make a tar archive and close it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tarfile.open(path, "w:gz" if path.endswith(("gz", "tgz")) else "w") as archive:
        for name, data in members_of(node):
            told = tarfile.TarInfo(name)
            told.size = len(data)
            archive.addfile(told, io.BytesIO(data))


def _zipped(form: str) -> Answer:
    """A compressed file, by its path; or what is read of bytes."""

    def asked(node: Node, arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        node.facts["format"] = form
        mode = str(keywords.get("mode", arguments[1] if len(arguments) > 1 else "rb"))
        return AskedLines(node.inner) if "t" in mode else AskedBytes(node.inner)

    by_path, of_bytes = opener("plain", asked), unzipped_file(form)

    def answer(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        if arguments and text_of_path(arguments[0]) is not None and keywords.get("fileobj") is None:
            return by_path(world, plain, arguments, keywords)
        return of_bytes(world, plain, arguments, keywords)

    return answer


def _reads(arguments: List[Any], keywords: Dict[str, Any]) -> bool:
    mode = keywords.get("mode", arguments[1] if len(arguments) > 1 else "r")
    return str(mode).startswith("r")


HOOKS: Dict[str, Answer] = {
    "zipfile.ZipFile": opener("zip", AskedArchive, _reads),
    "tarfile.open": opener("tar", AskedArchive, _reads),
    "tarfile.TarFile": opener("tar", AskedArchive, _reads),
    **{name: _zipped(form) for name, form in ZIPPED.items()},
}
MAKERS = {"zip": make_zip, "tar": make_tar}
