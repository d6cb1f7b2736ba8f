"""What is run where there is no data: the class alone, with made-up arguments, and with real stores made for it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.source.paths import from_root
from forklint.verify import constructing
from forklint.verify.subjects import STARTING, Sources
from forklint.verify.tolerant import MENDED, MOST_NAMED, points_of, tolerance
from forklint.verify.tolerant import mended as fixed
from forklint.verify.unreached import first_line
from forklint.verify.words import Judgement, Observation, Subject, Trial, Verdict

KIND = "made"
"""Of a subject: its arguments and its data are made up."""
SAMPLES = 64
"""Samples that are read of made-up data: fewer than of real data, for all of them are made first."""
SECONDS = 15.0
"""For which is learnt what the data has to be."""
CHANGED = "with a separate handle in each process"
APART = "other handles separate"
"""Of a pair of trials in both of which each process has its own of the dataset's other handles."""
PLAIN = "a file"
NAMES = {
    "lmdb": "an LMDB environment", "hdf5": "an HDF5 file", "sqlite": "an SQLite database", "zip": "a zip archive",
    "tar": "a tar archive", "plain": PLAIN, "folder": "a folder", "table": "a table", "frame": "a table",
    "hdfstore": "an HDFStore", "video": "a video", "dbm": "a dbm file", "shelf": "a shelf",
}  # fmt: skip


def subject(qualname: str, sources: Sources) -> Subject:
    """The class alone, which the harness builds."""
    return Subject(KIND, (*STARTING, KIND, qualname), sources.folder, environment=sources.variables)


def spec_for(finding: Finding, path: Path, qualname: str, root: Path, project: Project) -> dict[str, Any] | None:
    """The parts of a trial's spec that make it tolerant and its data made up; None where there is no such class."""
    module = project.module(path)
    found = [facts for facts in (module.classes if module else ()) if _is_named(facts, qualname)]
    if not found:
        return None
    wanted = _wanted(finding, project)
    dataset = {
        "nodes": [constructing.node_of(one, project, wanted) for one in constructing.buildable(found[0], project)],
        "hints": constructing.hints_for(found[0], project) | {name: [value] for name, value in wanted.items()},
        "samples": SAMPLES,
        "seconds": SECONDS,
    }
    tolerant = tolerance(finding, root, project, further=points_of(finding))  # a sample is no slice: all of it runs
    return {"dataset": dataset, "tolerance": tolerant, "samples": SAMPLES}


def _is_named(facts: ClassFacts, qualname: str) -> bool:
    return facts.qualname == qualname or facts.name == qualname.rpartition(".")[2]


def _wanted(finding: Finding, project: Project) -> dict[str, Any]:
    """What names must hold for the run to come to the finding."""
    module, row = project.module(from_root(Path(finding.path))), finding.span.row
    for node in ast.walk(module.tree) if module else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= row <= (node.end_lineno or 0):
            return constructing.forced(node, row)
    return {}


def mended(trial: Trial, finding: Finding) -> Trial:
    """The same trial with the finding mended: by forklint's own fix, else by a handle for each process."""
    texts = fixed(finding)
    spec = dict(trial.spec)
    spec["tolerance"] = {**spec["tolerance"], "texts": texts}
    spec["dataset"] = {**spec["dataset"], "mend": not texts}
    how = MENDED if texts else CHANGED
    factors = replace(trial.factors, code=", ".join(filter(None, [how, trial.factors.code])))
    return replace(trial, name=f"{trial.name}-mended", spec=spec, factors=factors)


def is_mended(seen: Observation) -> bool:
    """Whether a trial ran the mended code."""
    return (seen.trial.factors.code or "").startswith((MENDED, CHANGED))


def is_mended_of(seen: Observation, other: Observation) -> bool:
    """Whether a trial differs from another in the fix alone."""
    if not is_mended(seen):
        return False
    rest = (seen.trial.factors.code or "").partition(", ")[2] or None
    return replace(seen.trial.factors, code=rest) == other.trial.factors


def apart(trial: Trial, rivals: Sequence[str]) -> Trial:
    """The same trial where each process has its own of these handles of the dataset, which are not the finding's."""
    spec = {**trial.spec, "dataset": {**trial.spec["dataset"], "apart": list(rivals)}}
    return replace(trial, name=f"{trial.name}-apart", spec=spec, factors=replace(trial.factors, code=APART))


def in_the_way(mended: Observation) -> list[str]:
    """Other open handles of the dataset, if these are what cannot be sent once the finding is mended."""
    rivals = [str(one["attribute"]) for one in mended.of("rival-held")]
    holders = tuple(path.rpartition(".")[0] + "." for path in rivals)
    culprits = [str(one["path"]) for one in mended.of("unpicklable")]
    return rivals if rivals and culprits and all(path.startswith(holders) for path in culprits) else []


def with_world(trial: Trial, seen: Sequence[Observation]) -> Trial:
    """The trial with what an earlier one has learnt: each has the same data."""
    learnt = [record["world"] for one in seen for record in one.of("world")]
    if not learnt or "dataset" not in trial.spec or "world" in trial.spec["dataset"]:
        return trial
    dataset = {**trial.spec["dataset"], "world": learnt[0], "unread": is_unread(seen)}
    passes = {"passes": 0} if is_unread(seen) else {}  # those of forked workers, which would fail as well
    return replace(trial, spec={**trial.spec, **passes, "dataset": dataset})


def is_unread(seen: Sequence[Observation]) -> bool:
    """Whether the dataset could be built, with what the claim is about in it, and gave no sample."""
    return any(record.get("unread") for one in seen for record in one.of("made"))


def stood_in(seen: Sequence[Observation]) -> Judgement | None:
    """The judgement where the claim is about a stand-in: there is none through it."""
    for one in seen:
        for record in one.of("claim-stood-in"):
            words = f"the object in question is replaced by a stand-in: {record['what']}"
            return Judgement(
                Verdict.INCONCLUSIVE, words, "install what is missing, or pass an interpreter that has it with --python"
            )
    return None


def not_made(seen: Sequence[Observation]) -> Judgement | None:
    """The judgement where no data could be made that gives a sample."""
    for one in seen:
        for record in one.of("made"):
            if record["error"]:
                place = f" ({record['place']})" if record["place"] else ""
                words = f"no sample can be read from generated data: {first_line(record['error'])}{place}"
                advice = "provide the data, or pass a script or a factory that finds it"
                return Judgement(Verdict.INCONCLUSIVE, words, advice)
    return None


def told(seen: Sequence[Observation]) -> str:
    """What was made up, in one line; empty where nothing was."""
    for one in seen:
        for record in one.of("made"):
            stores = list(dict.fromkeys(NAMES.get(kind, kind) for kind, _ in record["stores"]))
            words = f"generated: {', '.join([*stores, *(f'`{name}`' for name in record['arguments'])]) or 'nothing'}"
            return f"{words}; {_passed_over(seen)}" if record["is_forgiving"] else words
    return ""


def _passed_over(seen: Sequence[Observation]) -> str:
    """Which statements failed on made-up data where the trials read it, and were passed over."""
    found: dict[str, None] = {}
    for one in seen:
        for record in one.of("stood-in"):
            if record["of"] == "statement" and record["place"] and record["role"] in ("main", "worker"):
                found[Path(record["place"]).name] = None
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"statements that fail on it are skipped: {', '.join(list(found)[:MOST_NAMED]) or 'none'}{more}"
