"""What ``forklint doctor`` saw of a command, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from forklint.report import explanations, visible
from forklint.verify.diagnosis import Diagnosis

MOST_STACK_LINES = 60
"""Lines of stacks that are shown."""
OWN = "forklint_harness"
"""In a frame of the hooks by which processes are watched."""


def text(diagnosis: Diagnosis, risks: Sequence[str]) -> str:
    """The report: what happened, what else was noticed, the stacks, what was seen with what fits it, what to try."""
    explained = explanations.text(diagnosis.explained, by_doctor=True).splitlines()
    parts = [_head(diagnosis), _stacks(diagnosis), explained, _risks(risks)]
    return "\n\n".join("\n".join(lines) for lines in map(list, parts) if any(lines)) + "\n"


def to_dict(diagnosis: Diagnosis, risks: Sequence[str]) -> dict[str, Any]:
    """The same as plain data."""
    seen = diagnosis.seen
    return {
        "headline": diagnosis.headline,
        "status": diagnosis.status,
        "exit_code": seen.exit_code,
        "signal": seen.signal or None,
        "stopped_for": seen.stopped_for or None,
        "deaths": [
            {
                "pid": death.pid or None,
                "signal": death.signal,
                "worker": death.worker,
                "command": death.is_command,
                "frame": {"filename": str(death.frame.file), "row": death.frame.row, "function": death.frame.name}
                if death.frame
                else None,
            }
            for death in diagnosis.deaths
        ],
        "notes": list(diagnosis.notes()),
        "leaked": list(seen.leaked),
        "stacks": seen.stacks,
        "seconds": seen.seconds,
        "quiet_seconds": seen.quiet_seconds,
        "peak_bytes": seen.peak_bytes,
        "risks": list(risks),
        **explanations.to_dict(diagnosis.explained),
    }


def _head(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"forklint doctor: {visible(diagnosis.headline)}"
    yield from (f"  {visible(note)}" for note in diagnosis.notes())


def _stacks(diagnosis: Diagnosis) -> Iterator[str]:
    lines = [line for line in diagnosis.seen.stacks.splitlines() if OWN not in line]
    if lines:
        yield "Stacks:"
        yield from (f"  {visible(line)}".rstrip() for line in islice(lines, MOST_STACK_LINES))
        if lines[MOST_STACK_LINES:]:
            yield f"  ({len(lines) - MOST_STACK_LINES} more lines with --output-format json)"


def _risks(risks: Sequence[str]) -> Iterator[str]:
    if risks:
        yield "Risks of this environment:"
        yield from (f"  {visible(risk)}" for risk in risks)
