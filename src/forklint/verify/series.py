"""What trials did over time: samples per second, memory, and wrong samples, at a bounded number of moments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forklint.verify import samples
from forklint.verify.samples import Index, Truth
from forklint.verify.words import Observation

MOMENTS = 60
"""Points of one series at most."""
FEW = 12
"""Points that a short trial has."""
SHORTEST, LONGEST = 0.01, 0.25
"""Seconds between two points of a trial that is short, at least and at most: batches come in bursts."""

Point = tuple[float, float]
"""Seconds, and a value then: since the trial began for memory, since its first sample for what it read."""


@dataclass(frozen=True)
class Series:
    """One trial over time; a series is empty if nothing of its kind was measured."""

    throughput: tuple[Point, ...] = ()
    """Samples per second, averaged since the point before."""
    memory: tuple[Point, ...] = ()
    """Bytes: the sum of the proportional set sizes of all its processes."""
    wrong: tuple[Point, ...] = ()
    """Samples read so far that differ from the control; empty if none could be compared."""


def of_trial(seen: Observation, known: Truth) -> Series:
    """Make the series of one trial; ``known`` says what its samples should be."""
    read = seen.of("samples")
    memory = thinned([(when, float(size)) for when, size in seen.memory])
    if not read:
        return Series(memory=memory)
    first = float(read[0]["time"])
    times = [max(0.0, float(record["time"]) - first) for record in read]
    numbers = [len(record["digests"]) for record in read]
    step = max(times[-1] / (MOMENTS - 2), min(LONGEST, times[-1] / FEW), SHORTEST)
    throughput = [(when, number / step) for when, number in _binned(times, numbers, step)]
    if known.is_empty:
        return Series(tuple(throughput), memory)
    total, wrong = 0.0, [(0.0, 0.0)]
    for when, number in _binned(times, [_wrong_in(record, known) for record in read], step):
        total += number
        wrong.append((when, total))
    return Series(tuple(throughput), memory, tuple(wrong))


def of_experiment(observations: Sequence[Observation]) -> list[Series]:
    """Make the series of all trials of one experiment: its controls say what the samples should be."""
    known = samples.truth([seen for seen in observations if seen.trial.is_control])
    return [of_trial(seen, known) for seen in observations]


def thinned(points: Sequence[Point]) -> tuple[Point, ...]:
    """Keep evenly spread points, and always the largest and the last one."""
    if len(points) <= MOMENTS:
        return tuple(points)
    step = len(points) / (MOMENTS - 2)
    kept = {int(number * step) for number in range(MOMENTS - 2)}
    kept |= {len(points) - 1, max(range(len(points)), key=lambda number: points[number][1])}
    return tuple(points[number] for number in sorted(kept))


def _binned(times: Sequence[float], numbers: Sequence[int], step: float) -> Iterable[tuple[float, int]]:
    """Sums of the numbers for spans of ``step`` seconds, each with the end of its span; spans without any give 0."""
    bins = [0] * (int(times[-1] / step) + 1)
    for when, number in zip(times, numbers, strict=True):
        bins[min(len(bins) - 1, int(when / step))] += number
    return [((number + 1) * step, total) for number, total in enumerate(bins)]


def _wrong_in(record: Mapping[str, Any], known: Truth) -> int:
    """How many samples of one fetch are not what the control read."""
    digests: Sequence[str | None] = record["digests"]
    if record["indices"] is None:
        return 0 if known.stream is None else sum(digest not in known.stream for digest in digests)
    indices: Sequence[Index] = record["indices"]
    pairs = zip(indices, digests, strict=False)
    return sum(index in known.digests and known.digests[index] != digest for index, digest in pairs)
