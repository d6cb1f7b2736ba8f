"""A class of the project that a trial imports and asks: how it is imported, and what a missing base may hide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forklint.knowledge.torch_api import class_names
from forklint.model import Finding
from forklint.project.index import Project
from forklint.verify import slices
from forklint.verify.experiments.base import Context, inconclusive, last_line, not_ended, one_after_another
from forklint.verify.subjects import module_of
from forklint.verify.tolerant import line, stood_in_by, tolerance
from forklint.verify.words import Experiment, Judgement, Observation, Trial, Verdict

DOTS = re.compile(rb"^\s*from\s+(\.+)", re.MULTILINE)
WORD = re.compile(r"\w+")
INSTALL = "install what is missing, or pass the project's interpreter with --python"


def importing(place: tuple[str, str], root: Path) -> dict[str, Any]:
    """How a class is imported: the dotted name of its module, its own in that, and the folders to search."""
    path, qualname = place
    module, folder = import_name(Path(path))
    return {"module": module, "qualname": qualname, "search": [str(folder), str(root)]}


def import_name(path: Path) -> tuple[str, Path]:
    """The dotted name under which a file can be imported, and the folder from which.

    A file that imports by dots is one of a package, though the folders may lack an ``__init__.py``: they are climbed as
    far as its dots reach. A package without one is imported from the folder that it lies in.
    """
    if not path.exists():
        return path.parent.name, path.parent.parent
    name, folder = module_of(path)
    dots = max((len(match[1]) for match in DOTS.finditer(path.read_bytes())), default=0)
    while dots > len(name.split(".")) - (path.stem != "__init__") and folder.parent != folder:
        name, folder = f"{folder.name}.{name}", folder.parent
    return name, folder


def fixed_name(finding: Finding) -> str:
    """The name that forklint's fix puts in the place of the wrong one; empty if it does not just rename it."""
    wrong = finding.proof["name"]
    for edit in finding.fix.edits if finding.fix else ():
        for before, after in zip(WORD.findall(finding.text), WORD.findall(edit.content), strict=False):
            if before != after:
                return after if before == wrong else ""
    return ""


def attempts(experiment: Experiment, place: tuple[str, str], context: Context) -> Experiment:
    """The experiment, and where the module cannot be imported here the same in a tolerant run.

    That runs the module up to the class, or all of it where the claim is about the module itself.
    """
    (trial,) = experiment.trials
    project = context.project()
    path, qualname = Path(place[0]), place[1]
    row = row_of(project, path, qualname)
    if row is None and qualname:
        return experiment
    rows = [row] if row is not None else []
    told = tolerance(experiment.finding, context.root, project)
    told |= {"skipped": slices.skipped(project, {path: set(rows)}, None) if rows else {}}
    told |= {"wanted": {str(path.resolve()): rows}, "claimed": {str(path.resolve()): [(one, one) for one in rows]}}
    second: Trial = replace(trial, name=f"{trial.name}-tolerant", spec={**trial.spec, "tolerance": told})
    second = replace(second, factors=replace(second.factors, code="tolerant"))
    return one_after_another([experiment, replace(experiment, trials=(second,), is_tolerant=True)])


def row_of(project: Project, path: Path, qualname: str) -> int | None:
    """The row of a class's header."""
    module = project.module(path)
    found = [facts for facts in (module.classes if module else ()) if facts.qualname == qualname]
    return found[0].node.lineno if found else None


def not_asked(seen: Observation) -> Judgement:
    """The judgement for a trial in which the class was never asked."""
    for record in seen.of("not-imported"):
        where = f" ({record['place']})" if record["place"] else ""
        return inconclusive(f"the import fails with {record['error']}{where}", "make the module importable here")
    return not_ended(seen) or inconclusive(last_line(seen.output) or "it ended early", "see its output with --replay")


def made_up(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """What of the class is a stand-in that may give one of the names; empty if nothing is.

    A base that is missing hides nothing if it is known to give none of them.
    """
    if record.get("stand_in"):
        return f"the class itself is replaced by a stand-in ({record['stand_in']})"
    for base in record.get("missing", ()):
        known = class_names(base)
        if known is None:
            return f"its base class {base} is missing, and its attributes are unknown"
        given = [name for name in names if name in known.every]
        if given:
            return f"its base class {base} is missing, and defines {given[0]}"
    return ""


def with_stand_ins(
    judgement: Judgement, record: Mapping[str, Any], names: Sequence[str], seen: Observation
) -> Judgement:
    """The judgement of a tolerant run: none where the claim hangs on a stand-in, and with all that was stood in."""
    stood_in = stood_in_by([seen])
    hidden = made_up(record, names)
    note = "; " + line(stood_in) if stood_in else ""
    if hidden:
        words = f"in a tolerant run {hidden}: results with a stand-in prove nothing"
        return Judgement(Verdict.INCONCLUSIVE, words + note, INSTALL, {"stood_in": stood_in})
    details = {**judgement.details, "stood_in": stood_in} if stood_in else judgement.details
    return replace(judgement, evidence=judgement.evidence + note, details=details)
