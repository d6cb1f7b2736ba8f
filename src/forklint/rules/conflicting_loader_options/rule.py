"""FKL402 conflicting-loader-options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Cell, Fix, Link, Severity
from forklint.rules.base import PresetSuspect, Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.loading.conflicts import Conflict
    from forklint.project.module import Module
    from forklint.rules.conflicting_loader_options.preset_loaders import PresetConflict
    from forklint.source.presets import Preset

BY_PLACE = re.compile(rb",\s*(?:True|[\d.]+)\s*[,)]")
NO_WORKERS = re.compile(rb"num_workers[\"']?\s*[:=]\s*0")
FOR_WORKERS = re.compile(rb"persistent_workers|prefetch_factor|multiprocessing_context|timeout")
DARWIN = Cell("darwin", "spawn")


class ConflictingLoaderOptions(Rule):
    """A DataLoader gets options that cannot be combined, such as `persistent_workers=True` without workers.

    ## What it does
    Looks at calls that create a `DataLoader`, a plain subclass of it, or `TrainingArguments`, including options from
    `**kwargs` of a literal, and reports options with a known value that cannot be combined with the others:

    - `persistent_workers`, `prefetch_factor`, `multiprocessing_context` and `timeout` if `num_workers` is 0 or not set;
    - `shuffle=True` with a `sampler`, also where the loader has one unless an option says otherwise, or has one only in
      some branch (info);
    - `shuffle`, `sampler`, `batch_size` and `drop_last` with a `batch_sampler`;
    - `drop_last=True` with `batch_size=None`;
    - `shuffle=True`, `sampler` and `batch_sampler` for an `IterableDataset`;
    - `pin_memory=True` in a program whose only accelerator is MPS: this raises no error, but has no effect (info).

    If the machine decides whether there are workers, or there are none by the default of an option of the command line,
    the finding is a warning; if by the default of a parameter that the project leaves as it is, info.

    In settings files (YAML, TOML, JSON), the first kind is looked for next to `num_workers: 0`, if Python code names
    the file, reads it, and passes the mapping to a loader unchanged.

    The rule reports nothing if a value is unknown or the error is expected: under `pytest.raises`, or in a `try` that
    catches it.

    ## Why is this bad?
    The loader raises `ValueError` as soon as it is created. With `timeout`, it can be created, but raises
    `AssertionError` when it is iterated, which may be much later, for example when the first validation starts. Such
    calls often appear when someone sets `num_workers=0` for debugging.

    ## Example
    ```python
    loader = DataLoader(dataset, batch_size=32, num_workers=0, persistent_workers=True, prefetch_factor=4)
    ```

    ## Use instead
    ```python
    loader = DataLoader(dataset, batch_size=32, num_workers=0)
    ```

    or with workers:
    ```python
    loader = DataLoader(dataset, batch_size=32, num_workers=4, persistent_workers=True, prefetch_factor=4)
    ```

    ## Fix safety
    The fix removes the option, or sets it to its default if it is passed by position. For options of workers this is
    safe: the call raises an error as it is, and without workers these options have no meaning. For the others it is
    unsafe, since only the author knows whether the order or the sampler was intended. Options in a mapping that several
    calls unpack are not fixed. In settings files the fix is unsafe, since other code may read them; entries that code
    expects are set to a value that raises no error.

    ## How it is proved
    A loader for a small list of numbers is created with the option and without it, and a batch is read.

    ## Known limits
    Subclasses with their own `__init__` are not checked where they are created, and neither is a
    `functools.partial(DataLoader, ...)` that is never called in the project. A mapping that is passed to another
    function may be changed there, so its entries are not checked. Invalid single values (`num_workers=-1`,
    `batch_size=0`) are not reported. Before torch 2.0, `prefetch_factor=2` without workers was accepted, since it
    was the default: it is not reported if `target-torch` only allows older versions. See [further
    ways](../recall/FKL402.md).

    ## References
    - [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
    - [pytorch/pytorch#86060](https://github.com/pytorch/pytorch/issues/86060): pinned memory with MPS
    """

    code = "FKL402"
    name = "conflicting-loader-options"
    severity = Severity.ERROR
    words = (
        *(b"persistent_workers", b"prefetch_factor", b"multiprocessing_context", b"timeout", b"shuffle", b"sampler"),
        *(b"drop_last", b"pin_memory"),
    )
    needs = Needs(here=((*words, b"Loader"),))
    """An option that may be refused, or a loader that may get it by its place."""

    def may_hold(self, path: Path, data: bytes) -> bool:
        """An option that may be refused, or one that is given by its place, and what may make a loader."""
        if not (self.holds_tokens(data) or (b"Loader" in data and BY_PLACE.search(data))):
            return False
        from forklint.loading.screening import may_set_up_loader

        return may_set_up_loader(self.project, path)

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Find the options that a loader refuses, and memory pinned in vain."""
        from forklint.loading.conflicts import Conflicts, pinned_for_mps

        if not self.may_hold(module.path, module.screened.code):
            return
        told = set()
        for conflict in Conflicts(self.project, module).find():
            told.add(conflict.loader.call)
            yield Suspect(
                node=_place(module, conflict),
                subject=conflict.option.name,
                message=_message(conflict),
                cells=self.settings.cells,
                chain=tuple(self._chain(module, conflict)),
                facts=conflict,
            )
        yield from self._on_some_machines(module, told)
        if DARWIN in self.settings.cells and b"pin_memory" in module.screened.code:
            for conflict in pinned_for_mps(self.project, module):
                written = ast.unparse(conflict.option.value)
                yield Suspect(
                    node=_place(module, conflict),
                    subject=conflict.option.name,
                    message=f"`{conflict.option.name}={written}` {conflict.refusal.words}, the only accelerator here",
                    cells=(DARWIN,),
                    chain=tuple(self._chain(module, conflict)),
                    severity=Severity.INFO,
                    facts=conflict,
                )

    def _on_some_machines(self, module: Module, told: set[ast.Call]) -> Iterator[Suspect]:
        from forklint.rules.conflicting_loader_options.by_machine import conflicts_somewhere, is_of_program
        from forklint.values.worlds import platforms_of

        for conflict in conflicts_somewhere(self.project, module):
            platforms = platforms_of(conflict.worlds)
            cells = tuple(cell for cell in self.settings.cells if cell.platform in platforms)
            if cells and conflict.loader.call not in told:
                told.add(conflict.loader.call)
                is_of_workers = conflict.refusal.beside == "num_workers"
                is_latent = conflict.by_default and is_of_workers and not is_of_program(self.project, conflict.loader)
                yield Suspect(
                    node=conflict.loader.call,
                    subject=conflict.option.name,
                    message=_message(conflict),
                    cells=cells,
                    chain=tuple(self._chain(module, conflict)),
                    severity=Severity.INFO if is_latent or conflict.in_branch else Severity.WARNING,
                    facts=conflict,
                )

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """What the loader is, its options as far as they can be written down, and the one that is refused."""
        from forklint.rules.conflicting_loader_options import shown

        return shown.proof_of(self.project, suspect.facts)

    def may_hold_preset(self, path: Path, data: bytes) -> bool:
        """Whether a file of settings may have no workers, and an option that needs them."""
        return bool(NO_WORKERS.search(data) and FOR_WORKERS.search(data))

    def preset_suspects(self, preset: Preset) -> Iterator[PresetSuspect]:
        """Find the options that a loader surely gets from a file of settings, and refuses."""
        from forklint.rules.conflicting_loader_options import shown
        from forklint.rules.conflicting_loader_options.preset_loaders import preset_conflicts

        for conflict in preset_conflicts(self.project, preset):
            key, refusal = conflict.entry.key, conflict.refusal
            told = f"`{key}` {refusal.words}, but `num_workers` is 0"
            yield PresetSuspect(
                span=preset.span(conflict.entry.start, conflict.entry.end),
                subject=key,
                message=f"{told}: the `{conflict.loader.row.name}` raises {refusal.error} when it is {refusal.when}",
                cells=self.settings.cells,
                qualname=".".join(map(str, (*conflict.address[1:], key))),
                chain=(conflict.loader.call.link("it is passed to this loader"),),
                facts=conflict,
                proof=shown.proof_of_preset(conflict),
            )

    def preset_fixes(self, suspect: PresetSuspect, preset: Preset) -> Iterator[Fix]:
        """Take the option out; what reads the file besides cannot be seen."""
        from forklint.rules.conflicting_loader_options import preset_removal

        conflict: PresetConflict = suspect.facts
        edits = preset_removal.removed(self.project, preset, conflict)
        if edits is not None:
            yield Fix(f"remove `{conflict.entry.key}`", Applicability.UNSAFE, edits)
        yield Fix("or use workers: `num_workers: 2`", Applicability.DISPLAY)

    def _chain(self, module: Module, conflict: Conflict) -> Iterator[Link]:
        call, option, beside = conflict.loader.call, conflict.option, conflict.beside
        place = _place(module, conflict)
        if option.home is not call:
            if place is call:
                yield self.link(option.module, option.value, f"`{option.name}` is set here")
            else:
                yield self.link(module, call, "the loader is created here")
        if beside is not None and abs(beside.value.lineno - getattr(place, "lineno", 1)) > 1:
            yield self.link(beside.module, beside.value, f"`{beside.name}` is set here")

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterator[Proposal]:
        """Take the option out; for one of workers, say that workers would do as well."""
        from forklint.rules.conflicting_loader_options import option_removal

        conflict: Conflict = suspect.facts
        name, refusal = conflict.option.name, conflict.refusal
        if conflict.where:
            case = "if the loader has workers" if refusal.beside == "num_workers" else f"without a `{refusal.beside}`"
            yield Proposal(f"pass `{name}` only {case}", Applicability.DISPLAY)
            return
        changed = option_removal.removed(tree, module, conflict.option, refusal.neutral)
        if changed is not None:
            safety = Applicability.SAFE if refusal.plain else Applicability.UNSAFE
            yield Proposal(f"remove `{name}`", safety, changed)
        else:
            yield Proposal(f"pass `{name}` only to loaders that accept it", Applicability.DISPLAY)
        if refusal.beside == "num_workers":
            workers = f"{conflict.loader.row.prefix}num_workers"
            yield Proposal(f"or use workers: `{workers}=2`", Applicability.DISPLAY)


def _place(module: Module, conflict: Conflict) -> ast.AST:
    """The option, if it stands in the file at hand and only this call gets it from there; else the call."""
    option = conflict.option
    return option.value if option.module is module and option.is_own else conflict.loader.call


def _message(conflict: Conflict) -> str:
    option, refusal, row = conflict.option, conflict.refusal, conflict.loader.row
    written = f"{option.name}={ast.unparse(option.value)}" if len(ast.unparse(option.value)) < 40 else option.name
    maker = row.built_by or f"the `{row.name}`"
    reason = refusal.words
    if refusal.beside == "num_workers":
        count = f"`{row.prefix}num_workers` is {'0' if conflict.beside else 'not set'}"
        count = f"the loader has none {conflict.where}" if conflict.where else count
        reason = f"{refusal.words}, but {count}"
    elif conflict.in_branch:
        reason = f"{refusal.words}, which the loader has if another branch is taken"
    elif conflict.by_default:
        reason = f"{refusal.words}, which the loader has unless an option says otherwise"
    return f"`{written}` {reason}: {maker} raises {refusal.error} when it is {refusal.when}"
