"""Tolerant runs: the repository as it was cloned, with what the world lacks stood in, and its fix as the control.

A pair of trials runs the same program under the same start method, with the same stand-ins: as it is, and with
forklint's own fix, laid over the file as it is loaded. Where a rule has no fix, the least change that removes the
mechanism is made in its place. The harm must be the claim's own, and the control must come to the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forklint.knowledge.environment import loaded_with
from forklint.knowledge.libraries import libraries
from forklint.knowledge.starters import consuming_methods, derived_loaders, passing_methods
from forklint.knowledge.unpicklable import keepers_told, streams_told
from forklint.model import Finding
from forklint.project.index import Project
from forklint.source import document
from forklint.source.lines import apply_edits
from forklint.source.paths import from_root, relative_to
from forklint.verify import slices
from forklint.verify.words import Judgement, Observation, Subject, Trial, Verdict

COMMAND = ("-m", "forklint_harness.tolerance")
"""Runs a program in its tolerant form: what follows is its command."""
GUARDED = "guarded"
MENDED = "with the fix"
CHANGED = "with a minimal change"
MOST_NAMED = 4
KINDS = {
    "package": "packages",
    "class": "known classes",
    "file": "files",
    "network": "network",
    "argument": "arguments",
    "variable": "environment variables",
    "accelerator": "accelerator",
    "process group": "process group",
    "statement": "failed statements",
    "option": "options",
}
"""What was stood in, as the report names it, in the order in which it does."""


def tolerance(
    finding: Finding, root: Path, project: Project, *, claims: Sequence[str] = (), further: Iterable[Path] = ()
) -> dict[str, Any]:
    """What the harness wants to know of a tolerant run: the project, the slice, and what the claim is about.

    The points that the run must come to are those of the finding's trace; ``further`` files are run whole.
    """
    points = points_of(finding)
    path = from_root(Path(finding.path))
    rows = slices.statement_rows(project, path, finding.span.row)
    left_whole = {file.resolve() for file in further}
    sliced = {file: found for file, found in points.items() if file.resolve() not in left_whole}
    return {
        "roots": [str(root)],
        "skipped": slices.skipped(
            project, sliced, None if path.resolve() in left_whole else path, (path, finding.span.row)
        ),
        "wanted": {str(file.resolve()): sorted(found) for file, found in points.items()},
        "claimed": {str(path.resolve()): [rows]},
        "loads": loaded_with(),
        "known": known_classes(),
        "foreign": sorted(libraries().always | (set(loaded_with()) - libraries().ambiguous)),
        "ambiguous": sorted(libraries().ambiguous),
        "claims": list(claims),
    }


def known_classes() -> dict[str, Any]:
    """Classes that may be missing and of which it is known what they do, as the harness reads them."""
    return {
        "loaders": derived_loaders(),
        "passing": passing_methods(),
        "consumers": consuming_methods(),
        "keepers": keepers_told(),
        "streams": streams_told(),
    }


def points_of(finding: Finding) -> dict[Path, set[int]]:
    """By file, the rows that a run must come to: the finding's, and those of its trace."""
    points: dict[Path, set[int]] = {from_root(Path(finding.path)): {finding.span.row}}
    for link in finding.chain:
        if link.notebook_cell is None and link.path.endswith(".py"):
            points.setdefault(from_root(Path(link.path)), set()).add(link.row)
    return points


def mended(finding: Finding) -> dict[str, str]:
    """By file, its text with forklint's own fix; empty if the finding has none."""
    if finding.fix is None or not finding.fix.edits:
        return {}
    path = from_root(Path(finding.path))
    text = document.decode(path, path.read_bytes()).text
    return {str(path.resolve()): apply_edits(text, finding.fix.edits)}


def tolerant_subject(subject: Subject) -> Subject:
    """The same program in its tolerant form."""
    return replace(subject, command=(*COMMAND, *subject.command))


def pair(trial: Trial, tolerant: Mapping[str, Any], finding: Finding, change: Mapping[str, Any]) -> tuple[Trial, Trial]:
    """A treatment and its control, which differ in the fix alone: the trial as it is, and mended.

    ``change`` is the least change, for findings that have no fix: what of ``tolerance`` differs in the control.
    """
    texts = mended(finding)
    other = {"texts": texts} if texts else dict(change)
    how = MENDED if texts else CHANGED
    as_it_is = replace(trial, spec={**trial.spec, "tolerance": dict(tolerant)}, side_by_side=True)
    control = replace(
        as_it_is,
        name=f"{trial.name}-control",
        spec={**trial.spec, "tolerance": {**tolerant, **other}},
        factors=replace(trial.factors, code=how),
        is_control=True,
    )
    return replace(as_it_is, name=f"{trial.name}-tolerant", factors=replace(trial.factors, code="tolerant")), control


@dataclass(frozen=True)
class Shown:
    """What one trial of a pair showed."""

    reached: Any = None
    """The place that it came to, in terms that do not change with the fix; None if it did not come there."""
    harm: str = ""
    """The claim's own symptom; empty if it was not seen."""
    other: str = ""
    """What else went wrong there."""
    made_up: tuple[str, ...] = ()
    """Parts of the claim that are stand-ins, or were computed from one."""
    works: bool = False
    """Whether it did its work: a batch came, a child began."""
    spared: bool = False
    """Whether the mechanism was seen not to happen."""
    why: Judgement | None = None
    """Why it did not come there."""


def judged(as_it_is: Shown, control: Shown, observations: Sequence[Observation]) -> Judgement:
    """What a pair says: confirmed if the harm is seen as it is and not in the control, which does its work."""
    stood_in = stood_in_by(observations)
    details = {"stood_in": stood_in}
    note = "; " + line(stood_in) if stood_in else ""

    def verdict(kind: Verdict, words: str, advice: str = "") -> Judgement:
        return Judgement(kind, words + note, advice, details)

    entry = "pass a script, or add a factory to `loaders` in [tool.forklint.verify]"
    if as_it_is.made_up:
        words = f"in a tolerant run {' and '.join(as_it_is.made_up)}: results with a stand-in prove nothing"
        return verdict(Verdict.INCONCLUSIVE, words, "install what is missing, or " + entry)
    if as_it_is.reached is None:
        why = as_it_is.why.evidence if as_it_is.why else "the code in question was not reached"
        return verdict(
            Verdict.INCONCLUSIVE, f"in a tolerant run, {why}", as_it_is.why.advice if as_it_is.why else entry
        )
    if not as_it_is.harm:
        if as_it_is.other:
            return verdict(Verdict.INCONCLUSIVE, f"it fails for another reason: {as_it_is.other}", "fix that first")
        if as_it_is.spared and not stood_in.get("statement"):
            return verdict(Verdict.REFUTED, "in a tolerant run the code in question was reached without harm")
        return verdict(Verdict.NOT_REPRODUCED, "in a tolerant run the code in question was reached without harm")
    how = next((seen.trial.factors.code or "" for seen in observations if seen.trial.is_control), MENDED)
    if control.harm:
        return verdict(Verdict.INCONCLUSIVE, f"{as_it_is.harm}; {how}, too: {control.harm}", "fix it by hand")
    if control.reached != as_it_is.reached or not control.works:
        why = control.other or (control.why.evidence if control.why else "it did not reach the same code")
        return verdict(Verdict.INCONCLUSIVE, f"{as_it_is.harm}; {how}, {why}", entry)
    return verdict(Verdict.CONFIRMED, f"{as_it_is.harm}; {how} it does not occur")


def stood_in_by(observations: Sequence[Observation]) -> dict[str, list[str]]:
    """What trials stood in for and what they refused, by kind, each thing once."""
    found: dict[str, list[str]] = {}
    for seen in observations:
        for record in seen.of("stood-in"):
            told = found.setdefault(str(record["of"]), [])
            what = _short(str(record["what"]), str(record["of"]), str(record["place"]))
            if what not in told and "stand-in-" not in what:  # a path that a stand-in gave is no further thing
                told.append(what)
    return found


def _short(what: str, kind: str, place: str) -> str:
    if kind == "package":
        return what.partition(" ")[0]
    return f"{Path(place).name}: {what}" if kind == "statement" and place else what


def how_it_ended(seen: Observation) -> str:
    """With which error the program ended, or with which exit code."""
    for record in seen.of("program-raised"):
        where = f" ({relative_to(Path(record['frame']), Path.cwd())})" if record["frame"] else ""
        return f"it ended with {record['type']}: {record['text']}{where}"
    return f"it ended with exit code {seen.ending.exit_code}"


def line(stood_in: Mapping[str, Sequence[str]]) -> str:
    """All that was stood in, in one line."""
    parts = []
    for kind, words in KINDS.items():
        names = list(stood_in.get(kind, ()))
        if names:
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            parts.append(f"{words} {', '.join(names[:MOST_NAMED])}{more}")
    text = "replaced: " + "; ".join(parts) if parts else ""
    refused = len(stood_in.get("refused", ()))
    return f"{text}; refused: {refused}".lstrip("; ") if refused else text
