"""What makes the readers of variables read: libraries that are imported and calls that are made, as events of a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint.environment.tables import environment_of
from forklint.knowledge.environment import loaded_by
from forklint.project.index import External
from forklint.project.module import FunctionFacts
from forklint.records import dataclass
from forklint.runs.trace import Event
from forklint.runs.walk import Topic
from forklint.values.devices import goes_to_cuda
from forklint.values.worlds import CUDA

if TYPE_CHECKING:
    from forklint.project.index import Project, Symbol
    from forklint.project.module import Module
    from forklint.values.model import Expression


@dataclass(frozen=True)
class Reads(Event):
    """Third-party modules are loaded, or a call is made."""

    cause: str
    """The module as imported, or the call as written."""
    loaded: frozenset[str] = frozenset()
    """Modules outside the project that an import loads; empty for a call."""
    calls: frozenset[str] = frozenset()
    """Names of the tables in [calls] that a call falls under; empty for an import."""
    unless: tuple[tuple[str, str], ...] = ()
    """Further tables, each with a word: a call falls under them in programs that do not hold it."""

    def within(self, root: Module) -> Reads:
        """What it is in a program that begins with a module."""
        more = {key for key, word in self.unless if word.encode() not in root.document.code}
        return replace(self, calls=self.calls | more, unless=()) if self.unless else self


class Readers(Topic):
    """Follows what env_vars.toml knows."""

    name = "readers of variables"
    with_values = True
    about = CUDA
    """A call under ``torch.cuda.is_available()`` counts: elsewhere no reader of CUDA's variables is there."""

    def __init__(self, project: Project) -> None:
        """Follow the code of a project."""
        super().__init__(project)
        self._environment = environment_of(project)

    def of_import(self, name: str, names: Sequence[str]) -> Iterator[Event]:
        """The modules that importing a library loads."""
        loaded = loaded_by(name, names)
        if loaded & self._environment.reader_modules:
            yield Reads(name, loaded)

    def of_call(self, call: Expression, symbol: Symbol | None) -> Iterator[Event]:
        """The tables that a call falls under."""
        node = call.node
        if isinstance(symbol, FunctionFacts) or not isinstance(node, ast.Call):
            return
        name = symbol.name if isinstance(symbol, External) else ""
        on_cuda = goes_to_cuda(self.evaluator, call, name)
        rows = self._environment.calls.items()
        groups = {key: row for key, row in rows if name in row.functions or (on_cuda and row.on_cuda)}
        unless = {key: row.unless_set for key, row in groups.items() if name in row.unless_functions}
        own = {key for key, word in unless.items() if word.encode() in call.module.document.code}
        always, open_ = groups.keys() - unless.keys(), unless.keys() - own
        if always or open_:
            cause = f"{name}()" if name else f".{node.func.attr}()" if isinstance(node.func, ast.Attribute) else "call"
            asked = tuple((key, unless[key]) for key in sorted(open_))
            yield Reads(cause, calls=frozenset(always), unless=asked)
