"""A module that an edit was taken into is what a new one would be, and keeps the nodes of what was not edited."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from incremental_edits import Typist

from forklint.project.changes import State, aligned
from forklint.project.module import Module
from forklint.project.scopes import Scope
from forklint.source import document

SOURCE = Path(__file__).parent.parent / "src" / "forklint"
FILES = [path for path in sorted(SOURCE.rglob("*.py"))[::9] if path.stat().st_size]
PATH = Path("/p/m.py")


def module(data: bytes) -> Module:
    doc = document.decode(PATH, data)
    return Module(PATH, doc, document.parse(doc))


def edited(known: Module, data: bytes) -> None:
    doc = document.decode(PATH, data)
    tree = document.parse(doc)
    before, after = State(known.source.data, None, {}, known.parsed), State(data, None, {}, tree)
    alignment = aligned(PATH, before, after)
    assert alignment is not None
    known.take_in(doc, tree, alignment)


def told(scope: Scope) -> list[object]:
    """All that a scope says, with those in it."""
    names = [(name, [(one.kind, ast.dump(one.node)) for one in found]) for name, found in scope.bindings.items()]
    said = [scope.qualname, names, [ast.dump(star.node) for star in scope.stars], sorted(scope.elsewhere)]
    return [*said, *(told(inner) for inner in scope.children.values())]


def places(one: Module) -> list[tuple[str, str, str]]:
    """Each node with the one above it, and the scope it stands in."""
    known = {node: f"{type(node).__name__} {number}" for number, node in enumerate(one.nodes)}
    return [(known[node], known.get(one.parents.get(node), ""), one.scope_at(node).qualname) for node in one.nodes]  # type: ignore[arg-type]


def numbers(one: Module) -> list[int]:
    return [one.number(scope.node) for scope in one.all_scopes]


def test_it_says_what_a_new_one_says() -> None:
    texts = {path: path.read_bytes() for path in FILES}
    typist = Typist(FILES, 5, texts.__getitem__)
    modules = {path: module(data) for path, data in texts.items()}
    for one in modules.values():
        told(one.scope), places(one), one.classes, one.functions, one.ordinals, numbers(one), one.reads("self")
    for _ in range(24):
        kind, path, data = typist.edit()
        texts[path], known, new = data, modules[path], module(data)
        edited(known, data)
        assert ast.dump(known.parsed, include_attributes=True) == ast.dump(new.parsed, include_attributes=True), kind
        assert told(known.scope) == told(new.scope), kind
        assert places(known) == places(new), kind
        assert [one.qualname for one in known.classes] == [one.qualname for one in new.classes]
        assert [one.qualname for one in known.functions] == [one.qualname for one in new.functions]
        assert numbers(known) == numbers(new)
        assert len(known.ordinals) == len(new.ordinals)
        assert len(known.reads("self")) == len(new.reads("self"))
        for scope in known.all_scopes:
            assert scope.parent is None or scope in scope.parent.children.values()


BEFORE = b"""
import a

def f():
    return a.b

class C:
    def m(self):
        return f()

    def n(self): ...
"""


def test_what_was_not_edited_keeps_its_nodes() -> None:
    known = module(BEFORE)
    f, c = (known.scope.bound(name)[0].node for name in "fC")
    tree, scope, inner, facts = known.tree, known.scope, known.scope_of[f], known.class_facts(c)  # type: ignore[arg-type]
    edited(known, b"X = 1\n" + BEFORE.replace(b"a.b", b"a.c"))
    assert (known.tree, known.scope) == (tree, scope)
    assert known.scope.bound("f")[0].node is not f
    assert known.scope.bound("C")[0].node is c
    assert known.class_facts(c) is facts  # type: ignore[arg-type]
    assert facts.scope.parent is scope
    assert c.lineno == 8, "where it stands now"  # type: ignore[attr-defined]
    assert inner.node not in known.scope_of
    method = facts.methods["m"]
    edited(known, BEFORE.replace(b"n(self): ...", b"n(self): return 1"))
    assert known.scope.bound("C")[0].node is not c, "a class is a statement as a whole"
    assert method not in known.scope_of


@pytest.mark.parametrize(
    ("read", "facts"),
    [
        (lambda one: one.scope.bound("f"), {("binding", "f")}),
        (lambda one: one.scope_of[one.parsed.body[1]].find("a"), {("binding", "a")}),
        (lambda one: one.scope_of[one.parsed.body[1]].find("self"), {("binding", "self")}),
        (lambda one: one.scope.stars, {("stars",)}),
        (lambda one: one.scope.bindings, {("tree",)}),
        (lambda one: one.reads("f"), {("uses", "f")}),
        (lambda one: one.classes_named("C"), {("uses", "C")}),
        (lambda one: one.tree.flow, {("flow",)}),
        (lambda one: one.tree.running, {("runs",)}),
        (lambda one: one.number(one.parsed.body[1]), {("numbers",)}),
        (lambda one: one.tree, set()),
        (lambda one: one.tree.body, {("tree",)}),
        (lambda one: list(ast.walk(one.tree)), {("tree",)}),
        (lambda one: one.parents[one.parsed.body[1]].body, {("tree",)}),
        (lambda one: list(one.above(one.parsed.body[2].body[0].body[0])), set()),
        (lambda one: one.scope_at(one.parsed.body[1].body[0]), set()),
        (lambda one: one.class_facts(one.parsed.body[2]).methods, set()),
        (lambda one: one.nodes, {("tree",)}),
        (lambda one: one.classes, {("tree",)}),
        (lambda one: one.link(one.parsed.body[1], "here"), {("tree",)}),
        (lambda one: one.document, {("text",)}),
    ],
)
def test_what_is_read_is_noted(read, facts) -> None:
    noted: set[tuple[str, ...]] = set()
    known = module(BEFORE)
    known.note = noted.add
    for _ in range(2):  # also what is worked out once
        noted.clear()
        read(known)
        assert {(fact[0], *fact[2:]) for fact in noted} == facts
