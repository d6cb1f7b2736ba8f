"""What options of the command line hold unless they are given: argparse, click, typer, absl, classes of settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from forklint.knowledge.loading import names as listed
from forklint.project import entries
from forklint.project.index import External
from forklint.project.module import ClassFacts
from forklint.project.spelling import argument, last_name, text_of
from forklint.summaries.summary import last_name as last_part
from forklint.values import trainer_cli
from forklint.values.model import (
    NO_ARGUMENTS,
    NOTHING,
    Constant,
    Expression,
    Found,
    Instance,
    Made,
    Ref,
    Row,
    Setting,
    Table,
    Value,
    agreed,
    told,
)

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import FunctionFacts, Module
    from forklint.values.evaluator import Evaluator

PARSED = "argparse.Namespace"
"""Stands for what a parser gives."""
DYNAMIC = re.compile(
    rb"setattr\(\s*(?:\w*args|\w*opts?|\w*config|\w*cfg|\w*hparams)\s*,\s*[^\"'\s]|\.__dict__\.update\("
    rb"|\bvars\(\w+\)(?:\.update\(|\[[^\]]*\]\s*=)"
)
"""Code that sets options whose names the text does not say."""
ARGPARSE = re.compile(rb"(?:^|\r)[ \t]*(?:import|from) argparse\b", re.MULTILINE)
FLAGS = re.compile(rb"DEFINE_")
STORED = {"store_true": True, "store_false": False}
"""What an option without a value stores, by its action."""
ALL_AT_ONCE = re.compile(rb"\.set_defaults\(\s*\*\*")


def method(source: Expression, owner: Made, name: str) -> Found:
    """What a method of a library's object gives: the options of a parser, objects of its dataclasses."""
    if owner.name in listed("command_line", "parsers"):
        if name in listed("command_line", "parse"):
            return Found(Made(PARSED, source))
        if name in listed("command_line", "into_dataclasses"):
            return _dataclasses(owner.call)
    return NOTHING


def parsed_by(evaluator: Evaluator, source: Expression, owner: Instance, name: str) -> Found | None:
    """What a method of a class gives that inherits from a parser, and parses; None for any other method."""
    if name not in listed("command_line", "parse"):
        return None
    outside = evaluator.project.ancestry(owner.facts).external
    return Found(Made(PARSED, source)) if any(one in listed("command_line", "parsers") for one in outside) else None


def parsed_by_name(evaluator: Evaluator, source: Expression, name: str) -> Found:
    """What ``parser.parse_args()`` gives in a file that imports argparse, where functions have changed the parser."""
    if name not in listed("command_line", "parse") or not evaluator.project.matches(source.module.path, ARGPARSE):
        return NOTHING
    return Found(Made(PARSED, source))


def is_parsed(value: Value) -> TypeGuard[Made]:
    """Whether a value is what a parser gives."""
    return isinstance(value, Made) and value.name == PARSED


def is_first_of_known(parsed: Found, index: object) -> bool:
    """Whether an item is the options of ``parse_known_args()``, which gives what is left over as well."""
    return is_parsed(parsed.value) and index == 0


def _dataclasses(call: Expression) -> Found:
    node = call.node
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    parts = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given] if given is not None else []
    return Found(Row(tuple(call.part(_called(part)) for part in parts)), by_default=True)


def _called(node: ast.expr) -> ast.Call:
    """A call without arguments of what an expression names, as a library makes it."""
    return ast.copy_location(ast.Call(node, [], []), node)


def object_of(evaluator: Evaluator, call: Expression) -> Found:
    """An object of the class that is given, or with ``config_class=``, with its defaults."""
    node = call.node
    assert isinstance(node, ast.Call)  # noqa: S101 - the caller says so
    named = [value for key, value in entries.of_call(node) if key in {"config_class", "cls"}]
    given = [*node.args, *named]
    if not given:
        return NOTHING
    found = evaluator.find(call.part(given[0]))
    if isinstance(found.value, Ref) and isinstance(found.value.symbol, ClassFacts):
        return Found(Instance(found.value.symbol, NO_ARGUMENTS), by_default=True)
    return NOTHING


# argparse


def option(evaluator: Evaluator, owner: Made, name: str) -> Found:
    """What ``args.name`` holds if it is not given on the command line; NOTHING if that is not certain.

    The owner is what a parser gives, absl's flags, or what makes objects by the command line.
    """
    if owner.name in listed("command_line", "flags"):
        return _flag(evaluator, owner.call.module, name)
    if not is_parsed(owner):
        return trainer_cli.part(evaluator, owner, name)
    home, project = owner.call.module, evaluator.project
    reached = (path for path in project.graph.reached(home.path) if path != home.path)
    others = [path for path in reached if name in _options(project, path)]
    if any(project.matches(path, DYNAMIC) for path in (home.path, *others)):
        return NOTHING
    mappings = [*_defaults_at_once(evaluator, home)]
    if any(_names(one) is None for one in mappings):
        return NOTHING
    named = [one for one in mappings if name in (_names(one) or ())]
    if named:
        return agreed(evaluator.member(one, name) for one in named)
    for modules in ([home], [module for path in others if (module := project.module(path)) is not None]):
        added = [call for module in modules for call in _added(module, name)]
        if added:
            return agreed(_default(evaluator, call, name) for call in added)
    return NOTHING


def table(evaluator: Evaluator, owner: Made) -> Table | None:
    """All options that a parser gives, each as it is read from them; None if there may be others."""
    home, project = owner.call.module, evaluator.project
    adding = [path for path in project.graph.reached(home.path) if path == home.path or _options(project, path)]
    if any(project.matches(path, DYNAMIC) for path in adding) or next(_defaults_at_once(evaluator, home), None):
        return None
    names = [name for module in project.modules(adding) for node in module.nodes for name in _set_by(node)]
    if not all(names):
        return None
    parsed = owner.call.node
    read = {name: ast.copy_location(ast.Attribute(parsed, name, ast.Load()), parsed) for name in names}
    return Table({name: owner.call.part(node) for name, node in read.items()})


def _set_by(node: ast.AST) -> Iterator[str]:
    """Give the options that ``add_argument`` adds or ``set_defaults`` names; "" for one whose name is computed."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "add_argument":
            yield _destination(node)
        elif node.func.attr == "set_defaults":
            yield from (key for key, _ in entries.of_call(node))


def _defaults_at_once(evaluator: Evaluator, home: Module) -> Iterator[Found]:
    """Give the mappings that ``parser.set_defaults(**settings)`` takes, here or in what this module imports."""
    for module in evaluator.project.modules(_setting_at_once(evaluator.project, home.path)):
        for node in module.nodes:
            if isinstance(node, ast.Call) and last_name(node.func) == "set_defaults":
                starred = (keyword.value for keyword in node.keywords if keyword.arg is None)
                scope = module.scope_at(node)
                yield from (evaluator.find(Expression(module, scope, value)) for value in starred)


def _setting_at_once(project: Project, path: Path) -> tuple[Path, ...]:
    """The files that a program imports, itself included, which set defaults of a parser from a mapping."""

    def find() -> tuple[Path, ...]:
        return tuple(one for one in project.graph.reached(path) if project.matches(one, ALL_AT_ONCE))

    return project.answer("files that set defaults at once", path, find, compared=True)


def _names(mapping: Found) -> Collection[str] | None:
    """The keys of a mapping; None if not all of them are known."""
    from forklint.values import files  # noqa: PLC0415 - files asks for parameters as well

    found = files.table(mapping.value) if isinstance(mapping.value, Setting) else mapping.value
    return found.entries.keys() if isinstance(found, Table) and found.complete else None


def _options(project: Project, path: Path) -> frozenset[str]:
    """The names that options of a file may have, if it adds any."""
    return project.answer("options of a file", path, lambda: _find_options(project, path), compared=True)


def _find_options(project: Project, path: Path) -> frozenset[str]:
    summary = project.summary(path)
    scopes = summary.scopes if summary is not None else ()
    if not any(last_part(call) == "add_argument" for scope in scopes for call in scope.calls):
        return frozenset()
    texts = (text.lstrip("-").replace("-", "_") for scope in scopes for text in scope.strings)
    return frozenset(texts).union(*(scope.passed for scope in scopes))


def _added(module: Module, name: str) -> Iterator[Expression]:
    """Give the calls of ``add_argument`` that add an option, and those of ``set_defaults`` that name it."""
    calls = (node for node in module.nodes if isinstance(node, ast.Call) and name in _set_by(node))
    yield from (Expression(module, module.scope_at(call), call) for call in calls)


def _destination(call: ast.Call) -> str:
    """The attribute under which an option is found."""
    given = next((text_of(value) for key, value in entries.of_call(call) if key == "dest"), "")
    flags = [text_of(argument) for argument in call.args]
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    return given or long.lstrip("-").replace("-", "_")


def _default(evaluator: Evaluator, call: Expression, name: str) -> Found:
    given = dict(entries.of_call(call.node))  # type: ignore[arg-type]
    if name in given:  # set_defaults
        return _told(evaluator, call, given[name], name)
    action = text_of(given.get("action"))
    if "default" in given:
        found = _told(evaluator, call, given["default"], _flag_of(call.node))
        is_fixed = action in STORED and found.value == Constant(STORED[action])
        return replace(found, by_default=False) if is_fixed else found  # ``action="store_true", default=True``
    if "required" in given or not _flag_of(call.node).startswith("-"):
        return NOTHING
    if action in STORED:
        return Found(Constant(not STORED[action]), by_default=True)
    return Found(Constant(None), by_default=True) if action in {"", "store"} else NOTHING


def _told(evaluator: Evaluator, call: Expression, value: ast.expr, name: str) -> Found:
    place = call.part(value)
    return told(evaluator.find(place), place, name, by_default=True)


def _flag_of(call: ast.expr) -> str:
    """An option as it is given: ``--num-workers``."""
    texts = [text_of(argument) for argument in getattr(call, "args", ())]
    return next((text for text in texts if text.startswith("--")), texts[0] if texts else "")


def _flag(evaluator: Evaluator, home: Module, name: str) -> Found:
    """What a flag of absl holds: ``DEFINE_integer("name", 4, ...)``."""
    project = evaluator.project
    paths = [path for path in project.graph.reached(home.path) if project.matches(path, FLAGS)]
    return agreed(
        _told(evaluator, Expression(module, module.scope_at(node), node), default, f"--{name}")
        for module in map(project.module, paths)
        for node in (module.nodes if module is not None else ())
        if module is not None and isinstance(node, ast.Call) and _defines(node, name)
        if (default := argument(node, "default", 1)) is not None
    )


def _defines(call: ast.Call, name: str) -> bool:
    return last_name(call.func).startswith("DEFINE_") and text_of(argument(call, "name", 0)) == name


# click and typer


def parameter(evaluator: Evaluator, function: FunctionFacts, name: str) -> Found | None:
    """What a parameter holds that a decorator fills from the command line or a file; None if none does."""
    from forklint.values import files  # noqa: PLC0415 - files asks for parameters as well

    scope = function.scope.parent or function.module.scope
    for mark in function.node.decorator_list:
        call = mark if isinstance(mark, ast.Call) else None
        symbol = evaluator.project.resolve(function.module, scope, call.func if call else mark)
        known = symbol.name if isinstance(symbol, External) else ""
        place = Expression(function.module, scope, mark)
        if known in listed("command_line", "options") and call is not None and _click_name(call) == name:
            return _click_default(evaluator, place, call)
        if known in listed("files", "hydra") and _is_first(function, name):
            return files.composed(evaluator, place)
        if known in listed("command_line", "wraps") and _is_first(function, name):
            return _annotated(evaluator, function, name)
    return None


def _is_first(function: FunctionFacts, name: str) -> bool:
    return bool(function.node.args.args) and function.node.args.args[0].arg == name


def _annotated(evaluator: Evaluator, function: FunctionFacts, name: str) -> Found:
    note = next((argument.annotation for argument in function.node.args.args if argument.arg == name), None)
    symbol = evaluator.project.resolve(function.module, function.module.scope, note) if note is not None else None
    return Found(Instance(symbol, NO_ARGUMENTS), by_default=True) if isinstance(symbol, ClassFacts) else NOTHING


def _click_name(call: ast.Call) -> str:
    """The parameter that an option fills: the name without dashes if there is one, else the longest."""
    flags = [text_of(argument).partition("/")[0] for argument in call.args]
    bare = [flag for flag in flags if flag and not flag.startswith("-")]
    longest = max((flag for flag in flags if flag.startswith("--")), key=len, default="")
    return (bare[0] if bare else longest.lstrip("-").replace("-", "_")).lower()


def _click_default(evaluator: Evaluator, place: Expression, call: ast.Call) -> Found:
    given = dict(entries.of_call(call))
    if "default" in given:
        return _told(evaluator, place, given["default"], _flag_of(call))
    if "required" in given or "multiple" in given or last_name(call.func) == "argument":
        return NOTHING
    return Found(Constant(False if "is_flag" in given else None), by_default=True)


def typer_default(default: ast.expr) -> ast.expr:
    """The real default of a parameter whose default is written as ``typer.Option(4, ...)``."""
    if isinstance(default, ast.Call) and last_name(default.func) in {"Option", "Argument"}:
        named = [value for key, value in entries.of_call(default) if key == "default"]
        return (default.args or named or [default])[0]
    return default
