"""Options of loaders that raise without workers, wherever they stand: beside a count, or at a loader that reads it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from forklint.knowledge import presets
from forklint.project.index import External, Project, Value
from forklint.project.machines import closure
from forklint.project.module import Module
from forklint.project.platforms import last_name
from forklint.project.worker_counts import Count, beside
from forklint.project.workers import loader_row


@dataclass(frozen=True)
class Option:
    """An option of a loader, given a value that raises without workers."""

    name: str
    """As in ``torch.utils.data.DataLoader``: a prefix such as ``dataloader_`` is taken off."""
    value: ast.expr
    holder: ast.AST
    """The keyword, or the statement, dictionary or arguments that it is an entry of."""

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
        return tuple(_raising(beside(self.module, count), with_timeout=self._is_loaders(count)))

    def has_context(self, count: Count) -> bool:
        """Whether the start method is named: beside the count, or at a loader that may read the count."""
        if any(_is_context(name) and not _is_none(value) for name, value, _ in beside(self.module, count)):
            return True
        if self._is_direct(count) and not self._spread(count.home):
            return _sets_fork(self.module)
        return _sets_fork(self.module) or any(
            keyword.arg and _is_context(keyword.arg) and not _is_none(keyword.value)
            for reader in self.readers(count, "multiprocessing_context")
            for keyword in reader.call.keywords
        )

    def readers(self, count: Count, *words: str) -> Iterator[Reader]:
        """Give the loaders that may read a count that is not their own; in other modules only those with a word.

        Another module can read it only if the one imports the other, at any depth.
        """
        others = (m for word in words for m in self.project.mentioning(word) if m is not self.module)
        connected = (m for m in others if self._reaches(m, self.module) or self._reaches(self.module, m))
        for module in dict.fromkeys((self.module, *connected)):
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call) and node is not count.home:
                    reader = self._reader(module, node, count)
                    if reader is not None:
                        yield reader

    def _reaches(self, first: Module, second: Module) -> bool:
        return second.path in closure({first.path}, self.project.graph.imports)

    def _reader(self, module: Module, call: ast.Call, count: Count) -> Reader | None:
        given = next((k.value for k in call.keywords if k.arg and presets.count_kind(k.arg) == "certain"), None)
        spread = any(keyword.arg is None for keyword in call.keywords)
        if isinstance(given, ast.Constant) or (given is None and not spread):
            return None
        is_loader = loader_row(self.project, module, module.scope_at(call), call) is not None
        if not (is_loader or (given is not None and last_name(call.func).endswith(("Loader", "loader")))):
            return None
        if given is not None and not _may_be(given, count):
            return None
        keywords = ((k.arg, k.value, k) for k in call.keywords if k.arg)
        return Reader(module, call, given, tuple(_raising(keywords, with_timeout=True)))

    def _is_direct(self, count: Count) -> bool:
        """Whether the count stands in the call that makes the loader."""
        if not isinstance(count.home, ast.Call):
            return False
        return loader_row(self.project, self.module, self.module.scope_at(count.home), count.home) is not None

    def _spread(self, home: ast.AST) -> bool:
        if isinstance(home, ast.Call):
            return any(keyword.arg is None for keyword in home.keywords)
        return isinstance(home, ast.Dict) and None in home.keys

    def _is_loaders(self, count: Count) -> bool:
        """Whether ``timeout`` beside the count is surely the loader's."""
        return self._is_direct(count) or self.only_unpacked(count)

    def hidden(self, count: Count) -> bool:
        """Whether options may come with the count unseen: ``**kwargs`` beside it that is no known dictionary."""
        home = count.home
        if isinstance(home, ast.Call):
            spread = [keyword.value for keyword in home.keywords if keyword.arg is None]
        else:
            spread = [v for k, v in zip(home.keys, home.values) if k is None] if isinstance(home, ast.Dict) else []
        return any(self._may_raise(mapping) for mapping in spread)

    def _may_raise(self, mapping: ast.expr) -> bool:
        """Whether a mapping may hold an option that raises without workers."""
        if isinstance(mapping, ast.Name):
            symbol = self.project.lookup(self.module, self.module.scope_at(mapping), mapping.id)
            if isinstance(symbol, Value) and isinstance(symbol.binding.value, ast.Dict):
                mapping = symbol.binding.value
        if not isinstance(mapping, ast.Dict) or not all(isinstance(key, ast.Constant) for key in mapping.keys):
            return True
        rows = ((str(key.value), value, mapping) for key, value in zip(mapping.keys, mapping.values) if isinstance(key, ast.Constant))
        return any(_raising(rows, with_timeout=True))

    def unanswered(self, reader: Reader, options: Collection[Option]) -> bool:
        """Whether a loader that reads the count has options that raise and do not come from beside it as well."""
        named = {option.name for option in options}
        return any(option.literal or option.name not in named or not _reads(option.value, option.name) for option in reader.options)

    def removable(self, count: Count) -> bool:
        """Whether leaving an option out means its neutral value, so that nothing misses it."""
        if isinstance(count.home, ast.Call):
            symbol = self.project.resolve(self.module, self.module.scope_at(count.home), count.home.func)
            known = presets.listed("loaders", "defaults_are_neutral")
            return isinstance(symbol, External) and symbol.name in known or self.only_unpacked(count)
        return self.only_unpacked(count)

    def only_unpacked(self, count: Count) -> bool:
        """Whether the count stands in a dictionary whose every use is ``**name`` in a call that makes a loader."""
        home = count.home
        if not (isinstance(home, ast.Dict) or (isinstance(home, ast.Call) and last_name(home.func) == "dict")):
            return False
        above = self.module.parents[home]
        if isinstance(above, ast.keyword) and above.arg is None:
            return self._makes_loader(self.module.parents[above])
        if not (isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name)):
            return False
        name = above.targets[0].id
        scope = self.module.scope_at(above)
        uses = [n for n in ast.walk(scope.node) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        parents = [self.module.parents[use] for use in uses]
        return bool(uses) and all(
            isinstance(p, ast.keyword) and p.arg is None and self._makes_loader(self.module.parents[p]) for p in parents
        )

    def _makes_loader(self, call: ast.AST) -> bool:
        return isinstance(call, ast.Call) and loader_row(self.project, self.module, self.module.scope_at(call), call) is not None


def _raising(given: Iterator[tuple[str, ast.expr, ast.AST]], *, with_timeout: bool) -> Iterator[Option]:
    for name, value, holder in given:
        option = name.lower().removeprefix("dataloader_")
        if option not in presets.options() or (option == "timeout" and not with_timeout):
            continue
        if isinstance(value, ast.Constant) and ast.unparse(value) == presets.options()[option]:
            continue
        if not _follows_count(value):
            yield Option(option, value, holder)


def _follows_count(value: ast.expr) -> bool:
    """Whether a value looks at the number of workers itself: ``num_workers > 0``."""
    return any(
        isinstance(part, (ast.Name, ast.Attribute, ast.Constant))
        and bool(presets.count_kind(str(part.value) if isinstance(part, ast.Constant) else last_name(part)))
        for part in ast.walk(value)
    )


def _may_be(given: ast.expr, count: Count) -> bool:
    """Whether a loader's count may be this one: it mentions the name under which it is given."""
    return any(
        (isinstance(part, (ast.Name, ast.Attribute)) and last_name(part) == count.key)
        or (isinstance(part, ast.Constant) and part.value == count.key)
        for part in ast.walk(given)
    )


def _reads(value: ast.expr, name: str) -> bool:
    """Whether an expression reads a setting of this name: ``config.persistent_workers``."""
    index = value.slice if isinstance(value, ast.Subscript) else None
    return last_name(value) == name or (isinstance(index, ast.Constant) and index.value == name)


def _is_context(name: str) -> bool:
    return name.lower().removeprefix("dataloader_") in {"multiprocessing_context", "mp_context", "start_method"}


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _sets_fork(module: Module) -> bool:
    """Whether the module sets a start method other than the one that macOS has anyway."""
    return "set_start_method" in module.document.text and any(
        isinstance(node, ast.Call)
        and last_name(node.func) == "set_start_method"
        and any(isinstance(a, ast.Constant) and a.value in {"fork", "forkserver"} for a in node.args)
        for node in ast.walk(module.tree)
    )
