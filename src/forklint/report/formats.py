"""All output formats, by their names in ``--output-format``."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module

from forklint.records import dataclass
from forklint.report import Outcome


class Counts(Enum):
    """How a format shows the number of findings for each rule (``--statistics``)."""

    TABLE = "table"
    JSON = "json"
    JSON_LINES = "json-lines"


@dataclass(frozen=True)
class Format:
    """One format: the module that writes it, and how it behaves beside findings."""

    module: str
    statistics: Counts | None = None
    """None if its readers know findings alone."""
    shows_fixes: bool = True
    """False if the format contains no fixes, so that none need to be computed."""

    @property
    def for_people(self) -> bool:
        """Whether people read it: then a summary follows, and a terminal shows it in colour."""
        return self.statistics is Counts.TABLE

    def render(self, outcome: Outcome) -> str:
        """Write a run's outcome in this format; its module is imported now, if there is anything to write."""
        if self.for_people and not outcome.findings:
            return ""
        write: Callable[[Outcome], str] = import_module(f"forklint.report.{self.module}").render
        return write(outcome)


FORMATS = {
    "full": Format("full", Counts.TABLE),
    "concise": Format("concise", Counts.TABLE),
    "grouped": Format("grouped", Counts.TABLE),
    "json": Format("json", Counts.JSON),
    "json-lines": Format("json_lines", Counts.JSON_LINES),
    "sarif": Format("sarif"),
    "github": Format("github", shows_fixes=False),
    "gitlab": Format("gitlab", shows_fixes=False),
    "junit": Format("junit", shows_fixes=False),
    "html": Format("html"),
}
