"""The fix of a confirmed finding, tried out: the same trials with the mended text, and what each way out costs.

The project stays as it is: the mended text is laid into what a trial sees of it (see ``isolation``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from forklint.model import Finding
from forklint.source.paths import from_root
from forklint.verify.experiments.registry import experimenters
from forklint.verify.proving import Planned, Result, Tell, observe
from forklint.verify.runner import TrialRunner
from forklint.verify.tolerant import MENDED, mended
from forklint.verify.words import Observation, Trial, Verdict

FIXED, UNDECIDED = "fixed", "inconclusive"
ROWS = ("first", "last", "row")
RANGES = ("rows", "use")
"""Names under which the spec of a trial tells rows of a file: one by one, or as a list."""


@dataclass(frozen=True)
class Way:
    """One way out of a hazard, and a trial that took it."""

    name: str
    seen: Observation


@dataclass(frozen=True)
class Cure:
    """What became of a confirmed finding with its fix."""

    result: Result
    """The finding, and how it was confirmed."""
    outcome: str
    """``fixed``, ``not fixed``, ``no fix`` or ``inconclusive``."""
    evidence: str
    ways: tuple[Way, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """By file, what it says with the fix."""

    @property
    def is_proved(self) -> bool:
        """Whether the fix was seen to remove the harm."""
        return self.outcome == FIXED


def cures(
    planned: Sequence[Planned],
    results: Sequence[Result],
    runner_of: Callable[[Result], TrialRunner],
    tell: Tell,
    together: Callable[[Sequence[Finding]], Mapping[str, str]],
) -> list[Cure]:
    """Try the fix of each confirmed finding; the others have none to try. Raises CannotRunError.

    One that by itself decides nothing, since another hazard stands in the way, is tried with the fixes of all:
    ``together`` gives the files that these change, by path.
    """
    pairs = [(one, result) for one, result in zip(planned, results, strict=True) if _is_confirmed(result)]
    found = [cure(one, result, runner_of(result), tell, mended(result.finding)) for one, result in pairs]
    if len(pairs) < 2 or all(one.outcome != UNDECIDED for one in found):
        return found
    texts = together([result.finding for _, result in pairs])
    for number, (one, result) in enumerate(pairs):
        if found[number].outcome == UNDECIDED and str(from_root(Path(result.finding.path)).resolve()) in texts:
            again = cure(one, result, runner_of(result), tell, texts)
            found[number] = replace(again, evidence=f"with the fixes of the other findings: {again.evidence}")
    return found


def _is_confirmed(result: Result) -> bool:
    return result.judgement.verdict is Verdict.CONFIRMED


def cure(planned: Planned, result: Result, runner: TrialRunner, tell: Tell, texts: Mapping[str, str]) -> Cure:
    """Run the experiment that confirmed a finding once more, on mended texts of files; empty if there is no fix."""
    finding, experiment = result.finding, result.experiment
    if not texts or experiment is None:
        words = finding.fix.message if finding.fix is not None else "forklint has no fix for it"
        return Cure(result, "no fix", f"no automatic fix: {words}", tuple(_spared(result)))
    if _is_proved_by(result):
        return Cure(result, FIXED, "the fix was the control of the experiment", tuple(_spared(result)), texts)
    if not all(runner.can_lay_over(trial) for trial in experiment.trials):
        why = "this system cannot run a trial with changed files"
        return Cure(result, UNDECIDED, why, tuple(_spared(result)), texts)
    moved = {path: Moved(Path(path).read_text(encoding="utf-8", errors="replace"), texts[path]) for path in texts}
    again = replace(experiment, trials=tuple(_on(trial, texts, moved) for trial in experiment.trials))
    experimenter = experimenters()[finding.code](planned.context)
    seen = observe(again, experimenter, runner, tell)
    judgement = experimenter.judge(again, seen)
    outcome = {Verdict.CONFIRMED: "not fixed", Verdict.INCONCLUSIVE: UNDECIDED}.get(judgement.verdict, FIXED)
    return Cure(result, outcome, judgement.evidence, (*_ways(seen), *_spared(result)), texts)


def _is_proved_by(result: Result) -> bool:
    """Whether the proof had the fix for its control."""
    by_trial = any(seen.trial.is_control and seen.trial.factors.code == MENDED for seen in result.observations)
    return by_trial or result.judgement.details.get("control") == "fix"


def _on(trial: Trial, texts: Mapping[str, str], moved: Mapping[str, Moved]) -> Trial:
    """The same trial on mended texts, in which the lines that it is about may stand elsewhere."""
    spec: Mapping[str, Any] = trial.spec
    for path, rows in moved.items():
        spec = {name: rows.within(value, path) for name, value in rows.within(spec, path).items()}
    return replace(trial, name=f"{trial.name}-fixed", spec=spec, texts=dict(texts))


def _is_at(spec: Mapping[str, Any], path: str) -> bool:
    return isinstance(spec.get("file"), str) and str(Path(spec["file"]).resolve()) == path


class Moved:
    """Where the lines of a text stand in another that was made of it."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = before.splitlines(), after.splitlines()
        self._rows: dict[int, int] = {}
        for old, new, size in SequenceMatcher(None, self._before, self._after, autojunk=False).get_matching_blocks():
            self._rows.update((old + step + 1, new + step + 1) for step in range(size))

    def row(self, row: int) -> int:
        """The row of a line: of one that was moved, where its text stands; of one that was changed, the next one's."""
        if row in self._rows or not 0 < row <= len(self._before):
            return self._rows.get(row, row)
        alike = [number for number, line in enumerate(self._after, 1) if line.strip() == self._before[row - 1].strip()]
        above = max((old for old in self._rows if old < row), default=0)
        return alike[0] if len(alike) == 1 else self._rows.get(above, 0) + 1

    def within(self, value: Any, path: str) -> Any:
        """A part of a trial's spec, with the rows of the file at ``path`` as they are now."""
        if not isinstance(value, Mapping) or not _is_at(value, path):
            return value
        found = dict(value)
        found |= {name: self.row(found[name]) for name in ROWS if isinstance(found.get(name), int)}
        return found | {
            name: [self.row(row) for row in found[name]]
            for name in RANGES
            if isinstance(found.get(name), (list, tuple))
        }


def _ways(seen: Sequence[Observation]) -> Iterator[Way]:
    """The trials with the fix that gave batches to workers."""
    for one in seen:
        if one.trial.factors.workers and one.samples_per_second is not None:
            yield Way(f"the fix: {one.trial.factors}", one)


def _spared(result: Result) -> Iterator[Way]:
    """Trials of the code as it is that were not harmed: those without workers, and those by another start method."""
    cells: Mapping[str, str] = result.judgement.details.get("cells", {})
    for one in result.observations:
        factors = one.trial.factors
        if one.samples_per_second is None or factors.code:
            continue
        if factors.workers == 0 and one.trial.is_control and "part" not in one.trial.spec:
            yield Way("num_workers=0", one)
        elif not one.trial.is_control and cells.get(str(factors)) not in {None, Verdict.CONFIRMED.value}:
            yield Way(f"as it is: {factors}", one)
