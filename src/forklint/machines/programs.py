"""Which modules belong to programs whose only accelerator is MPS.

A program is all that a module's importers and the module itself import, at any depth. It is one for MPS
alone if some file of it chooses the device ``mps`` and none speaks of another accelerator.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from forklint.knowledge import presets
from forklint.project import entries
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.project.spelling import last_name, text_of

QUOTED_MPS = re.compile(rb"""(?<![=!]=)(?<![=!]= )["']mps(?::0)?["']""")
"""The name of the device where it is not compared with another: it may be a choice."""
QUOTES = (b'"mps', b"'mps")
ASKING = (*QUOTES, b"backends.mps", b"torch.mps", b"use_mps", b"is_mps_available")
"""One of these stands where a program chooses MPS, or asks whether it is there."""
PLAINLY_OTHER = re.compile(rb"torch\.cuda|\.cuda\(|[\"']cuda")
"""One of these stands in almost every file that speaks of CUDA, and saves the parsing."""
MAYBE_OTHER = re.compile(rb"(?i:cuda|[gxhnt]pu|xla|rocm|auto|accelerat|nvidia)")
"""Without one of these a file speaks of no other accelerator."""
AUTO = frozenset({"auto"})
LONGEST_WORD = 40
"""A longer text is a message, not the name of a device."""


def asks_for_mps(project: Project) -> bool:
    """Whether some file of a project chooses MPS or asks for it."""
    return project.shows(ASKING)


def mps_only(project: Project, module: Module) -> Path | None:
    """The file that makes a module's program one for MPS alone; None if it is none."""
    path = module.path
    return project.answer("programs for mps alone", path, lambda: _find(project, path), compared=True)


def _find(project: Project, path: Path) -> Path | None:
    if speaks_of_others(project, path):
        return None
    if project.graph.imports(path):
        candidates = may_choose(project)
    else:  # most likely a program of one file: no other need be read
        candidates = frozenset(one for one in _program(project, path) if _may_choose_in(project, one))
    if not candidates:
        return None
    members = _program(project, path)
    if members.isdisjoint(candidates) or any(_plainly_speaks(project, member) for member in members):
        return None  # known without parsing anything
    chosen = {member for member in members & candidates if _chooses(project, member)}
    if not chosen or any(speaks_of_others(project, member) for member in members):
        return None
    return path if path in chosen else min(chosen)


def may_choose(project: Project) -> frozenset[Path]:
    """Files of a project that may choose the device ``mps`` and speak of no other accelerator, by bytes alone."""

    def find() -> frozenset[Path]:
        quoted = {path for text in QUOTES for path in project.containing(text)}
        return frozenset(path for path in quoted if _may_choose_in(project, path))

    return project.answer("may choose mps", None, find, compared=True)


def _may_choose_in(project: Project, path: Path) -> bool:
    return project.matches(path, QUOTED_MPS) and not _plainly_speaks(project, path)


def _program(project: Project, path: Path) -> frozenset[Path]:
    """All that the importers of a file and the file itself import, at any depth."""
    graph = project.graph
    return project.answer("program of a file", path, lambda: graph.reached_from(graph.reaching((path,))), compared=True)


def _chooses(project: Project, path: Path) -> bool:
    """Whether one of the files that may choose ``mps`` does."""

    def find() -> bool:
        module = None if speaks_of_others(project, path) else project.module(path)
        return module is not None and any(_is_choice(module, node) for node in module.nodes)

    return project.answer("chooses mps", path, find, compared=True)


def _plainly_speaks(project: Project, path: Path) -> bool:
    return project.matches(path, PLAINLY_OTHER, (b"cuda",))


def speaks_of_others(project: Project, path: Path) -> bool:
    """Whether a file speaks of an accelerator that is not MPS; comments and docstrings need not count."""

    def find() -> bool:
        if _plainly_speaks(project, path):
            return True
        if not project.matches(path, MAYBE_OTHER):
            return False
        module = project.module(path)
        return module is None or any(map(_means_other, _names(module)))

    return project.answer("mentions other accelerators", path, find, compared=True)


def _means_other(name: str) -> bool:
    """Whether a name or text means another accelerator, or that a library chooses one.

    ``auto`` does so alone, or beside a word for a device: an ``AutoTokenizer`` or ``AutoEncoder`` chooses none.
    """
    words = set(presets.words(name))
    other = presets.listed("others", "cuda") | presets.listed("others", "any")
    is_device = not words.isdisjoint(presets.listed("settings", "device")) or words == AUTO
    return not words.isdisjoint(other if is_device else other - AUTO)


def _names(module: Module) -> Iterator[str]:
    """Give each name and each text without spaces of a module."""
    for node in module.nodes:
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name
        text = text_of(node) if isinstance(node, ast.expr) else ""
        if text and " " not in text and len(text) < LONGEST_WORD:
            yield text
    for scope in module.all_scopes:
        for bindings in scope.bindings.values():
            yield from (f"{b.module}.{b.attribute}" for b in bindings if b.kind is Kind.IMPORT)


def _is_choice(module: Module, node: ast.AST) -> bool:
    """Whether a node is the text ``mps`` where a device is chosen, not where one is compared."""
    if not (isinstance(node, ast.expr) and text_of(node) in {"mps", "mps:0"}):
        return False
    inner: ast.expr = node
    above = module.parents[inner]
    while isinstance(above, (ast.IfExp, ast.BoolOp)):
        inner, above = above, module.parents[above]
    return any(_is_device(name) for name in _given_to(module, above, inner))


def _given_to(module: Module, above: ast.AST, inner: ast.expr) -> Iterator[str]:
    """Give the names that a value gets from what stands above it."""
    if isinstance(above, ast.Call) and inner in above.args:
        yield {"to": "device", "set_default_device": "device"}.get(last_name(above.func), last_name(above.func))
    elif isinstance(above, ast.keyword):
        call = module.parents[above]
        yield above.arg or ""
        if above.arg == "default" and isinstance(call, ast.Call):  # add_argument("--device", default="mps")
            yield from (text_of(argument).lstrip("-") for argument in call.args)
    elif isinstance(above, (ast.Assign, ast.AnnAssign)):
        yield from (name for name, value in entries.of_assignment(above) if value is inner)
    elif isinstance(above, ast.Dict):
        yield from (name for name, value in entries.of_dict(above) if value is inner)
    elif isinstance(above, ast.arguments):
        yield from (name for name, value in entries.of_arguments(above) if value is inner)
    elif isinstance(above, ast.Return):
        function = module.scope_at(above).node
        yield function.name if isinstance(function, FUNCTIONS) else ""


def _is_device(name: str) -> bool:
    return name in presets.listed("settings", "device") or "device" in presets.words(name)
