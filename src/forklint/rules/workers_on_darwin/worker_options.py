"""Options of loaders that raise without workers, wherever they stand: beside a count, or at a loader that reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from forklint.knowledge import presets
from forklint.loading.rows import loader_row
from forklint.project import entries
from forklint.project.entries import Entry
from forklint.project.index import Project, Value
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import last_name, text_of
from forklint.records import dataclass
from forklint.rules.workers_on_darwin.meant import Machines
from forklint.rules.workers_on_darwin.worker_counts import Count, beside
from forklint.rules.workers_on_darwin.worker_flow import mentions
from forklint.starting.methods import set_in
from forklint.values.worlds import DARWIN

NOT_OF_DARWIN = ("fork", "forkserver")
"""Start methods other than the one that macOS has anyway."""


@dataclass(frozen=True)
class Option:
    """An option of a loader, given a value that raises without workers."""

    name: str
    """As in ``torch.utils.data.DataLoader``: a prefix such as ``dataloader_`` is taken off."""
    value: ast.expr

    @property
    def literal(self) -> bool:
        """Whether the value is written out, so that it surely raises."""
        return isinstance(self.value, ast.Constant)

    @property
    def neutral(self) -> str:
        """Source text of the value that does not raise."""
        return presets.options()[self.name]


@dataclass(frozen=True)
class Reader:
    """A call that makes a loader and reads its number of workers from somewhere else."""

    module: Module
    call: ast.Call
    count: ast.expr | None
    """What it gives as the number; None where that comes in ``**kwargs``."""
    options: tuple[Option, ...]


class WorkerOptions:
    """Looks for such options around the counts of one module."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module

    def beside(self, count: Count) -> tuple[Option, ...]:
        """The options that stand beside a count and would raise if it were 0."""
        is_loaders = self._makes_loader(count.home) or self.only_unpacked(count)
        return tuple(_raising(beside(self.module, count), with_timeout=is_loaders))

    def has_context(self, count: Count) -> bool:
        """Whether the start method is named: beside the count, or at a loader of the module that may read it."""
        if not set_in(self.module).isdisjoint(NOT_OF_DARWIN) or _has_context(beside(self.module, count)):
            return True
        if self._makes_loader(count.home) and self.hidden(count) is False:
            return False
        return any(_has_context(entries.of_call(reader.call)) for reader in self.readers(count))

    def readers(self, count: Count, *words: str) -> Iterator[Reader]:
        """Give the loaders that may read a count that is not their own; in other modules only those with a word.

        Another module can read it only if the one imports the other, at any depth.
        """
        others = (m for word in words for m in self.project.mentioning(word) if m is not self.module)
        connected = (m for m in others if self._reaches(m, self.module) or self._reaches(self.module, m))
        for module in dict.fromkeys((self.module, *connected)):
            for node in module.nodes:
                if isinstance(node, ast.Call) and node is not count.home:
                    reader = self._reader(module, node, count)
                    if reader is not None:
                        yield reader

    def _reaches(self, first: Module, second: Module) -> bool:
        return self.project.graph.reaches(first.path, second.path)

    def _reader(self, module: Module, call: ast.Call, count: Count) -> Reader | None:
        given = next((value for name, value in entries.of_call(call) if presets.count_kind(name) == "certain"), None)
        if given is None:
            if all(keyword.arg is not None for keyword in call.keywords):
                return None
        elif isinstance(given, ast.Constant) or not mentions(given, count.key):
            return None
        is_loader = loader_row(self.project, module, module.scope_at(call), call) is not None
        if not is_loader and (given is None or not last_name(call.func).lower().endswith("loader")):
            return None
        return Reader(module, call, given, tuple(_raising(entries.of_call(call), with_timeout=True)))

    def hidden(self, count: Count) -> bool | None:
        """Whether ``**kwargs`` beside a count bring options that raise without workers; None if that is not known."""
        home, spread = count.home, []
        if isinstance(home, ast.Call):
            spread = [keyword.value for keyword in home.keywords if keyword.arg is None]
        elif isinstance(home, ast.Dict):
            spread = [value for key, value in zip(home.keys, home.values, strict=True) if key is None]
        answers = [self._raises(mapping) for mapping in spread]
        return True if True in answers else None if None in answers else False

    def _raises(self, mapping: ast.expr) -> bool | None:
        if isinstance(mapping, ast.Name):
            symbol = self.project.lookup(self.module, self.module.scope_at(mapping), mapping.id)
            if isinstance(symbol, Value) and isinstance(symbol.binding.value, ast.Dict):
                mapping = symbol.binding.value
        if not isinstance(mapping, ast.Dict):
            return None
        if any(option.literal for option in _raising(entries.of_dict(mapping), with_timeout=True)):
            return True
        return False if all(text_of(key) for key in mapping.keys) else None

    def unanswered(self, reader: Reader, count: Count) -> bool:
        """Whether a loader that reads the count has options that raise and do not come from beside it as well."""
        named = {name.lower().removeprefix("dataloader_") for name, _ in beside(self.module, count)}
        spread = [keyword.value for keyword in reader.call.keywords if keyword.arg is None]
        if len(spread) > (reader.count is None) and any(self._raises(mapping) is not False for mapping in spread):
            return True
        return any(
            option.literal or option.name not in named or entries.target_name(option.value) != option.name
            for option in reader.options
        )

    def added(self, count: Count) -> bool | None:
        """Whether the count's settings get such an option in another place; None if that is not known.

        That is ``options["persistent_workers"] = True``, ``options.update(prefetch_factor=4)`` and the like, unless
        only other machines get there or a condition looks at the count.
        """
        own = {id(value) for _, value in beside(self.module, count)}
        machines = Machines(self.project, self.module)
        bases = {
            base
            for node in self.module.nodes
            for base, given in _additions(node)
            for option in _raising(given, with_timeout=False)
            if id(option.value) not in own
            and not DARWIN.isdisjoint(machines.place(option.value).worlds)
            and not self._is_conditional(option.value)
        }
        return True if self._base(count) in bases else None if bases else False

    def _base(self, count: Count) -> str:
        """The dictionary or object that a count is a setting of, as text."""
        home = count.home
        if isinstance(home, (ast.Dict, ast.Call)):
            home = self.module.parents[home]
            return (
                entries.target_name(entries.targets(home)[0]) if isinstance(home, (ast.Assign, ast.AnnAssign)) else "?"
            )
        return entries.base_of(home) if isinstance(home, (ast.Assign, ast.AnnAssign)) else "?"

    def _is_conditional(self, value: ast.expr) -> bool:
        above: ast.AST | None = value
        while above is not None:
            if isinstance(above, (ast.If, ast.IfExp)) and _follows_count(above.test):
                return True
            above = self.module.parents.get(above)
        return False

    def removable(self, count: Count) -> bool:
        """Whether leaving an option out means its neutral value, so that nothing misses it."""
        if isinstance(count.home, ast.Call):
            name = self.project.qualified(self.module, self.module.scope_at(count.home), count.home.func)
            if name in presets.listed("loaders", "defaults_are_neutral"):
                return True
        return self.only_unpacked(count)

    def only_unpacked(self, count: Count) -> bool:
        """Whether the count stands in a dictionary whose every use is ``**name`` in a call that makes a loader."""
        home = count.home
        if not (isinstance(home, ast.Dict) or (isinstance(home, ast.Call) and last_name(home.func) == "dict")):
            return False
        above = self.module.parents[home]
        if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
            name, root = above.targets[0].id, self.module.scope_at(above).node
            named = (node for node in nodes_below(root) if isinstance(node, ast.Name) and node.id == name)
            uses: list[ast.expr] = [node for node in named if isinstance(node.ctx, ast.Load)]
            return bool(uses) and all(self._is_unpacked(use) for use in uses)
        return isinstance(home, ast.expr) and self._is_unpacked(home)

    def _is_unpacked(self, mapping: ast.expr) -> bool:
        above = self.module.parents[mapping]
        return isinstance(above, ast.keyword) and above.arg is None and self._makes_loader(self.module.parents[above])

    def _makes_loader(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        return loader_row(self.project, self.module, self.module.scope_at(node), node) is not None


def _additions(node: ast.AST) -> Iterator[tuple[str, list[Entry]]]:
    """Give what a node adds to a dictionary or object that exists: the latter as text, and the settings."""
    if isinstance(node, ast.Assign) and entries.base_of(node):
        yield entries.base_of(node), list(entries.of_assignment(node))
    elif isinstance(node, ast.Call) and last_name(node.func) in {"setdefault", "update", "dict"}:
        base = node.func.value if isinstance(node.func, ast.Attribute) else (node.args or [node.func])[0]
        given = list(entries.of_call(node))
        if last_name(node.func) == "setdefault" and len(node.args) == 2:
            given = [(text_of(node.args[0]), node.args[1])]
        if not any(presets.count_kind(name) == "certain" for name, _ in given):
            yield ast.unparse(base), given


def _raising(given: Iterable[Entry], *, with_timeout: bool) -> Iterator[Option]:
    for name, value in given:
        option = name.lower().removeprefix("dataloader_")
        if option not in presets.options() or (option == "timeout" and not with_timeout):
            continue
        neutral = isinstance(value, ast.Constant) and ast.unparse(value) == presets.options()[option]
        if not neutral and not _follows_count(value):
            yield Option(option, value)


def _follows_count(value: ast.expr) -> bool:
    """Whether a value looks at the number of workers itself: ``num_workers > 0``."""
    parts = [part for part in nodes_below(value) if isinstance(part, ast.expr)]
    return any(presets.count_kind(last_name(part) or text_of(part)) for part in parts)


def _has_context(given: Iterable[Entry]) -> bool:
    return any(
        name.lower().removeprefix("dataloader_") == "multiprocessing_context"
        and not (isinstance(value, ast.Constant) and value.value is None)
        for name, value in given
    )
