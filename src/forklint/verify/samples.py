"""Samples by index: which digests of the control can be trusted, and which a treatment got wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forklint.verify.words import Observation

Index = Any
READINGS = 2
"""So many controls at least must have read a sample, each after other samples, before it is believed."""


@dataclass(frozen=True)
class Truth:
    """What the samples are, as far as that can be known."""

    digests: Mapping[Index, str] = field(default_factory=dict)
    """Index to digest, for samples that were the same in every control."""
    stateful: frozenset[Index] = frozenset()
    """Those that depend on what was read before them: they cannot judge a handle."""
    undigestable: frozenset[Index] = frozenset()
    stream: frozenset[str] | None = None
    """For an iterable dataset: the digests of its samples, if it gave the same ones each time."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be compared."""
        return not self.digests and not self.stream


def truth(controls: Iterable[Observation]) -> Truth:
    """Compare the controls with each other: in order, shuffled, and in parts in processes of their own."""
    seen: dict[Index, list[str | None]] = defaultdict(list)
    streams: list[frozenset[str | None]] = []
    is_cut = any(one["is_cut"] for control in controls for one in control.of("pass"))
    for control in controls:
        stream: set[str | None] = set()
        for record in control.records:
            if record["kind"] == "samples" and record["indices"] is None:
                stream |= set(record["digests"])
            elif record["kind"] == "pass" and stream:
                streams.append(frozenset(stream))
                stream = set()
        for index, digest in _pairs(control):
            seen[index].append(digest)
    known = {index: found[0] for index, found in seen.items() if len(set(found)) == 1 and len(found) >= READINGS}
    same = streams[0] if streams and not is_cut and len(set(streams)) == 1 and None not in streams[0] else None
    return Truth(
        {index: digest for index, digest in known.items() if digest is not None},
        frozenset(index for index, found in seen.items() if len(set(found)) > 1),
        frozenset(index for index, digest in known.items() if digest is None),
        frozenset(digest for digest in same if digest) if same else None,
    )


def wrong(seen: Observation, known: Truth) -> list[Index]:
    """Indices of samples that differ from the truth; for a stream how many of them, as numbers from 0."""
    found = {index for index, digest in _pairs(seen) if index in known.digests and digest != known.digests[index]}
    if known.stream is not None:
        read = {digest for record in seen.of("samples") if record["indices"] is None for digest in record["digests"]}
        missing = (
            known.stream - read if all(one["ended"] and not one["is_cut"] for one in seen.of("pass")) else frozenset()
        )
        return list(range(len(read - known.stream) + len(missing)))
    return sorted(found, key=lambda index: (isinstance(index, str), index))


def compared(seen: Observation, known: Truth) -> int:
    """How many readings of samples could be compared."""
    if known.stream is not None:
        return sum(len(record["digests"]) for record in seen.of("samples"))
    return sum(index in known.digests for index, _ in _pairs(seen))


def agreeing(seen: Observation, known: Truth) -> int:
    """How many readings of samples gave what the control gave."""
    if known.stream is not None:
        return sum(digest in known.stream for record in seen.of("samples") for digest in record["digests"])
    return sum(known.digests.get(index) == digest for index, digest in _pairs(seen) if digest is not None)


def _pairs(seen: Observation) -> Iterable[tuple[Index, str | None]]:
    for record in seen.of("samples"):
        if record["indices"] is not None:
            yield from zip(record["indices"], record["digests"], strict=False)
