"""FKL301 handle-in-init."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Cell, Link, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs, last_names

if TYPE_CHECKING:
    from forklint.config import Settings
    from forklint.edits.tree import Tree
    from forklint.handles.carried import Carried, Handles
    from forklint.handles.screening import HandleScreen
    from forklint.knowledge.handles import Handle
    from forklint.project.module import ClassFacts, CodeLink, Module
    from forklint.rules.handle_in_init.handed_over import HandedOver
    from forklint.rules.handle_in_init.process_wide import ProcessWideHandles
    from forklint.rules.handle_in_init.shared import SharedHandle, SharedHandles

NESTED = re.compile(rb"\([^()]*\w\s*\(")
"""A call among the arguments of another."""


class HandleInInit(Rule):
    """A dataset opens a file, database or archive in `__init__` and stores the handle.

    ## What it does
    Follows handles through `__init__`, the methods it calls, base classes, `__post_init__`, `__len__`, lists and dicts
    of handles, and reader objects. It reports the statement that stores a handle that is still open when workers start.
    It also finds handles that a module or class opens once, that a caller passes in, alone or in a mapping, that belong
    to a transform, reader or `collate_fn` of a dataset or loader, and handles opened on first use if the program reads
    the dataset, or calls one of its methods, before it creates the loader. The same goes for handles that a function
    keeps for the whole process, in a global, on a class or in its cache (`lru_cache`), if the dataset asks for one
    before workers start and uses it in them. Literal arguments decide which branch of a function is followed.
    The functions that open handles, and what happens to each kind, are listed in `handles.toml`; a project can add its
    own with the setting `handles`.

    If one or two loaders of the project use the dataset, the finding names them, with their number of workers and the
    file that sets it. The severity is info, with the reason, if they have workers only when the user asks for them, or
    in a library that never loads the dataset itself, or only without workers. Nothing is reported in a project of which
    no loader gives the dataset to workers.

    ## Why is this bad?
    A forked worker inherits the handle and shares its file offset, lock or reader slot with the parent and all other
    workers: samples are wrong although the exit code is 0, reading fails, or workers hang. A spawned worker receives
    the dataset by pickle, which fails for open handles. `__getstate__` solves only the second problem, since nothing is
    pickled under fork. Fork is left out where every program that loads the dataset sets spawn or forkserver, or its
    loaders ask for one of them.

    ## Example
    ```python
    class ClickDataset(Dataset):
        def __init__(self, db_path):
            self.connection = sqlite3.connect(db_path)
            self.length = self.connection.execute("SELECT COUNT(*) FROM clicks").fetchone()[0]
    ```

    ## Use instead
    Open on first use, once in each process, and close what was opened for the length:
    ```python
    class ClickDataset(Dataset):
        def __init__(self, db_path):
            self.db_path = db_path
            with contextlib.closing(sqlite3.connect(db_path)) as connection:
                self.length = connection.execute("SELECT COUNT(*) FROM clicks").fetchone()[0]
            self._connection = self._pid = None

        @property
        def connection(self):
            if self._pid != os.getpid():
                self._connection, self._pid = sqlite3.connect(self.db_path), os.getpid()
            return self._connection

        def __getstate__(self):
            return {**self.__dict__, "_connection": None, "_pid": None}
    ```

    ## Fix safety
    The fix turns the attribute into a property that opens the handle on first use in each process, drops the handle in
    `__getstate__`, and closes at the end of `__init__` what was opened there. It is safe if the attribute is assigned
    once and used only through `self` in the class, `__init__` only reads plain values from the handle, and nothing
    there can change what its arguments refer to; otherwise it is unsafe. There is no automatic fix where it would be a
    guess: for handles that are open for writing, that `__init__` has read from and that are read further, that use
    another open file, from which `__init__` creates another object that it stores, that several attributes hold, or
    that come from elsewhere.

    ## How it is proved
    The dataset is read without workers and with several workers under each start method. Its samples are compared by
    index, and each handle records the process that opened it.

    ## Known limits
    What the program does with a dataset before loading is seen in the function that creates the loader and in functions
    that pass the dataset to it, but not in other methods of an object that stores it. A handle that is kept for the
    whole process is not reported if the constructor closes something, or if another function forgets the handle.
    Handles held by a closure or a generator, temporary files, `os.fdopen`, and datasets of installed packages
    (`torchvision.datasets.LSUN`) are not followed. `xarray.open_dataset` reopens its file when it is unpickled; under
    fork it has not been measured.

    ## References
    - [LMDB: an environment must not be used after a fork](http://www.lmdb.tech/doc/)
    - [SQLite: how to corrupt a database, by carrying a connection across a fork](https://www.sqlite.org/howtocorrupt.html)
    - [torch.utils.data: multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
    """

    code = "FKL301"
    name = "handle-in-init"
    severity = Severity.ERROR
    local_fixes = True

    @cached_property
    def _screen(self) -> HandleScreen:
        from forklint.handles.screening import HandleScreen
        from forklint.knowledge.handles import openers

        return HandleScreen(self.project, openers(self.settings.handles))

    @cached_property
    def _handles(self) -> Handles:
        from forklint.handles.carried import Handles

        return Handles(self.project, self._screen)

    @cached_property
    def _shared(self) -> SharedHandles:
        from forklint.rules.handle_in_init.shared import SharedHandles

        return SharedHandles(self.project, self._handles)

    @cached_property
    def _handed_over(self) -> HandedOver:
        from forklint.rules.handle_in_init.handed_over import HandedOver

        return HandedOver(self.project, self._handles)

    @cached_property
    def _process_wide(self) -> ProcessWideHandles:
        from forklint.rules.handle_in_init.process_wide import ProcessWideHandles

        return ProcessWideHandles(self.project, self._handles)

    @classmethod
    def needs_under(cls, settings: Settings) -> Needs:
        """The name of something that opens a handle, here or where a call or a base class leads."""
        from forklint.knowledge.handles import openers

        return Needs(named=last_names(openers(settings.handles)))

    def may_hold(self, path: Path, data: bytes) -> bool:
        """Something is opened here, or where a call or base class leads, and it has to do with datasets."""
        if not (b"class " in data or b"=" in data or b"cache" in data or NESTED.search(data)):
            return False  # what is opened is kept by a name, by an object that gets it, or by the cache of a function
        return self._screen.may_store(path)

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Handles that statements of this module store on objects that workers get."""
        from forklint.loading.certainty import doubt_of, is_idle

        for carried in self._handles.carried_from(module):
            cells = self._cells(carried.dataset, partial(_bites, carried))
            if cells and not is_idle(self.project, carried.dataset):
                doubt = doubt_of(self.project, carried.dataset)
                yield Suspect(
                    node=carried.kept[0].statement,
                    subject=carried.attributes[0],
                    message=_message(f"`self.{carried.attributes[0]}`", carried.opened.row, cells, doubt),
                    cells=cells,
                    chain=tuple(self._chain(module, carried)),
                    severity=_severity(carried.opened.row, cells, doubt),
                    facts=carried,
                )
        for finder in (self._shared, self._handed_over, self._process_wide):
            yield from self._of_others(finder.in_module(module), module)

    def _of_others(self, found: Iterator[SharedHandle], module: Module) -> Iterator[Suspect]:
        """Handles that datasets use without having opened them."""
        from forklint.loading.certainty import doubt_of, is_idle
        from forklint.rules.handle_in_init.telling import loading_of

        for shared in found:
            cells = self._cells(shared.dataset, partial(_bites_shared, shared))
            if cells and not is_idle(self.project, shared.dataset):
                doubt = doubt_of(self.project, shared.dataset)
                yield Suspect(
                    node=shared.statement,
                    subject=shared.name,
                    message=_message(f"`{shared.name}`", shared.opened.row, cells, doubt),
                    cells=cells,
                    chain=(
                        *self._opening(shared, module),
                        self._use(shared),
                        *loading_of(self.project, shared.dataset, module),
                    ),
                    severity=_severity(shared.opened.row, cells, doubt),
                    facts=shared,
                )

    def _cells(self, dataset: ClassFacts, bites: Callable[[Cell], bool]) -> tuple[Cell, ...]:
        """Where a handle does harm, but for fork where no program that loads the dataset forks."""
        from forklint.starting.spawned import are_never_forked

        cells = tuple(cell for cell in self.settings.cells if bites(cell))
        forked = [cell for cell in cells if not cell.pickles]
        if forked and are_never_forked(self.project, dataset):
            return tuple(cell for cell in cells if cell.pickles)
        return cells

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The class that workers get, the one that keeps the handle, under which names, and what opened it."""
        from forklint.handles.carried import Carried
        from forklint.rules.handle_in_init.shared import SharedHandle

        found: Carried | SharedHandle = suspect.facts
        keeper = found.keeper if isinstance(found, Carried) else found.dataset
        return {
            "dataset": found.dataset.place,
            "keeper": keeper.place,
            "attributes": found.attributes if isinstance(found, Carried) else (),
            "name": found.name if isinstance(found, SharedHandle) else "",
            "lasting": isinstance(found, SharedHandle) and found.asked is not None,
            "openers": found.opened.row.call,
            "kind": found.opened.row.kind,
        }

    def _chain(self, module: Module, carried: Carried) -> Iterator[Link | CodeLink]:
        from forklint.rules.handle_in_init.telling import loading_of

        if carried.dataset != carried.keeper:
            how = f"`{carried.dataset.name}` passes it on to the workers"
            yield self.link(carried.dataset.module, carried.dataset.node, how)
        if carried.early is not None:
            how = f"`{carried.early.method}` opens it here, before the loader is created"
            yield self.link(carried.early.module, carried.early.node, how)
        if carried.opened.module is not module:
            yield self.link(carried.opened.module, carried.opened.node, "it is opened here")
        yield from loading_of(self.project, carried.dataset, module)

    def _opening(self, shared: SharedHandle, module: Module) -> Iterator[Link]:
        if shared.opened.module is not module:
            yield self.link(shared.opened.module, shared.opened.node, "it is opened here")

    def _use(self, shared: SharedHandle) -> Link:
        """What a dataset does with a handle from elsewhere."""
        name = shared.dataset.name
        if shared.asked is not None:
            return self.link(*shared.asked, f"`{name}` has it opened here, before workers start")
        return self.link(
            shared.dataset.module, shared.keeps or shared.dataset.node, f"`{name}` reads it in the workers"
        )

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Open it lazily, once per process."""
        from forklint.handles.carried import Carried
        from forklint.rules.handle_in_init import lazy_handle

        if isinstance(suspect.facts, Carried) and suspect.facts.early is not None:
            what = "close it before the loader is created, or reopen it if the process id has changed"
            return (Proposal(what, Applicability.DISPLAY),)
        if isinstance(suspect.facts, Carried):
            return lazy_handle.proposals(self.project, suspect.facts, module, tree)
        if suspect.facts.asked is not None:
            what = "close it before workers start, or make `os.getpid()` part of the key by which it is kept"
            return (Proposal(what, Applicability.DISPLAY),)
        what = "pass the path and open it" if suspect.facts.keeps else "open it"
        return (Proposal(f"{what} on first use, in the process that uses it", Applicability.DISPLAY),)


def _bites(carried: Carried, cell: Cell) -> bool:
    row = carried.opened.row
    if cell.pickles:
        return carried.pickled and row.spawn == "bites"
    return carried.used and not carried.checked and row.fork != "clean" and not carried.opened.in_memory


def _bites_shared(shared: SharedHandle, cell: Cell) -> bool:
    row = shared.opened.row
    if cell.pickles:
        return shared.pickled and row.spawn == "bites"
    return shared.used and row.fork != "clean" and not shared.opened.in_memory


def _severity(row: Handle, cells: tuple[Cell, ...], doubt: str) -> Severity:
    is_low = row.fork == "low" and not any(cell.pickles for cell in cells)
    return Severity.INFO if doubt or is_low else Severity.ERROR


def _message(name: str, row: Handle, cells: tuple[Cell, ...], doubt: str) -> str:
    effects = []
    if any(not cell.pickles for cell in cells):
        effects.append(f"under fork, {row.fork_effect}")
    if any(cell.pickles for cell in cells):
        effects.append(f"under {_methods(cells)}, {row.spawn_effect}")
    told = f"{name} holds an open {row.kind} when workers start: {'; '.join(effects)}"
    return f"{told} ({doubt})" if doubt else told


def _methods(cells: tuple[Cell, ...]) -> str:
    return " and ".join(dict.fromkeys(cell.start_method for cell in cells if cell.pickles))
