"""Arguments that nobody gave: those that a command line requires, and those of a callable, are made up."""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
from typing import Any, Dict, List, Optional

from forklint_harness.imports import after_import
from forklint_harness.tolerance import lacks, tainted
from forklint_harness.tolerance.stand_ins import NUMBER, StandIn, scratch_path

PATHS = ("path", "root", "dir", "file", "folder", "data", "checkpoint", "ckpt", "config", "input", "output", "save")
NUMBERS = (
    "size",
    "num",
    "count",
    "length",
    "dim",
    "width",
    "height",
    "epoch",
    "step",
    "seed",
    "batch",
    "index",
    "rank",
)
TEXTS = ("name", "split", "mode", "phase", "type", "key")


def install() -> None:
    """Let ``argparse`` and ``click`` make up what is required, and ``sys.argv`` what is read beyond its end."""
    after_import("argparse", _on_argparse)
    after_import("click.core", _on_click)
    sys.argv = _Arguments(sys.argv)


class _Arguments(List[str]):
    """Arguments of the command line: what is asked for beyond their end is made up."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except IndexError:
            lacks.record("argument", "argument {}".format(key))
            return tainted.MadeUpStr(scratch_path("argument"))


def made_up(name: str, kind: Any = None, choices: Any = None) -> Any:
    """A value for an argument, by its choices, its type, its name."""
    if choices:
        return tainted.taint(next(iter(choices)))
    if kind is not None and kind is not str:
        return _of_kind(name, kind)
    plain = name.lower()
    if kind is None and any(word in plain for word in NUMBERS) and not any(word in plain for word in PATHS):
        return tainted.MadeUpInt(NUMBER)
    return tainted.MadeUpStr(scratch_path(name) if kind is str or any(word in plain for word in PATHS) else name)


def _of_kind(name: str, kind: Any) -> Any:
    for text in (str(NUMBER), scratch_path(name), "a"):
        try:
            return tainted.taint(kind(text))
        except Exception:  # noqa: S112, PERF203 - not what this type reads: the next text may be
            continue
    return StandIn(name)


def _on_argparse(module: Any) -> None:
    kind: Any = module.ArgumentParser
    plain = kind.parse_known_args

    def parse_known_args(self: Any, args: Any = None, namespace: Any = None) -> Any:
        for group in self._mutually_exclusive_groups:
            group.required = False
        given = list(sys.argv[1:] if args is None else args)
        for action in self._actions:
            _release(module, action, given)
        return plain(self, given, namespace)

    kind.parse_known_args = parse_known_args


def _release(module: Any, action: Any, given: List[str]) -> None:
    """Give a required argument a default, and a required command its first choice."""
    if isinstance(action, module._SubParsersAction):
        is_needed = action.required or action.dest == module.SUPPRESS
        if is_needed and action.choices and not any(one in action.choices for one in given):
            given.append(next(iter(action.choices)))
            lacks.record("argument", given[-1])
        return
    is_positional = not action.option_strings
    if not action.required or action.nargs in ("*", "?", module.REMAINDER):  # "*" says so, and goes without
        return
    if any(one.partition("=")[0] in action.option_strings for one in given):
        return
    if is_positional and given:  # the user's own, or those of a command
        return
    name = action.option_strings[-1] if action.option_strings else action.dest
    value = made_up(action.dest, action.type, action.choices)
    many = action.nargs == "+" or isinstance(action.nargs, int)
    action.default = [value] if many else value
    if isinstance(action.default, str):
        action.type = None  # or argparse would make a plain text of it
    action.required = False
    if is_positional:
        action.nargs = "*" if many else "?"
    lacks.record("argument", name)


def _on_click(module: Any) -> None:
    kind: Any = module.Parameter
    make = kind.__init__

    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        make(self, *arguments, **keywords)
        if self.required:
            self.required = False
            choices = getattr(self.type, "choices", None)
            value = made_up(self.name or "argument", getattr(self.type, "func", None), choices)
            self.default = _told(self.name, value)

    kind.__init__ = __init__


def _told(name: Optional[str], value: Any) -> Any:
    def default() -> Any:
        lacks.record("argument", name or "argument")
        return value

    return default


def filling(decorated: Any) -> Any:
    """What a missing decorator gives: the same; a function that it would have given arguments gets made-up ones."""
    if not inspect.isfunction(decorated) or not any(
        map(_is_required, inspect.signature(decorated).parameters.values())
    ):
        return decorated

    @functools.wraps(decorated)
    def filled(*given: Any, **keywords: Any) -> Any:
        if not given and not keywords:
            keywords = for_call(decorated)
        return decorated(*given, **keywords)

    return filled


def _is_required(parameter: inspect.Parameter) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return parameter.default is inspect.Parameter.empty and parameter.kind in kinds


def for_call(function: Any) -> Dict[str, Any]:
    """Something for each argument of a callable that has no default, by its annotation and its name."""
    given: Dict[str, Any] = {}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return given
    for name, parameter in parameters.items():
        if _is_required(parameter):
            lacks.record("argument", name)
            given[name] = StandIn(name) if _is_object(function, name) else for_parameter(name, parameter.annotation)
    return given


def _is_object(function: Any, name: str) -> bool:
    """Whether a callable reads an attribute of an argument that no text has: ``config.data``."""
    body: Any = function.__init__ if inspect.isclass(function) else inspect.unwrap(function)
    code = getattr(body, "__code__", None)
    steps = list(dis.get_instructions(code)) if code is not None else []
    return any(
        one.opname.startswith("LOAD_FAST")
        and (one.argval == name or (isinstance(one.argval, tuple) and one.argval[-1:] == (name,)))
        and after.opname in ("LOAD_ATTR", "LOAD_METHOD")
        and not hasattr(str, str(after.argval))
        for one, after in zip(steps, steps[1:])  # noqa: B905, RUF007 - Python 3.8 has neither strict nor pairwise
    )


def for_parameter(name: str, annotation: Any = inspect.Parameter.empty) -> Any:
    """A value for a parameter: of its annotation where that is plain, a path by its name, else a stand-in."""
    plain = {"int": int, "float": float, "str": str, "bool": bool}
    kind = plain.get(annotation if isinstance(annotation, str) else getattr(annotation, "__name__", ""))
    if kind is bool:
        return False
    if kind is not None:
        return made_up(name, kind)
    words = name.lower()
    if any(word in words for word in PATHS) and not words.endswith(("s", "set", "loader")):
        return tainted.MadeUpStr(scratch_path(name))
    return StandIn(name)


def scratch() -> str:
    """The folder of the trial for what is made up."""
    return os.path.dirname(scratch_path("x"))
