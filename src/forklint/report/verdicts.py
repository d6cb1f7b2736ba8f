"""The text and JSON reports of ``forklint verify``: environment, verdicts with their evidence, trials."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from click import style

from forklint.model import Finding
from forklint.report import count, file_and_cell, spelt_out, visible
from forklint.report import json as json_report
from forklint.source.paths import relative_to
from forklint.verify.doctor import Environment
from forklint.verify.proving import Planned, Result
from forklint.verify.words import Experiment, Judgement, Observation, Subject, Verdict

WIDTH = 100
MIB = 2**20
COLORS = {
    Verdict.CONFIRMED: "red",
    Verdict.REFUTED: "green",
    Verdict.NOT_REPRODUCED: "yellow",
    Verdict.UNSUPPORTED: "blue",
    Verdict.INCONCLUSIVE: "magenta",
}
ON_THE_WAY = {
    "one": (
        "Loaders that it iterates before yield one batch each; the script is stopped when it starts a second epoch of "
        "one of them, or would save a model."
    ),
    "all": "Loaders that it iterates before are read to the end, and models are saved.",
}
"""What happens to the rest of a script, by ``Context.others``."""
REFUSED = (
    "Tolerant runs, and runs with generated data, may not write, rename or delete files outside the temporary "
    "directory of the trial, connect to another machine, or start a program. The report counts refused attempts."
)
RISK = style("risk", fg="yellow", bold=True)
DECIDED = (Verdict.CONFIRMED, Verdict.REFUTED)


def environment(found: Environment) -> str:
    """The environment as a table, with its risks."""
    rows = list(found.rows())
    width = max(len(name) for name, _ in rows)
    lines = [f"{style(name.ljust(width), bold=True)}  {visible(value)}" for name, value in rows]
    lines += [_wrapped(f"risk: {risk}", "  ").replace("risk", RISK, 1) for risk in found.risks()]
    return "\n".join(lines) + "\n"


def machines(found: Mapping[str, Environment]) -> str:
    """The environments of other machines that ran trials; empty if there are none."""
    return "".join(f"\n{style(visible(name), bold=True)}\n{environment(one)}" for name, one in found.items())


def plan(planned: Sequence[Planned], isolation: str) -> str:
    """What would be run: each trial with its command and time limit, and how files that it writes are isolated."""
    lines = []
    for one in planned:
        lines.append(f"{style(one.finding.code, bold=True)} {_place(one.finding)}")
        if isinstance(one.outcome, Judgement):
            lines.append(_wrapped(f"{one.outcome.verdict.value}: {one.outcome.evidence}", "  "))
            lines += [_wrapped(f"to do: {one.outcome.advice}", "  ")] if one.outcome.advice else []
            continue
        for attempt in one.outcome.attempts:
            otherwise = "" if attempt is one.outcome else "otherwise, "
            for subject in dict.fromkeys(_told(trial.subject) for trial in attempt.trials):
                lines.append(
                    _wrapped(
                        f"{otherwise}{subject}, with a limit of {attempt.trials[0].seconds:.0f} s for each of", "  "
                    )
                )
            width = max(len(trial.name) for trial in attempt.trials)
            lines += [f"    {trial.name.ljust(width)}  {trial.factors}" for trial in attempt.trials]
    scripts = [one for one in planned if any(trial.subject.kind == "entry" for trial in one.trials)]
    if scripts:
        lines.append(
            _wrapped(f"Scripts are run up to the loader in question, including all code before it. {isolation}", "")
        )
        lines.append(_wrapped(ON_THE_WAY[scripts[0].context.others], ""))
    if any(attempt.is_tolerant for one in planned for attempt in _attempts(one)):
        lines.append(_wrapped(REFUSED, ""))
    return "\n".join(lines or ["No findings to verify."]) + "\n"


def _attempts(planned: Planned) -> Sequence[Experiment]:
    return () if isinstance(planned.outcome, Judgement) else planned.outcome.attempts


def _place(finding: Finding) -> str:
    return f"{file_and_cell(finding.path, finding.notebook_cell)}:{finding.span.row}"


def _told(subject: Subject) -> str:
    """What a trial runs, in a few words."""
    words = [_short(word) for word in subject.command]
    folder = "" if subject.folder == Path.cwd() else f" in {visible(str(subject.folder))}"
    if subject.kind == "class" and "class" in words:
        return f"{words[-1]}() of {words[-2]}, with its defaults{folder}"
    if subject.kind == "factory":
        calls = (
            f"{one['call']}({', '.join(f'{name}={value!r}' for name, value in one['arguments'].items())})"
            for one in json.loads(subject.command[-1])
        )
        return " and ".join(map(visible, calls)) + folder
    if subject.kind == "entry":
        return f"python {' '.join(words)}{folder}"
    if subject.kind == "made":
        return f"the class, with generated arguments and data{folder}"
    return f"an import of the class{folder}"


def _short(word: str) -> str:
    return visible(relative_to(Path(word), Path.cwd())) if word.startswith("/") else visible(shlex.quote(word))


def text(results: Sequence[Result]) -> str:
    """Each hypothesis with its verdict, its evidence and its cells."""
    return "\n".join(line for result in results for line in (*_result(result), ""))


def _result(result: Result) -> Iterator[str]:
    judgement, finding = result.judgement, result.finding
    verdict = style(judgement.verdict.value, fg=COLORS[judgement.verdict], bold=True)
    where = f" on {visible(result.machine)}" if result.machine else ""
    yield f"{style(finding.code, bold=True)} {_place(finding)}: {verdict}{where}{by_method(judgement)}"
    yield _wrapped(f"claim: {result.claim or finding.message}", "  ")
    yield from _evidence(judgement)
    if judgement.details.get("note"):
        yield _wrapped(f"note: {judgement.details['note']}", "  ")
    if judgement.advice:
        yield _wrapped(f"to do: {judgement.advice}", "  ")
    for loss in result.reruns:
        yield _wrapped(f"lost, and run again: {loss}" if result.machine else f"lost: {loss}", "  ")
    yield from _cells(result)


def by_method(judgement: Judgement) -> str:
    """The start methods of this verdict, and the verdicts of the others, if they differ."""
    told: dict[str, list[str]] = {}
    for factors, cell in judgement.details.get("shown", {}).items():
        told.setdefault(cell["verdict"], []).append(factors.partition(",")[0])
    if len(told) < 2:
        return ""
    first = judgement.verdict.value
    parts = [f" under {' and '.join(told[first])}"]
    parts += [f"{verdict} under {' and '.join(methods)}" for verdict, methods in told.items() if verdict != first]
    return ", ".join(parts)


def _evidence(judgement: Judgement) -> Iterator[str]:
    """The evidence, followed by that of other start methods; on separate lines if there are several."""
    pieces = evidence_by_cell(judgement)
    if not pieces:  # then there is no note, either
        yield _wrapped(f"evidence: {judgement.evidence}", "  ")
        return
    yield "  evidence:"
    for factors, evidence in pieces:
        yield _wrapped(f"{' and '.join(factors)}: {evidence}", "    ")


def evidence_by_cell(judgement: Judgement) -> list[tuple[list[str], str]]:
    """Each piece of evidence with the cells that showed it, what decided first; empty if all showed the same."""
    pieces: dict[str, list[str]] = {}
    shown = judgement.details.get("shown", {})
    for factors, cell in sorted(shown.items(), key=lambda item: item[1]["verdict"] != judgement.verdict.value):
        pieces.setdefault(cell["evidence"], []).append(factors)
    return [(factors, evidence) for evidence, factors in pieces.items()] if len(pieces) > 1 else []


def _cells(result: Result) -> Iterator[str]:
    """One line for each trial, with its verdict and its result."""
    cells = result.judgement.details.get("cells", {})
    rows = {}
    for seen in result.observations:
        rows[str(seen.trial.factors)] = (cell_of(result, seen), ended(seen) + figures(seen))
    rows |= {name: (verdict, "") for name, verdict in cells.items() if name not in rows}
    width = max((len(name) for name in rows), default=0)
    for name, (verdict, how) in rows.items():
        yield f"    {name.ljust(width)}  {verdict.ljust(16)}  {how}".rstrip()


def cell_of(result: Result, seen: Observation) -> str:
    """What one trial was, or said: ``control``, or a verdict; that of the finding if there is no other treatment."""
    if seen.trial.is_control:
        return "control"
    treatments = {str(one.trial.factors) for one in result.observations if not one.trial.is_control}
    alone = result.judgement.verdict.value if len(treatments) == 1 else ""
    verdict: str = result.judgement.details.get("cells", {}).get(str(seen.trial.factors), alone)
    return verdict


def ended(seen: Observation) -> str:
    """How a trial ended, in a few words."""
    ending = seen.ending
    how = f"exit code {ending.exit_code}" if ending.signal == "" else ending.signal
    if ending.stopped_for:
        how = f"stopped for {ending.stopped_for}"
    left = f", left behind and removed: {', '.join(seen.leaked)}" if seen.leaked else ""
    return f"{how}, {seen.wall_seconds:.1f} s{left}"


def figures(seen: Observation) -> str:
    """Memory, time and speed of a trial, as far as they were measured, including the cost of measuring."""
    parts = [f"{seen.peak_bytes / MIB:.0f} MiB"] if seen.peak_bytes else []
    if seen.first_batch_seconds is not None:
        parts.append(f"first batch {seen.first_batch_seconds:.2f} s")
    if seen.samples_per_second is not None:
        parts.append(f"{seen.samples_per_second:.0f} samples/s")
    return "".join(f", {part}" for part in parts)


def _wrapped(words: str, indent: str) -> str:
    return textwrap.fill(
        visible(words),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def untried(findings: Sequence[Finding]) -> str:
    """A line with the findings whose rules have no experiment; empty if there are none."""
    if not findings:
        return ""
    places = ", ".join(f"{one.code} {visible(one.path)}:{one.span.row}" for one in findings)
    return _wrapped(f"Not verified (no experiment for the rule): {places}", "") + "\n"


def summary(results: Sequence[Result], untried: Sequence[Finding] = ()) -> str:
    """The last line, so that success cannot mean that nothing was verified."""
    decided = sum(result.judgement.verdict in DECIDED for result in results)
    counts = [(verdict, sum(result.judgement.verdict is verdict for result in results)) for verdict in Verdict]
    parts = ", ".join(f"{number} {verdict.value}" for verdict, number in counts if number)
    left = f"; {len(untried)} not verified" if untried else ""
    return (
        f"{decided} of {count(len(results), 'finding')} confirmed or refuted" + (f": {parts}" if parts else "") + left
    )


def to_json(
    found: Environment,
    results: Sequence[Result],
    untried: Sequence[Finding] = (),
    cures: Mapping[Finding, Mapping[str, Any]] | None = None,
    others: Mapping[str, Environment] | None = None,
) -> str:
    """The whole report as JSON; ``cures`` has the results of fixes, ``others`` the machines that ran trials, too."""
    told = {
        "environment": found.facts,
        "machines": {name: one.facts for name, one in (others or {}).items()},
        "experiments": [_to_dict(result) | _cured(result, cures or {}) for result in results],
        "not_tried": [json_report.to_dict(finding) for finding in untried],
    }
    return json.dumps(told, indent=2) + "\n"


def properties(result: Result) -> dict[str, Any]:
    """The verdict, evidence and trials of a finding as properties of its result in SARIF."""
    judgement = result.judgement
    told: dict[str, Any] = {"verdict": judgement.verdict.value, "evidence": spelt_out(judgement.evidence)}
    told |= {key: spelt_out(words) for key, words in (("claim", result.claim), ("advice", judgement.advice)) if words}
    trials = [
        {
            "id": seen.trial.name,
            "cell": str(seen.trial.factors),
            "verdict": cell_of(result, seen),
            "ended": spelt_out(ended(seen)),
        }
        for seen in result.observations
    ]
    told |= {"machine": spelt_out(result.machine)} if result.machine else {}
    return told | ({"trials": trials} if trials else {})


def _cured(result: Result, cures: Mapping[Finding, Mapping[str, Any]]) -> dict[str, Any]:
    return {"fix": dict(cures[result.finding])} if result.finding in cures else {}


def _to_dict(result: Result) -> dict[str, Any]:
    judgement = result.judgement
    return {
        "finding": json_report.to_dict(result.finding),
        "claim": result.claim,
        "verdict": judgement.verdict.value,
        "evidence": judgement.evidence,
        "advice": judgement.advice,
        "details": dict(judgement.details),
        "machine": result.machine,
        "reruns": list(result.reruns),
        "trials": [_trial(seen) for seen in result.observations],
    }


def _trial(seen: Observation) -> dict[str, Any]:
    factors, ending = seen.trial.factors, seen.ending
    return {
        "id": seen.trial.name,
        "is_control": seen.trial.is_control,
        "factors": {name: value for name, value in vars(factors).items() if value is not None},
        "exit_code": ending.exit_code,
        "signal": ending.signal,
        "stopped_for": ending.stopped_for,
        "wall_seconds": round(seen.wall_seconds, 3),
        "peak_bytes": seen.peak_bytes,
        "first_batch_seconds": seen.first_batch_seconds,
        "samples_per_second": seen.samples_per_second,
        "leaked": list(seen.leaked),
        "stacks": seen.stacks,
        "output": seen.output,
    }
