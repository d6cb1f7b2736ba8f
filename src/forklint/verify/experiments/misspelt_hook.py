"""How FKL502 is proved: the class is imported and asked as torch asks it; a loader is made with the keyword."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forklint.model import Finding
from forklint.verify.asked_class import INSTALL, attempts, importing, not_asked, with_stand_ins
from forklint.verify.experiments.base import Experimenter, inconclusive
from forklint.verify.experiments.unknown_method import in_function
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

RAISES = ("NotImplementedError", "TypeError")
"""What a hook that is not there raises; any other error comes from code that answers."""


class MisspeltHook(Experimenter):
    """One trial: what raises there has its control beside it, the right name."""

    code = "FKL502"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Import the class, or the loader, and ask."""
        proof = finding.proof
        spec = {"name": proof["name"], "meant": proof["meant"]}
        if "loader" in proof:
            spec["loader"] = proof["loader"]
            claim = f"a loader has no parameter `{proof['name']}`"
        else:
            qualname = proof["class"][1]
            if in_function(qualname):
                why = f"`{qualname}` is defined inside a function"
                return inconclusive(why, "move the class to the top of its module")
            spec |= importing(proof["class"], self.context.root)
            claim = f"nothing calls `{qualname}.{proof['name']}`, and `{proof['meant']}` does not exist"
            if proof.get("removed") == "uncalled":
                spec["base"] = True
                claim = f"Lightning does not call `{qualname}.{proof['name']}`"
            elif "removed" in proof:
                spec["trainer"] = True
                claim = f"Lightning refuses to train `{qualname}`, since it has `{proof['name']}`"
        command = ("-m", "forklint_harness.tasks.hooks")
        subject = Subject("class", command, self.context.root, environment=self.context.variables)
        experiment = Experiment(finding, claim, (self.trial(finding, subject, "hooks", spec, Factors()),))
        return experiment if "loader" in proof else attempts(experiment, proof["class"], self.context)

    def imports(self, finding: Finding) -> bool:
        """A keyword is asked of the library's loader."""
        return "loader" not in finding.proof

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed by the error, or by the hook's absence where torch does without; refuted if something answers."""
        (seen,) = observations
        proof = experiment.finding.proof
        asked = {record["keyword"]: record["error"] for record in seen.of("asked")}
        if len(asked) == 2:
            return _of_keyword(asked[proof["name"]], asked[proof["meant"]], proof)
        for record in seen.of("asked-base"):
            return _of_base(record, proof)
        for record in seen.of("trained"):
            return _of_model(record, proof)
        for record in seen.of("answered"):
            return with_stand_ins(_of_class(record, proof), record, [proof["meant"]], seen)
        return not_asked(seen)


def _of_keyword(error: str, control: str, proof: Mapping[str, Any]) -> Judgement:
    if not error:
        return Judgement(Verdict.REFUTED, f"the loader accepts `{proof['name']}`")
    if control:
        return inconclusive(
            f"with `{proof['meant']}` the loader raises an error, too: {control}", "see its output with --replay"
        )
    return Judgement(Verdict.CONFIRMED, error)


def _of_base(record: Mapping[str, Any], proof: Mapping[str, Any]) -> Judgement:
    if not record["library"]:
        return inconclusive("the Lightning that the class derives from is not installed here", INSTALL)
    base = f"`{record['base']}` of {record['library']} {record['version']}"
    if record["wrong"]:
        return Judgement(Verdict.REFUTED, f"{base} has `{proof['name']}`")
    if not record["right"]:
        return inconclusive(f"{base} has neither `{proof['name']}` nor `{proof['meant']}`", "see its documentation")
    return Judgement(Verdict.CONFIRMED, f"{base} has no `{proof['name']}`; it has `{proof['meant']}`")


def _of_model(record: Mapping[str, Any], proof: Mapping[str, Any]) -> Judgement:
    if not record["library"]:
        return inconclusive("the Lightning that the class derives from is not installed here", INSTALL)
    library = f"{record['library']} {record['version']}"
    if record["error"].startswith("NotImplementedError") and proof["name"] in record["error"]:
        return Judgement(Verdict.CONFIRMED, f"{library}: {record['error']}")
    if record["error"]:
        return inconclusive(f"{library} stops before it: {record['error']}", "train the model with this Lightning")
    return Judgement(Verdict.REFUTED, f"{library} accepts `{proof['name']}`")


def _of_class(record: Mapping[str, Any], proof: Mapping[str, Any]) -> Judgement:
    hook, name = proof["meant"], proof["name"]
    if not record["misspelt"]:
        return Judgement(Verdict.REFUTED, f"the class has no `{name}` after the import")
    if record["supplied"]:
        return Judgement(Verdict.REFUTED, f"`{hook}` exists: `{record['by']}` defines it")
    if record["error"].startswith(RAISES):
        return Judgement(Verdict.CONFIRMED, record["error"])
    if record["error"]:
        return inconclusive(
            f"accessing `{hook}` on a bare object raises {record['error']}", "check it on a real object"
        )
    holder = f"only `{record['by']}` has one" if record["by"] else "no base class has one"
    return Judgement(Verdict.CONFIRMED, f"the class has `{name}` but no `{hook}`: {holder}")
