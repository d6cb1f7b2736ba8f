"""How FKL601 is proved: the call as it runs in the program, or with small masks of those dtypes, against bool masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forklint.knowledge.attention import attention
from forklint.model import Finding
from forklint.source.paths import from_root, relative_to
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line
from forklint.verify.subjects import scripts_reaching
from forklint.verify.unreached import why_ended_early
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

PROGRAM = ("-m", "forklint_harness.tasks.masks")
CALL = "the call"


class MaskDtypeMismatch(Experimenter):
    """One trial holds both: the call as it is, and as the control the same call with bool masks."""

    code = "FKL601"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Watch the program at that line; where there is none, or it does not come there, make the call."""
        context, proof = self.context, finding.proof
        row = attention()[proof["call"]]
        spec: dict[str, Any] = {**proof, "true": row.true, "parameters": row.parameters}
        made = self.trial(finding, Subject("stand-in", PROGRAM, context.root), "masks", spec, Factors())
        claim = f"torch does not interpret these masks of {row.name} as intended"
        alone = Experiment(finding, claim, (made,))
        path = from_root(Path(finding.path))
        entry = context.entry or self._script(path)
        if not entry:
            return alone
        rows = (finding.span.row, finding.span.end_row)
        watching = {**spec, "file": str(path), "rows": rows}
        subject = Subject("entry", entry, context.folder, environment=context.variables)
        watched = self.trial(finding, subject, "masks", watching, Factors(environment="watched"), is_control=True)
        return Experiment(finding, claim, (watched,), otherwise=alone)

    def _script(self, path: Path) -> tuple[str, ...]:
        project = self.context.project()
        found = next(scripts_reaching(path, self.context.scripts, project, b"torch"), None)
        return (str(found),) if found is not None else ()

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """By what torch raised, said, or gave otherwise than for bool masks."""
        seen = observations[-1]
        for record in seen.of("attended"):
            return self._judged(experiment.finding.proof, record)
        for record in seen.of("not-imported"):
            return inconclusive(record["error"], "pass the project's interpreter with --python")
        ended = why_ended_early(seen, CALL)
        why = ended.evidence if ended else f"{CALL} was not reached: {last_line(seen.output) or 'the program ended'}"
        return inconclusive(why, "pass a script that reaches it: forklint verify SCRIPT -- ARGS")

    def _judged(self, proof: Mapping[str, Any], record: Mapping[str, Any]) -> Judgement:
        place = record["place"]
        where = f"at {relative_to(Path(place), self.context.root)}" if place else "with small masks of these dtypes"
        dtypes = ", ".join(f"{name}: {dtype}" for name, (dtype, _) in record["masks"].items())
        harm = _harm(proof["kind"], record)
        if harm and not record["control"]:
            return Judgement(Verdict.CONFIRMED, f"{where} ({dtypes}): {harm}")
        if record["error"]:
            why = f"{where} the call fails with bool masks, too: {record['control']}"
            return inconclusive(why, "make the call work with bool masks first")
        return Judgement(
            Verdict.REFUTED, f"{where} ({dtypes}) torch accepts them, and returns the same result as with bool masks"
        )


def _harm(kind: str, record: Mapping[str, Any]) -> str:
    """What is wrong, in words; empty if nothing is."""
    if kind == "causal":
        return str(record["error"] or (record["math"] and f"{record['math']}, with dropout"))
    if record["error"]:
        return str(record["error"])
    if kind == "added":
        added = any(binary for _, binary in record["masks"].values())
        return "the result differs from that with the same masks as bool" if added and record["differs"] else ""
    return next((str(words) for words in record["said"]), "") if kind == "mixed" else ""
