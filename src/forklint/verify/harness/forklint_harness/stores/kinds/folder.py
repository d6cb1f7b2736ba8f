"""Folders: what is listed, matched by a pattern, and looked for."""

from __future__ import annotations

import fnmatch
import os
import re
from typing import Any, Callable, Dict, List

from forklint_harness.stores.hooks import Answer, path_in
from forklint_harness.stores.marked import text
from forklint_harness.stores.node import Node
from forklint_harness.stores.world import World, key_of_path, moved, text_of_path

MANY = 8
"""Entries of a folder of which nothing is known."""


def names_in(world: World, path: str) -> List[str]:
    """Names of the entries of a folder that is not there."""
    node = world.node(path)
    if world.is_learning and node.kind in ("", "plain"):
        node.kind = "folder"
    key = key_of_path(path).rstrip("/") + "/"
    known = {one[len(key) :].split("/")[0] for one in world.paths if one.startswith(key)}
    if node.kind != "folder" or (known and "entries" not in node.facts):
        return sorted(known)
    entries = _entries(node)
    return sorted(known | set(entries))


def _entries(node: Node) -> List[str]:
    node.facts.setdefault("entries", MANY)
    ending = node.each.facts.get("ending", "")
    return ["item_{}{}".format(number, ending) for number in range(node.facts["entries"])]


def _listed(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    path = path_in(arguments, keywords)
    found = text_of_path(path)
    if found is None or not world.is_missing(path):
        return plain(*arguments, **keywords)
    if not world.is_learning:
        return plain(moved(found)) if world.known(found) is not None else plain(*arguments, **keywords)
    node = world.node(found)
    return [text(node.each, number, name) for number, name in enumerate(names_in(world, found))]


def matches(world: World, pattern: str) -> List[str]:
    """Paths that a pattern matches, in folders that are not there: made to match if there are none."""
    folder, _, rest = _split(pattern)
    if not world.is_missing(folder):
        return []
    found = _known_matches(world, pattern)
    if found or not world.is_learning:
        return found
    ending = re.sub(r"[*?\[\]]", "", os.path.basename(rest).rpartition("*")[2]) if "*" in rest else ""
    literal = [step for step in rest.split("/")[:-1] if "*" not in step]
    for number in range(MANY):
        name = os.path.basename(rest)
        name = name.replace("*", "item_{}".format(number), 1).replace("*", "") if "*" in name else name
        world.node(os.path.join(folder, *literal, name or "item_{}{}".format(number, ending)))
    return _known_matches(world, pattern)


def _known_matches(world: World, pattern: str) -> List[str]:
    folder, _, rest = _split(pattern)
    below = key_of_path(folder).rstrip("/") + "/"
    wanted = re.compile(fnmatch.translate(rest.replace("**/", "*").replace("**", "*")))
    return sorted(
        os.path.join(folder, *key[len(below) :].split("/"))
        for key in world.paths
        if key.startswith(below) and wanted.match(key[len(below) :])
    )


def _split(pattern: str) -> Any:
    """The folder before the first step with a wildcard, and the rest."""
    steps = pattern.replace(os.sep, "/").split("/")
    at = next((index for index, step in enumerate(steps) if re.search(r"[*?\[]", step)), len(steps) - 1)
    return "/".join(steps[:at]) or ("/" if pattern.startswith("/") else "."), "/", "/".join(steps[at:])


def _globbed(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    pattern = str(arguments[0] if arguments else keywords.get("pathname", ""))
    return list(plain(*arguments, **keywords)) or matches(world, pattern)


def _path_globbed(recursive: str) -> Answer:
    def answer(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        found = list(plain(*arguments, **keywords)) if os.path.isdir(arguments[0]) else []
        if found:
            return iter(found)
        kind, pattern = type(arguments[0]), str(arguments[1] if len(arguments) > 1 else "*")
        return iter([kind(one) for one in matches(world, os.path.join(str(arguments[0]), recursive + pattern))])

    return answer


def _iterated(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    if not world.is_missing(arguments[0]):
        return plain(*arguments, **keywords)
    return iter([arguments[0] / name for name in names_in(world, str(arguments[0]))])


def _walked(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    top = text_of_path(arguments[0]) if arguments else None
    if top is None or not world.is_missing(top):
        return plain(*arguments, **keywords)
    if not world.is_learning:
        return plain(top if world.is_made_up(top) else moved(top), *arguments[1:], **keywords)
    return iter([(top, [], [text(world.node(top).each, n, one) for n, one in enumerate(names_in(world, top))])])


def _checked(what: str) -> Answer:
    """Whether a path is there: it is if it is known, or made up; else if the project does not go on without it."""

    def answer(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        path = path_in(arguments, keywords)
        found = text_of_path(path)
        if found is None or not world.is_missing(path):
            return plain(*arguments, **keywords)
        node = world.known(found)
        if node is not None and node.kind != "looked-for":
            is_folder = node.kind == "folder" or (node.kind == "lmdb" and node.facts.get("subdir", True))
            return {"isdir": is_folder, "isfile": not is_folder}.get(what, True)
        if not world.is_learning:
            return plain(*arguments, **keywords)
        if world.is_made_up(found) and os.path.dirname(key_of_path(found)) == "@":
            is_there = what != "isdir" or not os.path.splitext(found)[1]
            if is_there:
                world.node(found).kind = "folder" if what == "isdir" else ""
            return is_there
        world.checked.append((found, what))
        return False

    return answer


def _sized(world: World, plain: Callable[..., Any], arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    path = path_in(arguments, keywords)
    found = text_of_path(path)
    if found is None or not world.is_missing(path):
        return plain(*arguments, **keywords)
    if world.is_learning:
        from forklint_harness.stores.content import PLAIN, bytes_for

        node = world.node(found)
        node.settle("plain")
        node.facts.setdefault("format", "binary")
        return len(bytes_for(node)) if node.facts["format"] != "binary" else max(PLAIN, node.facts.get("size", 0))
    return plain(moved(found))


def make(path: str, node: Node) -> None:
    """Make a folder; what is known of its entries is made by itself, the rest are pictures or plain files."""
    os.makedirs(path, exist_ok=True)
    if "entries" not in node.facts:
        return
    from forklint_harness.stores.kinds import plain

    for name in _entries(node):
        entry = os.path.join(path, name)
        if not os.path.exists(entry):
            plain.make(entry, Node(name))


HOOKS = {
    "os.listdir": _listed,
    "os.walk": _walked,
    "os.path.getsize": _sized,
    "glob.glob": _globbed,
    "glob.iglob": lambda *told: iter(_globbed(*told)),
    "pathlib.Path.glob": _path_globbed(""),
    "pathlib.Path.rglob": _path_globbed("**/"),
    "pathlib.Path.iterdir": _iterated,
    "os.path.exists": _checked("exists"),
    "os.path.isfile": _checked("isfile"),
    "os.path.isdir": _checked("isdir"),
    "pathlib.Path.exists": _checked("exists"),
    "pathlib.Path.is_file": _checked("isfile"),
    "pathlib.Path.is_dir": _checked("isdir"),
}
MAKERS = {"folder": make}
