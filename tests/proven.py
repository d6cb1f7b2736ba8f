"""Proves findings in small projects: writes the files, lints them, plans, runs the trials for real, judges."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import Finding, Severity, Span
from forklint.project.index import Project
from forklint.verify import proving
from forklint.verify.doctor import Environment, probe
from forklint.verify.experiments.base import Context
from forklint.verify.runner import Runner
from forklint.verify.words import Judgement, Observation


@dataclass(frozen=True)
class Proof:
    """A judgement with all that led to it."""

    judgement: Judgement
    observations: tuple[Observation, ...] = ()
    cells: dict[str, Any] = field(default_factory=dict)

    def verdict(self, method: str = "") -> str:
        """The verdict of the finding, or of the cell with this start method."""
        if not method:
            return self.judgement.verdict.value
        return self.cell(method)["verdict"]

    def evidence(self, method: str) -> str:
        return self.cell(method)["evidence"]

    def cell(self, method: str) -> dict[str, Any]:
        return next(cell for factors, cell in self.cells.items() if factors.startswith(f"{method},"))


def findings(folder: Path, file: str = "data.py") -> list[Finding]:
    """What forklint finds for FKL301 in a file."""
    linter = Linter(Project(folder, Settings()), Options(with_fixes=False))
    return [one for one in linter.lint(folder / file).findings if one.code == "FKL301"]


def forced(folder: Path, qualname: str, attribute: str, opener: str = "open", kind: str = "file") -> Finding:
    """A finding that forklint does not make, to force an experiment."""
    place = (str(folder / "data.py"), qualname)
    proof = {"dataset": place, "keeper": place, "attributes": (attribute,), "name": "", "openers": (opener,)}
    return Finding(
        code="FKL301",
        name="handle-in-init",
        severity=Severity.ERROR,
        path=str(folder / "data.py"),
        span=Span(1, 1, 1, 1),
        message="forced",
        proof={**proof, "kind": kind},
    )


@cache
def environment() -> Environment:
    return probe(Path(sys.executable))


def prove(finding: Finding, folder: Path, **options: Any) -> Proof:
    """Plan, run and judge; two workers show what four do, and the control in parts is then run in two, not in four."""
    given = {"start_methods": ("fork", "spawn"), "provoking": 0.4, "workers": 2, **options}
    context = Context(folder, Settings(), environment(), **given)
    (planned,) = proving.plan([finding], lambda _: context)
    with Runner(Path(sys.executable)) as runner:
        result = proving.prove(planned, runner, lambda *_: None)
    return Proof(result.judgement, result.observations, result.judgement.details.get("shown", {}))
