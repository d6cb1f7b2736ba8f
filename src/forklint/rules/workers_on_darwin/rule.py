"""FKL401 workers-on-darwin."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Cell, Fix, Link
from forklint.rules.base import PresetSuspect, Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.workers_on_darwin.meant import Machines
    from forklint.rules.workers_on_darwin.worker_counts import Count
    from forklint.source.presets import Preset

CELL = Cell("darwin", "spawn")
NAMED, LOADER = (b"orkers", b"ORKERS"), b"Loader("
BY_PLACE = re.compile(rb"Loader\((?:[^,=]{0,80},){5}")
"""A loader with so many positional arguments that one is the number of workers."""
PLAIN = (b"platform", b"darwin", b"osx", b"apple", b"os.name")
"""What speaks of Macs as it is, written large or small."""
MACS = (b"macos", b"mac_os", b"macbook")
"""The same, of words that begin as many others do."""
SHORT = tuple(
    re.compile(pattern + rb"(?![a-z])")
    for pattern in (
        *(rb"mps(?<![A-Za-z]mps)", rb"mac(?<![A-Za-z]mac)", rb"MAC(?<![A-Za-z]MAC)", rb"MPS(?<![A-Z]MPS)"),
        *(rb"Mps", rb"Mac"),
    )
)
"""What does so where it is not a part of another word; a pattern that begins with letters is found faster."""
Reason = tuple[str, tuple[Link, ...]]


class WorkersOnDarwin(Rule):
    """Settings for macOS start worker processes.

    ## What it does
    Looks for a number of workers above 0 (`num_workers`, `dataloader_num_workers`; `workers` and `n_workers` if a
    loader gets them) in code for macOS or MPS only: a branch on `sys.platform`, `platform.system()`,
    `torch.backends.mps.is_available()` or `device == "mps"`; a dictionary, class, function, constant or file with a
    name or key for macOS; settings that also say `device="mps"`; a program whose only accelerator is MPS. In settings
    files (YAML, TOML, JSON) the same is looked for below such a key, next to such a device, in a file or directory with
    such a name, and in a file that only such programs read; the finding points to the code that reads the file, if it
    is known. A file name that also contains other words (`mps_quick.yaml`) counts for settings of a training, in a
    program that uses MPS.

    The rule reports nothing if the branch excludes macOS, if a `multiprocessing_context` is set with the number, if the
    number is unknown, if nothing uses the name as one for macOS, and in tests (`test_*.py`, `conftest.py`, functions
    named `test_*`), which may start workers to test them.

    ## Why is this bad?
    On macOS, workers are spawned. Each one starts a new interpreter, imports the program again, unpickles the dataset
    and keeps its own copy in the memory that the GPU uses as well. Often this costs more than it saves, and with MPS it
    is a common cause of crashes ("Python quit unexpectedly").

    ## Example
    ```python
    if sys.platform == "darwin":
        loader = DataLoader(dataset, batch_size=32, num_workers=2, persistent_workers=True)
    ```

    ## Use instead
    ```python
    if sys.platform == "darwin":
        loader = DataLoader(dataset, batch_size=32, num_workers=0)
    ```

    If loading in the main process is too slow, `multiprocessing_context="fork"` is the workaround that torch's
    maintainers gave for MPS. forklint shows it and does not apply it: fork on macOS has hazards of its own, see FKL202.

    ## Fix safety
    The number is set to 0. `persistent_workers`, `prefetch_factor` and `multiprocessing_context` raise ValueError
    without workers, and `timeout` fails when the loader is iterated, so these are removed as well: from the call of a
    loader, or by a neutral value in settings that others may read. The fix is safe if they are literals next to the
    number. It is unsafe if their value is unknown, if `**kwargs` may contain them, and if a loader elsewhere sets them;
    in the same file, such a loader is changed to depend on the number. In settings the options are removed, too, unless
    code always reads them; if other platforms share the number through a YAML anchor, macOS gets a separate mapping, or
    the fix is only shown.

    ## How it is proved
    On macOS, the loader is run with its workers and without them. On other platforms, the verdict is `unsupported here:
    needs darwin`, with measurements for spawn.

    ## Known limits
    Numbers from the command line, an environment variable, a list of overrides or a shell script are not seen.
    `platform.processor() == "arm"` may be Linux as well. A settings file is checked on its own and with its `defaults`;
    if another file includes it for macOS, this is not followed.

    ## References
    - [Platform-specific behaviours of the DataLoader](https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors)
    - [pytorch/pytorch#87688](https://github.com/pytorch/pytorch/issues/87688): workers with MPS, and fork instead
    """

    code = "FKL401"
    name = "workers-on-darwin"
    shows_platform = True
    needs = Needs(here=((*NAMED, LOADER),))
    """A number of workers."""

    def holds_tokens(self, data: bytes) -> bool:
        """Whether a text speaks of Macs."""
        lower = data.lower()
        if any(word in lower for word in PLAIN):
            return True
        if b"mac" not in lower and b"mps" not in lower:
            return False
        return any(word in lower for word in MACS) or any(pattern.search(data) is not None for pattern in SHORT)

    def may_hold(self, path: Path, data: bytes) -> bool:
        """Whether a number of workers may stand in a file that knows of Macs, or that a program for MPS uses."""
        named = any(word in data for word in NAMED)
        if CELL not in self.settings.cells or not (named or (LOADER in data and BY_PLACE.search(data))):
            return False
        from forklint.knowledge import presets
        from forklint.machines import programs

        return (
            bool(presets.machine_of(path.stem) or presets.machine_hinted(path.stem))
            or self.reaches_tokens(path)
            or bool(programs.may_choose(self.project))
        )

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Find the counts above 0 that are for a Mac."""
        from forklint.project import trials
        from forklint.rules.workers_on_darwin.meant import Machines
        from forklint.rules.workers_on_darwin.worker_counts import WorkerCounts
        from forklint.rules.workers_on_darwin.worker_flow import WorkerFlow
        from forklint.rules.workers_on_darwin.worker_options import WorkerOptions

        if CELL not in self.settings.cells or trials.is_test_file(module.path):
            return
        machines, flow = Machines(self.project, module), WorkerFlow(self.project, module)
        options = WorkerOptions(self.project, module)
        seen: set[ast.expr] = set()
        counts = WorkerCounts(self.project, module)
        for count in counts.find():
            if count.value in seen:
                continue
            seen.add(count.value)
            reason = self._reason(machines, count)
            if (
                reason is None
                or not counts.positive(count.value)
                or trials.is_test(module, count.home)
                or not flow.goes_to_loader(count)
                or not flow.is_read(count)
                or options.has_context(count)
            ):
                continue
            yield Suspect(
                node=count.value,
                subject=count.key,
                message=_message(count.key, ast.unparse(count.value), reason[0]),
                cells=(CELL,),
                chain=reason[1],
                facts=count,
            )

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """``workers``: the count, if it stands there as a number; nothing otherwise."""
        value = suspect.facts.value
        return {"workers": value.value} if isinstance(value, ast.Constant) else {}

    def may_hold_preset(self, path: Path, data: bytes) -> bool:
        """Whether a number of workers may stand in a file of settings that speaks of Macs."""
        from forklint.rules.workers_on_darwin import preset_files

        return CELL in self.settings.cells and preset_files.may_hold(self.project, path, data)

    def preset_suspects(self, preset: Preset) -> Iterator[PresetSuspect]:
        """Find the counts above 0 that are for a Mac, and the code that reads the file."""
        from forklint.loading.preset_readers import PresetReaders
        from forklint.rules.workers_on_darwin import preset_files

        for count in preset_files.counts_for_mac(self.project, preset):
            readers = PresetReaders(self.project, preset.path).find()
            read = (self.link(reader.module, reader.node, "this reads the file") for reader in readers)
            yield PresetSuspect(
                span=preset.span(count.shown_at.start, count.shown_at.end),
                subject=count.key,
                message=_message(count.key, str(count.entry.value.real.value), count.place.why),
                cells=(CELL,),
                qualname=".".join(count.keys),
                chain=(*count.links(preset), *read),
                facts=count,
                proof={"workers": count.entry.value.real.value},
            )

    def preset_fixes(self, suspect: PresetSuspect, preset: Preset) -> Iterator[Fix]:
        """Show what the code's fix does, on the text of the file."""
        from forklint.rules.workers_on_darwin import preset_options

        yield from preset_options.fixes(self.project, preset, suspect.facts)

    def _reason(self, machines: Machines, count: Count) -> Reason | None:
        """Say why a count is for a Mac; None if it is not, or if the name that it comes from is told of instead."""
        from forklint.knowledge import presets
        from forklint.project.index import Value
        from forklint.rules.workers_on_darwin.meant import Machines

        reason = self._why(machines, count.value) or self._hint(machines, count)
        if reason is None or not isinstance(count.value, ast.Name):
            return reason
        symbol = self.project.lookup(machines.module, machines.module.scope_at(count.value), count.value.id)
        if isinstance(symbol, Value) and symbol.binding.value is not None and presets.count_kind(count.value.id):
            told = self._why(Machines(self.project, symbol.module), symbol.binding.value) is not None
            return None if told else reason
        return reason

    def _why(self, machines: Machines, value: ast.expr) -> Reason | None:
        from forklint.machines import programs
        from forklint.values.worlds import World

        module, place = machines.module, machines.place(value)
        if place.why:
            is_far = abs(getattr(place.evidence, "lineno", value.lineno) - value.lineno) > 1
            chain = (self.link(module, place.evidence, "this is for a Mac"),) if place.evidence and is_far else ()
            return place.why, chain
        chooser = programs.mps_only(self.project, module) if World.MPS in place.worlds else None
        if chooser is None:
            return None
        away = chooser != module.path
        chain = (Link(str(chooser), 1, 1, "the device `mps` is chosen in this file"),) if away else ()
        return "in a program whose only accelerator is MPS", chain

    def _hint(self, machines: Machines, count: Count) -> Reason | None:
        """A file's name that hints at a Mac, where it has settings of a training and speaks of no other accelerator."""
        from forklint.knowledge import presets
        from forklint.machines import programs
        from forklint.rules.workers_on_darwin.worker_flow import WorkerFlow
        from forklint.values.worlds import DARWIN

        path = machines.module.path
        if not (presets.machine_hinted(path.stem) and count.certain and machines.place(count.value).worlds >= DARWIN):
            return None
        is_training = WorkerFlow(self.project, machines.module).in_training(count)
        if not (is_training and programs.asks_for_mps(self.project)) or programs.speaks_of_others(self.project, path):
            return None
        return f"in `{path.name}`, named for a Mac", ()

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Set the count to 0 and take away what raises without workers; show fork as another way."""
        from forklint.rules.workers_on_darwin import loader_options

        plan, certain = loader_options.plan(self.project, module, suspect.facts)
        changed = loader_options.without_workers(tree, module, plan) if plan is not None else None
        if plan is not None and changed is not None:
            gone = ", ".join(option.name for option in plan.options)
            following = ", ".join(dict.fromkeys(option.name for option, _ in plan.guarded))
            message = "load in the main process" + (f" and remove {gone}" if gone else "")
            message += f"; {following} then depends on the count" if following else ""
            others = (*(option.value for option in plan.options), *(option.value for option, _ in plan.guarded))
            yield Proposal(message, Applicability.SAFE if certain else Applicability.UNSAFE, changed, others)
        yield Proposal('keep the workers and start them with multiprocessing_context="fork"', Applicability.DISPLAY)


def _message(key: str, value: str, why: str) -> str:
    where = f" {why}".removeprefix(f" in `{key}`").rstrip()
    return (
        f"`{key}` is {value}{where}: each worker is spawned and gets its own copy of the dataset, "
        "and workers are a common cause of crashes with MPS"
    )
