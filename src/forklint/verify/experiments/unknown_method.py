"""How FKL501 is proved: the class is imported in a process of its own, and asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.verify.aims import stored_names
from forklint.verify.asked_class import attempts, fixed_name, importing, not_asked, with_stand_ins
from forklint.verify.experiments.base import Experimenter, inconclusive
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict


class UnknownMethod(Experimenter):
    """Looks the name up on the class, and on a bare object of it, where a ``__getattr__`` would supply it.

    The control is the name that forklint's fix puts in its place, asked of the same class; where there is no fix, the
    name itself, on an object of the class that has it.
    """

    code = "FKL501"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """One trial: import and look."""
        proof = finding.proof
        spec: dict[str, Any] = {"name": proof["name"], "right": fixed_name(finding)}
        spec |= {key: True for key in ("is_module", "is_setter", "raises") if proof.get(key)}
        place = proof.get("class")
        if place is None:
            owner = proof["torch"]
            spec["torch"] = owner
        elif in_function(place[1]):
            return inconclusive(f"`{place[1]}` is defined inside a function", "move the class to the top of its module")
        else:
            owner = place[1] or _called(Path(place[0]))
            spec |= importing(place, self.context.root)
        command = ("-m", "forklint_harness.tasks.names")
        subject = Subject("class", command, self.context.root, environment=self.context.variables)
        trial = self.trial(finding, subject, "names", spec, Factors())
        what = "module " if proof.get("is_module") else ""
        claim = f"`{owner}` has no {what}`{proof['name']}`"
        claim = f"`{owner}.{proof['name']}` only raises an error" if proof.get("raises") else claim
        claim = f"`{proof['name']}` of a `{owner}` cannot be assigned" if proof.get("is_setter") else claim
        experiment = Experiment(finding, claim, (trial,))
        return attempts(experiment, place, self.context) if place else experiment

    def imports(self, finding: Finding) -> bool:
        """A name of torch is asked of torch."""
        return "torch" not in finding.proof

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Refuted if the name is there or the class supplies it; confirmed by the AttributeError itself."""
        (seen,) = observations
        for record in seen.of("looked"):
            names = [experiment.finding.proof["name"]]
            return with_stand_ins(self._judged(experiment.finding, record), record, names, seen)
        return not_asked(seen)

    def _judged(self, finding: Finding, record: Mapping[str, Any]) -> Judgement:
        name = finding.proof["name"]
        if record["found"] or not record["error"]:
            where = f"on the {record['on']}" if record["found"] else "created on access"
            text = f"`{name}` can be assigned" if finding.proof.get("is_setter") else f"`{name}` exists, {where}"
            return Judgement(Verdict.REFUTED, text)
        if finding.proof.get("raises"):
            return Judgement(Verdict.CONFIRMED, record["error"], details={"control": "defined"})
        is_of_name = record["error"].startswith("AttributeError") and name in record["error"]
        if record.get("supplier") and not is_of_name:
            why = f"`{record['supplier']}.__getattr__` raises {record['error']} on an uninitialized object"
            return inconclusive(why, "call it on a real object")
        right = fixed_name(finding)
        if not right and not record["defined"]:
            return inconclusive(f"{record['error']}; but if it is defined, too", "call it on a real object")
        if not right:
            is_setter = finding.proof.get("is_setter")
            evidence = f"{record['error']}; if it is defined, it is {'assigned' if is_setter else 'found'}"
            return Judgement(Verdict.CONFIRMED, evidence, details={"control": "defined"})
        if record["right"] or self._is_set(finding, right):
            evidence = f"{record['error']}; with the fix, `{right}`, it exists"
            return Judgement(Verdict.CONFIRMED, evidence, details={"control": "fix"})
        why = f"{record['error']}; but `{right}`, which the fix uses, does not exist either"
        return inconclusive(why, "call it on a real object")

    def _is_set(self, finding: Finding, name: str) -> bool:
        """Whether a method of the class or of a base sets the name on its objects, which a bare object lacks."""
        if "class" not in finding.proof:
            return False
        path, qualname = finding.proof["class"]
        project = self.context.project()
        module = project.module(Path(path))
        found = [facts for facts in (module.classes if module else ()) if facts.qualname == qualname]
        return any(name in stored_names(one) for facts in found for one in project.ancestry(facts).classes)


def _called(path: Path) -> str:
    """What a module is called, or the package that it stands for."""
    return path.stem if path.name != "__init__.py" else path.parent.name


def in_function(qualname: str) -> bool:
    """Whether a class is made anew by a function: by the usual spelling, a lower-case part of its name is one."""
    return "<locals>" in qualname or any(part[:1].islower() for part in qualname.split(".")[:-1])
