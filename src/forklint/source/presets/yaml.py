"""YAML: ruamel.yaml says where things stand; nothing is constructed, and no alias is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from forklint.source.presets.nodes import DEEPEST, MERGE, Entry, Node, PresetError, Shape

NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)$")
PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")
"""An anchor and a tag, which stand before a value."""
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def parse(text: str) -> Iterator[Node]:
    """Give the tree of each document; raises PresetError."""
    try:
        yield from _documents(text)
    except MarkedYAMLError as error:
        row = f" (line {error.problem_mark.line + 1})" if error.problem_mark is not None else ""
        raise PresetError(f"not valid YAML: {error.problem or error.context}{row}") from None
    except (YAMLError, ValueError) as error:
        raise PresetError(f"not valid YAML: {str(error).splitlines()[0]}") from None


def _documents(text: str) -> Iterator[Node]:
    """Build the trees from the parser's events, with a stack of its own: no depth can exhaust Python's."""
    anchors: dict[str, Node] = {}
    open_nodes: list[Node] = []
    keys: list[Entry | None] = []
    seen: list[set[str]] = []
    for event in YAML(typ="safe", pure=True).parse(text):
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            anchors = {}
        elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
            node = open_nodes.pop()
            keys.pop()
            seen.pop()
            node.end = event.end_mark.index if node.flow else max((part.end for part in node.parts), default=node.end)
            if not open_nodes:
                yield node
        elif kind in {"ScalarEvent", "AliasEvent", "MappingStartEvent", "SequenceStartEvent"}:
            node = _node(event, kind, text, anchors)
            _hang(node, open_nodes, keys, seen)
            if node.shape in {Shape.MAPPING, Shape.SEQUENCE}:
                if len(open_nodes) >= DEEPEST:
                    raise PresetError("it nests too deeply")
                open_nodes.append(node)
                keys.append(None)
                seen.append(set())
            elif not open_nodes:
                yield node


def _node(event: Any, kind: str, text: str, anchors: dict[str, Node]) -> Node:
    """Make the node of an event, without what is below it."""
    start, end = event.start_mark.index, event.end_mark.index
    if kind == "AliasEvent":
        if event.anchor not in anchors:
            raise PresetError(f"not valid YAML: no anchor is named {event.anchor!r} (line {event.start_mark.line + 1})")
        return Node(Shape.ALIAS, start, end, anchor=event.anchor, target=anchors[event.anchor])
    properties = PROPERTIES.match(text, start)
    start = min(properties.end(), end) if properties else start
    if kind == "ScalarEvent":
        node = Node(Shape.SCALAR, start, end, _value(event), anchor=event.anchor or "")
    else:
        shape = Shape.MAPPING if kind == "MappingStartEvent" else Shape.SEQUENCE
        node = Node(shape, start, end, flow=bool(event.flow_style), anchor=event.anchor or "")
    if node.anchor:
        anchors[node.anchor] = node
    return node


def _value(event: Any) -> Any:
    """The value of a scalar: plain words as YAML 1.2 reads them, all else as text."""
    if event.style is not None or event.tag is not None:
        return event.value
    if NUMBER.match(event.value):
        return int(event.value) if len(event.value) < 20 else event.value  # longer is no count
    return WORDS.get(event.value.lower(), event.value)


def _hang(node: Node, open_nodes: list[Node], keys: list[Entry | None], seen: list[set[str]]) -> None:
    """Put a node where it belongs: it is an item, a key, or the value of the key before it."""
    if not open_nodes:
        return
    above = open_nodes[-1]
    if above.shape is Shape.SEQUENCE:
        above.items.append(node)
        return
    waiting = keys[-1]
    if waiting is None:
        name = str(node.value) if node.shape is Shape.SCALAR else ""
        keys[-1] = Entry(name, node.start, node)
        return
    waiting.value = node
    keys[-1] = None
    if waiting.key and waiting.key != MERGE and waiting.key in seen[-1]:
        raise PresetError(f"not valid YAML: duplicate key {waiting.key!r}")
    seen[-1].add(waiting.key)
    above.entries.append(waiting)
