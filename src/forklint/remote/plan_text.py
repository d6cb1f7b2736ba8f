"""The plan of ``forklint verify --on``: what would run where, and which files would travel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forklint.remote.cluster import Machine
from forklint.remote.labels import described
from forklint.remote.placing import Placement, runs_here
from forklint.remote.slices import Slice, slice_of
from forklint.remote.verifying import Replan
from forklint.report import count, visible
from forklint.report import verdicts as report
from forklint.source.paths import shown
from forklint.verify.isolation import WORDS
from forklint.verify.proving import Planned


def plan_text(
    planned: Sequence[Planned], placed: Sequence[Placement], machines: Sequence[Machine], replan: Replan
) -> str:
    """What would stay here, then each machine with its findings and files, then what cannot be placed."""
    pairs = list(zip(planned, placed, strict=True))
    here = [one for one, where in pairs if runs_here(one, where)]
    parts = [f"On this machine:\n\n{report.plan(here, WORDS['view'])}"] if here else []
    total = 0
    for machine in machines:
        there = [one for one, where in pairs if where.machine is not None and where.machine.token == machine.token]
        title = f"On {visible(machine.name)} ({visible(described(machine.environment))}):\n\n"
        if not there:
            parts.append(f"{title}Nothing.\n")
            continue
        again = [replan(one.finding, machine.environment) for one in there]
        files, size = _files([slice_of(one) for one in again])
        total += size
        parts.append(f"{title}{report.plan(again, WORDS['view'])}\n{files}")
    missing = [(one, where.needs) for one, where in pairs if where.needs and where.machine is None]
    if missing:
        parts.append("Cannot be placed:\n\n" + "".join(_missing(one, needs) for one, needs in missing))
    parts.append(f"At most {total:,} bytes would travel: a worker gets each file only once.\n")
    return "\n".join(parts)


def _files(slices: Sequence[Slice]) -> tuple[str, int]:
    """The files that travel to one machine, each once, and their bytes."""
    files = {(one.path, one.digest): one for part in slices for one in part.files}
    size = sum(one.size for one in files.values())
    lines = [f"Files that would travel ({count(len(files), 'file')}, {size:,} bytes):"]
    width = max((len(f"{one.size:,}") for one in files.values()), default=0)
    lines += [f"  {one.size:>{width},}  {_shown(one.path)}" for one in files.values()]
    for path in dict.fromkeys(path for part in slices for path in part.too_large):
        lines.append(f"  too large, and left here: {_shown(path)}")
    return "\n".join(lines) + "\n", size


def _shown(path: Path) -> str:
    return visible(shown(path))


def _missing(planned: Planned, needs: Sequence[str]) -> str:
    finding = planned.finding
    labels = " or ".join(f"'{label}'" for label in needs)
    return f"  {finding.code} {visible(finding.path)}:{finding.span.row}: no worker has the label {labels}\n"
