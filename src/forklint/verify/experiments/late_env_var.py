"""How FKL101 is proved: the same program with the variable set from the start, and where the program sets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forklint.knowledge.environment import Environment
from forklint.model import Finding
from forklint.source.paths import from_root
from forklint.verify import probed_variables as probed
from forklint.verify.debug_flags import TELLING
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line, not_ended, one_after_another
from forklint.verify.subjects import MAIN_GUARD, command_of, module_of
from forklint.verify.tolerant import (
    MENDED,
    Shown,
    how_it_ended,
    judged,
    mended,
    pair,
    stood_in_by,
    tolerance,
    tolerant_subject,
)
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Trial, Verdict

COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "GOTO_NUM_THREADS")
"""Variables that size a pool which threadpoolctl can ask."""
ENTRY = "pass a script that reaches it: forklint verify SCRIPT -- ARGS"
FROM_THE_START = "set from the start"
RUNTIMES = {"openblas": "OpenBLAS", "openmp": "OpenMP", "mkl": "MKL", "blis": "BLIS"}


class LateEnvVar(Experimenter):
    """Thread pools early against late, by a value that no pool would choose by itself."""

    code = "FKL101"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """A control with the variable in the environment of the process, and the program as it is."""
        variable, context = finding.proof["variable"], self.context
        claim = f"{variable} is set after it has been read"
        if variable in COUNTS:
            value = "2" if context.environment.facts["cores"] == 1 else "1"  # pools take all cores by themselves
            trials = self._trials(finding, "threads", {"variable": variable, "value": value}, ("early", "late"))
            return self._attempts(finding, claim, trials)
        tables = Environment(tuple(context.settings.env_vars))
        row = probed.row_of(variable, finding.proof.get("value"), finding.proof.get("readers", ()), tables)
        missing = probed.unsupported(row, context.environment, finding.proof.get("readers", ())) if row else None
        probes = probed.probes_of(variable, row, context.environment) if row else {}
        if missing is not None:
            return missing
        if row is not None and all(reader.deadline == "use" for reader in row.readers):
            return inconclusive(
                f"{variable} is read on each use, so it is not known to be set too late", "nothing to do"
            )
        if row is None or not probes:
            why = f"there is no experiment for {variable}"
            return inconclusive(why, f"print the affected setting after the import, with {variable} set early and late")
        spec = {"variable": variable, "value": row.value, "probes": probes}
        return self._attempts(finding, claim, self._trials(finding, "variable", spec, probed.SHOWN))

    def _trials(self, finding: Finding, task: str, spec: Mapping[str, Any], when: Sequence[str]) -> tuple[Trial, ...]:
        """The program with the variable set early, late, or not at all; all but the late one are controls."""
        path, program, context = from_root(Path(finding.path)), _program(finding), self.context
        module, folder = module_of(program)
        run = ("-m", module) if "." in module else (str(program),)
        command, place = (context.entry, context.folder) if context.entry else (run, folder)
        subject = Subject("entry", command, place, context.importable, {**context.variables, **self._further(spec)})
        told = {
            **spec,
            "file": str(path),
            "rows": (finding.span.row, finding.span.end_row),
            "threadpoolctl": _threadpoolctl(),
            "others": context.others,
        }
        without = {spec["variable"]: ""} if spec["variable"] in TELLING else {}
        early = {"early": {spec["variable"]: spec["value"]}, "unset": without, "late": without}
        return tuple(
            self.trial(
                finding,
                replace(subject, environment={**subject.environment, **early[one]}),
                task,
                told,
                Factors(environment=one),
                is_control=one != "late",
            )
            for one in when
        )

    def _further(self, spec: Mapping[str, Any]) -> Mapping[str, str]:
        """What makes a reader print what it has parsed, if that is how it is seen."""
        displays = any(probe.startswith("displays:") for probe in spec.get("probes", {}).values())
        return probed.DISPLAY if displays else {}

    def _attempts(self, finding: Finding, claim: str, trials: tuple[Trial, ...]) -> Experiment:
        """The program as it is run in life, else in a tolerant run.

        A script in a package may not run as a module of it, or not be meant to: then it is run under its path.
        """
        ordinary = Experiment(finding, claim, trials, side_by_side=True)
        late = trials[-1]
        attempts = [ordinary, self._tolerant(finding, ordinary, late)]
        program = _program(finding)
        script, importable = command_of(program)
        is_script = MAIN_GUARD.search(program.read_bytes()) and not finding.qualname
        if is_script and not self.context.entry and script != late.subject.command:
            _, folder = module_of(program)
            subject = replace(late.subject, command=script, paths=(*late.subject.paths, *importable, folder))
            alone = replace(late, name=f"{late.name}-script", subject=subject)
            attempts.append(self._tolerant(finding, ordinary, alone))
        return one_after_another(attempts)

    def _tolerant(self, finding: Finding, ordinary: Experiment, late: Trial) -> Experiment:
        """The pair where the world is missing; without a fix the control has the variable from the start."""
        context, path = self.context, from_root(Path(finding.path))
        subject, reach = tolerant_subject(late.subject), {}
        if finding.qualname and not context.entry:
            reach = {"reach": {"file": str(path), "qualname": finding.qualname}}
            subject = tolerant_subject(replace(late.subject, command=("--reach",)))
        facts = tolerance(finding, context.root, context.project(), further=(path,))
        trial = replace(late, subject=subject, spec={**late.spec, **reach})
        as_it_is, control = pair(trial, facts, finding, {})
        if not mended(finding):
            control = _from_the_start(as_it_is)
        return replace(ordinary, trials=(as_it_is, control), is_tolerant=True)

    def follow_up(self, experiment: Experiment, observations: Sequence[Observation]) -> tuple[Trial, ...]:
        """Where the fix does not help, since another import reads the variable before, it is set from the start."""
        if not experiment.is_tolerant or len(observations) != len(experiment.trials):
            return ()
        as_it_is, control = observations
        what = "probed" if as_it_is.trial.spec.get("probes") else "pools"
        is_reached = all(one.of(what) for one in observations)
        if not is_reached or not mended(experiment.finding) or _is_followed(control, as_it_is):
            return ()
        return (_from_the_start(as_it_is.trial),)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Confirmed for each pool that follows the variable when it is set early and not when it is set late."""
        if experiment.is_tolerant:
            as_it_is, *controls = observations
            control = controls[-1]
            found = judged(_shown(as_it_is, control), _shown(control, control), (as_it_is, control))
            if len(controls) > 1 and found.verdict is Verdict.CONFIRMED:
                return replace(found, evidence=f"{found.evidence}; {MENDED} it is not, for something reads it before")
            return found
        seen = {trial.trial.factors.environment: trial for trial in observations}
        probes = experiment.trials[0].spec.get("probes")
        for one in observations:
            if not one.of("probed" if probes else "pools"):
                row = experiment.finding.span.row
                is_cut = bool(one.of("loader-first") or one.of("in-another-process"))
                why = f"line {row} was never reached" + " before a loader was" * is_cut
                why = last_line(one.output) if one.ending.exit_code else why
                return (None if is_cut else not_ended(one)) or inconclusive(
                    why, f"pass a script that reaches {experiment.finding.path}:{row}"
                )
        if probes:
            shown = {str(when): probed.shown_in(one, probes) for when, one in seen.items()}
            return probed.judged(experiment.finding.proof["variable"], probes, shown)
        early, late = (seen[when].of("pools")[0] for when in ("early", "late"))
        wanted = int(experiment.trials[0].spec["value"])
        table = {name: _row(count, _pools(late).get(name), wanted) for name, count in _pools(early).items()}
        table = {name: row for name, row in table.items() if row}
        words = "; ".join(f"{name}: {row['verdict']}, {row['evidence']}" for name, row in sorted(table.items()))
        details = {"pools": table}
        if any(row["verdict"] == "confirmed" for row in table.values()):
            return Judgement(Verdict.CONFIRMED, words, details=details)
        if table:
            return Judgement(Verdict.REFUTED, words, details=details)
        variable = experiment.finding.proof["variable"]
        return inconclusive(
            f"no thread pool of this program is affected by {variable}", "run it where its reader is installed"
        )


def _program(finding: Finding) -> Path:
    """The file that is run: that of the finding, or the program that imports it when all is read already."""
    leads = finding.chain and not finding.qualname
    return from_root(Path(finding.chain[0].path if leads else finding.path))


def _from_the_start(as_it_is: Trial) -> Trial:
    """The control whose process begins with the variable."""
    early = {**as_it_is.subject.environment, as_it_is.spec["variable"]: as_it_is.spec["value"]}
    return replace(
        as_it_is,
        name=f"{as_it_is.name}-early",
        subject=replace(as_it_is.subject, environment=early),
        factors=replace(as_it_is.factors, environment="early", code=FROM_THE_START),
        is_control=True,
    )


def _shown(seen: Observation, control: Observation) -> Shown:
    """What one trial of a pair showed: pools that do not follow the variable, of those that do in the control."""
    probes = seen.trial.spec.get("probes")
    if not seen.of("probed" if probes else "pools"):
        return Shown(why=not_ended(seen) or inconclusive(f"the line was not reached: {how_it_ended(seen)}", ENTRY))
    if probes:
        return _probed(seen, control, probes)
    wanted = int(seen.trial.spec["value"])
    follows = _pools(control.of("pools")[0]) if control.of("pools") else {}
    own = _pools(seen.of("pools")[0])
    table = {name: _row(count, own.get(name), wanted) for name, count in sorted(follows.items())}
    late = [f"{name}: {row['evidence']}" for name, row in table.items() if row and row["verdict"] == "confirmed"]
    missing = stood_in_by([seen]).get("package", []) if not late else []
    made_up = (f"{missing[0]} is missing, which may load a library that reads it",) if missing else ()
    works = any(count == wanted for count in follows.values())
    return Shown(seen.trial.spec["variable"], "; ".join(late), "", made_up, works=works, spared=bool(table))


def _probed(seen: Observation, control: Observation, probes: Mapping[str, str]) -> Shown:
    """The same for a variable that sizes no pool: readers that show another thing than in the control."""
    own, follows = (probed.shown_in(one, probes) for one in (seen, control))
    late = [f"{name}: {own[name]} instead of {text}" for name, text in sorted(follows.items()) if own.get(name) != text]
    variable = seen.trial.spec["variable"]
    if seen is not control and not late:
        return Shown(why=inconclusive(f"nothing that was observed is affected by {variable}", ENTRY))
    return Shown(variable, "; ".join(late), works=any(follows.values()))


def _is_followed(control: Observation, as_it_is: Observation) -> bool:
    """Whether the control shows a reader that follows the variable, so that the two can be compared."""
    probes = control.trial.spec.get("probes")
    if probes:
        return probed.shown_in(control, probes) != probed.shown_in(as_it_is, probes)
    return _shown(control, control).works


def _pools(record: Mapping[str, Any]) -> dict[str, int]:
    """Threads of each runtime; of several of one kind the largest, since one that did not follow is enough."""
    counts: dict[str, int] = {}
    for pool in record["pools"]:
        name = RUNTIMES.get(pool["internal_api"], RUNTIMES.get(pool["user_api"], pool["internal_api"]))
        counts[name] = max(counts.get(name, 0), pool["num_threads"])
    return counts


def _row(early: int, late: int | None, wanted: int) -> dict[str, str]:
    """What one pool shows; empty if it does not follow the variable at all."""
    if early != wanted or late is None:
        return {}
    if late == wanted:
        return {"verdict": "refuted", "evidence": f"{late} threads although it was set late"}
    return {"verdict": "confirmed", "evidence": f"{late} threads instead of {wanted}"}


def _threadpoolctl() -> str:
    """The file of threadpoolctl, which asks pools for their size; it is one file that needs nothing else."""
    import threadpoolctl  # type: ignore[import-untyped]  # noqa: PLC0415 - no other experiment needs it

    return str(threadpoolctl.__file__)
