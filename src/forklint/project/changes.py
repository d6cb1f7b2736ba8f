"""What an edit of one file changes: the facts that were read from it before and would be read otherwise now."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from forklint.project.alignment import Alignment, align
from forklint.project.answers import Fact
from forklint.project.nodes import definitions_below
from forklint.project.searches import Content, Search, in_one_only
from forklint.project.top_level import MODULE, SCREENED, SILENCING, TREE
from forklint.project.trees import Kept, is_same_tree
from forklint.records import dataclass
from forklint.source import document, suppressions
from forklint.source.lines import common
from forklint.summaries.byte_search import all_terms
from forklint.summaries.parts import CODE, NUMBERS, ORDER, changed_parts
from forklint.summaries.reading import summarise
from forklint.summaries.summary import Summary
from forklint.summaries.terms import KINDS, WORD, Terms

UNPARSABLE = (SyntaxError, RecursionError, MemoryError, ValueError)
"""What ``ast`` raises for a text that it refuses."""


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
    return state_with(parsed(path, data), data)


def state_with(tree: ast.Module | None, data: bytes) -> State:
    """A Python file with a content that was parsed already."""
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


def aligned(path: Path, before: State, after: State) -> Alignment | None:
    """Which statements two states of a file have in common; None if one of them has no tree."""
    kept = _kept(path, before, after)
    return align(before.tree, after.tree, kept) if before.tree is not None and after.tree is not None else None


def changed(path: Path, before: State, after: State, alignment: Alignment | None = None) -> Iterator[Fact]:
    """Give the facts of a file that two states of it tell differently, but for searches over bytes.

    ``alignment``: what ``aligned`` gives for them, if it was asked already.
    """
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
    if suppressions.may_be_in(before.data) or suppressions.may_be_in(after.data):
        yield SILENCING, name
    for kind in (*KINDS, WORD):
        for term in before.terms.get(kind, frozenset()) ^ after.terms.get(kind, frozenset()):
            yield "holds", kind, term
    if before.tree is None and after.tree is None:
        return
    if (before.tree is None, before.summary is None) != (after.tree is None, after.summary is None):
        yield MODULE, name
    alignment = alignment or aligned(path, before, after)
    facts = _of_statements(name, alignment)
    yield from facts
    if facts:
        yield from _of_summaries(name, before.summary, after.summary)
        kept = alignment.kept if alignment is not None else None
        yield from ((CODE, name, key) for key in _changed_definitions(before, after, kept))


def _of_statements(name: str, alignment: Alignment | None) -> tuple[Fact, ...]:
    """The facts of the statements of the top level."""
    try:
        return tuple(alignment.facts(name)) if alignment is not None else ((TREE, name),)
    except RecursionError:  # the module as a whole is another, so nothing that was concluded of its statements stays
        return (MODULE, name), (TREE, name)


def changed_searches(
    path: Path, before: Content, after: Content, sought: Sequence[bytes], searches: Iterable[Search]
) -> Iterator[Fact]:
    """Give the facts of searches for texts and patterns that two contents of a file answer differently."""
    moved = in_one_only(sought, before.data, after.data)
    yield from (("contains", text.decode(errors="surrogateescape")) for text in moved)
    if moved:
        yield SCREENED, str(path)
    for search in searches:
        if before.holds(search) != after.holds(search):
            yield matching(path, search)


def matching(path: Path, search: Search) -> Fact:
    """The fact whether a pattern is found in a file."""
    return "matches", str(path), search.text


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
