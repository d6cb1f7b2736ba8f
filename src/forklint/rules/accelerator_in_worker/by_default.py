"""Where a program has its tensors made on an accelerator by default: forked workers make theirs there, too.

What `default_collate` gets that is no tensor, such as a label, becomes one where the default says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.loading.loaders import files_with_loaders, loader_at
from forklint.project.programs import met_with
from forklint.project.scopes import statements
from forklint.project.trials import is_test_file
from forklint.records import dataclass
from forklint.rules.accelerator_in_worker.devices import is_cuda_type, kind_of
from forklint.sending.sites import Sites
from forklint.starting.methods import DEFAULT_METHOD
from forklint.summaries.terms import CALL
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression
from forklint.values.numbers import Workers
from forklint.values.origins import origins

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.project.module import ClassFacts, Module

TYPE, DEVICE = "torch.set_default_tensor_type", "torch.set_default_device"
SETTERS = tuple(name.rpartition(".")[2] for name in (TYPE, DEVICE))
FORKING = frozenset({DEFAULT_METHOD, "fork"})
LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
"""Those that collate with ``default_collate`` unless they are told otherwise."""
READING = frozenset({"torch.from_numpy", "torch.load", "torch.frombuffer"})
"""What gives tensors that are where their data is, whatever the default."""


@dataclass(frozen=True)
class Default:
    """A call that sets the default, and a loader whose workers are forked with it."""

    call: ast.Call
    kind: str
    module: Module
    """That of the loader."""
    loader: ast.Call
    method: str


class Defaults:
    """Answers for the modules of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._evaluator = Evaluator(project)
        self._sites = Sites(project)

    def in_module(self, module: Module) -> Iterator[Default]:
        """Give the calls of a module that set such a default, unless the project sets it back."""
        for call in module.calls_of(SETTERS):
            kind = self._kind(module, call)
            found = self._loader(module) if kind and not self._is_set_back(module, call) else None
            if found is not None:
                yield Default(call, kind, *found)

    def _kind(self, module: Module, call: ast.Call) -> str:
        """The kind of accelerator that a call makes the default; empty for another call."""
        scope = module.scope_at(call)
        name = self._project.qualified(module, scope, call.func)
        given = Expression(module, scope, call.args[0]) if call.args else None
        if given is None or name not in {TYPE, DEVICE}:
            return ""
        if name == DEVICE:
            return kind_of(self._evaluator, given)
        value = self._evaluator.find(given).value
        written = value.value if isinstance(value, Constant) else self._project.qualified(module, scope, given.node)
        return "cuda" if isinstance(written, str) and is_cuda_type(written) else ""

    def _is_set_back(self, module: Module, call: ast.Call) -> bool:
        """Whether another call sets another default, but in another branch of the same condition."""
        conditions = {one for one in module.above(call) if isinstance(one, ast.If)}
        homes = {path for name in SETTERS for path in self._project.where(CALL, name)}
        return any(
            not self._kind(home, other) and conditions.isdisjoint(home.above(other))
            for home in self._project.modules(self._project.in_order(homes))
            for other in home.calls_of(SETTERS)
        )

    def _loader(self, module: Module) -> tuple[Module, ast.Call, str] | None:
        """A loader in a program that a module takes part in, whose workers are forked and collate by default."""
        met = met_with(self._project, module.path)
        making = [one for one in files_with_loaders(self._project) if one in met and not is_test_file(one)]
        for home in self._project.modules(making):
            for scope, call, _, asked in self._sites.loaders(home):
                loader = loader_at(self._project, Expression(home, scope, call))
                is_plain = self._project.qualified(home, scope, call.func) in LOADERS and asked in FORKING
                if loader is None or not is_plain or loader.open or loader.workers.kind is not Workers.SOME:
                    continue
                is_collated = loader.option("collate_fn") is None and not self._is_none(loader.option("batch_size"))
                if is_collated and not any(map(self._reads_tensors_alone, loader.datasets)):
                    return home, call, asked
        return None

    def _reads_tensors_alone(self, facts: ClassFacts) -> bool:
        """Whether the samples of a dataset are tensors alone, made of arrays or read: these stay where they are."""
        found = self._project.method(facts, "__getitem__")
        returned = [one.value for one in statements(found[1].body) if isinstance(one, ast.Return)] if found else []
        parts = [part for one in returned for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
        if found is None or not parts:
            return False
        module, scope = found[0].module, found[0].module.scope_of[found[1]]
        given = (Expression(module, scope, part) for part in parts if part is not None)
        return all(self._is_read(one) for part in given for one in origins(self._evaluator, part))

    def _is_read(self, place: Expression) -> bool:
        node = place.node
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if self._project.qualified(place.module, place.scope, node.func) in READING:
                return True
            node = node.func.value  # of ``torch.from_numpy(image).float()``
        return False

    def _is_none(self, source: object) -> bool:
        return isinstance(source, Expression) and self._evaluator.find(source).value == Constant(None)
