"""What the page of a run of ``forklint verify`` shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.records import dataclass
from forklint.report import Outcome, count
from forklint.report.cures import figures as way_figures
from forklint.report.cures import summary as cured
from forklint.report.html import diffs, lint
from forklint.report.html.code import Excerpts
from forklint.report.html.page import fill
from forklint.report.html.plots import MOST_LINES, plots
from forklint.report.html.rule_pages import explanations
from forklint.report.sources import Sources
from forklint.report.verdicts import DECIDED, by_method, cell_of, ended, evidence_by_cell
from forklint.source.lines import split_lines
from forklint.source.paths import from_root
from forklint.verify.curing import Cure
from forklint.verify.doctor import Environment
from forklint.verify.proving import Result
from forklint.verify.series import Series, of_experiment
from forklint.verify.tolerant import KINDS
from forklint.verify.words import Observation, Verdict

WORKERS = re.compile(r"(?:^|, )(\d+) workers")
MOST_OUTPUT = 4000
"""Characters of a trial's output and of its stacks that are shown: their ends."""
SLUGS = {verdict.value: verdict.name.lower().replace("_", "-") for verdict in Verdict}
"""Verdicts as names of classes."""
FIX_SLUGS = {"fixed": "refuted", "not fixed": "confirmed", "no fix": "not-reproduced", "inconclusive": "inconclusive"}
"""The outcome of a fix, by the verdict whose color it has."""


@dataclass(frozen=True)
class Proofs:
    """What a run of verify has to show."""

    environment: Environment
    results: Sequence[Result]
    untried: Sequence[Finding]
    cures: Sequence[Cure]
    written: int
    """How many fixes were written."""
    outcome: Outcome
    """Of lint; its sources hold the files as they were before any fix was written."""
    machines: Mapping[str, Environment] = field(default_factory=dict)
    """The environments of other machines that ran trials, by name."""


def render(proofs: Proofs) -> str:
    """Make the page of a run."""
    return fill("verify.html.jinja", view(proofs))


def view(proofs: Proofs) -> dict[str, Any]:
    """Make what the template shows."""
    results, excerpts = proofs.results, Excerpts(proofs.outcome.sources)
    decided = sum(result.judgement.verdict in DECIDED for result in results)
    counts = Counter(SLUGS[result.judgement.verdict.value] for result in results)
    cures = {cure.result.finding: cure for cure in proofs.cures}
    hypotheses = [
        _hypothesis(number, result, cures.get(result.finding), proofs.outcome.sources, excerpts)
        for number, result in enumerate(results, 1)
    ]
    return {
        "title": f"{decided} of {count(len(results), 'finding')} proved or refuted",
        "lead": f"{cured(proofs.cures, proofs.written)}." if proofs.cures else "Each finding was tested by running it.",
        "tallies": lint.tallies(counts, {slug: verdict for verdict, slug in SLUGS.items()}),
        "rules": lint.rules([result.finding for result in results]),
        "environment": list(proofs.environment.rows()),
        "risks": list(proofs.environment.risks()),
        "machines": [(name, list(one.rows())) for name, one in proofs.machines.items()],
        "hypotheses": hypotheses,
        "untried": [
            {"code": one.code, "name": one.name, "path": one.path, "row": one.span.row, "message": one.message}
            for one in proofs.untried
        ],
        "failures": [note for note in proofs.outcome.notes if note.failure],
        "explanations": explanations(result.finding.code for result in results),
    }


def _hypothesis(number: int, result: Result, cure: Cure | None, sources: Sources, excerpts: Excerpts) -> dict[str, Any]:
    finding, judgement = result.finding, result.judgement
    shown = [(_name(seen), series) for seen, series in _plotted(result)]
    return {
        **lint.describe(number, finding, excerpts),
        "path": finding.path,
        "kind": SLUGS[judgement.verdict.value],
        "verdict": judgement.verdict.value,
        "by_method": by_method(judgement).lstrip(", "),
        "machine": result.machine,
        "reruns": result.reruns,
        "claim": result.claim,
        "evidence": evidence_by_cell(judgement) or [([], judgement.evidence)],
        "note": judgement.details.get("note", ""),
        "advice": judgement.advice,
        "stood_in": _stood_in(judgement.details.get("stood_in", {})),
        "grid": _grid(result),
        "trials": [_trial(result, seen) for seen in result.observations],
        "plots": plots(f"plot-{number}", shown),
        "lines": [name for name, _ in shown],
        "cure": _cure(cure, sources) if cure else None,
    }


def _name(seen: Observation) -> str:
    return f"{seen.trial.factors}{' (control)' if seen.trial.is_control else ''}"


def _plotted(result: Result) -> list[tuple[Observation, Series]]:
    """The trials whose lines are drawn, each cell once: the first control, then treatments, then other controls."""
    pairs = list(zip(result.observations, of_experiment(result.observations), strict=True))
    controls = [pair for pair in pairs if pair[0].trial.is_control]
    ordered = [*controls[:1], *(pair for pair in pairs if not pair[0].trial.is_control), *controls[1:]]
    once: dict[str, tuple[Observation, Series]] = {}
    for seen, series in ordered:
        once.setdefault(_name(seen), (seen, series))
    return list(once.values())[:MOST_LINES]


def _grid(result: Result) -> dict[str, Any] | None:
    """Trials by start method (rows) and workers (columns); None if they vary neither."""
    entries: dict[tuple[str, str], list[dict[str, str]]] = {}
    for seen in result.observations:
        cell = cell_of(result, seen)
        entry = {"verdict": cell or "run", "kind": SLUGS.get(cell, "control"), "how": ended(seen)}
        entries.setdefault(_row_and_column(str(seen.trial.factors)), []).append(entry)
    for name, verdict in result.judgement.details.get("cells", {}).items():
        key = _row_and_column(name)
        if key not in entries:
            entries[key] = [{"verdict": verdict, "kind": SLUGS.get(verdict, "control"), "how": "not run"}]
    grouped = {key: _together(some) for key, some in entries.items()}
    columns = sorted({column for _, column in entries}, key=lambda one: (not one, int(one or 0)))
    rows = list(dict.fromkeys(row for row, _ in entries))
    if len(entries) < 2:
        return None
    return {
        "columns": [f"{one} workers" if one else "workers as in the program" for one in columns],
        "rows": [{"name": row, "cells": [grouped.get((row, column), []) for column in columns]} for row in rows],
    }


def _together(entries: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Trials of one cell with the same verdict as one entry."""
    verdicts: dict[str, list[dict[str, str]]] = {}
    for one in entries:
        verdicts.setdefault(one["verdict"], []).append(one)
    return [
        some[0] if len(some) == 1 else {**some[0], "how": f"{len(some)} trials, the first: {some[0]['how']}"}
        for some in verdicts.values()
    ]


def _row_and_column(factors: str) -> tuple[str, str]:
    found = WORKERS.search(factors)
    rest = WORKERS.sub("", factors).lstrip(", ")
    return rest or "no workers", found[1] if found else ""


def _trial(result: Result, seen: Observation) -> dict[str, Any]:
    first, speed, memory = way_figures(seen)
    return {
        "name": seen.trial.name,
        "factors": str(seen.trial.factors),
        "verdict": cell_of(result, seen),
        "kind": SLUGS.get(cell_of(result, seen), "control"),
        "ended": ended(seen),
        "first": first,
        "speed": speed,
        "memory": memory,
        "output": seen.output[-MOST_OUTPUT:].strip(),
        "stacks": seen.stacks[-MOST_OUTPUT:].strip(),
    }


def _stood_in(found: Mapping[str, Sequence[str]]) -> list[tuple[str, list[str]]]:
    """What was stood in, by kind, and what was refused."""
    rows = [(words, list(found[kind])) for kind, words in KINDS.items() if found.get(kind)]
    return [*rows, ("refused", list(found["refused"]))] if found.get("refused") else rows


def _cure(cure: Cure, sources: Sources) -> dict[str, Any]:
    """A fix that was tried: what its trials showed beside those without it, and what it changes."""
    confirmed = [
        {"name": _name(seen), "when": "before", "figures": way_figures(seen), "verdict": cell}
        for seen in cure.result.observations
        if (cell := cell_of(cure.result, seen)) == Verdict.CONFIRMED.value
    ]
    after = [
        {"name": way.name, "when": "after", "figures": way_figures(way.seen), "verdict": "works"} for way in cure.ways
    ]
    return {
        "outcome": cure.outcome,
        "kind": FIX_SLUGS[cure.outcome],
        "evidence": cure.evidence,
        "rows": [*confirmed, *after],
        "changes": [change for path, text in cure.texts.items() for change in _changes(cure, path, text, sources)],
    }


def _changes(cure: Cure, path: str, after: str, sources: Sources) -> list[diffs.Change]:
    finding = cure.result.finding
    is_its_own = str(from_root(Path(finding.path)).resolve()) == path
    before = sources.lines(finding.path if is_its_own else path)
    name = finding.path if is_its_own else Path(path).name
    return [diffs.Change("place", name), *diffs.between(before, split_lines(after))]
