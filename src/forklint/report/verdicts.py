"""The outcome of ``forklint verify``: environment, hypotheses, verdicts with their evidence, cells."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from click import style

from forklint.report import count, spelt_out, visible
from forklint.report import json as json_report
from forklint.source.paths import relative_to
from forklint.verify.doctor import Environment
from forklint.verify.proving import Planned, Result
from forklint.verify.words import Judgement, Observation, Verdict

WIDTH = 100
COLORS = {
    Verdict.CONFIRMED: "red",
    Verdict.REFUTED: "green",
    Verdict.NOT_REPRODUCED: "yellow",
    Verdict.UNSUPPORTED: "blue",
    Verdict.INCONCLUSIVE: "magenta",
}
DECIDED = (Verdict.CONFIRMED, Verdict.REFUTED)


def environment(found: Environment) -> str:
    """The environment as a table, with what is risky in it."""
    rows = list(found.rows())
    width = max(len(name) for name, _ in rows)
    lines = [f"{style(name.ljust(width), bold=True)}  {value}" for name, value in rows]
    lines += [_wrapped(f"{style('risk', fg='yellow', bold=True)}: {risk}", "  ") for risk in found.risks()]
    return "\n".join(lines) + "\n"


def plan(planned: Sequence[Planned]) -> str:
    """What would be run, each trial with its command and its limit."""
    lines = []
    for one in planned:
        place = f"{visible(one.finding.path)}:{one.finding.span.row}"
        lines.append(f"{style(one.finding.code, bold=True)} {place}")
        if isinstance(one.outcome, Judgement):
            lines.append(_wrapped(f"{one.outcome.verdict.value}: {one.outcome.evidence}", "    "))
        first = set() if isinstance(one.outcome, Judgement) else {trial.name for trial in one.outcome.trials}
        for trial in one.trials:
            otherwise = "" if trial.name in first else "otherwise, "
            command = " ".join(("python", *(_short(word) for word in trial.subject.command)))
            lines.append(f"    {trial.name}: {otherwise}{trial.factors}: {command}, {trial.seconds:.0f} s at most")
    return "\n".join(lines) + "\n"


def _short(word: str) -> str:
    return visible(relative_to(Path(word), Path.cwd())) if word.startswith("/") else visible(word)


def text(results: Sequence[Result]) -> str:
    """Each hypothesis with its verdict, its evidence and its cells."""
    return "\n".join(line for result in results for line in (*_result(result), ""))


def _result(result: Result) -> Iterator[str]:
    judgement, finding = result.judgement, result.finding
    verdict = style(judgement.verdict.value, fg=COLORS[judgement.verdict], bold=True)
    yield f"{style(finding.code, bold=True)} {visible(finding.path)}:{finding.span.row}: {verdict}"
    yield _wrapped(f"claim: {result.claim or finding.message}", "  ")
    yield _wrapped(f"evidence: {judgement.evidence}", "  ")
    if judgement.advice:
        yield _wrapped(f"to do: {judgement.advice}", "  ")
    yield from _cells(result)


def _cells(result: Result) -> Iterator[str]:
    """The grid: one line for each trial, with what it was and what became of it."""
    cells = result.judgement.details.get("cells", {})
    rows = {}
    for seen in result.observations:
        name = str(seen.trial.factors)
        rows[name] = (cells.get(name, "control" if seen.trial.is_control else ""), ended(seen))
    width = max((len(name) for name in rows), default=0)
    for name, (verdict, how) in rows.items():
        yield f"    {name.ljust(width)}  {verdict.ljust(14)}  {how}".rstrip()


def ended(seen: Observation) -> str:
    """How a trial ended, in a few words."""
    ending = seen.ending
    how = f"exit code {ending.exit_code}" if ending.signal == "" else ending.signal
    if ending.stopped_for:
        how = f"stopped for {ending.stopped_for}"
    left = f", left behind and removed: {', '.join(seen.leaked)}" if seen.leaked else ""
    return f"{how}, {seen.wall_seconds:.1f} s{left}"


def _wrapped(words: str, indent: str) -> str:
    return textwrap.fill(
        visible(words) if "\x1b" not in words else words,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def summary(results: Sequence[Result]) -> str:
    """The last line: so that a green run cannot mean that nothing was tried."""
    decided = sum(result.judgement.verdict in DECIDED for result in results)
    counts = [(verdict, sum(result.judgement.verdict is verdict for result in results)) for verdict in Verdict]
    parts = ", ".join(f"{number} {verdict.value}" for verdict, number in counts if number)
    return f"{decided} of {count(len(results), 'finding')} proved or refuted" + (f": {parts}" if parts else "")


def to_json(found: Environment, results: Sequence[Result]) -> str:
    """All of it as one JSON text."""
    experiments = [_to_dict(result) for result in results]
    return json.dumps({"environment": found.facts, "experiments": experiments}, indent=2) + "\n"


def properties(result: Result) -> dict[str, Any]:
    """The proof of a finding as properties of its result in SARIF: the verdict, why, and what was run."""
    judgement = result.judgement
    told: dict[str, Any] = {"verdict": judgement.verdict.value, "evidence": spelt_out(judgement.evidence)}
    told |= {key: spelt_out(words) for key, words in (("claim", result.claim), ("advice", judgement.advice)) if words}
    cells = judgement.details.get("cells", {})
    trials = [
        {
            "id": seen.trial.name,
            "cell": str(seen.trial.factors),
            "verdict": cells.get(str(seen.trial.factors), "control" if seen.trial.is_control else ""),
            "ended": spelt_out(ended(seen)),
        }
        for seen in result.observations
    ]
    return told | ({"trials": trials} if trials else {})


def _to_dict(result: Result) -> dict[str, Any]:
    judgement = result.judgement
    return {
        "finding": json_report.to_dict(result.finding),
        "claim": result.claim,
        "verdict": judgement.verdict.value,
        "evidence": judgement.evidence,
        "advice": judgement.advice,
        "details": dict(judgement.details),
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
        "leaked": list(seen.leaked),
        "stacks": seen.stacks,
        "output": seen.output,
    }
