"""The quick walk over a tree gives what ``ast.walk`` gives; the words before a regular expression lose no match."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.nodes import nodes_below, parents_below, share_lines
from forklint.rules import registry
from forklint.rules.base import Rule

NEVER_ALONE = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
HERE = Path(__file__).parent
EVERY_KIND = """
import a.b as c, d
from . import e as f
@c.g
async def h(i: int, /, j=1, *k, l, m=2, **n) -> d.o:
    async with p() as (q, *r), s: yield
    async for t in u: await v
    else: nonlocal w
def x(): global y; return {**z, 1: 2}, [*a], {b for c in d if e}, {f: g for h in i}, (lambda j: k)(l, *m, n=o, **p)
class Q(R, metaclass=S):
    t: "u" = f"{v!r:>{w}}" + b"" ** -1 if not (x := y) else z[1:2, ...]
    del t
try:
    raise A from B
except (C, D) as e:
    assert e, "f"
finally:
    while 1 < 2 <= 3 and 4 or 5: break
match g:
    case {"h": i, **j} | K(l, m=1) | [n, *o] | None | -1 if p: pass
    case q as r: a += 1
    case _: b: int
"""


def trees() -> list[ast.Module]:
    """Every kind of statement and expression, and tests."""
    return [ast.parse(EVERY_KIND), *(ast.parse(path.read_bytes()) for path in sorted(HERE.glob("test_*.py"))[:20])]


def test_nodes_are_those_of_ast_walk() -> None:
    """The same nodes in the same order, but for operators and contexts; and the same nodes above them."""
    for tree in trees():
        nodes = [node for node in ast.walk(tree) if not isinstance(node, NEVER_ALONE)]
        assert list(nodes_below(tree)) == nodes
        above = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        assert parents_below(tree) == {k: v for k, v in above.items() if not isinstance(k, NEVER_ALONE)}


def test_lines_are_one_object_each_and_the_same_number() -> None:
    tree = ast.parse("\n" * 1000 + EVERY_KIND)
    before = ast.dump(tree, include_attributes=True)
    share_lines(tree, {})
    assert ast.dump(tree, include_attributes=True) == before
    placed = [node for node in nodes_below(tree) if hasattr(node, "lineno")]
    lines = [line for node in placed for line in (node.lineno, node.end_lineno)]
    assert len(set(map(id, lines))) == len(set(lines)) < len(lines) / 10


SCREENED = [rule for rule in registry.all_rules() if rule.words and rule.tokens]


@pytest.mark.parametrize("rule", SCREENED, ids=lambda rule: rule.code)
def test_a_match_of_the_tokens_holds_a_word(rule: type[Rule], tmp_path: Path) -> None:
    """No fixture of a rule is passed over for want of a word though the regular expression finds something."""
    one = rule(Project(tmp_path, Settings()))
    texts = (path.read_bytes() for path in HERE.glob(f"fixtures/{rule.code}_*/**/*.py"))
    matching = [text for text in texts if one.pattern.search(text)]
    assert matching
    for text in matching:
        for match in one.pattern.finditer(text):
            assert any(word in match[0] for word in one.words)
