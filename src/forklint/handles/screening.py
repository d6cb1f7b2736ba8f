"""Which files may store a handle on an object that workers get, judged by summaries: nothing is parsed.

A finding stands where a handle is stored. So a class of the file, or one that it inherits from, opens one itself or
calls a function that returns one, and its objects come to workers; or the file opens one that datasets share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.datasets.screening import DatasetScreen
from forklint.handles.opening_calls import NONE, OpeningCalls, Openings, Source
from forklint.project.meanings import Definition, Meanings
from forklint.summaries.parts import DEFINITION
from forklint.summaries.summary import CLASS, FUNCTION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forklint.knowledge.handles import Handle
    from forklint.project.index import Project

LOADING = re.compile(rb"(?i:dataset|loader)")
"""What stands in a file that passes what it opens to functions which build a dataset of it."""
OPEN = "open"
CHOSEN = re.compile(r"\[\]$|\bgetattr\(\)$|(?:[._])(?:cls|class|klass|factory|backend)_?$")
"""What a call is spelt like that makes an object of a class which is chosen in a table, or given by others."""
BEFORE = (r"[=(\[{*]", r"[=,] ", r"[A-Z0-9\"')\]]: ", r"return ", r"else ", r" or ", r"  ")
"""What stands before a name that is handed on: none of it is an import, an annotation or a word of a sentence."""
MAX_DEPTH = 6
"""How many calls deep a handle is followed."""
MAX_LEADING = 2
"""Through so many calls from one definition to the next an opener is looked for."""
MOST_IMPORTERS = 20
"""A file that more files import is not asked what it makes of what it is told to."""
MOST_IMPORTED = 50
"""Of a file that imports more, the others are not asked what they open for a name."""
MOST_FUNCTIONS = 100
"""So many functions are looked at for what a class may open. Where there are more, it may open anything."""


class HandleScreen:
    """Answers for one project."""

    def __init__(self, project: Project, table: Mapping[str, Handle]) -> None:
        self._project = project
        self._table = OpeningCalls(table)
        self._names = frozenset(table)
        self._meanings = Meanings(project)
        self._datasets = DatasetScreen(project)

    def may_store(self, path: Path) -> bool:
        """Whether a handle may be stored in a file, on an object of a dataset or of what one keeps."""
        return self._project.answer("may store a handle", path, lambda: self._may_store(path), compared=True)

    def may_carry(self, definition: Definition) -> bool:
        """Whether objects of a class may get a handle, and may come to workers."""
        if not self._project.owns(definition.path):  # it is ignored: nobody is asked who has to do with it
            return True
        may_open = definition.number in self._opening_classes(definition.path)
        return may_open and self._datasets.reaches_workers(definition)

    def openings(self, path: Path) -> Openings:
        """What a file opens, anywhere in it."""
        return self._project.answer("openings", path, lambda: self._find_openings(path), compared=True)

    def leading(self, path: Path, depth: int = MAX_LEADING) -> frozenset[str]:
        """What a file calls, as spelt, that may mean something of the project which leads to an opener."""
        find = partial(self._leading, path, depth)
        return self._project.answer("calls that lead to openers", (path, depth), find, compared=True)

    def leads(self, definition: Definition, depth: int = MAX_LEADING) -> bool:
        """Whether a definition names an opener, or may call one that does, through a few calls."""
        find = lambda: self._leads(definition, depth)  # noqa: E731 - it is short
        return self._project.answer("leads to an opener", (definition, depth), find, compared=True)

    def retains(self, definition: Definition) -> bool:
        """Whether something is opened in a definition whose handle goes on to somewhere."""
        return self._opens(definition).retained

    def _opens(self, definition: Definition) -> Openings:
        find = lambda: self._find_opens(definition)  # noqa: E731 - it is short
        return self._project.answer("what a definition opens", definition, find, compared=True)

    def _find_opens(self, definition: Definition) -> Openings:
        path, number = definition
        if self._hands_on_near(path):
            return Openings(named=True, retained=True)
        summary = self._project.definition(path, DEFINITION, number)
        if summary is None:
            return NONE
        scopes = summary.scopes_of(number)
        found = self._table.of(scopes, self._source(path))
        chooses = not found.retained and any(CHOSEN.search(call) for scope in scopes for call in scope.calls)
        return Openings(named=True, retained=True) if chooses and self._opens_near(path) else found

    def _hands_on_near(self, path: Path) -> bool:
        """Whether a file, or the top level of one that it imports, names an opener without calling it."""
        imported = self._project.graph.imports(path)[:MOST_IMPORTED]
        find = lambda: self._hands_on(path) or any(map(self._gives_another_name, imported))  # noqa: E731 - it is short
        return self._project.answer("names an opener nearby", path, find, compared=True)

    def _opens_near(self, path: Path) -> bool:
        """Whether a file, or one of its folder that it imports, opens something whose handle goes on to somewhere."""

        def find() -> bool:
            beside = [one for one in self._near(path) if one.parent == path.parent]
            if not any(self._project.matches(one, _any_of(self._table.names)) for one in beside):
                return False
            return self._is_near_dataset(path) and any(self.openings(one).retained for one in beside)

        return self._project.answer("opens nearby", path, find, compared=True)

    def _is_near_dataset(self, path: Path) -> bool:
        """Whether a file defines a dataset, or one of the few that import it does."""
        importers = self._project.graph.few_importers(path, MOST_IMPORTERS)
        return importers is not None and any(map(self._datasets.defines_dataset, (path, *importers)))

    def _near(self, path: Path) -> Iterable[Path]:
        return path, *self._project.graph.imports(path)[:MOST_IMPORTED]

    def _hands_on(self, path: Path) -> bool:
        """Whether a file names an opener without calling it."""
        return self._project.answer("names an opener", path, lambda: self._is_named(path, _uncalled), compared=True)

    def _gives_another_name(self, path: Path) -> bool:
        """Whether a file gives an opener another name at its top level, or has it in a table there."""
        find = lambda: self._hands_on(path) and self._is_named(path, _at_top)  # noqa: E731 - it is short
        return self._project.answer("gives an opener another name", path, find, compared=True)

    def _is_named(self, path: Path, written: Written) -> bool:
        if not self._project.matches(path, _any_of(self._table.names)):
            return False
        imports = self._project.imports(path)
        roots = {one.module.partition(".")[0] for one in imports}
        dotted = sorted(name for name in self._names if "." in name and name.partition(".")[0] in roots)
        imported = {f"{one.module}.{one.attribute}" for one in imports if one.attribute} & self._names
        spelt = sorted({OPEN, *(name.rpartition(".")[2] for name in imported)})
        return any(self._project.matches(path, written(one), (one.encode(),)) for one in (*spelt, *dotted))

    def _leads(self, definition: Definition, depth: int) -> bool:
        if self._opens(definition).named:
            return True
        called = self._meanings.called(definition).values() if depth else ()
        return any(self.leads(one, depth - 1) for meant in called for one in meant)

    def _may_store(self, path: Path) -> bool:
        openings = self.openings(path)
        classes = list(self._datasets.classes_in(path))
        if not self._project.owns(path):
            return bool(classes or openings.retained)
        if any(map(self.may_carry, classes)):
            return True
        if any(map(self._datasets.is_named_beside_dataset, sorted(self._given(path) | self._keeping(path)))):
            return True
        if openings.named and self._datasets.makes_dataset(path):
            return True
        if not self._project.matches(path, LOADING):
            return False
        return (openings.retained or self.receives(path)) and self._datasets.leads_to_dataset(path)

    def receives(self, path: Path) -> bool:
        """Whether a file calls a function that may return what it opens."""
        return self._project.answer("receives a handle", path, lambda: self._receives(path), compared=True)

    def _receives(self, path: Path) -> bool:
        called = {one for meant in self._meanings.calls(path).values() for one in meant}
        scopes = ((one, self._meanings.scope(one)) for one in called)
        return any(scope.kind == FUNCTION and scope.gives and self.retains(one) for one, scope in scopes)

    def _find_openings(self, path: Path) -> Openings:
        if self._hands_on(path):
            return Openings(named=True, retained=True)
        summary = self._project.summary(path)
        return self._table.of(summary.scopes, self._source(path)) if summary is not None else NONE

    def _given(self, path: Path) -> frozenset[str]:
        """The names of the top level that are given what an opener returns."""
        summary = self._project.summary(path)
        return self._table.given(summary.top, self._source(path)) if summary is not None else frozenset()

    def _keeping(self, path: Path) -> frozenset[str]:
        """The names of functions that may keep what they open: in a cache, in a global, on a class."""
        summary = self._project.summary(path)
        if summary is None:
            return frozenset()
        lasting = frozenset({"cls", "__class__", "type", *(name for one in summary.statements for name in one.binds)})
        lasting |= {summary.scopes[number].name for number in summary.classes}
        found = {
            one.name: number
            for number, one in ((number, summary.scopes[number]) for number in summary.functions)
            if one.decorators or lasting & (one.bare | one.attributes)
        }
        return frozenset(name for name, number in found.items() if self.retains(Definition(path, number)))

    def _source(self, path: Path) -> Source:
        return Source(partial(self._project.matches, path), partial(self._meanings.imported, path))

    def _leading(self, path: Path, depth: int) -> frozenset[str]:
        calls = self._meanings.calls(path).items()
        return frozenset(spelling for spelling, meant in calls if any(self.leads(one, depth) for one in meant))

    # What a class opens

    def _opening_classes(self, path: Path) -> frozenset[int]:
        """The classes of a file, by their numbers, whose methods, or those of bases, may get a handle."""

        def find() -> frozenset[int]:
            return frozenset(one.number for one in self._datasets.classes_in(path) if self._may_open(one))

        return self._project.answer("classes that may open", path, find, compared=True)

    def _may_open(self, definition: Definition) -> bool:
        """Whether methods of a class, or of its bases, may get a handle: from an opener, or from a function."""
        lineage = self._meanings.lineage(definition)
        return lineage.is_cut or any(map(self._may_get, lineage.classes))

    def _may_get(self, definition: Definition) -> bool:
        """The same for what stands in a class itself."""
        return self._project.answer("may get a handle", definition, lambda: self._gets(definition), compared=True)

    def _gets(self, definition: Definition) -> bool:
        if self.retains(definition):
            return True
        seen: set[Definition] = set()
        functions = self._called((definition,))
        for _ in range(MAX_DEPTH):
            new = functions - seen
            seen |= new
            if len(seen) > MOST_FUNCTIONS or any(map(self.retains, new)):
                return True
            functions = self._called(new)
        return False

    def _called(self, definitions: Iterable[Definition]) -> set[Definition]:
        """The functions that some definitions call and that are followed."""
        return {call for one in definitions for call in self._followed(one)}

    def _followed(self, definition: Definition) -> frozenset[Definition]:
        """The functions that a definition calls, itself or within, and that are followed."""
        find = lambda: frozenset(self._find_followed(definition))  # noqa: E731 - it is short
        return self._project.answer("calls that are followed", definition, find, compared=True)

    def _find_followed(self, definition: Definition) -> Iterator[Definition]:
        for spelling, meant in self._meanings.called(definition).items():
            yield from (
                one for one in meant if self._is_followed(one) or self._is_taken_from(definition, spelling, one)
            )

    def _is_taken_from(self, definition: Definition, spelling: str, made: Definition) -> bool:
        """Whether a definition takes an attribute of an object that it makes, whose class leads to an opener."""
        if self._meanings.scope(made).kind != CLASS or not self.leads(made, 1):
            return False
        summary = self._project.definition(definition.path, DEFINITION, definition.number)
        scopes = summary.scopes_of(definition.number) if summary is not None else ()
        for target, value in (one for scope in scopes for one in scope.given):
            if value.startswith(f"{spelling}()."):
                return True
            if value == f"{spelling}()" and any(
                one.startswith(f"{target}.") for scope in scopes for one in scope.dotted
            ):
                return True
        return False

    def _is_followed(self, definition: Definition) -> bool:
        """Whether a call is followed: of a function that leads to an opener and returns something, or of a method."""
        scope = self._meanings.scope(definition)
        if scope.kind != FUNCTION:
            return False
        is_method = self._meanings.scope(Definition(definition.path, scope.parent)).kind == CLASS
        return is_method or (scope.gives and self.leads(definition, 1))


Written = Callable[[str], re.Pattern[bytes]]


@cache
def _uncalled(name: str) -> re.Pattern[bytes]:
    """What a text has that names an opener without calling it: ``map(h5py.File, paths)``, ``reader = lmdb.open``."""
    return re.compile(_handed_on(name), re.MULTILINE)


@cache
def _at_top(name: str) -> re.Pattern[bytes]:
    """The same in a statement that gives a name a value at the top level, or in a line of a table."""
    start = rb"^(?:\w[^\n=]*=|[ \t]+[^\n:=()]+:)[^\n]*?"
    return re.compile(start + _handed_on(name), re.MULTILINE)


@cache
def _any_of(names: frozenset[str]) -> re.Pattern[bytes]:
    letter = rb"[\w\x80-\xff]"
    words = b"|".join(re.escape(name.encode()) for name in sorted(names))
    return re.compile(rb"(?<!%s)(?:%s)(?!%s)" % (letter, words, letter))


def _handed_on(name: str) -> bytes:
    spelt = name.replace(".", r"\.")
    before = "|".join(f"(?<={one}{spelt})" for one in BEFORE)
    return rf"{spelt}(?:{before})(?: if\b| else\b|[ \t]*(?:[,)\]}}]|$))".encode()
