"""The modules of a project: summarised and parsed when first asked for, and what an edit of one makes of the rest."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.config import Settings
from forklint.project.answers import Answer, facts_under
from forklint.project.changes import UNPARSABLE, State, aligned, changed, parsed, state_with, summary_of
from forklint.project.files import ProjectFiles
from forklint.project.library import Library
from forklint.project.module import Module
from forklint.project.nodes import share_lines
from forklint.project.spelling import in_bytes
from forklint.project.top_level import MODULE
from forklint.source import document
from forklint.source.roots import Extent
from forklint.summaries.codec import MalformedError, StoredSummary
from forklint.summaries.parts import CODE, HEAD, NUMBERS, ORDER, READS, Part
from forklint.summaries.summary import Import, Summary
from forklint.summaries.terms import ANY, PATH_ROOT, WORD

if TYPE_CHECKING:
    from forklint.project.graph import ImportGraph
    from forklint.project.imported import ImportedFiles
    from forklint.project.path_roots import PathRoots
    from forklint.project.terms import TermIndex

TREE_WEIGHT = 40
"""A tree takes about so many times the memory of its source."""
MOST_LOADED = 96_000_000
"""Bytes of source whose trees are kept at a time. Fewer, and files that import each other in circles are parsed again
and again."""
MORE = 8
"""Once an eighth of ``most_loaded`` was loaded besides, it pays to look for trees that can be forgotten."""
WORTH_PRUNING = 100
"""Answers: to look through all that is known takes as long as it took to find a few."""
MANY_SUMMARIES = 100
"""Summaries from which on those that can be read again are forgotten between two edits: 100 kB each."""
REPORT = "report"
"""The name of the question what is found in a file; its keys begin with the path of the file."""
Test = Callable[[bytes], object] | re.Pattern[bytes]


class ProjectModules(ProjectFiles):
    """All modules of a project."""

    graph: ImportGraph
    imported_files: ImportedFiles
    path_roots: PathRoots
    terms: TermIndex

    def __init__(self, extent: Extent | Path, settings: Settings, library: Library | None = None) -> None:
        """``library``: what is known of the files already."""
        super().__init__(extent, settings, library)
        self._library = library
        self._modules: dict[Path, Module | None] = {}
        self._summaries: dict[Path, Summary | None] = {}
        self._stored: dict[Path, StoredSummary | None] = {}
        """What the library knows of files of which only the imports were asked for."""
        self._loaded = 0
        self._needed = 0
        """Bytes of source of the trees that could not be forgotten the last time."""
        self._parsed: dict[Path, ast.Module] = {}
        """The tree of a file that was just replaced, until its module is asked for."""
        self.unparsed: dict[Path, bytes] = {}
        """Texts that cannot be parsed, of files of which the last text that could is seen."""
        self.in_use: frozenset[Path] = frozenset()
        """Files that are linted again and again, such as those that are open in an editor: what their reports rest on
        is kept as long as that is possible."""
        self._pruning = 0
        """Once so many answers were found, those that are out of use are forgotten."""
        self._compact: set[Path] = set()
        """Files whose trees take less memory already."""
        self._line_numbers: dict[int, int] = {}
        self.most_loaded = MOST_LOADED
        """Bytes of source whose trees are kept at a time."""

    # Changes

    def replace(self, path: Path, data: bytes, *, if_parsed: bool = False) -> None:
        """From now on see ``data`` as the content of ``path``; what rests on a part that changed is forgotten.

        ``if_parsed``: text that cannot be parsed does not replace text that could, and is among ``unparsed``.
        """
        if not self.questions.has_answers:
            self._put(path, data)
            self.graph.forget()
            return
        before, tree = self.state(path), parsed(path, data)
        if if_parsed and before.tree is not None and tree is None:
            self.unparsed[path] = data
            return
        after = state_with(tree, data)
        alignment = aligned(path, before, after)
        facts = {*changed(path, before, after, alignment), *self.searches_changed(path, before.data, after.data)}
        module = self._put(path, data)
        self._summaries[path] = after.summary
        self.terms.keep(path, after.terms)
        if module is not None and tree is not None and alignment is not None and (MODULE, str(path)) not in facts:
            try:
                module.take_in(document.decode(path, data), tree, alignment)
                self._modules[path] = module
                self._loaded += len(data)
            except RecursionError:  # its scopes nest too deeply, seen from here
                facts.add((MODULE, str(path)))
        if path not in self._modules and tree is not None:
            self._parsed = {path: tree}
        self.questions.forget(facts)
        self.graph.forget(facts)

    def _put(self, path: Path, data: bytes) -> Module | None:
        """See ``data`` as the content of a file, and forget what is known of it alone; returns its module so far."""
        self.unparsed.pop(path, None)
        if path not in self._overlay and not path.exists():  # text of a file that is still to be written
            self._unwritten.append(path)
            self.resolver.add(path)
        module = self._modules.pop(path, None)
        self._loaded -= len(module.source.data) if module is not None else 0
        self._overlay[path] = data
        self._parsed = {}
        self._digests.pop(path, None)
        self._summaries.pop(path, None)
        self._stored.pop(path, None)
        self.terms.forget(path)
        return module

    def text_of(self, path: Path) -> bytes:
        """The text that replaced the content of a file last, even if it was not parsed."""
        return self.unparsed.get(path, self.bytes_of(path))

    def knows(self, path: Path) -> bool:
        """Whether anything may have been concluded from what is in a file: it was read, or may be found."""
        return path in self._overlay or path in self._bytes or self.extent.walked in path.parents

    def state(self, path: Path) -> State:
        """A file as the project sees it now."""
        module = self._modules.get(path)
        tree = module.parsed if module is not None else parsed(path, self.bytes_of(path))
        if path not in self._summaries:
            self._summaries[path] = summary_of(tree)
        exists = path in self._overlay or path.exists()
        return State(self.bytes_of(path), self.peek(path), self.terms.of(path), tree, exists)

    def forget(self) -> None:
        """Forget what was concluded."""
        super().forget()
        self.graph.forget()

    def trim(self) -> None:
        """Forget trees, and what was concluded from them, once they are many; they come back when asked for."""
        if self._loaded > self.most_loaded and not self.in_use:
            self.weight -= TREE_WEIGHT * self._loaded
            self._loaded = 0
            self._dissolve_modules()
            self.forget()

    def trim_unused(self, *, thoroughly: bool = False) -> None:
        """Forget those trees, once they are many, on which no report of the files ``in_use`` rests.

        What was concluded without them is kept. Nothing is done until more were loaded, unless ``thoroughly``: to find
        out what reports rest on takes as long as a report.
        """
        enough = self.most_loaded if thoroughly else max(self.most_loaded, self._needed + self.most_loaded // MORE)
        if self._loaded <= enough:
            return
        self.questions.set_apart()
        needed = {fact[1] for fact in facts_under(self._reports_in_use(), held=True) if fact[0] == MODULE}
        unused = [path for path in self._modules if str(path) not in needed]
        self.questions.drop((MODULE, str(path)) for path in unused)
        for path in unused:
            module = self._modules.pop(path)
            if module is not None:
                self._loaded -= len(module.source.data)
                module.dissolve()  # its nodes know each other in circles
        self._needed = self._loaded
        self.weight = TREE_WEIGHT * self._loaded + self._bytes.size

    def prune(self, *, thoroughly: bool = False) -> None:
        """Forget what was concluded of trees that have been replaced, unused trees, and summaries that the library has.

        Nothing is done until enough was concluded since the last time, unless ``thoroughly``: then all is forgotten
        that the reports of the files ``in_use`` do not rest on.
        """
        self.questions.let_go()
        if self.questions.found < self._pruning and not thoroughly:
            return
        self._pruning = self.questions.found + WORTH_PRUNING
        self.questions.set_apart()
        self.questions.prune(self._reports_in_use(), thoroughly=thoroughly)
        self.trim_unused(thoroughly=True)
        self._bytes.pack(self._modules.keys() | self._overlay.keys())
        if self._library is not None and len(self._summaries) > MANY_SUMMARIES:
            kept = self._modules.keys() | self._overlay.keys()
            self._summaries = {path: summary for path, summary in self._summaries.items() if path in kept}
            self._stored.clear()

    def compact(self) -> None:
        """Let the trees at hand take less memory: for a project that lasts, it takes longer than it saves elsewhere."""
        for path in self._modules.keys() - self._compact:
            module = self._modules[path]
            if module is not None:
                share_lines(module.parsed, self._line_numbers)
        self._compact = set(self._modules)

    def _reports_in_use(self) -> list[Answer]:
        """The reports of the files ``in_use``."""
        reports = self.questions.all_of(REPORT)
        return [answer for key, answer in reports if isinstance(key, tuple) and key[0] in self.in_use]

    def dissolve(self) -> None:
        """Undo what holds each other in circles: then memory comes back at once, and nobody needs to look for it.

        Nothing may be asked of the project afterwards.
        """
        self._dissolve_modules()
        self.questions.dissolve()
        self.__dict__.clear()

    def _dissolve_modules(self) -> None:
        for module in self._modules.values():
            if module is not None:
                module.dissolve()
        self._modules.clear()

    def all_files(self) -> tuple[Path, ...]:
        """The files that were walked, and those that they import from outside, where nothing marks the project."""
        walked, imported = self.walked_files(), self.imported_files.files()
        return (*walked, *imported) if imported else walked  # nothing is copied: it is asked for again and again

    def adding(self) -> tuple[Path, ...]:
        """The files that may make modules importable from further folders."""
        return self.where(PATH_ROOT, ANY)

    def elsewhere(self, name: str, start: str) -> tuple[str, ...]:
        """The path roots in which a top-level module is looked for."""
        return self.path_roots.holding(name, start)

    # Summaries

    def summary(self, path: Path) -> Summary | None:
        """The summary of a project file; None if it cannot be read or parsed."""
        self.questions.note(("summary", str(path)))
        return self.peek(path)

    def part(self, path: Path, part: Part, key: str = "") -> Summary | None:
        """The summary of a project file, for a caller that reads of it one part for one key alone."""
        return self._rest_on_part(path, part, key, self.peek(path))

    def definition(self, path: Path, part: Part, number: int) -> Summary | None:
        """The same for the scope of a number; None as well if an edit has removed it."""
        summary = self.peek(path)
        if summary is not None and number >= len(summary.scopes):
            self.questions.note(("summary", str(path)))
            return None
        return self._rest_on_part(path, part, summary.keys[number] if summary is not None else "", summary)

    def code(self, path: Path, number: int) -> ast.AST | None:
        """The tree of the definition of a number, for a caller that reads nothing but it; None if there is none."""
        summary = self.definition(path, HEAD, number)
        if summary is None:
            return None
        self.questions.note((CODE, str(path), summary.keys[number]))
        module = self.questions.aside(lambda: self.module(path))
        return self.questions.aside(lambda: module.all_scopes[number].node) if module is not None else None

    def reads(self, path: Path, name: str) -> bool:
        """Whether a project file reads a name, alone or behind a dot."""
        self.questions.note((READS.name, str(path), name))
        self.questions.note((ORDER, str(path)))
        summary = self.peek(path)
        return summary is not None and name in summary.reads

    def _rest_on_part(self, path: Path, part: Part, key: str, summary: Summary | None) -> Summary | None:
        note, file = self.questions.note, str(path)
        note((part.name, file, key))
        note((ORDER, file))
        note((NUMBERS, file))
        return summary

    def imports(self, path: Path) -> tuple[Import, ...]:
        """The imports of a project file, anywhere in it."""
        self.questions.note(("imports", str(path)))
        stored = self._stored_of(path) if path not in self._summaries else None
        if stored is not None:
            return stored.imports
        summary = self.peek(path)
        return summary.imports if summary is not None else ()

    def peek(self, path: Path) -> Summary | None:
        """The summary of a file, for a caller that notes by itself what of it its answer rests on."""
        if path not in self._summaries:
            self._summaries[path] = self._summarised(path)
        return self._summaries[path]

    @property
    def is_mostly_summarised(self) -> bool:
        """Whether the summaries of half of the files are at hand."""
        return 2 * len(self._summaries) > len(self.all_files())

    def _summarised(self, path: Path) -> Summary | None:
        stored = self._stored_of(path)
        self._stored.pop(path, None)
        if stored is not None:
            with contextlib.suppress(MalformedError):
                return stored.summary()
        module = self._modules.get(path)
        return summary_of(module.parsed if module is not None else parsed(path, self.bytes_of(path)))

    def _stored_of(self, path: Path) -> StoredSummary | None:
        """What the library knows of a file; None if that is nothing, or if its tree is at hand."""
        if path not in self._stored:
            asked = self._library if self._modules.get(path) is None else None
            self._stored[path] = asked.summary(self._digest_from(asked, path)) if asked is not None else None
        return self._stored[path]

    def _digest_from(self, library: Library, path: Path) -> str:
        """What stands for the content of a file, which need not be read if the library knows it."""
        is_read = path in self._overlay or path in self._bytes
        return (None if is_read else library.digest(path)) or self.digest(path)

    def where(self, kind: str, name: str) -> tuple[Path, ...]:
        """The files that have a term of a kind (see ``summaries.terms``), in the order of ``files``."""
        return self.terms.where(kind, name)

    def owns(self, path: Path) -> bool:
        """Whether a file is one of ``files``."""
        self.questions.note(("file", str(path)))
        return path in self.terms.order

    def in_order(self, paths: Iterable[Path]) -> list[Path]:
        """Those of some paths that are among ``files``, in that order, whatever other files there are."""
        return sorted(filter(self.owns, paths), key=self.terms.order.__getitem__)

    # Modules

    def is_loaded(self, path: Path) -> bool:
        """Whether the tree of a file is at hand."""
        return self._modules.get(path) is not None

    def surely_parses(self, path: Path) -> bool:
        """Whether ``load`` would surely take a file; False where that is not known."""
        return self.summary(path) is not None

    def load(self, path: Path) -> Module:
        """The module of a project file.

        Raises UnreadableError if it is not text, and what UNPARSABLE names if ``ast`` refuses it.
        """
        note = self.questions.note
        note((MODULE, str(path)))
        known = self._modules.get(path)
        if known is None:
            doc = document.decode(path, self.bytes_of(path))
            is_notebook = doc.notebook is not None
            tree = self._parsed.pop(path, None) or document.parse(doc)
            known = self._modules[path] = Module(path, doc, tree, is_notebook, note)
            self._loaded += len(doc.data)
            self.weight += TREE_WEIGHT * len(doc.data)
        return known

    def module(self, path: Path) -> Module | None:
        """The module of a project file; None if it cannot be read, parsed or followed."""
        self.questions.note((MODULE, str(path)))
        try:
            known = self.load(path) if self._modules.get(path, ...) is not None else None
            _ = known and known.scope  # fails here if it nests too deeply, rather than in the story of another file
        except (document.UnreadableError, *UNPARSABLE):
            known = self._modules[path] = None
        return known

    def mentioning(self, word: str, test: Test | None = None) -> Iterator[Module]:
        """Give the project's modules whose text holds a word, the cheap way to find users of a name.

        Those whose text a pattern does not find are not parsed.
        """
        return self._passing(self.where(WORD, word) if word.isidentifier() else self.containing(in_bytes(word)), test)

    def holding(self, text: bytes, test: Test | None = None) -> Iterator[Module]:
        """Give the project's modules whose bytes hold a text; those that a pattern does not find are not parsed."""
        return self._passing(self.containing(text), test)

    def modules(self, paths: Iterable[Path]) -> Iterator[Module]:
        """Give the modules of some files, those that can be parsed."""
        return (module for module in map(self.module, paths) if module is not None)

    def _passing(self, paths: Iterable[Path], test: Test | None) -> Iterator[Module]:
        for path in paths:
            if isinstance(test, re.Pattern):
                passes = self.matches(path, test)
            else:
                passes = test is None or bool(test(self.data(path)))
            module = self.module(path) if passes else None
            if module is not None:
                yield module
