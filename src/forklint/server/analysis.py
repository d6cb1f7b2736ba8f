"""The projects that open files belong to, with the texts of the editor in place of what is on the disk.

All of it is used from one thread.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from forklint.baseline import BaselineError, Scope, read, sift
from forklint.config import SettingsFinder
from forklint.engine import Linter, Options
from forklint.fixing import fix
from forklint.incremental.lookup import Lookup
from forklint.incremental.stored_library import StoredLibrary
from forklint.linters import Linters
from forklint.model import FileReport
from forklint.prefilter import Prefilter
from forklint.server import learning
from forklint.server.learning import Learner, LostError
from forklint.server.memory import Collector
from forklint.server.settings import ClientSettings
from forklint.server.watching import Changes
from forklint.skipped import is_unconfirmed
from forklint.source import discovery, document
from forklint.source.document import Document
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import shown
from forklint.source.roots import INSTALLED, Roots
from forklint.store.stamps import content_of

QUICK = Options(with_fixes=False, confirmed=False)
FULL = Options()
MOST_LOADED = 2_000_000
"""Bytes of source whose trees are kept, but for those that open files need: 80 MB of memory."""


class Analysis:
    """Lints files as they are in the editor."""

    def __init__(self) -> None:
        self._settings = ClientSettings()
        self._overlay: dict[Path, bytes] = {}
        self._learners: dict[Path, Learner] = {}
        self._taught: set[Path] = set()
        """Projects for which no learner is started any more."""
        self._collector = Collector()
        self._make()

    def _make(self) -> None:
        """Begin anew: settings, projects and what is stored are looked at again when they are needed."""
        discovery.forget_ignore_files()
        settings = self._settings
        self._finder = SettingsFinder(settings.overrides, config=settings.configuration)
        self._prefilter = Prefilter(self._finder)
        self._roots = Roots()
        self._lookup: Lookup | None = None
        self._linters = Linters(self._finder, QUICK, self._library)

    def configure(self, settings: ClientSettings) -> None:
        """Take in other settings; raises ConfigError."""
        self._settings = settings
        self.forget()

    def forget(self) -> None:
        """Forget all projects: files came or went, or settings changed. What is on the disk is read again."""
        self.end()
        self._taught.clear()
        if self._lookup is not None:
            self._lookup.close()
        linters = self._linters
        self._make()
        for linter in linters.all():
            linter.project.dissolve()
        self._collector.sweep_all()

    def end(self) -> None:
        """End the processes that were started, those as well that the thread which lints starts meanwhile."""
        while self._learners:
            for walked in list(self._learners):
                self._end_learner(walked)

    def _end_learner(self, walked: Path) -> None:
        learner = self._learners.pop(walked, None)
        if learner is not None:
            learner.end()

    # Texts

    def see(self, path: Path, data: bytes) -> None:
        """From now on a file has this content."""
        self._overlay[path] = data

    def take_in(self, changes: Changes) -> None:
        """Take in what has changed on the disk."""
        for path in changes.closed:
            self._overlay.pop(path, None)
            changes.files.add(path)
            changes.is_listed_anew |= not path.is_file()
        if changes.is_set_anew or (changes.is_listed_anew and self._is_listed_anew()):
            self.forget()
            return
        for path in changes.files - self._overlay.keys():
            data = content_of(str(path))
            for linter in self._linters.all():
                if linter.project.knows(path) and linter.project.text_of(path) != data:
                    linter.project.replace(path, data)

    def take_in_unparsed(self) -> bool:
        """Let the projects see texts that cannot be parsed as well; whether there were any that they had not seen."""
        texts = [(one.project, *item) for one in self._linters.all() for item in one.project.unparsed.items()]
        for project, path, data in texts:
            project.replace(path, data)
        return bool(texts)

    def _is_listed_anew(self) -> bool:
        """Whether the files of a project, or those that it looked for, are others than when it was read."""
        return any(linter.project.is_listed_anew() for linter in self._linters.all()) or bool(self._learners)

    # Linting

    def lint(self, path: Path) -> FileReport | None:
        """What is found in a file, without fixes; None if it is excluded. Raises ConfigError."""
        settings = self._finder.for_file(path)
        data = self._overlay.get(path)
        data = content_of(str(path)) if data is None else data
        if settings.excludes(path) or discovery.never_walked(path, self._roots.of(path).root):
            return None
        if not INSTALLED.isdisjoint(path.parts) and path.suffix == ".py":
            return None  # other people's code, where a definition led to
        if not self._is_known(path) and self._prefilter.clears(path, data):
            return FileReport(shown(path))
        report = self._lint_elsewhere(path)
        if report is None:
            report = self._lint_here(self._linter(path), path)
        return self._sifted(path, report)

    def with_fixes(self, path: Path, data: bytes) -> FileReport | None:
        """What is found in a file with a content, with fixes, if LibCST can parse it, too; raises ConfigError."""
        self.see(path, data)
        quick = self.lint(path)
        if quick is None or not (quick.findings or is_unconfirmed(quick)) or self._learner(path) is not None:
            return quick
        full = Linter(self._linter(path).project, FULL)
        report = self._lint_here(full, path)
        self._collector.give_back()  # LibCST's trees took 20 MB, and left no garbage by which a sweep would know
        return self._sifted(path, report)

    def _lint_here(self, linter: Linter, path: Path) -> FileReport:
        """What is found in a file, by this process."""
        unparsed = linter.project.unparsed.get(path)
        if unparsed is not None:
            return linter.lint_unparsed(path, unparsed)
        report = linter.relint(path)
        linter.project.trim_unused()
        return report

    def fixed(self, path: Path, data: bytes) -> Document | None:
        """A file with a content after all safe fixes; None if none is to be made. Raises ConfigError."""
        self.see(path, data)
        if self._learner(path) is not None:
            return None
        project = self._linter(path).project
        if path in project.unparsed:
            return None
        done = fix(Linter(project, FULL), path, unsafe=False, write=False, data=data)
        after = project.data(path)
        project.replace(path, data)
        return document.decode(path, after) if done.changed else None

    def _linter(self, path: Path) -> Linter:
        self._stored().session(path)  # opens what is stored of the project
        linter = self._linters.of(path)
        project = linter.project
        project.most_loaded = project.most_loose = MOST_LOADED
        project.in_use = frozenset(self._overlay)
        for file, data in self._overlay.items():
            is_seen = file == path or self._is_within(linter, file)
            if is_seen and project.text_of(file) != data:  # others rest on it: they need not change with every key
                project.replace(file, data, if_parsed=kind_of(file) is Kind.PYTHON)
        return linter

    def _is_within(self, linter: Linter, path: Path) -> bool:
        """Whether a file may be imported by a project, or is one of its settings."""
        return linter.project.extent.walked in path.parents and kind_of(path) is not Kind.NOTEBOOK

    def _is_known(self, path: Path) -> bool:
        """Whether the project of a file is at hand already."""
        extent = self._roots.of(path)
        return any(linter.project.extent.walked == extent.walked for linter in self._linters.all())

    def _sifted(self, path: Path, report: FileReport) -> FileReport:
        """A report without what the project's baseline holds."""
        file = self._finder.for_file(path).baseline_file
        if file is None or not report.findings or not file.exists():
            return report
        try:
            return sift(file, read(file), [report], Scope({}, file.parent)).reports[0]
        except BaselineError:
            return report

    def sweep(self) -> None:
        """Free what the last edit has put out of use, and import what the next one may need."""
        for linter in self._linters.all():
            linter.project.prune()
            linter.project.compact()
        self._collector.sweep()
        importlib.import_module("forklint.edits.tree")  # 0.15 s, before a key press waits for it

    @property
    def is_cluttered(self) -> bool:
        """Whether much is out of use."""
        return self._collector.is_cluttered

    def sweep_all(self) -> None:
        """Free all that is out of use; takes a second."""
        for linter in self._linters.all():
            linter.project.prune(thoroughly=True)
        self._collector.sweep_all()

    # What is stored, and who reads what is not

    def _library(self, place: tuple[Path, Path | None]) -> StoredLibrary | None:
        return self._stored().library(place)

    def _stored(self) -> Lookup:
        if self._lookup is None:
            self._lookup = Lookup(self._finder, (), learning.VARIANT, frozenset(), _say_nothing)
        return self._lookup

    def _lint_elsewhere(self, path: Path) -> FileReport | None:
        """The report of a file whose project is still being read; None if this process is to find it."""
        learner = self._learner(path) or self._new_learner(path)
        if learner is None:
            return None
        walked = self._roots.of(path).walked
        own = {file: data for file, data in self._overlay.items() if file == path or walked in file.parents}
        try:
            return learner.lint(path, own)
        except LostError:
            self._dismiss(walked)
            return None

    @property
    def is_learning(self) -> bool:
        """Whether a large project is being read."""
        return bool(self._learners)

    def _learner(self, path: Path) -> Learner | None:
        return self._learners.get(self._roots.of(path).walked)

    def _new_learner(self, path: Path) -> Learner | None:
        """A process that reads a file's project, if one is needed; a project of which all is stored needs none."""
        extent = self._roots.of(path)
        if extent.walked in self._taught or not extent.is_marked:
            return None
        self._taught.add(extent.walked)
        session = self._stored().session(path)  # opens what is stored
        library = session.library() if session is not None and session.revision else None
        if session is None or (library is not None and library.where("", "") is not None):
            return None
        if not learning.is_large(extent, self._finder.for_file(path)):
            return None
        settings = self._settings
        try:
            learner = Learner(settings.overrides, settings.configuration, path)
        except LostError:
            return None
        self._learners[extent.walked] = learner
        return learner

    def learn(self) -> tuple[bool, list[Path]]:
        """Read a little more of the projects that are being read.

        Gives whether there is more, and the folders of the projects that are done: their files are to be linted again,
        by this process.
        """
        done = []
        for walked, learner in list(self._learners.items()):
            try:
                has_more = learner.step()
            except LostError:
                has_more = False
            if not has_more:
                self._dismiss(walked)
                done.append(walked)
        return bool(self._learners), done

    def _dismiss(self, walked: Path) -> None:
        """Do without a learner from now on, with what it has stored."""
        self._end_learner(walked)
        if self._lookup is not None:
            self._lookup.close()
            self._lookup = None


def _say_nothing(_: str) -> None:
    pass
