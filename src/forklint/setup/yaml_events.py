"""The events of a YAML text: its content with positions, without expanding anchors or building tagged objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Events = Sequence[Any]


def parse(text: str) -> Events:
    """The events of a YAML text; raises ValueError with one line."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - where there is a file to read
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        return list(YAML(typ="safe", pure=True).parse(text))
    except YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        place = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(place + " ".join(str(problem or error).split())) from None


def is_event(event: Any, *names: str) -> bool:
    """Whether an event is of one of these kinds, named without ``Event``."""
    return type(event).__name__.removesuffix("Event") in names


def end_of(events: Events, start: int) -> int:
    """The number of the last event of the node that begins with an event."""
    depth = 0
    for index in range(start, len(events)):
        depth += is_event(events[index], "MappingStart", "SequenceStart")
        depth -= is_event(events[index], "MappingEnd", "SequenceEnd")
        if depth == 0:
            return index
    raise AssertionError("the parser closes what it opens")


def signature(events: Events) -> list[tuple[str, ...]]:
    """The content of a text, without positions and layout."""
    return [
        (type(event).__name__, *(str(getattr(event, name, None)) for name in ("anchor", "tag", "value")))
        for event in events
    ]
