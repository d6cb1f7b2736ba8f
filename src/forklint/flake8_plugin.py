"""The flake8 plugin: the same engine, for one file at a time.

flake8 has its own selection, its own report on files that it cannot parse, and no notes. So FKL001 and FKL002 are
not reported here, and problems of forklint are reported as FKL000, on the first line of the file.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from configparser import RawConfigParser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from forklint import __version__

if TYPE_CHECKING:
    import ast

    from flake8.options.manager import OptionManager

    from forklint.incremental.lookup import Lookup
    from forklint.incremental.session import Session
    from forklint.incremental.stored_library import StoredLibrary
    from forklint.linters import Linters
    from forklint.model import FileReport

PREFIX = "FKL"
FAILURE = "FKL000"
"""The code of what is no finding: forklint, or one of its rules, failed."""
LEFT_TO_FLAKE8 = frozenset({"FKL001", "FKL002"})
"""Unused comments cannot be told where flake8 and other plugins read them too; flake8 has E999 for syntax."""
BETWEEN_COLLECTIONS = 200
"""Files after which it is looked for garbage among what was set aside."""
Violation = tuple[int, int, str, type]
"""Row from 1, column from 0, code and message, and who says so."""


class Flag(argparse.Action):
    """An option without a value, whose value in a configuration file is checked like any other."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Switch it on."""
        setattr(namespace, self.dest, True)


class Plugin:
    """What flake8 makes of each file that it could parse; ``run`` gives the findings."""

    name = "forklint"
    version = __version__
    current: ClassVar[Run]
    """The run that flake8 is at; set whenever it has read its options."""

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename  # `tree` goes unused: asking for it is how a plugin says that it wants whole files
        self._lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Add forklint's options to flake8's command line and configuration."""
        for name, reader, metavar, help_ in (
            ("platform", _platforms, "NAMES", "Platforms that the code runs on: linux, darwin, windows."),
            (
                "target-python",
                _python_range,
                "RANGE",
                "Python versions that the code runs on, for example 3.12 or 3.10-3.13.",
            ),
            ("select", _selectors, "CODES", "Rules to enable: codes, prefixes, names or ALL."),
            ("ignore", _selectors, "CODES", "Rules to disable."),
            ("config", str, "FILE", "Configuration file of forklint to use."),
        ):
            option = f"--forklint-{name}"
            manager.add_option(option, type=reader, metavar=metavar, help=help_, parse_from_config=True)
        for name, help_ in (
            ("preview", "Enable preview rules."),
            ("isolated", "Ignore all configuration files of forklint."),
            ("info", "Also report findings with severity info."),
        ):
            option = f"--forklint-{name}"
            manager.add_option(option, action=Flag, nargs=0, type=_boolean, help=help_, parse_from_config=True)

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Begin a run: flake8 calls this once for each, and in each process that it starts anew."""
        cls.current = Run(options)

    def run(self) -> Iterator[Violation]:
        """Give what flake8 is to report for the file; raises ExecutionError for a wrong configuration."""
        if not self.current.may_report:
            return
        from forklint.config import ConfigError  # noqa: PLC0415 - flake8 loads the plugin whether it is used or not

        try:
            report = self.current.lint(self._filename, "".join(self._lines))
        except ConfigError as error:
            from flake8.exceptions import ExecutionError  # noqa: PLC0415

            raise ExecutionError(str(error)) from None
        except Exception as error:  # noqa: BLE001 - flake8 would end in a traceback and say nothing of other files
            problem = f"internal error ({type(error).__name__}: {error}); please report it"
            yield 1, 0, f"{FAILURE} {_on_one_line(problem)}", type(self)
            return
        for note in report.notes if report else ():
            if note.failure:
                yield 1, 0, f"{FAILURE} {_on_one_line(note.message)}", type(self)
        for finding in report.findings if report else ():
            text = f"{finding.code} {_on_one_line(finding.message)}"
            yield finding.span.row, finding.span.column - 1, text, type(self)


class Run:
    """One run of flake8 in this process: its options, and what was read of the projects while it lasts.

    An editor's server may run flake8 again and again in one process, with files that changed in between. What was
    read is kept for one set of files alone: flake8 puts a new list in place for each, and gives no file twice.
    """

    linted: ClassVar[int] = 0
    """How many files this process has linted."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._round: Round | None = None
        self._filenames: Any = None
        self._seen: set[str] = set()

    @property
    def may_report(self) -> bool:
        """Whether flake8's selection takes any of our codes: ``--select E9`` is not to pay for the others."""
        if self._options.select is None:
            return True
        chosen = (*self._options.select, *(self._options.extend_select or ()))
        return any(code.startswith(PREFIX) or PREFIX.startswith(code) for code in chosen)

    def lint(self, filename: str, text: str) -> FileReport | None:
        """Lint a file whose text is ``text``, wherever that came from; None if there is nothing to say of it.

        ``filename`` is as flake8 gives it: a path, the name given with ``--stdin-display-name``, or ``stdin``.
        Raises ConfigError.
        """
        from forklint.source.document import collector_paused  # noqa: PLC0415
        from forklint.source.kinds import Kind, kind_of  # noqa: PLC0415

        path = Path(os.path.abspath(filename))  # noqa: PTH100 - resolve() would follow links
        if kind_of(path) is not Kind.PYTHON:  # a preset that is named outright may well parse as Python
            return None
        with collector_paused():
            report = self._round_for(str(path)).lint(path, text)
        self._set_aside()
        return report

    def _set_aside(self) -> None:
        """Hide what is known of the project from the garbage collector, which would look it all over again and again.

        That is half of what the plugin costs (measured on timm). Garbage of flake8's that is hidden with it stays until
        everything is looked over, every BETWEEN_COLLECTIONS files of the process.
        """
        Run.linted += 1
        if Run.linted % BETWEEN_COLLECTIONS == 0:
            gc.unfreeze()
            gc.collect()
        gc.freeze()

    def _round_for(self, path: str) -> Round:
        if self._round is None or self._options.filenames is not self._filenames or path in self._seen:
            if self._round is not None:
                self._round.keep()
            self._round = Round(self._options)
            self._filenames = self._options.filenames
            self._seen.clear()
        self._seen.add(path)
        return self._round


class Round:
    """One set of files that flake8 lints in one process; reports of earlier rounds that still hold are used again."""

    def __init__(self, given: argparse.Namespace) -> None:
        from forklint.config import SettingsFinder  # noqa: PLC0415
        from forklint.prefilter import Prefilter  # noqa: PLC0415

        overrides = {
            "platforms": given.forklint_platform,
            "target_python": given.forklint_target_python,
            "select": given.forklint_select,
            "ignore": given.forklint_ignore,
            "preview": given.forklint_preview,
            "cache_dir": os.environ.get("FORKLINT_CACHE_DIR") or None,
        }
        self._finder = SettingsFinder(
            {key: value for key, value in overrides.items() if value is not None},
            config=Path(given.forklint_config) if given.forklint_config else None,
            isolated=bool(given.forklint_isolated),
        )
        self._prefilter = Prefilter(self._finder, parsed=True)
        self._suppress = not given.disable_noqa
        self._with_info = bool(given.forklint_info)
        self._keeps = not os.environ.get("FORKLINT_NO_CACHE")
        self._linters: Linters | None = None
        self._stored: Lookup | None = None
        self._fresh: dict[str, tuple[FileReport, bytes]] = {}

    def lint(self, path: Path, text: str) -> FileReport | None:
        """Give what is to be reported of a file; None if there is nothing to say of it.

        Findings of severity info are left out unless that, or ``exit-on``, asks for them: flake8 has no severities,
        and each of them would make it fail.
        """
        report = self._report(path, text)
        if report is None or self._with_info or not self._finder.for_file(path).exit_on.rank:
            return report
        return replace(report, findings=tuple(one for one in report.findings if one.severity.rank))

    def _report(self, path: Path, text: str) -> FileReport | None:
        """Lint a file, or take the report that is stored."""
        from forklint.source.document import encoded  # noqa: PLC0415

        if self._finder.for_file(path).excludes(path) or self._prefilter.clears(path, encoded(text)):
            return None
        data = _read(path)
        is_on_disk = _reads_as(data, text)
        session = self._session(path) if self._keeps and is_on_disk else None
        if session is not None:
            known = session.find({str(path): str(path)}).get(str(path))
            if known is not None:
                return known
        linter = self._all_linters().of(path)
        report, rests = linter.watched_bytes(path, data if is_on_disk else encoded(text))
        if session is not None:
            self._fresh[str(path)] = report, linter.project.encoded(rests)
        return report

    def _session(self, path: Path) -> Session | None:
        """What is stored of a file's project."""
        if self._stored is None:
            from forklint.incremental.lookup import Lookup  # noqa: PLC0415 - most files are cleared

            self._stored = Lookup(self._finder, (), f"flake8 suppress={self._suppress}", frozenset(), _say_nothing)
            _at_exit(self.keep)
        return self._stored.session(path)

    def _all_linters(self) -> Linters:
        if self._linters is None:
            from forklint.engine import Options  # noqa: PLC0415
            from forklint.linters import Linters  # noqa: PLC0415

            options = Options(with_fixes=False, suppress=self._suppress, left_to_others=LEFT_TO_FLAKE8)
            self._linters = Linters(self._finder, options, self._library)
        return self._linters

    def _library(self, place: tuple[Path, Path | None]) -> StoredLibrary | None:
        return self._stored.library(place) if self._stored is not None else None

    def keep(self) -> None:
        """Store the reports that were made."""
        fresh, self._fresh = self._fresh, {}
        if self._stored is not None and self._linters is not None and fresh:
            self._stored.keep(fresh, self._linters.news())
        if self._stored is not None:
            self._stored.close()


def _reads_as(data: bytes, text: str) -> bool:
    """Whether ``text`` is what flake8 reads from a file that holds ``data``."""
    from forklint.source import document  # noqa: PLC0415

    try:
        read = document.decode(Path(), data).text
    except document.UnreadableError:
        read = data.removeprefix(document.BOM).decode("latin-1")
    return read.replace("\r\n", "\n").replace("\r", "\n") == text


def _on_one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _read(path: Path) -> bytes:
    """What is in a file; nothing if it cannot be read."""
    from forklint.store.stamps import content_of  # noqa: PLC0415

    return content_of(str(path))


def _at_exit(call: Callable[[], None]) -> None:
    """Have something called when this process ends: flake8's own processes run no ``atexit``."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        from multiprocessing.util import Finalize  # noqa: PLC0415

        Finalize(None, call, exitpriority=1)
    else:
        atexit.register(call)


def _say_nothing(_: str) -> None:
    pass


# Readers of options: those of the configuration, for texts. argparse shows the message of an ArgumentTypeError alone.


def _checked(read: Callable[[Any], Any], value: Any) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word]


def _platforms(text: str) -> Any:
    from forklint import config  # noqa: PLC0415

    return _checked(config.platforms, _words(text))


def _python_range(text: str) -> Any:
    from forklint import config  # noqa: PLC0415

    return _checked(config.python_range, text)


def _selectors(text: str) -> Any:
    from forklint import config  # noqa: PLC0415

    return _checked(config.selectors, _words(text))


def _boolean(text: str) -> Any:
    states = RawConfigParser.BOOLEAN_STATES
    if text.lower() not in states:
        raise argparse.ArgumentTypeError(f"expected true or false, not '{text}'")
    return states[text.lower()]
