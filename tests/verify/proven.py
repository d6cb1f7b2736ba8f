"""Proves findings in small projects: writes the files, lints them, plans, runs the trials for real, judges."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import Finding, Severity, Span
from forklint.project.index import Project
from forklint.verify.context import Context
from forklint.verify.experiments import handle_in_init
from forklint.verify.proving import prove
from forklint.verify.runner import Runner
from forklint.verify.subjects import Sources, subject_for
from forklint.verify.words import Experiment, Judgement, Observation

HEAD = """
import json, os, random, sqlite3, struct, tarfile, zipfile
import torch
from torch.utils.data import DataLoader, Dataset
COUNT = 240
"""


@dataclass(frozen=True)
class Proof:
    """A judgement with all that led to it."""

    judgement: Judgement
    observations: tuple[Observation, ...] = ()
    experiment: Experiment | None = None
    cells: dict[str, Any] = field(default_factory=dict)

    def verdict(self, method: str = "") -> str:
        """The verdict of the finding, or of the cell with this start method."""
        if not method:
            return self.judgement.verdict.value
        return self.cell(method)["verdict"]

    def cell(self, method: str) -> dict[str, Any]:
        return next(cell for factors, cell in self.cells.items() if factors.startswith(f"{method},"))


def project(folder: Path) -> Project:
    return Project(folder, Settings())


def findings(folder: Path, file: str = "data.py") -> list[Finding]:
    """What forklint finds for FKL301 in a file."""
    linter = Linter(project(folder), Options(with_fixes=False))
    return [one for one in linter.lint(folder / file).findings if one.code == "FKL301"]


def forced(folder: Path, qualname: str, attribute: str, kind: str = "file") -> Finding:
    """A finding that forklint does not make, to force an experiment."""
    return Finding(
        code="FKL301",
        name="handle-in-init",
        severity=Severity.ERROR,
        path=str(folder / "data.py"),
        span=Span(1, 1, 1, 1),
        message=f"`self.{attribute}` keeps a {kind} open across the start of workers: forced",
        qualname=f"{qualname}.__init__",
    )


def plan(finding: Finding, folder: Path, sources: Sources | None = None, **options: Any) -> Experiment | Judgement:
    sources = sources or Sources(folder)
    given = Context(lambda one, name: subject_for(one, name, sources, project(folder)), **options)
    return handle_in_init.plan(finding, replace(given, provoking=options.get("provoking", 1.0)))


def proof(finding: Finding, folder: Path, sources: Sources | None = None, **options: Any) -> Proof:
    """Plan, run and judge; one trial after another, since they may share the data's lock files."""
    experiment = plan(finding, folder, sources, **options)
    if isinstance(experiment, Judgement):
        return Proof(experiment)
    with Runner(Path(sys.executable)) as runner:
        judgement, seen = prove(experiment, handle_in_init, lambda trials: runner.run_all(trials, 1))
    return Proof(judgement, seen, experiment, judgement.details.get("cells", {}))
