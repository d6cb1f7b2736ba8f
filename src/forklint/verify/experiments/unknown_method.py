"""How FKL501 is proved: the class is imported in a process of its own, and asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line, not_ended
from forklint.verify.subjects import module_of
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict


class UnknownMethod(Experimenter):
    """Looks the name up on the class, and on a bare object of it, where a ``__getattr__`` would supply it."""

    code = "FKL501"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """One trial: import and look."""
        proof = finding.proof
        spec = {"name": proof["name"]}
        if "torch" in proof:
            owner = proof["torch"]
            spec["torch"] = owner
        else:
            path, qualname = proof["class"]
            if "<locals>" in qualname or _in_function(qualname):
                return inconclusive(
                    f"`{qualname}` is made inside a function", "move the class to the top of its module"
                )
            owner = qualname
            module, folder = module_of(Path(path))
            spec |= {"module": module, "qualname": qualname, "search": [str(folder), str(self.context.root)]}
        command = ("-m", "forklint_harness.tasks.names")
        subject = Subject("class", command, self.context.root, environment=self.context.variables)
        trial = self.trial(finding, subject, "names", spec, Factors())
        return Experiment(finding, f"`{owner}` has no `{proof['name']}`", (trial,))

    def imports(self, finding: Finding) -> bool:
        """A name of torch is asked of torch."""
        return "torch" not in finding.proof

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Refuted if the name is there or the class supplies it; confirmed by the AttributeError itself."""
        (seen,) = observations
        for record in seen.of("looked"):
            if record["found"] or not record["error"]:
                where = f"on the {record['on']}" if record["found"] else "supplied when it is asked for"
                return Judgement(Verdict.REFUTED, f"`{experiment.finding.proof['name']}` is there, {where}")
            if record.get("supplier") and not record["error"].startswith("AttributeError"):
                why = f"`{record['supplier']}.__getattr__` answers {record['error']} on an object that is not set up"
                return inconclusive(why, "call it on a real object")
            return Judgement(Verdict.CONFIRMED, record["error"])
        for record in seen.of("not-imported"):
            where = f" ({record['place']})" if record["place"] else ""
            return inconclusive(f"the import ends with {record['error']}{where}", "make the module importable here")
        return not_ended(seen) or inconclusive(last_line(seen.output) or "it ended early", "see it with --replay")


def _in_function(qualname: str) -> bool:
    """Functions and classes are told apart by the usual spelling alone: a lower-case part is a function."""
    return any(part[:1].islower() for part in qualname.split(".")[:-1])
