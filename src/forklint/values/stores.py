"""What code stores in a mapping, list or object of settings after it was made, and what an entry holds at a place.

The one place that knows reaching definitions of keys and attributes: ``kw["n"] = 1``, ``config.n = 1``,
``kw.pop("n")``, ``kw.update(other)``, ``rows.append(row)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below, start_of
from forklint.project.scopes import Binding, Scope
from forklint.values.changes import SELF, Act, Change, changes_in
from forklint.values.model import (
    ABSENT,
    Case,
    Constant,
    Either,
    Expression,
    Found,
    Made,
    Row,
    Setting,
    Source,
    Stored,
    Table,
    agreed,
    perhaps,
)
from forklint.values.worlds import UNKNOWN as UNDECIDED
from forklint.values.worlds import Conditions, Regions, Worlds

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

LOOPS = (ast.For, ast.AsyncFor, ast.While)
THROUGH = (ast.With, ast.AsyncWith)
"""Statements whose body surely runs."""


def brought_up_to_date(
    evaluator: Evaluator, made: Expression, binding: Binding, found: Found, read: Expression | None
) -> Found:
    """What the value of a name holds after the changes of its module, or at the place where it is ``read``."""
    changes = _changes(evaluator, made.scope, binding.name)
    if not changes:
        return found
    seen = [one for one in changes if read is None or not _is_later(made.module, one.place, read, made.scope)]
    if found.known:
        return _Replay(evaluator, made, binding.node, found).run(seen)
    options = [_Replay(evaluator, made, binding.node, one).run(seen) for one in found.options]
    return agreed(options) if found.is_all else perhaps(options)


def is_changed(evaluator: Evaluator, home: Scope, name: str) -> bool:
    """Whether code changes in place what a name of a scope holds."""
    return bool(_changes(evaluator, home, name))


def attribute_brought_up_to_date(
    evaluator: Evaluator, made: Expression, name: str, found: Found, methods: Iterable[FunctionFacts]
) -> Found:
    """What an attribute of ``self`` holds after all that some methods do to it, in whichever order they run."""
    start = made.module.statement_of(made.node)
    for method in methods if isinstance(found.value, (Table, Row)) else ():
        changes = _changes(evaluator, method.scope, f"{SELF}.{name}")
        if changes:
            frame = made.frame if method.scope is made.scope else None
            here = Expression(method.module, method.scope, made.node, frame)
            found = _Replay(evaluator, here, start, found).run(list(changes))
    return found


class _Replay:
    """Does to a value, in the order of the text, what its module does to it."""

    def __init__(self, evaluator: Evaluator, made: Expression, start: ast.AST | None, found: Found) -> None:
        self._evaluator = evaluator
        self._made = made
        self._start = start
        self._found = found
        value = found.value
        self._is_table = isinstance(value, Table)
        self._entries: dict[str, Source] = dict(value.entries) if isinstance(value, Table) else {}
        self._complete = isinstance(value, (Table, Row)) and value.complete
        self._items: list[Source] = list(value.items) if isinstance(value, Row) else []
        self._others: list[Source] = list(value.others) if isinstance(value, Table) else []
        self._places: set[ast.AST] = set(found.stored.places)
        self._by_default = found.by_default

    def run(self, changes: list[Change]) -> Found:
        """Do all of some changes."""
        for change in changes:
            if not self._is_passed_over(change.place):
                self._do(change, is_sure=_is_straight(self._made.module, change.place, self._start))
        value = self._found.value
        stored = Stored({**self._found.stored.entries, **self._entries}, frozenset(self._places))
        if isinstance(value, Table):
            entries = {key: one for key, one in self._entries.items() if "." not in key}
            value = Table(entries, self._complete, tuple(self._others))
        elif isinstance(value, Row):
            value = Row(tuple(self._items), self._complete)
        elif isinstance(value, Setting) and any(isinstance(one.place, ast.Call) for one in changes):
            return Found()
        return replace(self._found, value=value, by_default=self._by_default, stored=stored)

    def _is_passed_over(self, place: ast.AST) -> bool:
        """Whether a place stands in a branch that the call of its function does not take, by what it is given."""
        frame, module, inner = self._made.frame, self._made.module, place
        is_list = isinstance(self._found.value, Row)
        if not is_list or frame is None or module.scope_at(place) is not self._made.scope:
            return False
        for above in module.above(place):
            if above is frame.function.node:
                return False
            if isinstance(above, ast.If) and inner is not above.test and _is_plain(above.test):
                test = self._evaluator.find(self._at(above.test, place))
                if isinstance(test.value, Constant) and not test.by_default:
                    is_body = inner in above.body
                    if is_body is not bool(test.value.value):
                        return True
            inner = above
        return False

    def _do(self, change: Change, *, is_sure: bool) -> None:
        if isinstance(self._found.value, Row):
            self._add(change, is_sure=is_sure)
        elif change.act is Act.SET and change.value is not None:
            if self._set(change.key, self._at(change.value, change.place), change.place, is_sure=is_sure):
                self._places.add(change.place)
        elif change.act in {Act.DROP, Act.FORGET}:
            self._drop(change, is_sure=is_sure)
        elif change.act is Act.DEFAULT and change.value is not None:
            if change.key not in self._entries:
                if self._complete:
                    self._set(change.key, self._at(change.value, change.place), change.place, is_sure=is_sure)
                else:
                    self._complete = False
        elif change.act is Act.MERGE and change.value is not None:
            self._merge(self._at(change.value, change.place), change.place, is_sure=is_sure)
        elif change.act is Act.LET_IN:
            self._by_default = True
        else:
            if change.act is Act.OTHER and change.value is not None:
                self._others += [*self._entries.values(), self._at(change.value, change.place)]
            self._entries, self._complete = {}, False

    def _drop(self, change: Change, *, is_sure: bool) -> None:
        before = self._entries.pop(change.key, None)
        self._complete &= change.act is Act.DROP
        if before is not None and change.act is Act.DROP and not is_sure:
            taken, left = self._branches(change.place)
            self._entries[change.key] = Either((Case(before, left), Case(ABSENT, taken)))

    def _add(self, change: Change, *, is_sure: bool) -> None:
        if isinstance(change.place, ast.Attribute):
            return  # of an item, such as ``processes[-1].daemon``, or of the list: its items stay the same
        self._complete &= is_sure and change.act is not Act.OTHER
        if change.act in {Act.ADD, Act.OTHER} and change.value is not None:
            self._items.append(self._at(change.value, change.place))
        elif change.act is Act.INSERT and change.value is not None:
            self._items.insert(0, self._at(change.value, change.place))
            self._complete &= change.key == "0"
        elif change.act is Act.MERGE and change.value is not None:
            more = self._evaluator.find(self._at(change.value, change.place)).value
            self._items += more.items if isinstance(more, Row) else ()
            self._complete &= isinstance(more, Row) and more.complete
        else:
            self._items, self._complete = [], False

    def _set(self, key: str, source: Source, place: ast.AST, *, is_sure: bool) -> bool:
        """Set an entry; False where it is not known what else it may be."""
        before = self._entries.get(key)
        if before is None and self._complete and self._is_table and "." not in key:
            before = ABSENT
        if is_sure:
            self._entries[key] = source
        elif before is not None:
            taken, left = self._branches(place)
            self._entries[key] = Either((Case(before, left), Case(source, taken)))
        else:
            self._complete = False
            return self._is_table and "." not in key
        return True

    def _branches(self, place: ast.AST) -> tuple[Worlds, Worlds]:
        """The kinds of machine on which a place is come by, and those on which it may be passed over."""
        module = self._made.module
        conditions = Conditions(self._evaluator.project, module)
        above = next((one for one in module.above(place) if isinstance(one, ast.If)), None)
        truth = conditions.truth(above.test) if above is not None else UNDECIDED
        is_body = above is not None and any(part in above.body for part in (place, *module.above(place)))
        return Regions(conditions).branches(place), truth.false if is_body else truth.true

    def _merge(self, other: Source, place: ast.AST, *, is_sure: bool) -> None:
        found = self._evaluator.find(other)
        table = self._evaluator.entries_of(found)
        if isinstance(found.value, Made) and found.value.name in listed("files", "readers"):
            self._by_default, self._complete = True, False  # the user of the program names the file
        elif table is None or not table.complete:
            self._entries, self._complete = {}, False
        for key, source in table.entries.items() if table is not None else ():
            self._set(key, source, place, is_sure=is_sure)

    def _at(self, value: ast.expr, place: ast.AST) -> Expression:
        made = self._made
        scope = made.module.scope_at(place)
        return Expression(made.module, scope, value, made.frame if scope is made.scope else None)


def _is_plain(test: ast.expr) -> bool:
    """Whether a test is about names alone: ``if turn``, ``if tint is not None``."""
    return not any(isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)) for node in nodes_below(test))


def _is_straight(module: Module, place: ast.AST, start: ast.AST | None) -> bool:
    """Whether whoever comes by a statement surely comes by a place further down in its block."""
    statement: ast.AST | None = module.statement_of(place) if not isinstance(place, ast.stmt) else place
    if start is None or statement is None:
        return False
    home = module.scope_at(start).node if isinstance(start, ast.arg) else module.parents.get(start)
    above = module.parents.get(statement)
    while above is not home and isinstance(above, THROUGH):
        above = module.parents.get(above)
    return above is home and statement is not start and start_of(statement) > start_of(start)


def _is_later(module: Module, place: ast.AST, read: Expression, home: Scope) -> bool:
    """Whether a change surely comes after a place of the same function where the value is read.

    A call such as ``kw.pop("n")`` reads ``kw``, where it begins itself, before it changes it.
    """
    if read.module is not module or read.scope is not home or module.scope_at(place) is not home:
        return False
    if start_of(place) < start_of(read.node):
        return False
    return not any(isinstance(above, LOOPS) and above in module.above(read.node) for above in module.above(place))


def _changes(evaluator: Evaluator, home: Scope, name: str) -> tuple[Change, ...]:
    """All changes of what a name holds, by this name or another that it is given, in the order of the text."""
    return evaluator.project.answer(
        "changes in place", (home, name), lambda: tuple(_find_changes(evaluator, home, name))
    )


def _find_changes(evaluator: Evaluator, home: Scope, name: str) -> list[Change]:
    by_name = evaluator.project.answer("all changes in place", home, lambda: changes_in(home))
    found = [change for one in {name, *_other_names(home, name)} for change in by_name.get(one, ())]
    return sorted(found, key=lambda one: start_of(one.place))


def _other_names(home: Scope, name: str) -> Iterator[str]:
    """Give the names that are bound once, to what another name holds."""
    for other, bindings in home.bindings.items():
        value = bindings[0].value if len(bindings) == 1 else None
        if isinstance(value, ast.Name) and value.id == name:
            yield other
