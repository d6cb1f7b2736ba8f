"""A scope that is filled again is what a new one would be, and keeps the scopes of definitions that stay."""

from __future__ import annotations

import ast

import pytest

from forklint.project.scopes import Scope
from forklint.project.top_level import untold

SOURCE = """
import a
def first(x):
    global shared, other
    shared = (inner := x)
    def below():
        global shared
        shared = 2
        nonlocal_ = [y for y in x if (z := y)]
    return below
class C(B):
    global kept
    kept = 1
    def method(self):
        global shared
        shared = self
    if (w := 1): v = w
other = 3
def last():
    global other
"""
Told = dict[str, object]


def told(scope: Scope) -> Told:
    """All that a scope knows, by the identities of nodes."""
    return {
        "bindings": {name: [(one.kind, id(one.node)) for one in found] for name, found in scope.bindings.items()},
        "elsewhere": scope.elsewhere,
        "children": {id(node): told(child) for node, child in scope.children.items()},
    }


def filled(body: list[ast.stmt]) -> Scope:
    scope = Scope(ast.Module(body=[], type_ignores=[]), None)
    scope.refill(body, untold, has_walrus=True)
    return scope


@pytest.mark.parametrize("gone", range(5))
def test_it_is_what_a_new_one_would_be(gone: int) -> None:
    body = ast.parse(SOURCE).body
    scope = filled(body)
    before = dict(scope.children)
    after = [*body[:gone], *ast.parse("new = (q := 1)\ndef fresh():\n    global shared").body, *body[gone + 1 :]]
    scope.refill(after, untold, has_walrus=True)
    assert told(scope) == told(filled(after))
    assert all(scope.children[node] is before[node] for node in scope.children.keys() & before.keys())
    assert all(not before[node].bindings for node in before.keys() - scope.children.keys())
    scope.refill(body, untold, has_walrus=True)
    assert told(scope) == told(filled(body))
