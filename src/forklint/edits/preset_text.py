"""Changes to the text of a preset: one entry taken out, set or put in, everything else as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from forklint.records import dataclass
from forklint.source.presets import parse
from forklint.source.presets.nodes import MERGE, Address, Entry, Node, PresetError

REST_OF_LINE = re.compile(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|$)")
COMMA_AND_REST = re.compile(r"[ \t]*,[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)")
TO_NEXT_KEY = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)[ \t]*")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")


@dataclass(frozen=True)
class Change:
    """What becomes of one entry of a mapping."""

    key: str
    content: str | None
    """The value as it is to be written; None: the entry goes."""


def changed(text: str, language: str, home: Address, changes: Sequence[Change]) -> str | None:
    """Make the changes in one mapping; None if one cannot be made, or if anything else would change its value.

    An entry that is not there is put in below the mapping's merge key.
    """
    try:
        before = _find(text, language, home)
        new = text
        for change in changes:
            new = _made(new, _find(new, language, home), change)
        after = _find(new, language, home)
        wanted = {change.key: change.content for change in changes}
        same = _signature(text, language, before, wanted) == _signature(new, language, after, wanted)
    except (PresetError, LookupError):
        return None
    given = {entry.key: new[entry.value.start : entry.end] for entry in after.entries if entry.key in wanted}
    as_wanted = given == {key: content for key, content in wanted.items() if content is not None}
    return new if same and as_wanted else None


@lru_cache(maxsize=4)
def _trees(text: str, language: str) -> tuple[Node, ...]:
    """The trees of a text; each is asked for several times, and YAML is slow."""
    return tuple(parse(text, language))


def _find(text: str, language: str, home: Address) -> Node:
    """The mapping at an address; raises LookupError and PresetError."""
    document, *steps = home
    node = _trees(text, language)[int(document)]
    for step in steps:
        entry = node.own(step) if isinstance(step, str) else None
        if isinstance(step, str) and entry is None:
            raise LookupError(step)
        node = entry.value if entry is not None else node.items[int(step)]
    return node


def _signature(text: str, language: str, home: Node, wanted: dict[str, str | None]) -> list[object]:
    """All keys and values of a text in order, but for some entries of one mapping."""

    def left_out(node: Node, entry: Entry) -> bool:
        return entry.key in wanted and node.shape is home.shape and node.start == home.start

    return [token for tree in _trees(text, language) for token in tree.tokens(left_out)]


def _made(text: str, home: Node, change: Change) -> str:
    """Make one change; raises LookupError where the text leaves no place for it."""
    entry = home.own(change.key)
    if change.content is None:
        if entry is None:
            raise LookupError(change.key)
        start, end = _flow_stretch(text, home, entry) if home.flow else _block_stretch(text, home, entry)
        return text[:start] + text[end:]
    if entry is None:
        return _put_in(text, home, f"{change.key}: {change.content}")
    return text[: entry.value.start] + change.content + text[entry.end :]


def _put_in(text: str, home: Node, written: str) -> str:
    merge = next((entry for entry in home.entries if entry.key == MERGE), None)
    if merge is None:
        raise LookupError(MERGE)
    if home.flow:
        return f"{text[: merge.end]}, {written}{text[merge.end :]}"
    indent = " " * (merge.start - _line_start(text, merge.start))
    end = _line_end(text, merge.end)
    newline = re.search(r"\r\n|\r|\n", text)
    mark = newline[0] if newline else "\n"
    before = "" if text[:end].endswith(("\r", "\n")) else mark
    return f"{text[:end]}{before}{indent}{written}{'' if before else mark}{text[end:]}"


def _block_stretch(text: str, home: Node, entry: Entry) -> tuple[int, int]:
    """What to cut of a mapping that has a line for each entry: its lines, with the comments on them."""
    start = _line_start(text, entry.start)
    if not text[start : entry.start].strip():
        return start, _line_end(text, entry.end)
    following = home.entries[home.entries.index(entry) + 1 :]  # `- persistent_workers: true`, the first of an item
    match = TO_NEXT_KEY.fullmatch(text, entry.end, following[0].start) if following else None
    if match is None:
        raise LookupError(entry.key)
    return entry.start, match.end()


def _flow_stretch(text: str, home: Node, entry: Entry) -> tuple[int, int]:
    """What to cut of a mapping between brackets, with one comma."""
    index = home.entries.index(entry)
    previous = home.entries[index - 1] if index else None
    following = home.entries[index + 1] if index + 1 < len(home.entries) else None
    start = _line_start(text, entry.start)
    alone = not text[start : entry.start].strip()
    if following is not None:
        rest = COMMA_AND_REST.match(text, entry.end)
        if alone and rest is not None:
            return start, rest.end()
        if rest is not None and previous is not None:
            return previous.end, entry.end
        return entry.start, following.start
    if previous is None:
        raise LookupError(entry.key)
    between, rest = text[previous.end : entry.start], REST_OF_LINE.match(text, entry.end)
    if alone and rest is not None and "#" in between + rest[0]:  # only YAML has comments there, and allows a last comma
        return start, rest.end()
    if "#" in between:
        raise LookupError(entry.key)
    return previous.end, entry.end


def _line_start(text: str, place: int) -> int:
    return max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1


def _line_end(text: str, place: int) -> int:
    match = LINE.match(text, place)
    return match.end() if match else len(text)
