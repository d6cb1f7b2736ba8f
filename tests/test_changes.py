"""What an edit changes: a kept tree stands where a new one would; two trees are the same if positions alone differ."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from forklint.project import changes
from forklint.project.changes import State, changed, state_of
from forklint.project.trees import POSITIONS, is_same_tree, move, shape

SOURCE = Path(__file__).parent.parent / "src" / "forklint"
FILES = sorted(SOURCE.rglob("*.py"))[::6]


def with_comments(text: str, dice: random.Random) -> str:
    """The text with comments and blank lines before some statements."""
    lines = text.splitlines(keepends=True)
    for row in sorted({node.lineno - 1 for node in statements(ast.parse(text))}, reverse=True):
        if dice.random() < 0.3:
            lines.insert(row, dice.choice(["# noted\n", "\n", "\n\n", "        # further in\n"]))
    return "".join(lines)


def reformatted(text: str, _: random.Random) -> str:
    return ast.unparse(ast.parse(text))


def parenthesised(text: str, _: random.Random) -> str:
    """Each expression of a statement of its own, or that is returned, in parentheses and over several lines."""
    lines = text.splitlines(keepends=True)
    returns = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Return) and node.value is not None]
    for node in returns:
        if node.lineno == node.end_lineno:
            line = lines[node.lineno - 1].encode()
            value, end = node.value.col_offset, node.value.end_col_offset
            lines[node.lineno - 1] = (line[:value] + b"(\n  " + line[value:end] + b"\n)" + line[end:]).decode()
    return "".join(lines)


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not getattr(node, "decorator_list", None))


def positions(tree: ast.AST) -> list[tuple[type, tuple[object, ...]]]:
    return [(type(node), tuple(getattr(node, name, None) for name in POSITIONS)) for node in ast.walk(tree)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
@pytest.mark.parametrize("written", [with_comments, reformatted, parenthesised])
def test_a_kept_tree_stands_where_a_new_one_does(path: Path, written) -> None:
    text = path.read_text(encoding="utf-8")
    tree, after = ast.parse(text), ast.parse(written(text, random.Random(0)))
    assert is_same_tree(tree, after)
    assert is_same_tree(after, tree)
    assert shape(tree) == shape(after)
    nodes = list(ast.walk(tree))
    move(tree, after)
    assert list(ast.walk(tree)) == nodes, "the nodes themselves stay"
    assert positions(tree) == positions(after)
    assert ast.dump(tree, include_attributes=True) == ast.dump(after, include_attributes=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1", "a = 2"),
        ("a = 1", "a = 1.0"),
        ("a = 1", "a = True"),
        ("a = 0.0", "a = -0.0"),
        ("a = 'b'", "a = b'b'"),
        ("a = 'b'", "a = u'b'"),
        ("a = b", "a == b"),
        ("f(a)", "f(a, a)"),
        ("f(a=1)", "f(b=1)"),
        ("f(*a)", "f(**a)"),
        ("import a", "import a as b"),
        ("from . import a", "from .. import a"),
        ("def f(a, /): pass", "def f(a): pass"),
        ("def f(): return", "def f(): return None"),
        ("async def f(): pass", "def f(): pass"),
        ("a: int = 1", "a = 1"),
        ("x = [a, b]", "x = (a, b)"),
        ("a\nb", "a"),
        ("a", "a\nb"),
        ("x = a[1:]", "x = a[:1]"),
    ],
)
def test_what_means_something_else_is_another_tree(one: str, other: str) -> None:
    assert not is_same_tree(ast.parse(one), ast.parse(other))
    assert not is_same_tree(ast.parse(other), ast.parse(one))
    assert shape(ast.parse(one)) != shape(ast.parse(other))


def test_a_number_of_many_digits() -> None:
    line = "x = [{}, 0x" + "f" * 5000 + "]"
    one, other, moved = (ast.parse(line.format(text)) for text in ("1", "2", "1  "))
    assert is_same_tree(one, moved)
    assert not is_same_tree(one, other)
    assert shape(one) == shape(moved) != shape(other)


def test_what_nobody_can_parse_is_like_nothing_else() -> None:
    assert is_same_tree(None, None)
    assert not is_same_tree(None, ast.parse(""))
    assert not is_same_tree(ast.parse(""), None)


def all_facts(before: str | None, after: str | None) -> set[tuple[str, ...]]:
    path = Path("/p/m.py")
    states = [state_of(path, text.encode()) if text is not None else State.none() for text in (before, after)]
    return set(changed(path, *states))


def facts(before: str | None, after: str | None) -> set[tuple[str, ...]]:
    """The facts that are neither about the statements of the top level nor about words and path roots."""
    left_out, ways = {"path roots", *AT_TOP}, {"word", "bound"}
    found = all_facts(before, after)
    return {fact for fact in found if fact[0] not in left_out and (fact[0] != "holds" or fact[1] not in ways)}


AT_TOP = {"module", "binding", "uses", "stars", "flow", "runs"}


def at_top(before: str | None, after: str | None) -> set[tuple[str, ...]]:
    """What changes of the statements of the top level, without the name of the file."""
    return {(fact[0], *fact[2:]) for fact in all_facts(before, after) if fact[0] in AT_TOP}


DEEP = "def f(n):\n    if n:\n        n = 0\n" + "    elif n == 2:\n        n = 3\n" * 900
"""There is a tree, but neither a summary nor a module."""


@pytest.mark.parametrize("other", ["x = (", "x = 1\n", DEEP.replace("0", "1"), None])
def test_statements_too_deep_to_be_compared_change_the_whole_module(other: str | None) -> None:
    assert {("module",), ("tree",)} <= {(fact[0],) for fact in all_facts(DEEP, other) if len(fact) == 2}
    assert {("module",), ("tree",)} <= {(fact[0],) for fact in all_facts(other, DEEP) if len(fact) == 2}


LINES = """
import a
from b import *

LIMIT = a.most
def f(): return g(LIMIT)
class C(B):
    def m(self): self.n = f
if LIMIT:
    x, y = 1, 2
"""


def test_which_statements_of_the_top_level_an_edit_changes() -> None:
    runs, flow = ("runs",), ("flow",)
    assert at_top(LINES, "# noted\n\n" + LINES) == set()
    assert at_top(LINES, LINES + "def h(z): return list(z)\n") == {("binding", "h"), ("uses", "list"), ("uses", "z")}
    assert at_top(LINES, LINES + "def h(z=1): return 1\n") == {("binding", "h")}
    assert at_top(LINES, LINES + "def h(z=b()): return 1\n") == {("binding", "h"), ("uses", "b"), runs}
    assert at_top(LINES, "import os.path\n" + LINES) == {("binding", "os"), runs}
    body = {("binding", "f"), ("uses", "g"), ("uses", "k"), ("uses", "LIMIT")}
    assert at_top(LINES, LINES.replace("g(LIMIT)", "k(LIMIT)")) == body
    method = {("binding", "C"), *(("uses", name) for name in ("B", "C", "self", "f", "n", "o")), runs}
    assert at_top(LINES, LINES.replace("self.n", "self.o")) == method, "the whole class"
    branch = {("binding", "x"), ("binding", "y"), ("uses", "LIMIT"), runs, flow}
    assert at_top(LINES, LINES.replace("1, 2", "1, 3")) == branch, "the whole statement"
    assert at_top(LINES, LINES.replace("return g", "global w; w = 1; return g")) == {("binding", "w"), *body} - {
        ("uses", "k")
    }, "what a function binds at the top level"
    assert at_top(LINES, LINES.replace("if LIMIT:", "if (v := LIMIT):")) == {("binding", "v"), *branch}
    assert at_top(LINES, LINES.replace("from b", "from c")) == {("stars",), runs}
    assert at_top(LINES, LINES.replace("import a\n", "")) == {("binding", "a"), runs}
    assert at_top(LINES, LINES + "a['k'] = setattr(a, 'm', 1)\n") == {
        ("uses", "a"), ("uses", "k"), ("uses", "m"), ("uses", "setattr"), runs,
    }  # fmt: skip
    assert at_top(LINES, LINES + "exit()\n") == {("uses", "exit"), runs, flow}
    assert at_top(LINES, LINES + "f((\n") == {("module",)}
    assert at_top(None, LINES) == {("module",)}


def test_statements_that_change_places_are_others() -> None:
    one, other = "def f(): return 1\n", "def g(): return 2\n"
    changed_places = at_top(one + other + "a = 1\n", other + one + "a = 1\n")
    assert changed_places in ({("binding", "f")}, {("binding", "g")}), "one of them has moved past the other"
    assert at_top("f()\ng()\nf()\n", "f()\nf()\n") == {("uses", "g"), ("runs",), ("flow",)}
    assert at_top("f()\nf()\n", "f()\ng()\nf()\n") == {("uses", "g"), ("runs",), ("flow",)}


NAME = "/p/m.py"
TEXT, SIZE, TREE, SUMMARY, IMPORTS, ORDER, NUMBERS = (
    (kind, NAME) for kind in ("text", "size", "tree", "summary", "imports", "order", "numbers")
)
CODE = {TEXT, SIZE, TREE, SUMMARY}


def part(kind: str, key: str = "") -> tuple[str, str, str]:
    return kind, NAME, key


def test_which_facts_an_edit_changes() -> None:
    assert facts("a = 1\n", "a = 1\n") == set()
    assert facts("a = 1\n", "a = 1  # b\n") == {TEXT, SIZE}
    assert facts("a = 1  # b\n", "a = 1  # c\n") == {TEXT}
    assert facts("a = 1\n", "a = 2\n") == {TEXT, TREE}
    names = {part(kind, name) for kind in ("named", "bound") for name in "ab"}
    binds = names | {part("definition"), part("top")}
    assert facts("a = 1\n", "b = 1\n") == {TEXT, TREE, SUMMARY, *binds}
    imports = {("holds", "imported", "a"), ("holds", "imported", "b"), *names}
    assert facts("import a\n", "import b\n") == {TEXT, TREE, SUMMARY, IMPORTS, *imports, part("definition")}
    assert facts("f()\n", "f((\n") == {TEXT, TREE, SUMMARY, IMPORTS, ORDER, NUMBERS, ("holds", "call", "f")}
    assert facts(None, "") == {("file", NAME), ("files",), ("entry", "/p", "m"), ("entry", "/p", "m.py")}


BEFORE = """
class A(B):
    def f(self):
        return g()

def g(): ...
"""
ADDED = "def h():\n    return g()\n"
NEW = {part(kind, "h") for kind in ("named", "bound", "definition", "head", "code")} | {part("definition")}


def test_a_function_that_is_added_changes_nothing_of_others() -> None:
    assert facts(BEFORE, BEFORE + ADDED) == CODE | NEW, "below all others"
    assert facts(BEFORE, ADDED + BEFORE) == CODE | NEW | {NUMBERS}, "above them: only their numbers are others"
    assert facts(BEFORE + ADDED, BEFORE) == CODE | NEW


BODY = {part(kind, key) for kind in ("definition", "code") for key in ("A", "A.f")}


def test_what_an_edit_in_a_definition_changes() -> None:
    assert facts(BEFORE + "def n():\n    return 1\n", BEFORE + "def n():\n    return 2\n") == {
        TEXT,
        TREE,
        part("code", "n"),
    }
    assert facts(BEFORE, BEFORE.replace("return g()", "return k()")) == CODE - {SIZE} | BODY | {
        ("holds", "call", "g"), ("holds", "call", "k"),
        part("reads", "g"), part("reads", "k"), part("calls", "g"), part("calls", "k"), part("all calls"),
    }  # fmt: skip
    assert facts(BEFORE, BEFORE.replace("return ", "x.y = ")) == CODE | BODY | {
        part("head", "A.f"), part("named", "x.y"), part("stored", "y"), part("reads", "x"), part("reads", "y"),
        ("holds", "given", "y"),
    }  # fmt: skip
    base = {("holds", "base", "B"), ("holds", "base", "C"), part("bases"), part("definition", "A"), part("code", "A")}
    base |= {part(kind, name) for kind in ("reads", "bound") for name in "BC"}
    assert facts(BEFORE, BEFORE.replace("A(B)", "A(C)")) == CODE - {SIZE} | base | {part("definition")}
    moved = "def g(): ...\n" + BEFORE.replace("def g(): ...\n", "")
    assert facts(BEFORE, moved) == {TEXT, TREE, SUMMARY, ORDER, NUMBERS}
    method = BEFORE.replace("    def f", "    def e(self): ...\n\n    def f")
    assert facts(BEFORE, method) == CODE | {NUMBERS} | {
        part("methods", "A"), part("definition", "A"), part("named", "e"), part("bound", "e"),
        part("definition", "A.e"), part("head", "A.e"), part("code", "A"), part("code", "A.e"),
    }  # fmt: skip


def test_definitions_of_one_path_are_counted() -> None:
    twice = "def f(): ...\nif a:\n    def f(): return 1\n    class f:\n        def g(): ...\n"
    summary = state_of(Path(NAME), twice.encode()).summary
    assert summary is not None
    assert summary.keys == ("", "f", "f#2", "f#3", "f#3.g")
    assert facts(twice, twice.replace("return 1", "return 2")) == {TEXT, TREE, part("code", "f#2")}
    assert facts(twice, twice.replace("return 1", "...")) == {
        *CODE, part("definition", "f#2"), part("head", "f#2"), part("code", "f#2"),
    }  # fmt: skip


def test_the_number_of_a_definition_that_stays() -> None:
    one, other = "def f(): return 1\n", "def f(): return 2\n"
    assert NUMBERS in facts(one + other, other), "the second function of that name is now the first"
    assert NUMBERS not in facts(one + other, one)
    assert NUMBERS not in facts("a = 1\n" + one, one)


def edited(text: str, dice: random.Random) -> str:
    """The text with one or two lines edited, added or taken out."""
    lines = text.splitlines(keepends=True)
    for _ in range(dice.choice((1, 2))):
        if not lines:
            break
        row = dice.randrange(len(lines))
        indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
        new = dice.choice([[], [f"{indent}x = 1\n", lines[row]], [indent + "@x\n", lines[row]], [f"{indent}x; y\n"]])
        lines[row : row + 1] = new
    return "".join(lines)


def test_lines_that_are_kept_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out because its lines are as they were, is what a comparison of all nodes finds equal."""
    dice = random.Random(1)
    parsable = 0
    for path in [path for path in FILES if path.stat().st_size][::3]:
        states = [state_of(path, text.encode()) for text in _before_and_after(path, dice)]
        quick = set(changed(path, *states))
        with monkeypatch.context() as patch:
            patch.setattr(changes, "_kept", lambda *_: None)
            assert quick == set(changed(path, *states)), path
        parsable += states[1].tree is not None
    assert parsable > len(FILES) // 9


def _before_and_after(path: Path, dice: random.Random) -> tuple[str, str]:
    text = path.read_text(encoding="utf-8")
    return text, edited(text, dice)


def test_kept_lines_of_any_shape() -> None:
    before = "@a\ndef f():\n    x = '''\n'''; y = 1\n    return y\nz = 2; w = 3\n"
    for after, codes in (
        (before.replace("@a", "@b"), {"f"}),
        (before.replace("x =", "v ="), {"f"}),
        (before.replace("\n'''; y", "\n\n'''; y"), {"f"}),
        (before.replace("z = 2", "z = 4"), set()),
        ("'''\n'''\n" + before, set()),
        (before.replace("z", "\n\nz"), None),
    ):
        found = facts(before, after)
        assert (TREE in found) == (codes is not None), after
        assert {fact[2] for fact in found if fact[0] == "code"} == (codes or set()), after
