"""FKL303: every worker gives all samples of an iterable dataset.

The control reads the stream without workers. Each treatment has several, and differs in how they start. Either each
worker begins with the very samples with which the control begins, or samples of a stream that was read to its end
come more often than in the control.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forklint.model import Finding
from forklint.verify.experiments.base import Experimenter, inconclusive, one_after_another, worst_of
from forklint.verify.subjects import subjects_for
from forklint.verify.unreached import first_line, why_unreached
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

PASSES_IN_TIME = 4
"""The pass may take this part of a trial's limit."""
SPAWNED_WORKERS = 2
FEWEST_ALIKE = 4
"""So many samples at least must be alike, and not all the same, before two streams count as one."""


@dataclass(frozen=True)
class Streams:
    """What the processes of one trial gave, each in its order."""

    by_process: tuple[tuple[str, ...], ...]
    is_whole: bool
    """Whether each ended before the number of samples that were asked for."""
    undigestable: int

    @property
    def counts(self) -> Counter[str]:
        """How often each sample came."""
        return Counter(digest for given in self.by_process for digest in given)


class UnshardedIterable(Experimenter):
    """One control, and a treatment for each start method."""

    code = "FKL303"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Find something to run, and make a trial for each cell."""
        context = self.context
        dataset, qualname = finding.proof["dataset"]
        found = subjects_for(Path(dataset), qualname, self.context.sources, context.project())
        attempts = [self._experiment(finding, one) for one in found if isinstance(one, Subject)]
        if not attempts:
            return next(one for one in found if isinstance(one, Judgement))
        return one_after_another(attempts)

    def _experiment(self, finding: Finding, subject: Subject) -> Experiment:
        context = self.context
        place = dict(zip(("file", "qualname"), finding.proof["dataset"], strict=True))
        spec = {
            "classes": [place],
            "samples": context.samples,
            "patience": context.seconds / PASSES_IN_TIME,
            "others": context.others,
        }
        cells = [
            Factors(method, context.workers if method == "fork" else min(SPAWNED_WORKERS, context.workers))
            for method in context.methods("fork", "spawn", "forkserver")
        ]
        trials = [self.trial(finding, subject, "ids", spec, Factors(workers=0), is_control=True)]
        trials += [self.trial(finding, subject, "ids", spec, factors) for factors in cells]
        suffix = "-class" if subject.kind == "class" else ""
        trials = [replace(one, name=f"{one.name}{suffix}", side_by_side=True) for one in trials]
        return Experiment(finding, f"`{place['qualname']}`: every worker yields all samples", tuple(trials))

    def unprovable(self, controls: Sequence[Observation]) -> Judgement | None:
        """A loader that is never reached, that cannot be read without workers, or that gives nothing to compare."""
        for seen in controls:
            found = why_unreached(seen, "a loader of its dataset") or _failed(seen, "without workers, too")
            if found is not None:
                return found
            if not all(record["is_iterable"] for record in seen.of("dataset")):
                return inconclusive(
                    "the loader's dataset is not an iterable dataset", "pass a script that loads it on its own"
                )
            given = streams_of(seen)
            if not given.counts:
                what = (
                    "its samples cannot be compared" if given.undigestable else "it yields no samples without workers"
                )
                return inconclusive(what, "add a factory whose loader returns plain samples")
        return None

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """Judge each cell, then the finding: the worst of its cells."""
        controls = [seen for seen in observations if seen.trial.is_control]
        problem = self.unprovable(controls)
        if problem is not None:
            return problem
        known = streams_of(controls[0])
        treatments = [seen for seen in observations if not seen.trial.is_control]
        judged = {str(seen.trial.factors): _cell(seen, known) for seen in treatments}
        return worst_of(judged)


def streams_of(seen: Observation) -> Streams:
    """What each process of a trial gave."""
    given: dict[int, list[str]] = defaultdict(list)
    undigestable = 0
    for record in seen.of("samples"):
        for digest in record["digests"]:
            if digest is None:
                undigestable += 1
            else:
                given[record["pid"]].append(digest)
    most = seen.trial.spec["samples"]
    ended = all(record["ended"] for record in seen.of("stream"))
    is_whole = ended and not undigestable and all(len(one) <= most for one in given.values())
    return Streams(tuple(tuple(one) for one in given.values()), is_whole, undigestable)


def _cell(seen: Observation, control: Streams) -> Judgement:
    failed = why_unreached(seen, "a loader of its dataset") or _failed(seen, "with workers, for another reason")
    if failed is not None:
        return failed
    found, workers = streams_of(seen), seen.trial.factors.workers or 0
    known, counts = control.counts, found.counts
    if control.is_whole and found.is_whole:
        doubled = {digest: counts[digest] for digest in known if counts[digest] > known[digest]}
        if doubled:
            times = Counter(round(count / known[digest], 1) for digest, count in doubled.items()).most_common(1)[0][0]
            of = f"{len(doubled)} of {len(known)} samples"
            words = f"{of} come {times:g} times as often with {workers} workers as without"
            return Judgement(Verdict.CONFIRMED, f"{words}: {counts.total()} in total instead of {known.total()}")
        return Judgement(Verdict.REFUTED, f"each of {len(known)} samples comes as often as without workers, or less")
    alike = [given for given in found.by_process if _begin_alike(given, control.by_process[0])]
    if len(alike) > 1:
        words = f"{len(alike)} of {workers} workers yield the same samples as a single process, in the same order"
        return Judgement(Verdict.CONFIRMED, f"{words}: {min(map(len, alike))} were compared, and the stream continues")
    return Judgement(Verdict.REFUTED, f"no two of {workers} workers yield the same samples as a single process")


def _begin_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two streams are the same as far as both were read."""
    length = min(len(one), len(other))
    return one[:length] == other[:length] and length >= FEWEST_ALIKE and len(set(one[:length])) > 1


def _failed(seen: Observation, when: str) -> Judgement | None:
    for error in seen.of("error")[:1]:
        text = first_line(error["text"])
        return inconclusive(f"reading fails {when}: {error['type']}: {text}", "fix that first")
    return None
