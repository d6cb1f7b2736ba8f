"""What an expression holds, followed backwards to where it is written down, wherever in the project that is.

``Evaluator.find`` answers for a source; each kind of place that a value comes from has a file beside this one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from forklint.knowledge.loading import names as listed
from forklint.project.index import External
from forklint.project.index import Value as Bound
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.spelling import is_name
from forklint.values import arithmetic, by_name, calls, command_line, files, items, names, objects, presence
from forklint.values.cost import MAX_STEPS, TOO_MUCH, Cost
from forklint.values.model import (
    ABSENT,
    NOT_STORED,
    NOTHING,
    Absent,
    Case,
    Constant,
    Either,
    Expression,
    Found,
    Instance,
    Lambda,
    Made,
    Ref,
    Row,
    Setting,
    Source,
    Stored,
    Table,
    Text,
    Value,
    agreed,
    of_each,
    perhaps,
    told,
)
from forklint.values.numbers import Positive
from forklint.values.worlds import Conditions

if TYPE_CHECKING:
    from forklint.project.index import Project

T = TypeVar("T")
WHAT = "following values"
"""What is stopped where a question costs too much."""


class _TooMuchError(Exception):
    """The outermost question costs too much: it is given up, and all that is still open below it."""


class Evaluator:
    """Follows the expressions of one project; what it found for a question is remembered, with what that costs.

    What costs too much is unknown, and so is whatever needs it: each question has the same budget, so that its answer
    does not depend on who asks, nor on what was asked before.
    """

    def __init__(self, project: Project, *, sorts_out: bool = True) -> None:
        """``sorts_out``: whether callers and settings are sorted out by whose method or attribute they name."""
        self.project = project
        self.sorts_out = sorts_out
        self._cost = Cost()
        """Of the question at hand, so far."""
        self._open = 0
        """How many questions are being answered, each for the one before."""
        self._spent = Cost()
        """What the outermost of them has cost so far."""

    @cached_property
    def plain(self) -> Evaluator:
        """What says whose method or attribute is named, at a cost of its own, and sorts nothing out itself."""
        return Evaluator(self.project, sorts_out=False)

    def find(self, source: Source) -> Found:
        """Say what a source holds; NOTHING where it cannot be known, as where two branches differ."""
        if isinstance(source, Setting):
            return files.held(self, source)
        if isinstance(source, Either):
            return agreed(map(self.find, source.sources))
        if isinstance(source, Case):
            return self.find(source.source).within(source.worlds)
        if isinstance(source, Absent):
            return Found(source)
        finder = FINDERS.get(type(source.node), _nothing)
        if finder is _constant or finder is _nothing:
            return finder(self, source)
        defined = names.defined(self, source) if finder is _name else None
        if defined is not None:
            return defined
        return self.ask("what an expression holds", (source.node, source.frame), lambda: finder(self, source), NOTHING)

    def ask(self, name: str, key: Hashable, find: Callable[[], T], unknown: T) -> T:
        """The answer to a question that may ask others; ``unknown`` where it costs too much, or asks for itself."""

        def measured() -> tuple[T, Cost]:
            outer, self._cost = self._cost, Cost(1)
            self.project.budgets.spent[WHAT] += 1
            if not self._open:
                self._spent = Cost()
            self._open += 1
            try:
                self._spend(Cost(1), self._open - 1)
                value, cost = find(), self._cost
            except _TooMuchError:
                if self._open > 1:
                    raise
                value, cost = unknown, TOO_MUCH
            finally:
                self._open -= 1
                self._cost = outer
            if cost.is_too_much:
                self.project.questions.cut(WHAT, MAX_STEPS)
                return unknown, cost
            return value, cost

        return self._charged(name, key, measured, unknown)

    def gather(self, name: str, key: Hashable, find: Callable[[], T], unknown: T, searches: int = 0) -> T:
        """The same for an answer made of several: what costs too much is unknown in it, and the rest stands."""

        def measured() -> tuple[T, Cost]:
            outer, self._cost = self._cost, Cost(1, 0, searches)
            self.project.budgets.spent[WHAT] += 1
            try:
                if self._open:
                    self._spend(self._cost, self._open - 1)
                value = find()
                return value, self._cost.without_own_depth()
            finally:
                self._cost = outer

        return self._charged(name, key, measured, unknown)

    def _charged(self, name: str, key: Hashable, measured: Callable[[], tuple[T, Cost]], unknown: T) -> T:
        known = True

        def find() -> tuple[T, Cost]:
            nonlocal known
            if not known:
                return self._apart(measured)  # found again after an edit, for nobody who pays
            known = False
            return measured()

        name = name if self.sorts_out else f"{name}, plainly"
        value, cost = self.project.answer(name, key, find, (unknown, Cost()), compared=True)
        if known and self._open:
            self._spend(cost, self._open + cost.depth)
        self._cost = self._cost.and_below(cost)
        return value

    def _apart(self, measured: Callable[[], tuple[T, Cost]]) -> tuple[T, Cost]:
        """Answer a question as if it were the outermost: what it costs is not charged to what is being answered."""
        outer = self._open, self._spent, self._cost
        self._open, self._spent, self._cost = 0, Cost(), Cost()
        try:
            return measured()
        finally:
            self._open, self._spent, self._cost = outer

    def _spend(self, cost: Cost, depth: int) -> None:
        """Let the outermost question pay, which is given up if it cannot."""
        spent = self._spent
        self._spent = Cost(spent.steps + cost.steps, depth, spent.searches + cost.searches)
        if self._spent.is_too_much:
            raise _TooMuchError

    def table(self, source: Source) -> Table | None:
        """The entries of the mapping that a source holds; None if it is none, or not known."""
        return self.entries_of(self.find(source))

    def entries_of(self, found: Found) -> Table | None:
        """The entries of a mapping, an object of settings or a part of a file; None if it is none of these."""
        value = found.value
        if isinstance(value, Setting):
            return files.table(value)
        if isinstance(value, Instance):
            return objects.fields_given(self, value)
        if command_line.is_parsed(value):
            return command_line.table(self, value)
        return value if isinstance(value, Table) else None

    @staticmethod
    def each(found: Found, follow: Callable[[Found], Found]) -> Found:
        """What follows from a value; where it is one of several, what may follow from them."""
        return follow(found) if found.known else perhaps(map(follow, found.options))

    def member(self, owner: Found, name: str) -> Found:
        """What ``owner.name`` or ``owner["name"]`` holds."""
        if owner.options and name not in owner.stored.entries:
            having = tuple(one for one in owner.options if not presence.lacks(self, one, name))  # else reading raises
            return of_each(replace(owner, options=having or owner.options), lambda one: self.member(one, name))
        value = owner.value
        found = NOTHING
        stored = owner.stored.entries.get(name)
        if isinstance(stored, Either) and ABSENT in stored.sources:  # one way of several leaves it as it was made
            others = {key: one for key, one in owner.stored.entries.items() if key != name}
            made = self.member(owner.holding(Stored(others, owner.stored.places)), name)
            found = agreed([made, *(self.find(one) for one in stored.sources if one is not ABSENT)])
        elif stored is not None:
            found = self.find(stored)
            found = told(found, stored, name) if isinstance(stored, Expression) else found
        elif isinstance(value, Table):
            entry = value.entries.get(name)
            found = self.find(entry) if entry is not None else perhaps(map(self.find, value.others))
            if isinstance(entry, Expression):
                found = told(found, entry, name)
        elif isinstance(value, Setting):
            found = files.member(self, value, name)
        elif isinstance(value, Instance):
            found = objects.attribute(self, value, name)
        elif isinstance(value, Ref) and isinstance(value.symbol, ClassFacts):
            found = objects.class_attribute(self, value.symbol, name)
        elif isinstance(value, Ref) and isinstance(value.symbol, Module):
            found = names.of_member(self, value.symbol, name)
        elif isinstance(value, Made):
            found = command_line.option(self, value, name)
        inner = owner.stored.below(name)
        if inner.entries:
            found = found.holding(Stored({**found.stored.entries, **inner.entries}, found.stored.places | inner.places))
        return found.after(*owner.links, by_default=owner.by_default) if owner.by_default else found


# Each kind of expression


def _constant(_follow: Evaluator, source: Expression) -> Found:
    value = source.node.value  # type: ignore[attr-defined]
    plain = value is None or isinstance(value, (str, int, float, bytes))
    return Found(Constant(value)) if plain else NOTHING


def _name(evaluator: Evaluator, source: Expression) -> Found:
    return names.find(evaluator, source)


def _attribute(evaluator: Evaluator, source: Expression) -> Found:
    node = source.node
    assert isinstance(node, ast.Attribute)  # noqa: S101 - FINDERS says so
    symbol = evaluator.project.resolve(source.module, source.scope, node)
    if isinstance(symbol, Bound):
        return names.of_module(evaluator, symbol, node.attr, source.frame)
    if isinstance(symbol, (ClassFacts, FunctionFacts, Module)):
        return Found(Ref(symbol))
    if isinstance(symbol, External):
        holder = symbol.name.rpartition(".")[0]
        is_flag = holder in listed("command_line", "flags")
        return command_line.option(evaluator, Made(holder, source), node.attr) if is_flag else NOTHING
    owner = evaluator.find(source.part(node.value))
    if node.attr == by_name.NAMES and isinstance(owner.value, Ref):
        return owner
    return _unless_set(evaluator, source, node.attr, evaluator.member(owner, node.attr), owner)


def _subscript(evaluator: Evaluator, source: Expression) -> Found:
    node = source.node
    assert isinstance(node, ast.Subscript)  # noqa: S101 - FINDERS says so
    owner = evaluator.find(source.part(node.value))
    if isinstance(node.slice, ast.Slice):
        return Found(Row(owner.value.items, complete=False)) if isinstance(owner.value, Row) else NOTHING
    if is_name(node.slice, by_name.OWN_NAME):
        return by_name.own_module(evaluator, source, node)
    key = (asked := evaluator.find(source.part(node.slice))).value
    if isinstance(owner.value, Row):
        return _item(evaluator, owner.value, key.value if isinstance(key, Constant) else None)
    if isinstance(owner.value, Made) and items.are_like(owner.value.name):
        return owner
    if isinstance(key, Constant) and command_line.is_first_of_known(owner, key.value):
        return owner
    if owner.options and isinstance(key, Constant) and isinstance(key.value, int):
        return of_each(owner, lambda one: _item(evaluator, one.value, key.value))
    if not isinstance(key, Constant) or isinstance(key.value, Positive) or items.needs_other_key(owner.value, asked):
        if isinstance(owner.value, Ref) and isinstance(owner.value.symbol, Module):
            return names.of_any_member(evaluator, owner.value.symbol)
        if asked.options and all(isinstance(one.value, Constant) for one in asked.options):
            return of_each(asked, lambda one: _entry(evaluator, owner, one.value))
        return _any_entry(evaluator, owner)
    if isinstance(owner.value, Setting) and isinstance(key.value, int):
        return files.item(evaluator, owner.value, key.value)
    if not isinstance(key.value, str):
        return NOTHING
    return _unless_set(evaluator, source, key.value, evaluator.member(owner, key.value), owner)


def _entry(evaluator: Evaluator, owner: Found, key: Value) -> Found:
    """What stands under a key of a table."""
    name = key.value if isinstance(key, Constant) else None
    return evaluator.member(owner, name) if isinstance(name, str) else _any_entry(evaluator, owner)


def _any_entry(evaluator: Evaluator, owner: Found) -> Found:
    """What stands under some key of a table; surely one of its entries where these are all written out."""
    tables = [one.value for one in owner.possible if isinstance(one.value, Table)]
    values = [evaluator.find(value) for table in tables for value in table.values]
    is_whole = (owner.known or owner.is_all) and len(tables) == len(owner.possible) and owner.stored == NOT_STORED
    return agreed(values) if is_whole and all(table.complete for table in tables) else perhaps(values)


def _item(evaluator: Evaluator, row: Value, index: object) -> Found:
    """One item of a row, or any of them."""
    if not isinstance(row, Row):
        return NOTHING
    if row.complete and isinstance(index, int):
        inside = -len(row.items) <= index < len(row.items)
        return evaluator.find(row.items[index]) if inside else NOTHING
    found = [evaluator.find(item) for item in row.items]
    return found[0] if len(found) == 1 else perhaps(found)


def _unless_set(evaluator: Evaluator, source: Expression, name: str, found: Found, owner: Found) -> Found:
    """Give what was found under a name of something, unless some other code sets that name to something else."""
    is_value = isinstance(found.value, Constant) or (isinstance(found.value, Setting) and files.is_scalar(found.value))
    return (
        NOTHING if is_value and names.is_set_elsewhere(evaluator, source.module, name, owner, source.frame) else found
    )


def _call(evaluator: Evaluator, source: Expression) -> Found:
    return calls.find(evaluator, source)


def _text(evaluator: Evaluator, source: Expression) -> Found:
    """What an f-string gives, as far as its parts are known."""
    start = ""
    for part in source.node.values:  # type: ignore[attr-defined]
        is_plain = not isinstance(part, ast.FormattedValue) or (part.conversion < 0 and part.format_spec is None)
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        value = evaluator.find(source.part(inner)).value
        if not is_plain or not isinstance(value, Constant) or not isinstance(value.value, (str, int)):
            return Found(Text(start)) if start else NOTHING
        start += str(value.value)
    return Found(Constant(start))


def _either(evaluator: Evaluator, source: Expression) -> Found:
    node = source.node
    assert isinstance(node, ast.IfExp)  # noqa: S101 - FINDERS says so
    entry = presence.find(evaluator, source)
    if entry.known:
        return entry
    test = evaluator.find(source.part(node.test))
    if isinstance(test.value, Constant):
        chosen = node.body if arithmetic.is_true(test.value) else node.orelse
        return evaluator.find(source.part(chosen)).after(by_default=test.by_default)
    question = arithmetic.question_in(test.value) or source.part(node.test)
    truth = Conditions(evaluator.project, question.module).truth(question.node)
    arms = ((node.body, truth.true), (node.orelse, truth.false))
    return agreed(evaluator.find(source.part(arm)).within(worlds) for arm, worlds in arms).after(
        by_default=test.by_default
    )


def _nothing(_follow: Evaluator, _source: Expression) -> Found:
    return NOTHING


FINDERS: dict[type[ast.expr], Callable[[Evaluator, Any], Found]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.Dict: items.of_dict,
    ast.Tuple: items.of_display,
    ast.List: items.of_display,
    ast.Set: items.of_display,
    ast.ListComp: items.made_in_loop,
    ast.SetComp: items.of_loop,
    ast.DictComp: items.dict_of_each,
    ast.GeneratorExp: items.of_loop,
    ast.JoinedStr: _text,
    ast.Lambda: lambda _evaluator, source: Found(Lambda(source)),
    ast.IfExp: _either,
    ast.NamedExpr: lambda evaluator, source: evaluator.find(source.part(source.node.value)),
    ast.Await: lambda evaluator, source: evaluator.find(source.part(source.node.value)),
    ast.BinOp: arithmetic.binary,
    ast.UnaryOp: arithmetic.unary,
    ast.BoolOp: arithmetic.logic,
    ast.Compare: arithmetic.comparison,
}
"""What looks at each kind of expression; of all others nothing is known."""
