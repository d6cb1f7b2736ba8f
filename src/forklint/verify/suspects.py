"""A line that somebody suspects where lint is silent: the finding that a rule's experiment needs, made from the line.

Lint may be silent for a good reason that no experiment sees: the loader has no workers, an object gets the attribute
elsewhere. What is known of such reasons goes with the finding as ``doubt``; a harm that is seen all the same is then
no proof (see ``with_doubt``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forklint.model import Finding, Severity, Span
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.rules import registry
from forklint.source.comments import uncommented
from forklint.source.paths import from_root, relative_to, shown
from forklint.verify.aims import AIMS, Aim
from forklint.verify.words import Judgement, Observation, Verdict

DOUBT = "doubt"
NEAR = 3
"""A line this far from one that lint flags is that one."""
NO_WORKERS = "its loader has no workers by default, and no other loader with workers is known to read it"
ADVICE = "pass a script whose loader has workers: forklint verify SCRIPT -- ARGS"


class SuspectError(ValueError):
    """A suspicion that cannot be read; the message is one line for the user."""


@dataclass(frozen=True)
class Suspicion:
    """What the user said: ``PATH:LINE:CODE``."""

    path: Path
    row: int
    code: str


def read(text: str) -> Suspicion:
    """Read ``PATH:LINE:CODE``; raises SuspectError."""
    rest, _, code = text.rpartition(":")
    path, _, row = rest.rpartition(":")
    if not path or not row.isdigit() or not int(row):
        raise SuspectError(f"--suspect {text}: expected PATH:LINE:CODE, for example data.py:12:FKL301")
    if code.upper() not in registry.codes():
        raise SuspectError(f"--suspect {text}: unknown rule {code}")
    if not Path(path).is_file():
        raise SuspectError(f"--suspect {text}: no such file: {path}")
    return Suspicion(Path(path), int(row), code.upper())


def finding_for(suspicion: Suspicion, project: Project, found: Sequence[Finding]) -> tuple[Finding, Judgement | None]:
    """What lint itself found there, else the finding made from the line; with a judgement if nothing is to be run."""
    row, known = suspicion.row, [one for one in found if one.code == suspicion.code]
    on_row = next((one for one in known if one.span.row <= row <= one.span.end_row), None)
    if on_row is not None:
        return on_row, None
    near = min(known, key=lambda one: abs(one.span.row - row), default=None)
    if near is not None and abs(near.span.row - row) > NEAR:
        near = None
    module = project.module(from_root(suspicion.path))
    if module is None or row > len(module.document.lines):
        why = "the file cannot be parsed" if module is None else f"the file has {len(module.document.lines)} lines"
        return bare(suspicion, project.root), _unaimed(suspicion, why, "check the path and the line")
    aim = AIMS.get(suspicion.code)
    if aim is None and near is not None:
        return near, None
    if aim is None:
        why = "its experiment needs a finding of lint"
        return bare(suspicion, project.root), _unaimed(suspicion, why, "run forklint on the file")
    aimed = aim(project, module, row)
    if near is not None and (isinstance(aimed, str) or not _is_on(module, aimed, row)):
        return near, None
    if isinstance(aimed, str):
        return bare(suspicion, project.root), _unaimed(suspicion, aimed, "pass the line of the suspected code")
    return _made(suspicion, project, module, aimed), None


def _is_on(module: Module, aimed: Aim, row: int) -> bool:
    """Whether what a line points to begins on it, so that a finding beside it is about something else."""
    return module.span(aimed.node).row == row


def with_doubt(finding: Finding, judgement: Judgement, observations: Sequence[Observation]) -> Judgement:
    """The judgement on a suspicion: what lint has a reason not to flag is not confirmed by an experiment alone."""
    if DOUBT not in finding.proof or judgement.verdict is not Verdict.CONFIRMED:
        return judgement
    doubt, advice = finding.proof[DOUBT], "check by hand whether this is the case"
    loaders = [record for seen in observations for record in seen.of("target")]
    if not doubt and loaders and not any(record.get("workers") for record in loaders):
        doubt, advice = NO_WORKERS, ADVICE
    if not doubt:
        return judgement
    words = f"{judgement.evidence}; but {doubt}"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, evidence=words, advice=advice)


def _unaimed(suspicion: Suspicion, why: str, advice: str) -> Judgement:
    words = f"the experiment of {suspicion.code} does not apply to line {suspicion.row}: {why}"
    return Judgement(Verdict.INCONCLUSIVE, words, advice)


def bare(suspicion: Suspicion, root: Path | None = None) -> Finding:
    """A finding of the rule at the line, with nothing for an experiment to run."""
    name, _ = registry.codes()[suspicion.code]
    path = from_root(suspicion.path)
    return Finding(
        code=suspicion.code,
        name=name,
        severity=Severity.INFO,
        path=shown(suspicion.path),
        span=Span(suspicion.row, 1, suspicion.row, 1),
        message="suspected",
        project_path=relative_to(path, root) if root else "",
    )


def _made(suspicion: Suspicion, project: Project, module: Module, aimed: Aim) -> Finding:
    span = module.span(aimed.node)
    return replace(
        bare(suspicion, project.root),
        span=span,
        subject=aimed.subject,
        qualname=module.qualname_at(aimed.node),
        text=uncommented(module.document.lines, span.row, lambda: module.document.comments),
        proof={**aimed.proof, DOUBT: aimed.doubt},
    )
