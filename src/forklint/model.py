"""The data model: cells, places, findings, fixes. Imports nothing of forklint but ``records``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Any

from forklint.records import dataclass

PLATFORMS = ("linux", "darwin", "windows")
NEWEST_PYTHON = (3, 15)
OLDEST_PYTHON = (3, 10)


class Severity(str, Enum):
    """The severity of a finding; warnings and errors lead to exit code 1."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """0 for info, 1 for warning, 2 for error."""
        return list(Severity).index(self)


class Applicability(str, Enum):
    """How safe a fix is."""

    SAFE = "safe"
    """No run that works now can stop working."""
    UNSAFE = "unsafe"
    """A run that works now can stop working, or only the author knows what was intended."""
    DISPLAY = "display"
    """Shown, never applied."""


@dataclass(frozen=True, order=True)
class Cell:
    """What a finding can affect: a platform and a start method."""

    platform: str
    start_method: str

    def __str__(self) -> str:
        return f"{self.platform}/{self.start_method}"

    @property
    def pickles(self) -> bool:
        """Whether a worker gets its dataset by pickle (spawn, forkserver) rather than by inheriting memory."""
        return self.start_method != "fork"


DEFAULT_CELLS = (
    Cell("linux", "fork"),
    Cell("linux", "forkserver"),
    Cell("darwin", "spawn"),
    Cell("windows", "spawn"),
)
"""The defaults of each platform: on Linux fork up to Python 3.13 and forkserver from 3.14."""


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of text; rows and columns count from 1, columns in characters, the end exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True)
class Link:
    """A place that leads to a finding, in this file or another."""

    path: str
    row: int
    column: int
    message: str
    notebook_cell: int | None = None
    """As in Finding."""
    node: int = field(default=-1, compare=False)
    """The number of the node in its module, by which it is found again when rows have changed; -1 for none."""


@dataclass(frozen=True)
class Edit:
    """Replace the text of ``span`` by ``content``."""

    span: Span
    content: str
    notebook_cell: int | None = None
    """As in Finding."""


@dataclass(frozen=True)
class Fix:
    """A fix of a finding, or advice.

    ``edits`` is empty when the fix is only words: then ``applicability`` is DISPLAY.
    """

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()
    elsewhere: tuple[int, ...] = field(default=(), compare=False)
    """Rows of the other statements that it edits, outside of the finding's place and chain; in a notebook, of the
    program."""


@dataclass(frozen=True)
class Finding:
    """A hazard at one place, with the platforms and start methods that it affects."""

    code: str
    name: str
    severity: Severity
    path: str
    """As shown to the user: relative to the working directory where it lies below it."""
    span: Span
    message: str
    subject: str = ""
    """The variable, attribute, parameter, method or option in question; it does not change when messages do."""
    cells: tuple[Cell, ...] = ()
    chain: tuple[Link, ...] = ()
    fixes: tuple[Fix, ...] = ()
    qualname: str = ""
    text: str = ""
    """The first line of code, without comments, which may change."""
    project_path: str = ""
    """Relative to the project's root, with forward slashes, so that fingerprints agree between machines."""
    comment_rows: tuple[int, int] = (0, 0)
    """First and last row on which a comment may suppress it."""
    notebook_cell: int | None = None
    """In a notebook, the number of the cell, from 1, counting cells of every type; rows then count from its start."""
    proof: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What an experiment needs to know to prove it, as JSON can hold it; the rule says what is in it."""

    @property
    def fix(self) -> Fix | None:
        """The first fix that can be applied, if any."""
        return next((fix for fix in self.fixes if fix.applicability is not Applicability.DISPLAY), None)

    @property
    def fingerprint(self) -> str:
        """Stable when lines move or comments change: of rule, path, qualified name and text, its spaces made equal."""
        parts = (self.code, self.project_path, self.qualname, " ".join(self.text.split()))
        import hashlib  # noqa: PLC0415 - only formats and baselines ask

        return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]

    @property
    def sort_key(self) -> tuple[str, int, Span, str, str]:
        """Path, then place, then code, then message: two handles may be stored by one statement."""
        return (self.path, self.notebook_cell or 0, self.span, self.code, self.message)


@dataclass(frozen=True)
class Note:
    """Something about a file that is not a finding: it was skipped, or a fix was not possible."""

    path: str
    message: str
    failure: bool = False
    """True if forklint could not do its work there: the exit code is then 2."""
    only_if_named: bool = False
    """Whether it is only reported if the file was passed on the command line."""
    stopped: str = ""
    """Code of a rule whose budget ran out in the file, so that it may find less: worth a word only with --verbose."""
    unfinished: bool = False
    """Whether a rule or a fix was given up, so that the report says less than another run might."""
    refused: str = ""
    """Fingerprint of a finding whose fix was not applied, since it changes statements that it does not edit."""


@dataclass(frozen=True)
class FileReport:
    """All that is known of one file after linting."""

    path: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[Note, ...] = ()
    suppressed: int = 0
    parsed: bool = field(default=False, compare=False)
    """Whether LibCST had to parse it."""

    @property
    def is_silent(self) -> bool:
        """Whether nothing is said of the file but that rules were stopped, and no comment silences anything."""
        return not self.findings and not self.suppressed and all(note.stopped for note in self.notes)
