"""What a rule is: a page, a screen, a question to the facts, and a fix."""

from __future__ import annotations

import ast
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from forklint.edits.proposal import Proposal
from forklint.model import Cell, Fix, Link, Note, Severity, Span
from forklint.records import dataclass
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.config import Settings
    from forklint.edits.tree import Tree
    from forklint.project.answers import Cuts
    from forklint.project.index import Project
    from forklint.project.module import CodeLink, Module
    from forklint.source.presets import Preset

TRAINERS = ("torch", "lightning")
"""What a project that trains imports."""


@dataclass(frozen=True)
class Suspect:
    """A hazard as the facts show it, before LibCST has been asked for a fix."""

    node: ast.AST
    """Where the fix goes, in the file at hand."""
    subject: str
    """The variable, attribute, parameter, method or option that it is about."""
    message: str
    cells: tuple[Cell, ...]
    chain: tuple[Link | CodeLink, ...] = ()
    severity: Severity | None = None
    """Set where it differs from the rule's."""
    facts: Any = None
    """What the rule's own ``fixes`` wants to know."""


@dataclass(frozen=True)
class PresetSuspect:
    """A hazard in a file of settings."""

    span: Span
    subject: str
    """The option that it is about."""
    message: str
    cells: tuple[Cell, ...]
    qualname: str
    """The keys that lead to it, with dots."""
    chain: tuple[Link | CodeLink, ...] = ()
    facts: Any = None
    """What the rule's own ``preset_fixes`` wants to know."""
    proof: Mapping[str, Any] = field(default_factory=dict)
    """What an experiment needs to know."""


@dataclass(frozen=True)
class Page:
    """A rule's docstring, cut at its headings."""

    summary: str
    sections: tuple[tuple[str, str], ...]


class Rule(ABC):
    """One hazard. The subclass's docstring is its page; a file in this folder with a subclass is all it takes.

    The docstring: one line that sums it up, then sections, each a line ``## Title`` and its text, in Markdown:
    What it does, Why is this bad?, Example, Use instead, Fix safety, How it is proved, References.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.WARNING
    preview: ClassVar[bool] = False
    shows_platform: ClassVar[bool] = False
    """Whether what the rule finds is itself a sign that the project has the platform in mind."""
    local_fixes: ClassVar[bool] = False
    """Whether its fixes in classes that do not inherit from one another can be applied at once."""
    tokens: ClassVar[bytes] = b""
    """A regular expression: a file without a match, and that reaches none, holds no finding. Empty: any file may."""
    words: ClassVar[tuple[bytes, ...]] = ()
    """Every match of ``tokens`` holds one of these; plain bytes are found ten times faster. Empty: nothing is said.

    Without ``tokens``, a file without one of these, and that reaches none, holds no finding."""
    needs: ClassVar[Needs | None] = None
    """What must stand in a file for the rule to be asked; None for one of ``words``. `make docs` writes it to
    ``table.py``, so that a file in which it does not stand costs nothing, not even the import of the rule."""

    @classmethod
    def needs_under(cls, settings: Settings) -> Needs:
        """``needs``, or what takes their place where tables have a say, with the rows that a project adds to them."""
        del settings  # most rules ask no table
        return cls.needs or Needs(here=(cls.words,) if cls.words else ())

    def __init__(self, project: Project) -> None:
        self.project = project
        self.settings = project.settings

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """``tokens``, compiled; any of the ``words`` where there are none."""
        return re.compile(self.tokens or b"|".join(map(re.escape, self.words)))

    def holds_tokens(self, data: bytes) -> bool:
        """Whether a text has one of the ``words``, and a match of ``tokens``."""
        words = self.words
        if words:
            for word in words:  # a generator would cost as much as the search
                if word in data:
                    break
            else:
                return False
        return self.pattern.search(data) is not None

    def may_hold(self, path: Path, data: bytes) -> bool:
        """Screen of a file that has what the rule needs: False only if no finding of the rule can stand in it."""
        return self.holds_tokens(data)

    def reaches_tokens(self, path: Path) -> bool:
        """Whether the file, or a project file that it reaches by imports, holds the rule's tokens."""
        from forklint.project.graph import Words

        return self.project.graph.any_reached(path, Words(self.pattern, self.words))

    def reaches(self, path: Path, word: bytes) -> bool:
        """Whether the file, or a project file that it reaches by imports, holds a word."""
        from forklint.project.graph import word_test

        return self.project.graph.any_reached(path, word_test(word))

    def trains(self) -> bool:
        """Whether any file of the project imports torch or lightning."""
        from forklint.summaries.terms import IMPORTED

        find = lambda: any(self.project.where(IMPORTED, name) for name in TRAINERS)  # noqa: E731 - it is short
        return self.project.answer("trains with torch", "", find, compared=True)

    @abstractmethod
    def suspects(self, module: Module) -> Iterable[Suspect]:
        """Find the hazards whose place is in ``module``, from facts alone."""

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Propose ways to mend a suspect, the best first; ``tree.statements`` are numbered as ``module.ordinals``."""
        return ()

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """Say what the rule's experiment in ``verify/experiments`` needs to know, as JSON can hold it."""
        return {}

    def may_hold_preset(self, path: Path, data: bytes) -> bool:
        """Screen of a file of settings: False only if no finding of this rule can stand in it."""
        return False

    def preset_suspects(self, preset: Preset) -> Iterable[PresetSuspect]:
        """Find the hazards in a file of settings."""
        return ()

    def preset_fixes(self, suspect: PresetSuspect, preset: Preset) -> Iterable[Fix]:
        """Give ways to mend a suspect in a file of settings, the best first."""
        return ()

    def link(self, module: Module, node: ast.AST, message: str) -> Link:
        """Make a step of a chain that points to a node of a module."""
        return module.link(node, message)

    def stopped(self, path: str, cuts: Cuts) -> list[Note]:
        """Say what budgets have left unknown in a file."""
        return [
            Note(path, f"{self.code} stopped {what} after {steps:,} steps", stopped=self.code)
            for what, steps in sorted(cuts.items())
        ]

    @classmethod
    def page(cls) -> Page:
        """The docstring as summary and sections."""
        text = inspect.cleandoc(cls.__doc__ or "")
        summary, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
        sections = (part.partition("\n") for part in rest)
        return Page(summary.strip(), tuple((title.strip(), body.strip()) for title, _, body in sections))
