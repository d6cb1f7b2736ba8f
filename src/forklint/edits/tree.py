"""A LibCST module whose statements carry the same numbers as ``ast``'s, so that facts find their nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import accumulate, pairwise
from typing import TypeAlias, TypeVar

from forklint.edits import cst
from forklint.edits.text import edits_between, split_lines
from forklint.model import Edit, Span
from forklint.records import dataclass

Node = TypeVar("Node", bound="cst.CSTNode")
Body = "cst.BaseSuite | cst.Module"


class UnparsableError(Exception):
    """LibCST refuses the text, or would not give it back as it was."""


Changes: TypeAlias = "dict[cst.CSTNode, cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]]"


@cache
def _replacer() -> Callable[[Changes, set[cst.CSTNode]], cst.CSTTransformer]:
    """The class of what replaces nodes; made once, as a class holds itself and so all that it would close over."""
    import libcst  # noqa: PLC0415 - see forklint.edits.cst

    class Replacer(libcst.CSTTransformer):
        def __init__(self, changes: Changes, above: set[cst.CSTNode]) -> None:
            super().__init__()
            self._changes = changes
            self._above = above

        def on_visit(self, node: cst.CSTNode) -> bool:
            # what holds no change is neither walked nor rebuilt
            return node in self._above and node not in self._changes

        def on_leave(self, original_node, updated_node):  # type: ignore[no-untyped-def]
            return self._changes.get(original_node, updated_node)

    return Replacer


@dataclass(frozen=True)
class Tree:
    """A parsed text and its statements in source order."""

    module: cst.Module

    @cached_property
    def statements(self) -> tuple[cst.CSTNode, ...]:
        """Every statement, in the order of ``project.module.Module.ordinals``."""
        return tuple(_statements(self.module.body))

    @property
    def code(self) -> str:
        """The text."""
        return self.module.code

    def replace(
        self, old: cst.CSTNode, new: cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]
    ) -> Tree:
        """Give a tree in which ``new`` stands for ``old``."""
        return self.replace_all({old: new})

    def replace_all(self, changes: Changes) -> Tree:
        """Give a tree with several nodes replaced in one pass; none of them may lie inside another."""
        changed = self.module.visit(_replacer()(changes, self.above(changes)))
        return Tree(changed)

    def above(self, nodes: Iterable[cst.CSTNode]) -> set[cst.CSTNode]:
        """The nodes above some of the tree's; what is none of them need be neither walked nor rebuilt."""
        found: set[cst.CSTNode] = set()
        for node in nodes:
            above = self._parents.get(node)
            while above is not None and above not in found:
                found.add(above)
                above = self._parents.get(above)
        return found

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        found: dict[cst.CSTNode, cst.CSTNode] = {}
        waiting: list[cst.CSTNode] = [self.module]
        while waiting:  # not _walk: LibCST makes the list of children anew each time it is asked
            node = waiting.pop()
            children = node.children
            found.update(dict.fromkeys(children, node))
            waiting += children
        return found

    @property
    def _parts(self) -> list[cst.CSTNode]:
        return [*self.module.header, *self.module.body, *self.module.footer]

    @cached_property
    def _texts(self) -> list[str]:
        """The text of each part, in whole lines; empty if they do not make up the text."""
        texts = [self.module.code_for_node(part) for part in self._parts]
        return texts if "".join(texts) == self.code and all(t.endswith(("\n", "\r")) for t in texts if t) else []

    @cached_property
    def _rows(self) -> list[int]:
        """How many lines stand before each part."""
        return list(accumulate((len(split_lines(text)) for text in self._texts), initial=0))

    def edits_to(self, changed: Tree) -> tuple[Edit, ...]:
        """The edits that make this tree's text the other's; only the parts that differ are written out."""
        texts, old, new = self._texts, self._parts, changed._parts
        if not texts:
            return edits_between(self.code, changed.code)
        edits: list[Edit] = []
        for start, end, new_start, new_end in _differing(old, new):
            before = "".join(texts[start:end])
            after = "".join(self.module.code_for_node(part) for part in new[new_start:new_end])
            row = self._rows[start]
            edits += [
                replace(edit, span=replace(edit.span, row=edit.span.row + row, end_row=edit.span.end_row + row))
                for edit in edits_between(before, after)
            ]
        return tuple(edits)

    def line_of(self, statement: cst.CSTNode) -> cst.CSTNode:
        """The line a small statement stands on, with its comments; a compound statement is its own line."""
        return self._lines.get(statement, statement)

    @cached_property
    def _lines(self) -> dict[cst.CSTNode, cst.CSTNode]:
        return {
            small: line
            for line in _walk(self.module)
            if isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite))
            for small in line.body
        }

    @cached_property
    def _suites(self) -> dict[cst.CSTNode, cst.CSTNode]:
        return {
            line: block
            for block in _walk(self.module)
            if isinstance(block, (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite))
            for line in block.body
        }

    def block_of(self, statement: cst.CSTNode) -> cst.CSTNode:
        """The module or block whose body holds a statement."""
        return self._suites[self.line_of(statement)]

    def at(self, span: Span) -> tuple[cst.CSTNode, ...]:
        """The nodes that stand exactly there, innermost first; the first question costs about two parses."""
        return tuple(self._places.get(span, ()))

    @cached_property
    def _places(self) -> dict[Span, list[cst.CSTNode]]:
        from libcst.metadata import MetadataWrapper, PositionProvider  # noqa: PLC0415 - see forklint.edits.cst

        found: dict[Span, list[cst.CSTNode]] = {}
        for node, place in MetadataWrapper(self.module, unsafe_skip_copy=True).resolve(PositionProvider).items():
            span = Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)
            found.setdefault(span, []).append(node)
        return found


def parse(text: str) -> Tree:
    """Parse a text; raises UnparsableError if LibCST refuses it.

    Its parser ends the process on a text that nests too deeply: see ``forklint.source.nesting`` and ask there first.
    """
    import libcst  # noqa: PLC0415 - see forklint.edits.cst

    try:
        return Tree(libcst.parse_module(text))
    except (libcst.ParserSyntaxError, RecursionError, UnicodeError) as error:
        raise UnparsableError(str(error).splitlines()[0]) from None
    except Exception as error:  # noqa: BLE001 - its native parser raises what it likes on strange input
        raise UnparsableError(f"{type(error).__name__}: {error}") from None


def small_statement(text: str) -> cst.CSTNode:
    """Make a statement of one line, without its line."""
    return cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine).body[0]


def _differing(old: list[cst.CSTNode], new: list[cst.CSTNode]) -> Iterator[tuple[int, int, int, int]]:
    """Give the runs of nodes that differ, by where each begins and ends in both; one run if any node was moved."""
    places = {node: place for place, node in enumerate(new)}
    shared = [(place, places[node]) for place, node in enumerate(old) if node in places]
    if any(one[1] > other[1] for one, other in pairwise(shared)):
        start = _common(old, new)
        end = _common(old[start:][::-1], new[start:][::-1])
        yield start, len(old) - end, start, len(new) - end
        return
    last, new_last = 0, 0
    for place, new_place in (*shared, (len(old), len(new))):
        if place > last or new_place > new_last:
            yield last, place, new_last, new_place
        last, new_last = place + 1, new_place + 1


def _common(one: list[cst.CSTNode], other: list[cst.CSTNode]) -> int:
    """How many nodes at the start are the same objects."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a is not b), min(len(one), len(other)))


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Give a node and all below it, in source order, without rebuilding anything."""
    return _walk(node)


def find(node: cst.CSTNode, kind: type[Node]) -> Iterator[Node]:
    """Give the nodes of one kind at and below a node."""
    return (below for below in _walk(node) if isinstance(below, kind))


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def _statements(body: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    for line in body:
        if isinstance(line, cst.SimpleStatementLine):
            yield from line.body
        else:
            yield line
            yield from _inside(line)


def _inside(compound: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Give the statements in the blocks of a compound statement."""
    body = getattr(compound, "body", None)
    if isinstance(body, (cst.IndentedBlock, cst.SimpleStatementSuite)):
        yield from body.body if isinstance(body, cst.SimpleStatementSuite) else _statements(body.body)
    for name in ("cases", "handlers"):
        for part in getattr(compound, name, ()):
            yield from _inside(part)
    for name in ("orelse", "finalbody"):
        part = getattr(compound, name, None)
        if isinstance(part, cst.If):  # elif
            yield part
            yield from _inside(part)
        elif part is not None:
            yield from _inside(part)
