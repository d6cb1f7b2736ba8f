"""Which settings of environment variables come after their reader has read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field, replace
from functools import cached_property

from forklint.environment import loaded as execution
from forklint.environment.importers import runs_before_import
from forklint.environment.launching import Launch, function_of, is_handed_over, launches, serves
from forklint.environment.programs import runs_before
from forklint.environment.reading import Reads
from forklint.environment.restored import is_put_back, is_told_as_well
from forklint.environment.settings import Setting, settings_in
from forklint.environment.tables import environment_of
from forklint.environment.used import is_used_next
from forklint.knowledge.environment import Reader, Variable
from forklint.project.guard import guard_of, is_for_type_checkers
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.values.worlds import EVERYWHERE, Conditions, Regions


@dataclass(frozen=True)
class Late:
    """A variable that is set too late for one of its readers."""

    setting: Setting
    row: Variable
    reader: Reader
    event: Reads | None
    """What made the reader read; None if it reads when the process starts."""
    forked: bool = False
    """Whether it is set for child processes: then it is late only for those that are forked."""
    events: tuple[Reads, ...] = field(default=(), compare=False, repr=False)
    """All that had happened by then."""


def late_settings(project: Project, module: Module) -> Iterator[tuple[Setting, list[Late]]]:
    """Give each statement that sets variables too late, once, with all that is late in it, earliest event first."""
    judge = _Judge(project, module)
    groups: dict[ast.stmt, list[Late]] = {}
    for setting in settings_in(project, module):
        groups.setdefault(setting.statement, []).extend(judge.late(setting))
    for late in groups.values():
        if late:
            yield late[0].setting, sorted(late, key=_moment)


class _Judge:
    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._environment = environment_of(project)
        self._before: dict[ast.stmt, tuple[Reads, ...]] = {}
        self._number = len({one.statement for one in settings_in(project, module)})

    def late(self, setting: Setting) -> list[Late]:
        rows = [row for row in self._environment.rows(setting.name, setting.literal) if self._judged(row, setting)]
        found = [late for row in rows for reader in row.readers if (late := self._past(setting, row, reader))]
        found = [one for one in found if not self._is_repeated(one)]
        home = function_of(self._module, setting.statement) or self._module.tree
        project, module = self._project, self._module
        if not found or is_put_back(project, module, setting, home) or is_told_as_well(project, module, setting):
            return []
        if is_for_type_checkers(module, setting.statement):
            return []
        if not isinstance(home, ast.Module) and is_handed_over(project, module, home):
            return []
        started = launches(project, module)
        children = {launch.fresh for launch in started if serves(project, module, setting, launch)}
        if True in children:
            return [late for late in found if self._is_for_itself(late, started)]
        return [replace(late, forked=bool(children)) for late in found]

    def _is_for_itself(self, late: Late, started: list[Launch]) -> bool:
        """Whether a variable is meant for this process: it goes on to use the library that was imported too early."""
        library = late.event.cause.partition(".")[0] if late.event is not None and late.event.loaded else ""
        if library not in self._environment.used_alone:
            return False
        return is_used_next(self._project, self._module, late.setting.statement, library, started)

    def _is_repeated(self, late: Late) -> bool:
        """Whether the variable was set in time further up, for certain, and this leaves it as it is."""
        row = late.setting.statement.lineno
        return self.is_set_above(late, row) or self._is_set_by_import(late)

    def is_set_above(self, late: Late, row: int) -> bool:
        """Whether the module's own body had set it so, and in time, above a row."""
        setting = late.setting
        return any(
            earlier.statement.lineno < row
            and (setting.is_default or (setting.literal is not None and earlier.literal == setting.literal))
            and self._past(earlier, late.row, late.reader) is None
            for earlier in self._settings_above.get(setting.name, ())
        )

    def _is_set_by_import(self, late: Late) -> bool:
        """Whether the module that made the reader read had set it so before."""
        place = late.event.place if late.event is not None else None
        if place is None or place.module is self._module:
            return False
        return _Judge(self._project, place.module).is_set_above(late, place.start[0])

    @cached_property
    def _settings_above(self) -> dict[str, list[Setting]]:
        """The first settings of each variable in the module's own body, one for each text."""
        found: dict[str, dict[str | None, Setting]] = {}
        for setting in settings_in(self._project, self._module):
            if self._module.parents.get(setting.statement) is self._module.tree:
                found.setdefault(setting.name, {}).setdefault(setting.literal, setting)
        return {name: list(texts.values()) for name, texts in found.items()}

    def _judged(self, row: Variable, setting: Setting) -> bool:
        if row.threads and self._tells_torch(setting):
            return False
        if row.preview and not self._project.settings.preview:
            return False
        return not (row.spare_seeding and "seed" in self._module.qualname_at(setting.statement).lower())

    def _tells_torch(self, setting: Setting) -> bool:
        """Whether the function sets torch's threads as well: the variable is for what it starts.

        At the top level both are a script's own, and the variable is meant for numpy too, which is not told.
        """
        home = function_of(self._module, setting.statement)
        if home is None:
            return False
        calls = (node for node in nodes_below(home) if isinstance(node, ast.Call))
        return self._project.answer("sets torch's threads", home, lambda: any(map(self._sets_threads, calls)))

    def _sets_threads(self, call: ast.Call) -> bool:
        if last_name(call.func) != "set_num_threads":
            return False
        scope = self._module.scope_at(call)
        return self._project.qualified(self._module, scope, call.func) == "torch.set_num_threads"

    def _past(self, setting: Setting, row: Variable, reader: Reader) -> Late | None:
        """Whether a reader's deadline has passed when the setting runs."""
        if reader.deadline == "start":
            return Late(setting, row, reader, None)
        if reader.deadline not in {"import", "call"}:
            return None
        events = self._events(setting.statement)
        event = _reading(reader, events)
        if event is not None:
            return Late(setting, row, reader, event, events=events)
        runs = [(*before, *events) for before in self._runs_before(setting)]
        read = [_reading(reader, run) for run in runs]
        if not read or read[0] is None or None in read:
            return None
        return Late(setting, row, reader, read[0], events=runs[0])

    def _runs_before(self, setting: Setting) -> tuple[tuple[Reads, ...], ...]:
        """What each program has run when it comes to a setting, before the module does what it does by itself."""
        project, module, statement = self._project, self._module, setting.statement
        if not execution.is_run(project, module, statement):
            return runs_before(project, module, statement)
        is_at_top = function_of(module, statement) is None and guard_of(module, statement) is None
        return runs_before_import(project, module, setting.name) if is_at_top else ()

    def _events(self, statement: ast.stmt) -> tuple[Reads, ...]:
        """What has happened by a statement, but for what happens on other machines: those with a GPU, say."""
        if statement not in self._before:
            found = execution.before(self._project, self._module, statement, self._number)
            here = Regions(Conditions(self._project, self._module)).branches(statement)
            self._before[statement] = tuple(one for one in found if not one.way.worlds.isdisjoint(here))
        return self._before[statement]


def _moment(late: Late) -> int:
    """When the reader read, as a number to order by."""
    return late.events.index(late.event) if late.event is not None else -1


def _reading(reader: Reader, events: tuple[Reads, ...]) -> Reads | None:
    """The event by which a reader had read; None if it had not. What CUDA alone runs counts for its calls."""
    loaded: set[str] = set()
    for event in events:
        if event.way.worlds != EVERYWHERE and not event.calls:
            continue
        is_new = not event.loaded.isdisjoint(reader.modules)
        loaded |= event.loaded
        is_import = is_new and len(loaded.intersection(reader.modules)) >= reader.needs
        if is_import or (reader.calls in event.calls and "torch" in loaded):
            return event
    return None
