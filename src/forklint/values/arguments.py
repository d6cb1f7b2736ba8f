"""What a call gives, by name and position, followed through ``**kwargs`` and ``functools.partial``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.values.model import ABSENT, NOT_KNOWN, Arguments, Case, Either, Expression, Row, Source, Table

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator


NO_TABLE = Table({}, complete=False)


def of_call(evaluator: Evaluator, call: Expression) -> Arguments:
    """Read the arguments of a call, with those that ``*args`` and ``**kwargs`` are known to hold."""
    key = (call.node, call.frame)
    return evaluator.gather("arguments of a call", key, lambda: _of_call(evaluator, call), NOT_KNOWN)


def _of_call(evaluator: Evaluator, call: Expression) -> Arguments:
    node = call.node
    if not isinstance(node, ast.Call):
        return NOT_KNOWN
    positional: list[Source] = []
    keywords: dict[str, Source] = {}
    unclear = False
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            positional.append(call.part(argument))
            continue
        found = evaluator.find(call.part(argument.value)).value
        if not isinstance(found, Row) or not (found.items or found.complete):
            unclear = True
            break
        positional += found.items
    for keyword in node.keywords:
        if keyword.arg is not None:
            keywords[keyword.arg] = call.part(keyword.value)
            continue
        table = _unpacked(evaluator, call.part(keyword.value))
        keywords |= {name: entry for name, entry in table.entries.items() if name not in keywords}
        unclear |= not table.complete
    return Arguments(tuple(positional), keywords, unclear)


def _unpacked(evaluator: Evaluator, source: Source) -> Table:
    """What ``**source`` gives; where it is one of several mappings, what each of them may give."""
    found = evaluator.find(source)
    if found.known or not found.is_all:
        return evaluator.entries_of(found) or NO_TABLE
    tables = [(evaluator.entries_of(one), one.worlds) for one in found.options]
    known = [(table, worlds) for table, worlds in tables if table is not None]
    names = dict.fromkeys(name for table, _ in known for name in table.entries)
    entries = {
        name: Either(tuple(Case(table.entries.get(name, ABSENT), worlds) for table, worlds in known)) for name in names
    }
    return Table(entries, len(known) == len(tables) and all(table.complete for table, _ in known))


def as_table(evaluator: Evaluator, given: Arguments) -> Table:
    """Give the entries of a call such as ``dict(first, a=1)``."""
    entries: dict[str, Source] = {}
    complete = not given.open
    for source in given.positional[:1]:
        table = _unpacked(evaluator, source)
        complete &= table.complete
        entries |= table.entries
    return Table({**entries, **given.keywords}, complete)
