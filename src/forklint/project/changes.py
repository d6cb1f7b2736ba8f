"""What an edit of one file changes: the facts that were read from it before and would be read otherwise now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from forklint.project.answers import Fact
from forklint.project.nodes import definitions_below
from forklint.records import dataclass
from forklint.source import document
from forklint.source.lines import common
from forklint.summaries.byte_search import all_terms
from forklint.summaries.parts import CODE, NUMBERS, ORDER, changed_parts
from forklint.summaries.reading import summarise
from forklint.summaries.summary import Summary
from forklint.summaries.terms import KINDS, WORD, Terms

UNPARSABLE = (SyntaxError, RecursionError, MemoryError, ValueError)
"""What ``ast`` raises for a text that it refuses."""
POSITIONS = ("lineno", "col_offset", "end_lineno", "end_col_offset")


@dataclass(frozen=True)
class State:
    """One file at one time."""

    data: bytes
    summary: Summary | None
    terms: Terms
    tree: ast.Module | None
    """None if it cannot be parsed."""
    exists: bool = True
    """Whether there is such a file."""

    @staticmethod
    def none() -> State:
        """The state of a file that is not there."""
        return State(b"", None, {}, None, exists=False)


def state_of(path: Path, data: bytes) -> State:
    """A Python file with a content."""
    tree = parsed(path, data)
    summary = summary_of(tree)
    return State(data, summary, all_terms(summary, data), tree)


def summary_of(tree: ast.Module | None) -> Summary | None:
    """The summary of a tree; None if there is no tree, or one that nests too deeply."""
    try:
        return summarise(tree) if tree is not None else None
    except RecursionError:
        return None


def parsed(path: Path, data: bytes) -> ast.Module | None:
    """The tree of a file with a content; None if it cannot be read or parsed."""
    try:
        return document.parse(document.decode(path, data))
    except (document.UnreadableError, *UNPARSABLE):
        return None


def changed(path: Path, before: State, after: State) -> Iterator[Fact]:
    """Give the facts of a file that two states of it tell differently, but for searches over bytes."""
    name = str(path)
    if before.exists != after.exists:
        yield "file", name
        yield ("files",)
        for entry in {path.name, path.stem} if path.suffix == ".py" else ():
            yield "entry", str(path.parent), entry
    if before.data == after.data:
        return
    yield "text", name
    if len(before.data) != len(after.data):
        yield "size", name
    for kind in (*KINDS, WORD):
        for term in before.terms.get(kind, frozenset()) ^ after.terms.get(kind, frozenset()):
            yield "holds", kind, term
    kept = _kept(path, before, after)
    if not is_same_tree(before.tree, after.tree, kept):
        yield "tree", name
        yield from _of_summaries(name, before.summary, after.summary)
        yield from ((CODE, name, key) for key in _changed_definitions(before, after, kept))


def changed_searches(
    path: Path, before: bytes, after: bytes, sought: Iterable[bytes], patterns: Iterable[re.Pattern[bytes]]
) -> Iterator[Fact]:
    """Give the facts of searches for texts and patterns that two contents of a file answer differently."""
    for text in sought:
        if (text in before) != (text in after):
            yield "contains", text.decode(errors="surrogateescape")
    for pattern in patterns:
        if (pattern.search(before) is None) != (pattern.search(after) is None):
            yield matching(path, pattern)


def matching(path: Path, pattern: re.Pattern[bytes]) -> Fact:
    """The fact whether a pattern is found in a file."""
    return "matches", str(path), written(pattern)


def written(pattern: re.Pattern[bytes]) -> str:
    """A pattern with its flags as text."""
    return f"{pattern.flags}:{pattern.pattern.decode('latin-1')}"


def compiled(text: str) -> re.Pattern[bytes]:
    """What ``written`` was given; raises ValueError for anything else."""
    flags, _, pattern = text.partition(":")
    try:
        return re.compile(pattern.encode("latin-1"), int(flags))
    except (re.error, OverflowError) as error:
        raise ValueError(str(error)) from None


def _of_summaries(name: str, before: Summary | None, after: Summary | None) -> Iterator[Fact]:
    if before is None or after is None:
        if before is not after:
            yield from (("summary", name), ("imports", name), ("path roots", name), (ORDER, name), (NUMBERS, name))
        return
    if before.imports != after.imports:
        yield "imports", name
    if before.path_roots != after.path_roots:
        yield "path roots", name
    if any(getattr(before, part) != getattr(after, part) for part in ("imports", "exports", "scopes", "statements")):
        yield "summary", name
        yield from ((kind, name, *key) for kind, *key in changed_parts(before, after))


@dataclass(frozen=True)
class Kept:
    """The lines at the beginning and at the end of a text that an edit leaves as they are."""

    top: int
    """How many at the beginning."""
    bottom: int
    """The last line before those at the end."""
    shift: int
    """How many lines further down those are in the edited text."""

    def has(self, before: object, after: object) -> bool:
        """Whether a statement of the text, and one of the edited text, are the same one in these lines."""
        if not isinstance(before, ast.stmt) or not isinstance(after, ast.stmt):
            return False
        start, end = _rows(before)
        shift = self.shift if start > self.bottom else 0
        if start <= self.bottom and end > self.top:
            return False
        columns = before.col_offset, before.end_col_offset
        return (start + shift, end + shift) == _rows(after) and columns == (after.col_offset, after.end_col_offset)


def _rows(node: ast.stmt) -> tuple[int, int]:
    """The first and the last line of a statement, with its decorators."""
    decorators = getattr(node, "decorator_list", ())
    return min([one.lineno for one in decorators], default=node.lineno), node.end_lineno or node.lineno


def _kept(path: Path, before: State, after: State) -> Kept | None:
    """The lines that an edit leaves as they are; None if one of two states has no tree."""
    if before.tree is None or after.tree is None:
        return None
    was, now = (document.decode(path, state.data).lines for state in (before, after))
    top = common(was, now)
    bottom = common(was[top:][::-1], now[top:][::-1])
    return Kept(top, len(was) - bottom, len(now) - len(was))


def _changed_definitions(before: State, after: State, kept: Kept | None) -> Iterator[str]:
    """Give the keys of the definitions that differ, or that only one of two states has."""
    was, now = _definitions(before), _definitions(after)
    return (key for key in {**was, **now} if not is_same_tree(was.get(key), now.get(key), kept))


def _definitions(state: State) -> dict[str, ast.AST]:
    if state.summary is None or state.tree is None:
        return {}
    return dict(zip(state.summary.keys[1:], definitions_below(state.tree), strict=True))


def is_same_tree(one: ast.AST | None, other: ast.AST | None, kept: Kept | None = None) -> bool:
    """Whether two trees differ in positions alone; statements in lines that are kept are not looked into."""
    waiting: list[tuple[object, object]] = [(one, other)]
    while waiting:
        first, second = waiting.pop()
        if first.__class__ is not second.__class__:
            return False
        if kept is not None and kept.has(first, second):
            continue
        if first.__class__ is list:
            if len(first) != len(second):  # type: ignore[arg-type]
                return False
            waiting.extend(zip(first, second, strict=True))  # type: ignore[call-overload]
        elif isinstance(first, ast.AST):
            theirs = second.__dict__
            for key, value in first.__dict__.items():
                if key not in POSITIONS:
                    waiting.append((value, theirs.get(key)))
        elif first != second or repr(first) != repr(second):  # 0.0 and -0.0, or nan
            return False
    return True


def move(tree: ast.AST, fresh: ast.AST) -> None:
    """Give the nodes of a tree the positions that those of another tree of the same shape have."""
    waiting = [(tree, fresh)]
    while waiting:
        mine, its = waiting.pop()
        for key, value in its.__dict__.items():
            if key in POSITIONS:
                mine.__dict__[key] = value
            elif value.__class__ is list:
                pairs = zip(mine.__dict__[key], value, strict=True)
                waiting.extend(pair for pair in pairs if isinstance(pair[1], ast.AST))
            elif isinstance(value, ast.AST):
                waiting.append((mine.__dict__[key], value))
