"""JSON as settings."""

from __future__ import annotations

from forklint.source import json_positions
from forklint.source.presets.nodes import Entry, Node, PresetError, Shape


def parse(text: str) -> Node:
    """Read a text into nodes; raises PresetError."""
    try:
        return _node(json_positions.parse(text))
    except json_positions.JsonError as error:
        raise PresetError(f"not valid JSON: {error.reason} (line {error.row})") from None


def _node(found: json_positions.Node) -> Node:
    if isinstance(found.value, dict):
        entries = [Entry(member.key.value, member.key.start, _node(member.value)) for member in found.members]
        return Node(Shape.MAPPING, found.start, found.end, entries=entries, flow=True)
    if isinstance(found.value, list):
        items = [_node(item) for item in found.items]
        return Node(Shape.SEQUENCE, found.start, found.end, items=items, flow=True)
    return Node(Shape.SCALAR, found.start, found.end, found.value)
