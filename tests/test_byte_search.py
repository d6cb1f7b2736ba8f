"""No file that has a term is passed over by the byte search before it."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

from forklint.summaries.byte_search import all_terms, may_have
from forklint.summaries.reading import summarise

ROOT = Path(__file__).parent.parent
FORMS = {
    "call": [
        "X(1)",
        "a.X (1)",
        "a. X(1)",
        "X \\\n (1)",
        "(X  # why\n (1))",
        "((a.X) )(1)",
        "X()()",
        "@X(1)\ndef f(): pass",
        "print(f'{X(1)}')",
        "(X # why\r)(1)\r",
        f"(X{' ' * 500}(1))",
        f"(X  # {'-' * 500}\n (1))",
        f"(X  # {'-' * 300}\n  # {'-' * 300}\n (1))",
    ],
    "imported": [
        "import X",
        "import a, b.X as c",
        "from X import a",
        "from .a.X import b",
        "from . import X",
        "from a import(X)",
        "from a import (b as c,  # why\n    X,\n)",
        "from a import b, \\\n X",
        "from\\\n X import a",
        "a = 1; import X",
        "from a import (\n    b,  # important!\n    X,\n)",
        "from a import ( # why!\r b,\r X)\r",
        f"from a import ({', '.join(f'name_{number}' for number in range(60))}, X)".replace(", ", ",\n"),
        f"from a import {', '.join(f'name_{number}' for number in range(60))}, X",
        f"from a import (\n    b,  # {'-' * 500}\n    X,\n)",
    ],
    "bound": [
        "import X",
        "import a.b as X",
        "import X.y",
        "from a import (  # why\n    b,\n    X,\n)",
        "from a import b as X",
        "def X(): pass",
        "async def X(): pass",
        "class X: pass",
        "a = X = 1",
        "X: int = 1",
        "(X, *Y) = 1, 2",
        "[a, X] = b",
        "for X in a: pass",
        "if a:\n    X = 1",
        "if a: X = 1",
        "a = 1; X = 2",
        "with a as X: pass",
        "with a as (b, X): pass",
        "try:\n    pass\nexcept E as X:\n    pass",
        "print(X := 1)",
        "match a:\n    case X: pass",
        "__all__ = ['X']",
        "match a:\n    case {'k': X, **Y}: pass",
        "match a:\n    case K(v=X): pass",
        "match a:\n    case [*X]: pass",
        "a = \\\n  X = 1",
    ],
    "base": [
        "class Y(X): pass",
        "class Y(\n    a.X,  # why\n    Z,\n): pass",
        "class Y(X[T], metaclass=M): pass",
        "class Y(Z, X,): pass",
    ],
    "renamed": [
        "from a import X as Y",
        "from a import X \\\n as Y",
        "import a.X as Y",
        "Y = X",
        "Y = a.X",
        "Y: T = X",
        "Y = (\n  X\n)",
        "Y = X if a else b",
        "Y = b if a else X",
        "Y = a or X",
        "with X as Y: pass",
        "Y, Z = a, X",
        "Y = partial(X)",
        "Y = functools.partial(  # why\n  a.X)",
        "self.y = X",
        "Y = (  # why\n  X)",
    ],
}


def terms_of(text: str) -> dict[str, frozenset[str]]:
    return dict(all_terms(summarise(ast.parse(text)), text.encode()))


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in FORMS.items() for text in texts])
def test_each_way_to_write_a_name(kind: str, text: str) -> None:
    assert "X" in terms_of(text)[kind]
    assert may_have(kind, "X", text.encode())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("bound", "# more X here"),
        ("bound", "f.X = 1"),
        ("bound", "import X as Y"),
        ("base", "class Y(Z): X"),
        ("renamed", "print X"),
        ("imported", "a * b"),
        ("imported", "import a\nb = X"),
        ("imported", "from a import b\nb(1).X"),
        ("call", "a = X"),
        ("call", "a(X, 1)"),
    ],
)
def test_what_is_passed_over(kind: str, text: str) -> None:
    assert not may_have(kind, "*" if kind == "imported" else "X", text.encode())


def test_a_file_that_cannot_be_parsed_may_bind_what_stands_where_names_are_bound() -> None:
    text = b"print 'old'\ndef X(): pass\nclass Y: pass\n# more Z here\n"
    assert {"X", "Y"} <= all_terms(None, text)["bound"]
    assert "Z" not in all_terms(None, text)["bound"]


@pytest.mark.parametrize(
    "folder", [*(pytest.param(name, marks=pytest.mark.soak) for name in ("src", "tests")), "bench", "scripts"]
)
def test_every_term_of_a_file_is_found_in_its_bytes(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        data = path.read_bytes()
        try:
            found = all_terms(summarise(ast.parse(data)), data)
        except (SyntaxError, ValueError):
            continue
        for kind in ("bound", "renamed", "imported", "class", "base", "call"):
            missed = [name for name in found[kind] if not may_have(kind, name, data)]
            assert not missed, (path, kind)


@pytest.mark.parametrize("text", ["# foo\n", f"# foo\n{'#' * 300}\n{'#' * 300}\nx = 1\n"])
@pytest.mark.parametrize("kind", ["call", "renamed", "imported"])
def test_comments_that_hold_a_name_take_time_in_proportion(kind: str, text: str) -> None:
    few, many = (text.encode() * number for number in (1_000, 10_000))
    begin = time.process_time()
    for _ in range(3):
        may_have(kind, "foo", few)
    middle = time.process_time()
    may_have(kind, "foo", many)
    assert time.process_time() - middle < 20 * max((middle - begin) / 3, 0.001)
