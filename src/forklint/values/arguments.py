"""What a call gives, by name and position, followed through ``**kwargs`` and ``functools.partial``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.project import scopes
from forklint.project.spelling import last_name
from forklint.values.model import ABSENT, NOT_KNOWN, Arguments, Case, Either, Expression, Row, Source, Table

if TYPE_CHECKING:
    from forklint.project.module import ClassFacts
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


def of_restoring(evaluator: Evaluator, call: Expression, facts: ClassFacts) -> Arguments:
    """What a constructor gets from ``Class.load_from_checkpoint(path, ...)`` or ``Class.from_argparse_args(args)``."""
    key = (call.node, call.frame)
    return evaluator.gather("arguments of restoring", key, lambda: _of_restoring(evaluator, call, facts), NOT_KNOWN)


def _of_restoring(evaluator: Evaluator, call: Expression, facts: ClassFacts) -> Arguments:
    given, found = of_call(evaluator, call), evaluator.project.method(facts, "__init__")
    node = call.node
    from_options = isinstance(node, ast.Call) and last_name(node.func) in listed("objects", "from_options")
    if not (from_options and node.args and found is not None):  # type: ignore[attr-defined]
        return given.without_first.then(NOT_KNOWN)
    named = {
        one.arg: call.part(ast.copy_location(ast.Attribute(node.args[0], one.arg, ast.Load()), node))  # type: ignore[attr-defined]
        for one in scopes.parameters(found[1])[1:]
    }
    keywords = {name: source for name, source in named.items() if evaluator.find(source).possible}
    return Arguments((), {**keywords, **given.keywords}, given.open)


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
