"""What the project says of the arguments with which a class is built: its calls, annotations, options, settings.

It is written as the harness reads it (``forklint_harness.stores.node``); what nothing says is made up there.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Function
from forklint.summaries.terms import WORD
from forklint.values import callers
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression, Found, Instance, Row, Source, Table

KINDS = {bool: "bool", int: "int", float: "float", str: "text", bytes: "bytes", type(None): "none"}
DEEPEST = 3
"""Objects of the project that are arguments of each other."""
MOST_ITEMS = 64
MOST_HEIRS = 3
MOST_FILES = 40
"""Files of options, and of settings, that are looked at."""
LARGEST = 200_000
MOST_HINTS = 4
MOST_OPTIONS = 600
"""Values that settings give for one name."""
NOT_GIVEN = object()
Node = list[Any]
"""As ``Node.as_json`` of the harness writes it: name, kind, value, parts, facts."""
NOTHING: Mapping[str, Any] = {}


def node_of(facts: ClassFacts, project: Project, wanted: Mapping[str, Any] = NOTHING, depth: int = 0) -> Node:
    """The class, with the arguments that are known of it; ``wanted`` are values that some must have: see ``forced``."""
    method = project.method(facts, "__init__")
    parts: list[Any] = []
    if method is not None and depth < DEEPEST:
        owner, function = method
        found = _called_with(owner, function, project, wanted, depth)
        classes = _classes(owner, function, project)
        for name in _parameters(function):
            if name in wanted and wanted[name] is not True:
                parts.append([repr(name), node_of_value(name, wanted[name])])
            elif name in classes and (name not in found or found[name][1] != "class"):
                parts.append([repr(name), node_of(classes[name], project, wanted, depth + 1)])
            elif name in found:
                parts.append([repr(name), found[name]])
            elif name in wanted:
                parts.append([repr(name), [name, "", "None", [], {"truth": "True"}]])
    mixin = None if depth else _mixin(facts, project)
    told = {"mixin": repr((str(mixin.module.path), mixin.qualname))} if mixin else {}
    return [facts.name, "class", repr([str(facts.module.path), facts.qualname]), parts, told]


def _mixin(facts: ClassFacts, project: Project) -> ClassFacts | None:
    """A class that has the samples of one that has none, as a factory puts them together; None if it is whole.

    It has no constructor, and reads attributes that the other sets.
    """
    names = {"__getitem__", "__iter__", "__getitems__"}
    if any(project.method(facts, name) for name in names) or project.method(facts, "__len__") is None:
        return None
    own = {node.attr for node in ast.walk(facts.node) if isinstance(node, ast.Attribute) and _is_set(node)}
    best: tuple[int, ClassFacts] | None = None
    for path in _nearest(project.where(WORD, "__getitem__"), facts.module.path):
        module = project.module(path)
        for other in module.classes if module else ():
            if "__getitem__" in other.methods and not {"__init__", "__len__"} & set(other.methods):
                read = {node.attr for node in ast.walk(other.node) if isinstance(node, ast.Attribute)}
                if best is None or len(own & read) > best[0]:
                    best = (len(own & read), other)
    return best[1] if best is not None and best[0] > 1 else None


def _is_set(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _parameters(function: Function) -> list[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args)][1:] + [
        one.arg for one in arguments.kwonlyargs
    ]


def _called_with(
    owner: ClassFacts, function: Function, project: Project, wanted: Mapping[str, Any], depth: int
) -> dict[str, Node]:
    """By parameter what the calls of the class give, the first that is known."""
    evaluator = Evaluator(project)
    given = callers.of(evaluator, FunctionFacts(owner.module, function)).calls
    found: dict[str, Node] = {}
    for call in given:
        for position, name in enumerate(_parameters(function)):
            source = call.get(name, position if position < len(function.args.args) - 1 else None)
            if source is None or name in found:
                continue
            possible = evaluator.find(source).possible
            others = [one for one in possible if not (_is_bound_again(source) and isinstance(one.value, Instance))]
            node = _node(name, others, evaluator, wanted, depth)
            if node is not None and node[1] != "none":
                found[name] = node
    return found


def _is_bound_again(source: Source) -> bool:
    """Whether an argument is a parameter that its function also binds: ``index = Index(index)`` was given a path."""
    if not isinstance(source, Expression) or not isinstance(source.node, ast.Name):
        return False
    function = source.scope.node
    if not isinstance(function, FUNCTIONS):
        return False
    given = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    return source.node.id in given and len(source.scope.bound(source.node.id)) > 1


def _node(
    name: str, possible: Sequence[Found], evaluator: Evaluator, wanted: Mapping[str, Any], depth: int
) -> Node | None:
    """What a value is, as far as it is known; None where nothing is."""
    for one in possible:
        value = one.value
        if isinstance(value, Instance):
            return node_of(value.facts, evaluator.project, wanted, depth + 1)
        plain = _plain(one, evaluator, DEEPEST)
        if plain is not NOT_GIVEN:
            return node_of_value(name, plain)
    return None


def _plain(found: Found, evaluator: Evaluator, depth: int) -> Any:
    """A value of constants; ``NOT_GIVEN`` where anything in it is not known."""
    value = found.value
    if isinstance(value, Constant):
        return value.value if type(value.value) in KINDS else NOT_GIVEN
    if not depth:
        return NOT_GIVEN
    if isinstance(value, Row) and value.complete and len(value.items) <= MOST_ITEMS:
        items = [_of(source, evaluator, depth) for source in value.items]
        return NOT_GIVEN if any(one is NOT_GIVEN for one in items) else items
    if isinstance(value, Table) and value.entries:
        entries = {key: _of(source, evaluator, depth) for key, source in value.entries.items()}
        return {key: one for key, one in entries.items() if one is not NOT_GIVEN} or NOT_GIVEN
    return NOT_GIVEN


def _of(source: Source, evaluator: Evaluator, depth: int) -> Any:
    possible = evaluator.find(source).possible
    return _plain(possible[0], evaluator, depth - 1) if possible else NOT_GIVEN


def node_of_value(name: str, value: Any) -> Node:
    """A plain value as a node."""
    if isinstance(value, Mapping):
        parts = [[repr(key), node_of_value(str(key), one)] for key, one in value.items()]
        return [name, "dict", "None", parts, {}]
    if isinstance(value, (list, tuple)):
        parts = [[repr(index), node_of_value(name, one)] for index, one in enumerate(value)]
        return [name, "list", "None", parts, {"length": repr(len(value))}]
    return [name, KINDS[type(value)], repr(value), [], {}]


def _classes(owner: ClassFacts, function: Function, project: Project) -> dict[str, ClassFacts]:
    """Parameters that must be objects of a class of the project: by annotation, or by an assertion."""
    arguments = function.args
    told = {
        one.arg: one.annotation
        for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        if one.annotation is not None
    }
    for node in ast.walk(function):
        asked = node.test if isinstance(node, ast.Assert) else None
        is_question = isinstance(asked, ast.Call) and isinstance(asked.func, ast.Name) and len(asked.args) == 2
        if is_question and asked.func.id == "isinstance" and isinstance(asked.args[0], ast.Name):  # type: ignore[union-attr]
            told[asked.args[0].id] = asked.args[1]  # type: ignore[union-attr]
    defaults = dict(zip(reversed(arguments.args), reversed(arguments.defaults), strict=False))
    optional = {one.arg for one in defaults}
    found = {}
    for name, expression in told.items():
        symbol = project.resolve(owner.module, owner.scope, _annotated(expression))
        if isinstance(symbol, ClassFacts) and name not in optional and not _is_abstract(symbol):
            found[name] = symbol
    return found


def _annotated(expression: ast.expr) -> ast.expr:
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        with contextlib.suppress(SyntaxError):
            return ast.parse(expression.value, mode="eval").body
    return expression


def _is_abstract(facts: ClassFacts) -> bool:
    """Whether a method does nothing but say that it is not implemented."""
    last = [method.body[-1] for method in facts.methods.values() if len(method.body) <= 2]
    return any(isinstance(one, ast.Raise) and "NotImplementedError" in ast.unparse(one) for one in last)


def buildable(facts: ClassFacts, project: Project) -> list[ClassFacts]:
    """The class itself, or its heirs where it is abstract: what can be built in its place."""
    if not _is_abstract(facts):
        return [facts]
    heirs = [heir for heir in project.subclasses(facts) if not _is_abstract(heir)]
    return heirs[:MOST_HEIRS] or [facts]


# Conditions under which the handle is opened


def forced(function: ast.AST, row: int) -> dict[str, Any]:
    """Values of names and attributes for which a function comes to a row: ``on_memory`` is False for the row below."""
    found: dict[str, Any] = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.If):
            continue
        for body, holds in ((node.body, True), (node.orelse, False)):
            if body and body[0].lineno <= row <= (body[-1].end_lineno or body[-1].lineno):
                _force(node.test, holds, found)
    return found


def _force(test: ast.expr, holds: bool, found: dict[str, Any]) -> None:  # noqa: FBT001 - as the test has it
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        _force(test.operand, not holds, found)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
        for part in test.values:
            _force(part, holds, found)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        value = test.comparators[0].value
        is_equal = isinstance(test.ops[0], (ast.Eq, ast.Is))
        if is_equal == holds and isinstance(test.ops[0], (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            found.setdefault(_name(test.left), value)
    elif _name(test):
        found.setdefault(_name(test), holds)
    found.pop("", None)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


# Names of options and settings


def hints_for(facts: ClassFacts, project: Project) -> dict[str, list[Any]]:
    """By name what command lines and files of settings give, the nearest first, for words that stand near the class."""
    words = frozenset(re.findall(r"[A-Za-z_]\w*", project.data(facts.module.path).decode(errors="replace")))
    found: dict[str, list[Any]] = {}
    options = list(_options(project, facts.module.path))
    settings = [one for one in _settings(project, facts.module.path) if one[0] in words]
    for name, value in (*options[:MOST_OPTIONS], *settings):
        if value not in (None, "", -1):  # -1 is how options say that they are not set
            values = found.setdefault(name, [])
            if value not in values and len(values) < MOST_HINTS:
                values.append(value)
    return found


def _nearest(paths: Iterator[Path] | tuple[Path, ...], place: Path) -> list[Path]:
    """Some of many files, those first that lie nearest."""

    def distance(path: Path) -> tuple[int, int, Path]:
        common = sum(1 for one, other in zip(path.parts, place.parts, strict=False) if one == other)
        return -common, len(path.parts), path

    return sorted(paths, key=distance)[:MOST_FILES]


def _options(project: Project, place: Path) -> Iterator[tuple[str, Any]]:
    """Defaults of options of the command line."""
    for path in _nearest(project.where(WORD, "add_argument"), place):
        module = project.module(path)
        for node in ast.walk(module.tree) if isinstance(module, Module) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
                yield from _option(node)


def _option(call: ast.Call) -> Iterator[tuple[str, Any]]:
    names = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    keywords = {one.arg: one.value for one in call.keywords if one.arg}
    name = next((one for one in names if one.startswith("--")), names[0] if names else "").lstrip("-").replace("-", "_")
    with contextlib.suppress(ValueError, TypeError, SyntaxError):
        if "dest" in keywords:
            name = str(ast.literal_eval(keywords["dest"]))
        if "default" in keywords:
            yield name, ast.literal_eval(keywords["default"])
        elif "choices" in keywords:
            yield name, next(iter(ast.literal_eval(keywords["choices"])), None)
        elif "action" in keywords and "store_true" in ast.unparse(keywords["action"]):
            yield name, False


def _settings(project: Project, place: Path) -> Iterator[tuple[str, Any]]:
    """Entries of files of settings, whatever they stand in."""
    found = [path for path in project.presets if path.suffix in {".yaml", ".yml", ".json"}]
    for path in _nearest(tuple(found), place):
        yield from _entries(_read(project, path), DEEPEST)


def _read(project: Project, path: Path) -> Any:
    data = project.data(path)
    if len(data) > LARGEST:
        return None
    with contextlib.suppress(Exception):  # what cannot be read gives nothing
        if path.suffix == ".json":
            return json.loads(data)
        from ruamel.yaml import YAML  # noqa: PLC0415 - only where there is such a file

        return YAML(typ="safe", pure=True).load(data)
    return None


def _entries(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict) or not depth:
        return
    for key, inner in value.items():
        if isinstance(key, str) and _is_plain(inner):
            yield key, inner
        yield from _entries(inner, depth - 1)


def _is_plain(value: Any) -> bool:
    try:
        return len(json.dumps(value)) < 4000
    except (TypeError, ValueError):
        return False
